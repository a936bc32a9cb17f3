"""Space-time fields in: a user's own u(t, x) out of npz, HDF5 (PDEBench's layout too) or long Parquet."""

from counterproof.adapters.spacetime.field import Field
from counterproof.adapters.spacetime.reading import read_field

__all__ = ["Field", "read_field"]
