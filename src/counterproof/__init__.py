"""Stress-test a verifier before you optimise against it."""

__version__ = "0.1.0"

__all__ = ["__version__"]
