"""Studies over real data whose pages are committed under `docs/results`."""
