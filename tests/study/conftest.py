from __future__ import annotations

from pathlib import Path

import pytest

from counterproof.study.pools import build_pool


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """48 trajectories of 12 questions over the fact world."""
    folder = tmp_path_factory.mktemp("pools") / "pool"
    build_pool(None, folder, limit=12, samples=4)
    return folder


@pytest.fixture(scope="session")
def small_pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 trajectories of six questions."""
    folder = tmp_path_factory.mktemp("pools") / "small"
    build_pool(None, folder, limit=6, samples=2)
    return folder


@pytest.fixture(scope="session")
def tiny_pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two trajectories of two questions, each with searches and citations."""
    folder = tmp_path_factory.mktemp("pools") / "tiny"
    build_pool(None, folder, limit=2, samples=1)
    return folder
