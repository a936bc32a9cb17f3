from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from counterproof.study.pools import build_pool

Done: TypeAlias = subprocess.CompletedProcess[str]
Cli: TypeAlias = Callable[..., Done]


@pytest.fixture(scope="session")
def environment(repository: Path) -> dict[str, str]:
    """The environment of a command that is run from a checkout."""
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
    return {**kept, "PYTHONPATH": str(repository / "src"), "TERM": "xterm-256color", "COLUMNS": "100"}


@pytest.fixture
def cli(environment: dict[str, str], tmp_path: Path) -> Cli:
    """Runs a command in an empty folder, and checks what holds for every command."""

    def run(*arguments: str | Path, code: int | None = None) -> Done:
        command = [sys.executable, "-m", "counterproof", *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        if code is not None:
            assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 trajectories of six questions over the fact world."""
    folder = tmp_path_factory.mktemp("pools") / "pool"
    build_pool(None, folder, limit=6, samples=2)
    return folder
