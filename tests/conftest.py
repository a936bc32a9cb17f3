"""Fixtures and the Hypothesis profile that all tests share."""

import contextlib
import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# Examples are derived from the test itself, so that a run is repeatable; a shared machine makes deadlines meaningless.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
# HYPOTHESIS_PROFILE=search looks for new counterexamples instead.
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background hands on an ignored Ctrl-C, and so would every child below.
    with contextlib.suppress(ValueError):  # only the main thread may
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the checkout, or a skip that says where it was looked for."""
    folder = Path(os.environ.get("COUNTERPROOF_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"real data needed: {folder} is no folder (COUNTERPROOF_SHARED_DATA names another)")
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """A Chromium's path. Without one the test is skipped, or failed where CI=true."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        reason = f"a browser is needed, and none of {', '.join(BROWSERS)} is on the PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found
