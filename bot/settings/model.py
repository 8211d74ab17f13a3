"""All sections together: the one frozen settings value, and the rules that span sections."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.core.eligibility import Policy
from bot.settings.sections import (
    DatabaseSection,
    GitLabSection,
    GroupHookSection,
    LogSection,
    PayloadSection,
    PolicySection,
    ProjectSection,
    ServerSection,
    TemplatesSection,
    WorkerSection,
)


class Settings(BaseSettings):
    """Everything that can be configured."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    server: ServerSection = ServerSection()
    database: DatabaseSection = DatabaseSection()
    gitlab: GitLabSection
    payload: PayloadSection = PayloadSection()
    policy: PolicySection = PolicySection()
    worker: WorkerSection = WorkerSection()
    log: LogSection = LogSection()
    templates: TemplatesSection = TemplatesSection()
    projects: tuple[ProjectSection, ...] = Field(min_length=1)
    group_hooks: tuple[GroupHookSection, ...] = ()
    base: Path = Field(default=Path(), exclude=True, description="What relative paths are relative to; not a key of the file")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what the constructor is given: `load` adds the environment, so that a bot in a test reads none."""
        return (init_settings,)

    @model_validator(mode="after")
    def _hooks_have_secrets(self) -> Self:
        for index, project in enumerate(self.projects):
            covered = project.has_hook_secret or any(hook.covers(project) for hook in self.group_hooks)
            if project.mode == "both" and not covered:
                missing = 'webhook_secret or signing_token is missing (none is needed with mode = "poll")'
                raise ValueError(f"projects.{index}: {missing}")
        has_any = self.group_hooks or any(project.has_hook_secret for project in self.projects)
        if self.server.is_public and not has_any:
            raise ValueError(f"server.host {self.server.host} is public, and no hook has a secret")
        return self

    def policy_of(self, project: ProjectSection) -> Policy:
        return project.policy.over(self.policy.over(Policy()))
