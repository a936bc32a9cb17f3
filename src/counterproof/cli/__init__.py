"""The command line."""

from __future__ import annotations

from counterproof.cli.app import main

__all__ = ["main"]
