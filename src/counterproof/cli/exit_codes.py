"""Exit codes that are no analysis's own."""

from __future__ import annotations

COULD_NOT_RUN = 3
"""A usage error, input that cannot be used, a run that was stopped, or a run that does not verify."""
