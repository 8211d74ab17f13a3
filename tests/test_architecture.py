"""What import-linter cannot say: who owns which library, what the core may import, and the size and shape of modules."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "bot").rglob("*.py"))

# Each third-party library and the modules (or packages) that may import it. A second importer is a design question.
OWNERS: dict[str, tuple[str, ...]] = {
    "alembic": ("bot.adapters.migrate", "bot.adapters.migrations"),
    "apscheduler": ("bot.worker",),
    "fastapi": ("bot.web", "bot.sandbox", "bot.bootstrap"),
    "gitlab": ("bot.adapters.gitlab",),
    "jinja2": ("bot.adapters.templates", "bot.sandbox"),
    "markdown_it": ("bot.core.speech", "bot.markup", "bot.sandbox"),
    "nh3": ("bot.markup",),
    "prometheus_client": ("bot.web.metrics",),
    "pydantic": ("bot",),
    "pydantic_settings": ("bot.settings",),
    "pytest": ("bot.testing.plugin",),
    "requests": ("bot.client", "bot.adapters.gitlab", "bot.sandbox", "bot.testing.people"),
    "rich": ("bot.cli",),
    "sqlalchemy": ("bot.adapters",),
    "standardwebhooks": ("bot.wire.gitlab", "bot.adapters.targets"),
    "starlette": ("bot.web", "bot.sandbox"),
    "structlog": ("bot.adapters.logs", "bot.web.hooks"),
    "typer": ("bot.cli",),
    "uvicorn": ("bot.web.server", "bot.sandbox.server"),
}
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}
CORE_MAY = {"pydantic", "markdown_it", "bot"}
CLOCKS = {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today"), ("time", "time")}


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_libraries_have_owners(path: Path) -> None:
    """Every third-party import stands in the table of owners."""
    module = _name(path)
    for imported in _imports(path):
        library = imported.partition(".")[0]
        if library in sys.stdlib_module_names or library == "bot":
            continue
        owners = OWNERS.get(library)
        assert owners is not None, f"{module} imports {library}, which nobody owns: add it to the table, or do without"
        assert any(module == owner or module.startswith(f"{owner}.") for owner in owners), f"{module} must not import {library}"


@pytest.mark.parametrize("path", [path for path in MODULES if "core" in path.relative_to(ROOT).parts], ids=_name)
def test_core_is_pure(path: Path) -> None:
    """The core imports the standard library, pydantic and markdown-it only, and of the first nothing that acts."""
    acting = {"logging", "os", "socket", "subprocess", "threading", "random", "secrets", "time", "asyncio", "pathlib", "io"}
    for imported in _imports(path):
        library = imported.partition(".")[0]
        assert library in CORE_MAY or library in sys.stdlib_module_names, f"{_name(path)} imports {library}"
        assert library not in acting, f"{_name(path)} imports {library}"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_modules_are_small_named_and_said(path: Path) -> None:
    """No module is over 300 lines, named for nothing, or without a docstring."""
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 300, f"{_name(path)} has more than 300 lines: does it still answer one question?"
    assert path.stem not in FORBIDDEN_NAMES
    assert ast.get_docstring(ast.parse(text)), f"{_name(path)} does not say what it is"


@pytest.mark.parametrize("path", [path for path in MODULES if {"core", "flows"} & set(path.relative_to(ROOT).parts)], ids=_name)
def test_time_is_given(path: Path) -> None:
    """Core and flows never look at a clock: the time is an argument or a port."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            assert (node.func.value.id, node.func.attr) not in CLOCKS, f"{_name(path)} line {node.lineno} looks at a clock"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_nothing_happens_on_import(path: Path) -> None:
    """Module level holds definitions and constants: no statement there calls into the outside."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func)
            allowed = called.startswith(("app.add_typer", "router.")) or path.stem in ("__main__", "env")
            assert allowed, f"{_name(path)} line {node.lineno} calls {called} on import"


def test_no_broad_excepts() -> None:
    """Only the worker catches everything, because one bad row must not end it; nothing has a bare except."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                caught = "" if node.type is None else ast.unparse(node.type)
                broad = caught in ("", "Exception", "BaseException")
                assert not broad or _name(path) == "bot.worker", f"{_name(path)} line {node.lineno} catches everything"
