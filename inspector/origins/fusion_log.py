"""What torch's scheduler logs of fusions, in the `debug.log` of a graph's folder or where TORCH_LOGS=fusion goes.

A pair that was allowed and not fused is in no log, nor are the scores of pairs.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from inspect_compile.facts import FusionLooks, FusionRound, Operation
from inspect_compile.facts.fusion import ALLOWED, REFUSED, Fused, Look, Refusal

MOST_LINES: Final = 2_000_000
"""Further lines of a log are left out."""
_BATCH: Final = 512
"""Maximum number of looks in a row."""
_MOST_BUFFERS: Final = 1000
"""Maximum number of buffers of a node that came out of a fusion."""
_LONGEST: Final = 2000
"""Maximum characters of a reason, and of a name."""
_WINDOW: Final = 64
"""torch's default of max_fusion_buffer_group_pairwise_attempts."""
_ROUND: Final = "fuse_nodes_once, candidates:"
_NAMED: Final = ("(name='", "(nodes=")
"""What stands before the name of a candidate, and after its class."""
_WORD: Final = re.compile(r"\w{1,2000}")
_REFUSED: Final = re.compile(r"cannot fuse (\w+) with (\w+): (.+)$")
_FUSED: Final = re.compile(r"fusing (\w+) with (\w+)$")
_NODE_TYPE: Final = "FusedSchedulerNode"
_NEVER_PAIRED: Final = ("ExternKernelSchedulerNode", "NopKernelSchedulerNode")


def fusion_rows(graph: str, log: str, operations: Sequence[Operation] = ()) -> Iterator[FusionRound | FusionLooks]:
    """The rounds, the refusals with torch's words, and the fusions in the log of one graph, in order.

    `operations`: those before fusion, for the buffers that each uses.
    """
    reader = _Reader(graph, operations)
    for line in log.split("\n", MOST_LINES)[:MOST_LINES]:
        yield from reader.read(line)
    yield from reader.rows()


class _Reader:
    """Reads the lines in order."""

    def __init__(self, graph: str, operations: Sequence[Operation]) -> None:
        self._graph = graph
        self._uses = {
            row.name: {access.buffer: None for access in (*row.reads, *row.writes)}
            for row in operations
            if row.phase == "pre_fusion"
        }
        """Node → the buffers that it uses."""
        self._told: dict[str, None] = {}
        """Nodes whose buffers are in a row."""
        self._numbers: dict[str, int] = {}
        self._new: list[str] = []
        self._round = 0
        self._candidates: list[tuple[str, str]] | None = None
        """Class and name of each node of a round whose nodes are being listed."""
        self._looks: list[Look] = []
        self._fused: list[Fused] = []

    def read(self, line: str) -> Iterator[FusionRound | FusionLooks]:
        """The rows that are complete once `line` is read."""
        if line.endswith(_ROUND):
            yield from self.rows()
            self._round += 1
            self._candidates = []
            return
        place = max(line.find("cannot fuse "), line.find("fusing "))
        if self._candidates is not None and place < 0 and (candidate := _candidate(line)) is not None:
            self._candidates.append(candidate)
        elif place >= 0 and (refused := _REFUSED.match(line, place)) is not None:
            words = Refusal(self._number(refused[3]))
            self._looks.append(Look(self._number(refused[1]), self._number(refused[2]), REFUSED, refusals=(words,)))
        elif place >= 0 and (done := _FUSED.match(line, place)) is not None:
            self._fuse(done[1], done[2])
        if len(self._looks) >= _BATCH:
            yield from self.rows()

    def rows(self) -> Iterator[FusionRound | FusionLooks]:
        """What was read since."""
        if self._candidates is not None:
            yield self._round_row(self._candidates)
            self._candidates = None
        if self._looks:
            texts, first = self._texts()
            yield FusionLooks(
                graph=self._graph,
                round=self._round,
                first=first,
                texts=texts,
                phase="fuse" if self._round else "",
                looks=tuple(self._looks),
                fused=tuple(self._fused),
            )
            self._looks, self._fused = [], []

    def _round_row(self, candidates: list[tuple[str, str]]) -> FusionRound:
        nodes = tuple(self._number(name) for _, name in candidates)
        unfusable = tuple(self._number(name) for kind, name in candidates if kind in _NEVER_PAIRED)
        new = dict.fromkeys(name for _, name in candidates if name in self._uses and name not in self._told)
        self._told.update(new)
        uses = tuple((self._number(name), *(self._number(buffer) for buffer in self._uses[name])) for name in new)
        texts, first = self._texts()
        return FusionRound(
            graph=self._graph,
            round=self._round,
            first=first,
            texts=texts,
            reorder=False,
            window=_WINDOW,
            aggressive=False,
            nodes=nodes,
            unfusable=unfusable,
            uses=uses,
        )

    def _fuse(self, a: str, b: str) -> None:
        into = f"{a}_{b}"
        uses = self._uses.get(a, {}) | self._uses.get(b, {})
        if len(uses) <= _MOST_BUFFERS:
            self._uses[into] = uses
        first, second = self._number(a), self._number(b)
        self._looks.append(Look(first, second, ALLOWED))
        self._fused.append(Fused(first, second, self._number(into), self._number(_NODE_TYPE)))

    def _number(self, text: str) -> int:
        text = text[:_LONGEST]
        if text not in self._numbers:
            self._numbers[text] = len(self._numbers)
            self._new.append(text)
        return self._numbers[text]

    def _texts(self) -> tuple[tuple[str, ...], int]:
        """Texts that are in no row yet, and the number of the first."""
        texts, self._new = tuple(self._new), []
        return texts, len(self._numbers) - len(texts)


def _candidate(line: str) -> tuple[str, str] | None:
    """Class and name of the node in `  SchedulerNode(name='op0'), Pointwise(…)`."""
    places = {place: mark for mark in _NAMED if (place := line.find(mark)) >= 0}
    if not places:
        return None
    place = min(places)
    name = _WORD.match(line, place + len(places[place]))
    return None if name is None else (line[:place][-_LONGEST:].rpartition(" ")[2], name[0])
