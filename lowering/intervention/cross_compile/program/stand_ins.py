"""What stands for the streams, events and graphs of a GPU that is not here."""

import time
from collections.abc import Callable
from typing import Any, Self

from inspect_compile.lowering.intervention.cross_compile.program.program import GPU, Program


class Stream:
    """All work is done when it is asked for: there is nothing to wait for."""

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
        """Is all of it done?"""
        return True

    def synchronize(self) -> None:
        """Done."""

    def wait_event(self, event: Any) -> None:
        """It has happened."""

    def wait_stream(self, stream: Any) -> None:
        """It has nothing left to do."""

    def record_event(self, event: Any = None) -> Any:
        """One that has happened."""
        event = event or Event()
        event.record(self)
        return event


class Event:
    """It happens when it is recorded. `elapsed_time` is the CPU's."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self._seconds = time.perf_counter()

    def record(self, stream: Any = None) -> None:
        """Now."""
        self._seconds = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """It has happened."""

    def query(self) -> bool:
        """It has."""
        return True

    def synchronize(self) -> None:
        """It has happened."""

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds that the CPU took."""
        return (end_event._seconds - self._seconds) * 1e3  # type: ignore[no-any-return]


class Inside:
    """A block that runs as it is."""

    def __init__(self, *_: Any, **__: Any) -> None:
        return

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        return


class Graph:
    """torch.cuda.CUDAGraph: what is captured runs once, and never again."""

    def __init__(self, *_: Any, **__: Any) -> None:
        return

    def capture_begin(self, *_: Any, **__: Any) -> None:
        """Nothing is captured."""

    def capture_end(self) -> None:
        """Nothing was."""

    def replay(self) -> None:
        """Nothing runs."""

    def reset(self) -> None:
        """Nothing to forget."""

    def pool(self) -> tuple[int, int]:
        """Of no memory."""
        return (0, 0)


def of(program: Program) -> dict[str, Callable[..., Any]]:
    """By their names in torch.cuda. Each is told of where the program asks for it."""

    def told(kind: type, name: str, instead: str) -> type:
        plain: Any = vars(kind)["__init__"]

        def init(self: Any, *arguments: Any, **named: Any) -> None:
            program.unmapped(f"torch.cuda.{name}", instead)
            plain(self, *arguments, **named)

        return type(name, (kind,), {"__init__": init})

    def timed(self: Any, end_event: Any) -> float:
        instead = f"the time it tells is the CPU's, and says nothing of {program.target.gpu}"
        program.unmapped("torch.cuda.Event.elapsed_time", instead)
        return Event.elapsed_time(self, end_event)

    def replayed(self: Any) -> None:
        program.unmapped("torch.cuda.CUDAGraph.replay", "nothing runs again, its outputs are those of the capture")

    def graphed(callables: Any, *_: Any, **__: Any) -> Any:
        program.unmapped("torch.cuda.make_graphed_callables", "they run as they are")
        return callables

    def current(*_: Any, **__: Any) -> Any:
        return Stream()

    def inside(*_: Any, **__: Any) -> Any:
        return Inside()

    stream = told(Stream, "Stream", "all work is done in order, one thing after the other")
    event = told(Event, "Event", "it happens when it is recorded, on the CPU")
    event.elapsed_time = timed  # type: ignore[attr-defined]
    graph = told(Graph, "CUDAGraph", "what it would capture runs once, as it is")
    graph.replay = replayed  # type: ignore[attr-defined]
    return {
        "Stream": stream,
        "ExternalStream": told(Stream, "ExternalStream", "all work is done in order, one thing after the other"),
        "Event": event,
        "CUDAGraph": graph,
        "graph": told(Inside, "graph", "what it would capture runs once, as it is"),
        "make_graphed_callables": graphed,
        "graph_pool_handle": lambda: (0, 0),
        "current_stream": current,
        "default_stream": current,
        "set_stream": lambda *_, **__: None,
        "stream": inside,
        "StreamContext": type("StreamContext", (Inside,), {}),
    }
