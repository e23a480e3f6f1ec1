"""What differs before there is a graph: breaks, recompiles and frames that only one side has."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, partial

from inspect_compile.analysis.compare.causes.finding import Finding
from inspect_compile.analysis.compare.causes.sources import Edit, Sources, edit_finding
from inspect_compile.analysis.compare.content import FrameContent, GraphContent, own
from inspect_compile.analysis.compare.pairing import Pairing
from inspect_compile.analysis.frontend.frames import resumed
from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Frame, GraphBreak, Location, Recompile
from inspect_compile.graph import grouped, script_name, unless_script


class FrameCauses:
    """The frames of both sides."""

    def __init__(self, both: Pairing) -> None:
        self._pairs = both.frames
        self._contents = both.a, both.b
        self._dumps = both.a.dump, both.b.dump
        self._scripts = script_name(both.a.dump.run.argv), script_name(both.b.dump.run.argv)

    @cached_property
    def _breaks(self) -> tuple[dict[str, Finding], dict[str, Finding]]:
        """Compile id on either side → the first break that only one side has."""
        found: tuple[dict[str, Finding], dict[str, Finding]] = ({}, {})
        rows = [grouped(dump.rows(GraphBreak), lambda row: row.graph) for dump in self._dumps]
        for one, other in self._pairs:
            mine, theirs = (
                breaks.get(frame.compile_id, []) if frame is not None else []
                for breaks, frame in zip(rows, (one, other), strict=True)
            )
            finding = self._of_breaks(mine, theirs) if one is not None and other is not None else None
            if finding is not None:
                for side, frame in zip(found, (one, other), strict=True):
                    assert frame is not None
                    side[frame.compile_id] = finding
        return found

    def _of_breaks(self, ours: list[GraphBreak], theirs: list[GraphBreak]) -> Finding | None:
        for identity in (_identity, _place):  # what is written there, then where: a shared dump may not tell the former
            mine, its = (partial(identity, script) for script in self._scripts)
            left, right = Counter(map(mine, ours)), Counter(map(its, theirs))
            only = [row for row in theirs if right[its(row)] > left[its(row)]]
            gone = [row for row in ours if left[mine(row)] > right[mine(row)]]
            ours, theirs = gone, only
        if not only and not gone:
            return None
        row, is_b = (only[0], True) if only else (gone[0], False)
        level = "source" if self._is_new(row.where, is_b=is_b) else "dynamo"
        reason = _reason(row)
        message = f"the graph breaks here{'' if only else ' no more'}: {reason}"
        lines = [tuple(f"break: {_reason(one)}" for one in rows) for rows in (gone, only)]
        where, old = (row.where, gone[0].where if gone else None) if only else (None, row.where)
        return Finding(level, "graph break", message, ("break", own(reason), _text(row.where)), where, old, *lines)

    def broken(self, a: str, b: str) -> Finding | None:
        """The break because of which the graphs of two compiles are other ones; None if they break alike."""
        return self._breaks[False].get(a) or self._breaks[True].get(b)

    def of_graph(self, graph: GraphContent, *, is_b: bool) -> Finding:
        """Why only one side has a graph."""
        side = "{b}" if is_b else "{a}"
        frame = next((row for row in self._contents[is_b].frames if row.compile_id == graph.compile_id), None)
        dump = self._dumps[is_b]
        again = next((row for row in dump.rows(Recompile) if row.graph == graph.compile_id), None)
        where = self._where(graph.compile_id, is_b=is_b)
        places = (where, None) if is_b else (None, where)
        broken = self._break_of(frame) if frame is not None and again is None else None
        if broken is not None:
            return broken
        if again is not None:
            guards = "; ".join(again.failed_guards)
            message = f"{side} compiled {again.function} again: {guards}"
            lines = ((), again.failed_guards) if is_b else (again.failed_guards, ())
            return Finding("dynamo", "recompile", message, ("recompile", again.function, own(guards)), *places, *lines)
        function = frame.function if frame is not None else f"a frame {graph.compile_id}"
        message = f"only {side} compiled a {graph.kind} graph of {function}"
        level = "dynamo" if frame is not None else "not known"
        return Finding(level, "graph", message, (level, "graph", function, graph.kind, is_b), *places)

    def breaks(self) -> list[Finding]:
        """Breaks that only one side has, whether or not they made kernels differ."""
        return list(dict.fromkeys([*self._breaks[False].values(), *self._breaks[True].values()]))

    def edits(self) -> list[Finding]:
        """The lines of the program that are other ones, where breaks or recompiles divide it into other graphs."""
        return [edit_finding(edit) for edit in self._edited] if self.breaks() else []

    def is_edit(self, finding: Finding) -> bool:
        """Is it about a line that is another one, and not only in another graph?"""
        return finding.key in {("source", edit) for edit in self._edited}

    @cached_property
    def _edited(self) -> list[Edit]:
        a, b = (dump.rows(DynamoNode) for dump in self._dumps)
        return Sources(a, b, self._scripts).edited()

    def _break_of(self, frame: FrameContent) -> Finding | None:
        """The break that ended the graph before a frame that goes on from there; of any other frame, the only one."""
        found = self.breaks()
        for one in found:
            place = one.where or one.old_where
            if place is not None and resumed(frame.function) == (place.function, place.line):
                return one
        return found[0] if len(found) == 1 else None

    def _where(self, compile_id: str, *, is_b: bool) -> Location | None:
        frame = next((row for row in self._dumps[is_b].rows(Frame) if row.graph == compile_id), None)
        return None if frame is None else Location(frame.file, frame.line, frame.function)

    def _is_new(self, where: Location | None, *, is_b: bool) -> bool:
        """Does the program of one side alone have a line? It has if lines below it have moved against those above."""
        if where is None:
            return False
        mine, theirs = self._lines[is_b], self._lines[not is_b]
        file = unless_script(where.file, self._scripts[is_b])
        ours, others = mine.get(file, {}), theirs.get(file, {})
        if where.code and where.code.strip() in others:
            return False
        both = sorted((line, line - others[text]) for text, line in ours.items() if text in others)
        at = bisect_left(both, (where.line, 0))
        return 0 < at < len(both) and both[at][1] > both[at - 1][1]

    @cached_property
    def _lines(self) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]]:
        """File → texts that one of its lines alone has → its number, of the lines that made nodes."""
        return _unique_lines(self._dumps[0]), _unique_lines(self._dumps[1])


def _unique_lines(dump: Dump) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, set[int]]] = {}
    script = script_name(dump.run.argv)
    for place in _places(dump.rows(DynamoNode)):
        found.setdefault(unless_script(place.file, script), {}).setdefault(place.code.strip(), set()).add(place.line)
    return {
        file: {text: min(numbers) for text, numbers in lines.items() if text and len(numbers) == 1}
        for file, lines in found.items()
    }


def _places(nodes: Iterable[DynamoNode]) -> Iterator[Location]:
    seen: set[int] = set()
    for node in nodes:
        for one in () if node.where is None else node.where.calls():
            if id(one) not in seen:
                seen.add(id(one))
                yield one


def _text(where: Location | None) -> str:
    return "" if where is None else where.code.strip()


def _reason(row: GraphBreak) -> str:
    return (row.reason.strip().splitlines() or [""])[-1]


def _place(script: str, row: GraphBreak) -> tuple[str, int, str]:
    where = row.where
    file, line = ("", 0) if where is None else (unless_script(where.file, script), where.line)
    return file, line, own(_reason(row))


def _identity(_: str, row: GraphBreak) -> tuple[str, str]:
    return _text(row.where), own(_reason(row))
