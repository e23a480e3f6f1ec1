"""How long the compiles of a program took."""

from inspect_compile.analysis.frontend.times import compile_seconds, parts
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame
from inspect_compile.graph import grouped


class CompileTimes:
    """Seconds that compiles took, backward graphs that were compiled later included."""

    def __init__(self, dump: Dump) -> None:
        self._frames = grouped(dump.rows(Frame), lambda row: row.graph)
        self._took = compile_seconds(parts(dump))
        self._dump = dump

    def of(self, compile_id: str) -> float | None:
        """Seconds of one compile; None if it did not end.

        By torch's timers, as in `show time`: a backward with symbolic sizes is compiled with its frame, others later.
        """
        rows = self._frames.get(compile_id)
        if not rows:
            return None
        if compile_id in self._took:
            return self._took[compile_id]
        later = [one for one in self._dump.graphs_of_compile(compile_id) if one.kind == "backward"]
        ends = [self._dump.graph_end(one.graph) for one in later]
        return sum(row.seconds for row in rows) + sum(end.seconds for end in ends if end is not None)
