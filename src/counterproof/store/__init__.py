"""The ledger on disk: journals, Parquet segments, stages with root hashes, and files that are whole or absent."""

from counterproof.store.files import sha256_file, write_atomically
from counterproof.store.ledger import Ledger
from counterproof.store.rows import DONE, EVENT, Note, Row
from counterproof.store.writer import StageWriter

__all__ = ["DONE", "EVENT", "Ledger", "Note", "Row", "StageWriter", "sha256_file", "write_atomically"]
