"""The built wheel, in an empty environment, is the whole product: templates included, demo and all."""

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_the_wheel_runs_the_demo(tmp_path: Path) -> None:
    """Built, installed with nothing else, started elsewhere: `hitl demo --auto` exits 0 with its story."""
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path / "dist"), str(ROOT)],
        check=True,
        capture_output=True,
    )
    wheel = next((tmp_path / "dist").glob("*.whl"))
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel)], check=True)
    installed = subprocess.run([python, "-c", "import pytest"], capture_output=True, check=False)
    assert installed.returncode != 0, "the environment holds only what the wheel asks for"
    result = subprocess.run(
        [tmp_path / "venv" / "bin" / "hitl", "demo", "--auto", "--json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["resume"]["mode"] == "answers"
    assert len(told["story"]) > 5
