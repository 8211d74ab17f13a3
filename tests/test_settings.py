"""The configuration: the example is complete and loads; every mistake is one line that names file, key and fix."""

import base64
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from bot.core.errors import ConfigError
from bot.settings import Settings, load

ROOT = Path(__file__).resolve().parent.parent
MINIMAL = """
[gitlab]
url = "https://gitlab.example.com"
[[projects]]
path = "group/project"
token = { env = "HITL_PROJECT_TOKEN" }
webhook_secret = { file = "secret" }
"""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HITL_PROJECT_TOKEN", "glpat-TESTtestTESTtest0000")
    monkeypatch.setenv("HITL_WEBHOOK_SECRET", "s3cr3t-hook")
    (tmp_path / "secret").write_text("from-a-file\n")


def written(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text)
    return path


def test_the_example_loads_and_names_every_key() -> None:
    """config.example.toml is valid, and no key of the model is missing from it (commented ones included)."""
    settings = load(ROOT / "config.example.toml")
    assert settings.projects[0].path == "group/project"
    text = (ROOT / "config.example.toml").read_text()

    def keys(model: type[BaseModel]) -> list[str]:
        return [name for name in model.model_fields if name != "base"]

    for section in keys(Settings):
        annotation = type(getattr(settings, section))
        assert f"[{section}]" in text or f"[[{section}]]" in text, section
        if issubclass(annotation, BaseModel):
            assert [key for key in keys(annotation) if f"{key} =" not in text] == []
    assert [key for key in keys(type(settings.projects[0])) if f"{key} =" not in text] == []


def test_defaults_and_secrets(tmp_path: Path) -> None:
    """Four lines are enough; secrets come from the environment and files, and never show."""
    settings = load(written(tmp_path, MINIMAL))
    assert settings.server.host == "127.0.0.1"
    assert settings.projects[0].webhook_secret is not None
    assert settings.projects[0].webhook_secret.get_secret_value() == "from-a-file"
    assert "glpat-" not in repr(settings)
    assert "from-a-file" not in str(settings.model_dump())


def test_the_environment_wins_for_plain_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HITL_SECTION__KEY over the file, key by key."""
    monkeypatch.setenv("HITL_SERVER__PORT", "9090")
    settings = load(written(tmp_path, MINIMAL + '[server]\nhost = "127.0.0.2"\nport = 1\n'))
    assert (settings.server.host, settings.server.port) == ("127.0.0.2", 9090)


def test_a_project_may_override_the_policy(tmp_path: Path) -> None:
    """Key by key: the rest comes from [policy], and then from the defaults."""
    text = MINIMAL + "policy = { answer = 30 }\n[policy]\nstart = 40\n"
    settings = load(written(tmp_path, text))
    policy = settings.policy_of(settings.projects[0])
    assert (policy.start, policy.answer, policy.resume) == (40, 30, 15)


FAULTS = {
    "unknown key": (MINIMAL + "[server]\nprot = 1\n", "server.prot: unknown key"),
    "unknown section": (MINIMAL + "[sever]\nport = 1\n", "sever: unknown key"),
    "missing section": (
        '[[projects]]\npath = "a/b"\ntoken = { env = "HITL_PROJECT_TOKEN" }\nmode = "poll"\n',
        "gitlab: missing",
    ),
    "no projects": ('[gitlab]\nurl = "https://x"\n', "projects: missing"),
    "inline secret": (
        MINIMAL.replace('{ env = "HITL_PROJECT_TOKEN" }', '"glpat-inline"'),
        "projects.0.token: a secret is not written here",
    ),
    "unset variable": (MINIMAL.replace("HITL_PROJECT_TOKEN", "HITL_NO_SUCH"), "environment variable HITL_NO_SUCH is not set"),
    "unreadable file": (MINIMAL.replace('"secret"', '"no-such-file"'), "no-such-file cannot be read"),
    "no hook secret": (
        MINIMAL.replace('webhook_secret = { file = "secret" }', ""),
        "projects.0: webhook_secret or signing_token is missing",
    ),
    "no signing token": (MINIMAL + 'signing_token = { file = "secret" }\n', "projects.0.signing_token: not a signing token"),
    "group hook without secret": (
        MINIMAL + '[[group_hooks]]\npath = "group"\n',
        "group_hooks.0: webhook_secret or signing_token is missing",
    ),
    "not TOML": ("[gitlab", "not valid TOML"),
    "public without secret": (
        MINIMAL.replace('webhook_secret = { file = "secret" }', 'mode = "poll"') + '[server]\nhost = "0.0.0.0"\n',
        "is public",
    ),
    "answer by Guests": (MINIMAL + "[policy]\nanswer = 10\n", "policy.answer"),
    "bad url": (MINIMAL.replace("https://gitlab.example.com", "gitlab.example.com"), "gitlab.url"),
}


@pytest.mark.parametrize(("text", "words"), FAULTS.values(), ids=FAULTS.keys())
def test_mistakes_are_one_line(tmp_path: Path, text: str, words: str) -> None:
    """Each names the file, the key and what to do, on one line, without any secret."""
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, text))
    message = caught.value.message
    assert "config.toml" in message
    assert words in message
    assert "\n" not in message
    assert "glpat-" not in message


def test_a_group_hook_stands_in_for_the_projects_below_it(tmp_path: Path) -> None:
    """A project needs no secret of its own when a group hook covers it; a namesake beside the group is not covered."""
    bare = MINIMAL.replace('webhook_secret = { file = "secret" }', "")
    hook = '[[group_hooks]]\npath = "{}"\nwebhook_secret = {{ file = "secret" }}\n'
    assert load(written(tmp_path, bare + hook.format("group"))).group_hooks[0].path == "group"
    with pytest.raises(ConfigError, match=r"projects\.0"):
        load(written(tmp_path, bare + hook.format("gro")))


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    """No silent defaults."""
    with pytest.raises(ConfigError, match="no such file"):
        load(tmp_path / "nowhere.toml")


def test_the_example_is_the_documented_shape() -> None:
    """The example parses as plain TOML too, for other tools."""
    assert tomllib.loads((ROOT / "config.example.toml").read_text())["payload"]["key"] == {"file": "hitl.key"}


@pytest.mark.parametrize("size", [24, 31, 32, 33, 48])
def test_signing_tokens_of_any_length_are_read(tmp_path: Path, size: int) -> None:
    """GitLab's hold 32 bytes, so their base64 ends in one `=`; other lengths and bare ones are read too."""
    encoded = base64.b64encode(b"k" * size).decode()
    for token in (encoded, encoded.rstrip("=")):
        (tmp_path / "signing").write_text(f"whsec_{token}")
        settings = load(written(tmp_path, MINIMAL + 'signing_token = { file = "signing" }\n'))
        assert settings.projects[0].signing_token is not None
