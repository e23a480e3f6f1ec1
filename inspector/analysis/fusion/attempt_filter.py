"""Selects fusion attempts by reason, source line or round."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from inspect_compile.analysis.dumps.few import few
from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.operation_names import operations_in
from inspect_compile.analysis.dumps.program_line import ProgramLine
from inspect_compile.analysis.fusion.ledger import Candidate, candidates
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Location, Node, Operation

_MOST_LINES: Final = 8
"""Maximum number of lines that an error names."""


class FusionFilter:
    """True of the attempts that are asked for; CommandError where nothing in the dump is so called."""

    def __init__(
        self,
        dump: Dump,
        graph: str | None,
        *,
        reason: str | None = None,
        line: str | None = None,
        in_round: int | None = None,
    ) -> None:
        self.words = tuple(
            word
            for option, given in (("--reason", reason), ("--line", line), ("--round", in_round))
            if given is not None
            for word in (option, str(given))
        )
        """The options as the user typed them."""
        self._reason, self._round = reason, in_round
        self._operations = None if line is None else _of_line(dump, graph, line)
        # A line alone needs no look at all attempts.
        graphs = () if reason is None and in_round is None else graphs_of(dump, graph)
        known = [row for found in graphs for row in candidates(dump, found.graph)]
        if reason is not None and all(reason not in (row.code, row.verdict) for row in known):
            raise CommandError(f"no pair was refused for {reason}; {_codes(known)}")
        if in_round is not None and all(row.round != in_round for row in known):
            last = max((row.round for row in known), default=0)
            there = f"there are rounds 1 to {last}" if last > 1 else "there is round 1" if last else "there is none"
            raise CommandError(f"no pair was looked at in round {in_round}; {there}")

    @classmethod
    def of(
        cls, dump: Dump, graph: str | None, *, reason: str | None, line: str | None, in_round: int | None
    ) -> "FusionFilter | None":
        """The one for these options; None where all attempts are asked for."""
        if reason is None and line is None and in_round is None:
            return None
        return cls(dump, graph, reason=reason, line=line, in_round=in_round)

    def __call__(self, row: Candidate) -> bool:
        """True if the row is selected."""
        if self._reason is not None and self._reason not in (row.code, row.verdict):
            return False
        if self._round is not None and row.round != self._round:
            return False
        if self._operations is None:
            return True
        return any((row.graph, name) in self._operations for pair in (row.a, row.b) for name in operations_in(pair))


def _codes(rows: list[Candidate]) -> str:
    found = Counter(row.code or row.verdict for row in rows if row.verdict != "fused")
    return f"there are: {' '.join(code for code, _ in found.most_common())}" if found else "no pair was refused at all"


def _of_line(dump: Dump, graph: str | None, line: str) -> set[tuple[str, str]]:
    """(graph, operation) of the operations that a source line made: `12`, `model.py:12` or a longer path."""
    asked = ProgramLine.read(line)
    if asked is None:
        raise CommandError(f"--line {line}: neither a number nor file.py:NUMBER")
    places = [(node, node.where) for node in dump.rows(Node, graph) if node.where is not None]
    meant = {(node.graph, node.name) for node, where in places if asked.is_at(where)}
    operations = [row for row in dump.rows(Operation, graph) if row.phase == "pre_fusion"]
    found = {(row.graph, row.name) for row in operations if any((row.graph, node) in meant for node in row.nodes)}
    if not found:
        made = {(row.graph, node) for row in operations for node in row.nodes}
        raise CommandError(
            f"no operation comes from line {line}; {_lines(where for node, where in places if _in(node, made))}"
        )
    return found


def _in(node: Node, made: set[tuple[str, str]]) -> bool:
    return node.stage == "post_grad" and (node.graph, node.name) in made


def _lines(places: Iterable[Location]) -> str:
    found = sorted({(where.file.replace("\\", "/").rpartition("/")[2], where.line) for where in places})
    if not found:
        return "no operation is known to come from a line"
    return f"there are: {few([f'{file}:{number}' for file, number in found], _MOST_LINES)}"
