"""`python -m counterproof`: the command line without its installed script."""

from __future__ import annotations

from counterproof.cli import main

if __name__ == "__main__":
    main()
