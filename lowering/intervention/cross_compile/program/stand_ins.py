"""Replacements for the streams, events and graphs of torch.cuda, in a program whose CUDA is mapped to the CPU."""

import time
from collections.abc import Callable
from typing import Any, Self

from inspect_compile.lowering.intervention.cross_compile.program.program import GPU, MappedProgram


class Stream:
    """A stream on which all work is finished at once: there is nothing to wait for."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.device = GPU
        self.device_index = 0
        self.stream_id = self.cuda_stream = 0
        self.priority = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return 0

    def query(self) -> bool:
        """Whether all work is finished."""
        return True

    def synchronize(self) -> None:
        """Return at once."""

    def wait_event(self, event: Any) -> None:
        """Return at once."""

    def wait_stream(self, stream: Any) -> None:
        """Return at once."""

    def record_event(self, event: Any = None) -> Any:
        """Record an event, by default a new one, and return it."""
        event = event or Event()
        event.record(self)
        return event


class Event:
    """An event that happens when it is recorded."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self._seconds = time.perf_counter()

    def record(self, stream: Any = None) -> None:
        """Take the time."""
        self._seconds = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Return at once."""

    def query(self) -> bool:
        """Whether it has happened."""
        return True

    def synchronize(self) -> None:
        """Return at once."""

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds from this event to the other, by the clock of the CPU."""
        return (end_event._seconds - self._seconds) * 1e3  # type: ignore[no-any-return]


class Inside:
    """A context that changes nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        return

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        return


class Graph:
    """A CUDA graph that captures nothing: the code runs once, when it would be captured."""

    def __init__(self, *_: Any, **__: Any) -> None:
        return

    def capture_begin(self, *_: Any, **__: Any) -> None:
        """Do nothing."""

    def capture_end(self) -> None:
        """Do nothing."""

    def replay(self) -> None:
        """Do nothing."""

    def reset(self) -> None:
        """Do nothing."""

    def pool(self) -> tuple[int, int]:
        """The id of a memory pool."""
        return (0, 0)


def of(program: MappedProgram) -> dict[str, Callable[..., Any]]:
    """Names in torch.cuda → replacements; each writes a remark where the program first uses it on a line."""

    def reported(kind: type, name: str, instead: str) -> type:
        """A subclass with torch's name that writes the remark when an object is made."""
        plain: Any = vars(kind)["__init__"]

        def init(self: Any, *arguments: Any, **named: Any) -> None:
            program.unmapped(f"torch.cuda.{name}", instead)
            plain(self, *arguments, **named)

        return type(name, (kind,), {"__init__": init})

    def timed(self: Any, end_event: Any) -> float:
        instead = f"the time is the CPU's, and says nothing about {program.target.gpu}"
        program.unmapped("torch.cuda.Event.elapsed_time", instead)
        return Event.elapsed_time(self, end_event)

    def replayed(self: Any) -> None:
        program.unmapped("torch.cuda.CUDAGraph.replay", "nothing runs again; its outputs are those of the capture")

    def graphed(callables: Any, *_: Any, **__: Any) -> Any:
        program.unmapped("torch.cuda.make_graphed_callables", "they run normally")
        return callables

    stream = reported(Stream, "Stream", "all work runs in order")
    event = reported(Event, "Event", "it happens when it is recorded, on the CPU")
    event.elapsed_time = timed  # type: ignore[attr-defined]
    graph = reported(Graph, "CUDAGraph", "the captured code runs once, normally")
    graph.replay = replayed  # type: ignore[attr-defined]
    return {
        "Stream": stream,
        "ExternalStream": reported(Stream, "ExternalStream", "all work runs in order"),
        "Event": event,
        "CUDAGraph": graph,
        "graph": reported(Inside, "graph", "the captured code runs once, normally"),
        "make_graphed_callables": graphed,
        "graph_pool_handle": lambda: (0, 0),
        "current_stream": lambda *_, **__: Stream(),
        "default_stream": lambda *_, **__: Stream(),
        "set_stream": lambda *_, **__: None,
        "stream": lambda *_, **__: Inside(),
        "StreamContext": type("StreamContext", (Inside,), {}),
    }
