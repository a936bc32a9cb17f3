"""What a worker may use."""

from __future__ import annotations

from dataclasses import dataclass, fields

from counterproof.core.errors import InputError, Problem


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one worker; None means no limit.

    Attributes:
        seconds_per_call: Wall-clock seconds for one call; then the process tree is killed.
        start_seconds: Wall-clock seconds for starting the process and importing the verifier.
        memory_bytes: Address space of each process (RLIMIT_AS); more raises MemoryError there.
        processes: Processes that the *user* may have while the worker forks (RLIMIT_NPROC counts per user).
        file_bytes: Size of any file written (RLIMIT_FSIZE).

    Raises:
        InputError: A limit is not positive.
    """

    seconds_per_call: float = 10.0
    start_seconds: float = 60.0
    memory_bytes: int | None = None
    processes: int | None = None
    file_bytes: int | None = None

    def __post_init__(self) -> None:
        problems = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not value > 0:
                problems.append(Problem(field.name, f"is {value!r}", "give a positive number"))
        if problems:
            raise InputError("limits of a worker", problems)
