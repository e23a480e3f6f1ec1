"""What is known about the functions of this process that run as CUDA graphs. Uses torch only through its arguments."""

import threading
import weakref
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from inspect_compile.facts import CudaGraph, Fact, Recording
from inspect_compile.lowering.core.by_identity import ByIdentity

RECORDINGS: Final = 32
"""Maximum number of recordings of one function that are listed individually."""


@dataclass(eq=False)
class Recorded:
    """One CUDA graph."""

    owner: "Function"
    row: Recording
    replays: int = 0
    write_at: int = 1
    """Number of replays at which the function's row is written next."""


@dataclass(eq=False)
class Function:
    """One function that is run as a CUDA graph."""

    row: CudaGraph
    warmups: int = 0
    recordings: list[Recorded] = field(default_factory=list)
    told_elsewhere: int = 0
    """Number of recordings that are in another dump of this process."""

    @property
    def recorded(self) -> int:
        """Number of recordings in this dump."""
        return len(self.recordings) - self.told_elsewhere

    @property
    def replayed(self) -> int:
        """Number of replays, over all recordings."""
        return sum(one.replays for one in self.recordings)

    def fact(self) -> CudaGraph:
        """Its row at this moment."""
        return msgspec.structs.replace(
            self.row,
            warmups=self.warmups,
            recorded=self.recorded,
            replayed=self.replayed,
            recordings=tuple(
                msgspec.structs.replace(one.row, replayed=one.replays)
                for one in self.recordings[self.told_elsewhere :][:RECORDINGS]
            ),
        )


class Thread(threading.local):
    """State of the current thread."""

    graph: str | None = None
    """The graph whose compiled object is being wrapped."""
    partitions = 0


class Runs:
    """All functions of this process that run as CUDA graphs."""

    def __init__(self) -> None:
        self.thread = Thread()
        self.owners: ByIdentity[str] = ByIdentity()
        """CompiledFxGraph → its graph. A callback in Python would be a frame that Dynamo looks at."""
        self.handed: dict[int, tuple[Any, str, int]] = {}
        """id of the list of stack traces passed with a callable into torch's trees → that list, graph, partition."""
        self.models: dict[int, tuple[Any, str, int]] = {}
        """The same by the callable, with a weak reference to it: for captures without trees."""
        self.functions: list[Function] = []
        self.managed: weakref.WeakKeyDictionary[Any, dict[int, Function]] = weakref.WeakKeyDictionary()
        """torch's manager of one device's trees → its functions, by torch's number."""
        self.recorded: dict[int, Recorded] = {}
        """id of a torch.cuda.CUDAGraph → its recording, while it lives."""

    def facts(self) -> list[Fact]:
        """The current rows of all functions that were at least warmed up or skipped."""
        return [
            function.fact()
            for function in self.functions
            if function.warmups or function.recorded or function.replayed or function.row.skipped
        ]

    def forget(self) -> None:
        """Start counting again; the existing recordings stay known."""
        for function in self.functions:
            function.warmups = 0
            function.told_elsewhere = len(function.recordings)
            for one in function.recordings:
                one.replays, one.write_at = 0, 1


RUNS = Runs()
