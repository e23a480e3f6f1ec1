"""Builds the rows of one graph's fusion: texts by number, looks in batches. Keeps names only, no nodes."""

import weakref
from typing import Any, Final, Literal

from inspect_compile.at_start import AtStart
from inspect_compile.facts import FusionCombo, FusionLooks, FusionOrder, FusionRound
from inspect_compile.facts.fusion import ALLOWED, OVERRULED, REFUSED, REFUSED_INSIDE, Benchmark, Fused, Look, Refusal
from inspect_compile.lowering.fusion.fusion_numbers import NUMBERS, WINDOW, Alike, fail_reason
from inspect_compile.probe import ENDED, Notes, Probes

LONGEST_ARGUMENT: Final = 400
"""Maximum length in characters: index expressions can be long, and the schedule has them in full."""
LONGEST_REASON: Final = 2000
LOOK: Final = "look"
WHY: Final = "why"
ASKED: Final = "asked"
"""Kinds of notes: the scheduler looks at a pair, says why not, asks whether a fusion is profitable."""
SHARE_NO_DATA: Final = ("no shared data", "no shared data due to indexing mismatch")
MOST_EXPLAINED: Final = 256
"""Maximum number of pairs of a graph for which torch is asked why they share no data."""
BATCH: Final = 512
"""Maximum number of looks in a row."""
BATCH_SECONDS: Final = 0.1
"""A row is closed after this time: with the writer's own delay a killed program loses less than 0.5 s."""


class Rows:
    """The rows of one graph, over all rounds."""

    def __init__(self, probes: Probes, graph: str) -> None:
        self._probes = probes
        self.graph = graph
        self.scheduler: weakref.ref[Any] | None = None
        """The scheduler whose round is open."""
        self.number = 0
        """Number of the last round."""
        self.round = 0
        """Number of the open round."""
        self.notes = Notes(self._read)
        """The looks of the open round."""
        self._depth = 0
        """can_fuse calls itself for foreach nodes and templates; the outermost call is the look."""
        self._pair: tuple[Any, ...] = ()
        """The pair of that look."""
        self._shared: int | None = None
        """The memory score of the open look."""
        self._refusals: list[tuple[str, str, tuple[Any, ...]]] = []
        """Refusals of the open look: a, b, torch's words and their arguments."""
        self.scores: dict[tuple[int, int], tuple[int, ...]] = {}
        """Scores in the open round."""
        self.parts: tuple[str, ...] = ()
        self.put_off: list[tuple[int, int]] = []
        self.phase: Literal["generate", "fuse", ""] = ""
        self._numbers: dict[str, int] = {}
        self._new: list[str] = []
        """Texts that are not in a row yet."""
        self._uses: dict[int, tuple[int, ...]] = {}
        """By node, as last written."""
        self._looks: list[Look] = []
        self._fused: list[Fused] = []
        self._benchmarks: list[Benchmark] = []
        self._since = 0.0
        self._ids: dict[int, int] = {}
        """id of a node of the open round → number of its name. The nodes live as long as the round."""
        self._values: dict[tuple[type, Any], int] = {}
        """Argument of a refusal → number of its text, in the open round."""
        self._kept: dict[str, Any] = {}
        self._numbered_before: dict[tuple[str, tuple[int, ...]], Refusal] = {}
        """Refusals of the open round: most are alike."""
        self._explained: dict[tuple[int, int], int | None] = {}
        """Pair of names → torch's explanation why it shares no data, over all rounds."""
        self._alike: Alike = {}

    def text(self, text: str) -> int:
        """The number of a text."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self._numbers)
            self._new.append(text)
        return number

    def node(self, node: Any) -> int:
        """The number of a scheduler node's name."""
        number = self._ids.get(id(node))
        return self.text(node.get_name()) if number is None else number

    def begin(self, scheduler: Any) -> None:
        """A round begins."""
        self.flush()
        self.scheduler = weakref.ref(scheduler)
        self.number += 1
        self.round, self.phase = self.number, "generate"
        self._forget()

    def end(self) -> None:
        """The round ends."""
        self.flush()
        self.scheduler, self.round, self.phase = None, 0, ""
        self._forget()

    def _forget(self) -> None:
        for kept in (self._ids, self._values, self._kept, self._numbered_before, self.scores):
            kept.clear()
        self.notes.clear()
        self._refusals.clear()
        self._pair, self._depth = (), 0
        self.put_off, self.parts = [], ()

    def tell_round(self, scheduler: Any, nodes: Any, reorder: bool, config: Any) -> None:
        """Write what the round can choose from. `nodes` are alive until it ends."""
        numbers = tuple(self.text(node.get_name()) for node in nodes)
        self._ids = {id(node): number for node, number in zip(nodes, numbers, strict=True)}
        changed = []
        for node, number in zip(nodes, numbers, strict=True):
            buffers = tuple(self.text(name) for name in node.used_buffer_names())
            if self._uses.get(number) != buffers:
                self._uses[number] = buffers
                changed.append((number, *buffers))
        aggressive = bool(getattr(config, "aggressive_fusion", False))
        groups = [(number, getattr(node, "group", None)) for node, number in zip(nodes, numbers, strict=True)]
        alike = tuple((number, self.text(str(group))) for number, group in groups if aggressive and group)
        unfusable = tuple(number for node, number in zip(nodes, numbers, strict=True) if scheduler.unfusable_node(node))
        self._probes.sink.add(
            FusionRound(
                **self._head(),
                reorder=bool(reorder),
                window=int(getattr(config, "max_fusion_buffer_group_pairwise_attempts", WINDOW)),
                aggressive=aggressive,
                nodes=numbers,
                unfusable=unfusable,
                uses=tuple(changed),
                alike=alike,
            )
        )

    def _read(self, notes: list[tuple[str, Any, Any]]) -> None:
        """Write the noted looks. A refusal outside of a look counts as a look."""
        scheduler = None if self.scheduler is None else self.scheduler()
        for label, what, arguments in notes:
            if label is LOOK:
                self._depth += 1
                if self._depth == 1:
                    self._pair, self._shared = arguments[:2], None
            elif label is WHY:
                if self._depth:
                    self._refusals.append((what.name1, what.name2, arguments))
                else:
                    a, b = self.text(what.name1), self.text(what.name2)
                    self._add_look(Look(a, b, REFUSED, None, (self._refusal(arguments),)))
            elif label is ASKED:
                if self._depth == 1:
                    self._shared = int(arguments[2])
            else:
                self._depth -= 1
                if not self._depth:
                    if label is ENDED:
                        one, other = self._pair
                        self._look(scheduler, one, other, bool(what))
                    self._refusals.clear()

    def _refusal(self, words: tuple[Any, ...], numbers: tuple[int, ...] = ()) -> Refusal:
        arguments = tuple([self._value(value) for value in words[1:]]) if len(words) > 1 else ()
        return Refusal(self.text(str(words[0])[:LONGEST_REASON]), arguments, numbers)

    def _value(self, value: Any) -> int:
        """The text number of an argument; most are lengths that repeat, and are expensive to print."""
        key = type(value), value
        if isinstance(value, (int, str)) or hasattr(value, "free_symbols"):
            number = self._values.get(key)
            if number is None:
                number = self._values[key] = self.text(str(value)[:LONGEST_ARGUMENT])
            return number
        return self.text(str(value)[:LONGEST_ARGUMENT])

    def _look(self, scheduler: Any, one: Any, other: Any, allowed: bool) -> None:
        """The outermost look at a pair has ended."""
        refusals, shared = self._refusals, self._shared
        if one is other:
            return  # both are in one node already: torch asks anyway
        a, b = self.node(one), self.node(other)
        own: tuple[Refusal, ...] = ()
        known = self._numbers.get
        for first, second, words in refusals:
            if known(first) != a or known(second) != b:
                outcome = OVERRULED if allowed else REFUSED_INSIDE
                self._add_look(Look(self.text(first), self.text(second), outcome, None, (self._refusal(words),)))
            elif not allowed and words[0] in NUMBERS:
                own += (self._numbered(words, scheduler, one, other),)
            elif not allowed and words[0] in SHARE_NO_DATA:
                own += (Refusal(self.text(words[0]), (), (), self._fail_reason(scheduler, one, other, (a, b))),)
            else:
                own += (self._refusal(words),)
        self._add_look(Look(a, b, ALLOWED if allowed else REFUSED, shared, own))

    def _numbered(self, words: tuple[Any, ...], scheduler: Any, one: Any, other: Any) -> Refusal:
        """A refusal with the numbers behind it, each preceded by its name."""
        names, of = NUMBERS[words[0]]
        numbers = of(scheduler, one, other, -1 if self._shared is None else self._shared, self._kept)
        key = words[0], numbers
        found = self._numbered_before.get(key)
        if found is None:
            numbered = [part for name, number in zip(names, numbers, strict=True) for part in (self.text(name), number)]
            found = self._numbered_before[key] = self._refusal(words, tuple(numbered))
        return found

    def _fail_reason(self, scheduler: Any, one: Any, other: Any, pair: tuple[int, int]) -> int | None:
        """torch's explanation for the pair, computed once per pair: it prints index expressions."""
        if pair not in self._explained and len(self._explained) < MOST_EXPLAINED:
            words = fail_reason(scheduler, one, other, self._alike)
            self._explained[pair] = self.text(words[:LONGEST_REASON]) if words else None
        return self._explained.get(pair)

    def _add_look(self, look: Look) -> None:
        looks = self._looks
        if not looks:
            self._since = AtStart.monotonic()
        looks.append(look)
        if len(looks) >= BATCH or not self.round or AtStart.monotonic() - self._since > BATCH_SECONDS:
            self._write()

    def fuse(self, one: Any, other: Any, result: Any) -> None:
        """Record that two nodes were fused."""
        self.notes.flush()
        into, kind = self.text(result.get_name()), self.text(type(result).__name__)
        self._fused.append(Fused(self.node(one), self.node(other), into, kind))

    def benchmark(self, a: str, b: str, alone_a: float, alone_b: float, fused: float) -> None:
        """Record that a pair was benchmarked, separately and fused; times in milliseconds."""
        self.notes.flush()
        self._benchmarks.append(Benchmark(self.text(a), self.text(b), alone_a, alone_b, fused))

    def score(self, one: Any, other: Any, parts: dict[str, int]) -> None:
        """Record the score that decides when a candidate is tried."""
        self.parts = tuple(parts)
        self.scores[self.node(one), self.node(other)] = tuple(parts.values())

    def tell_order(self, pairs: Any) -> None:
        """Record all candidates of the round in the order in which they will be tried."""
        self.flush()
        names = [self.node(one) for pair in pairs for one in pair]
        found = list(zip(names[::2], names[1::2], strict=True))
        ranked = [(*pair, *self.scores.get(pair, ())) for pair in found]
        parts = tuple(self.text(name) for name in self.parts)
        for start in range(0, max(len(ranked), 1 if self.put_off else 0), BATCH):
            self._probes.sink.add(
                FusionOrder(
                    **self._head(),
                    start=start,
                    parts=parts,
                    ranked=tuple(ranked[start : start + BATCH]),
                    put_off=tuple(self.put_off) if start == 0 else (),
                )
            )
        self.scores.clear()
        self.phase = "fuse"

    def combo(self, into: str, parts: list[str]) -> None:
        """Record that nodes were combined into one combo kernel."""
        number, numbers = self.text(into), tuple(self.text(part) for part in parts)
        self._probes.sink.add(FusionCombo(**self._head(), into=number, parts=numbers))

    def flush(self) -> None:
        """Write what is pending."""
        self.notes.flush()
        self._write()

    def _write(self) -> None:
        if not (self._looks or self._fused or self._benchmarks):
            return
        row = FusionLooks(
            **self._head(),
            phase=self.phase,
            looks=tuple(self._looks),
            fused=tuple(self._fused),
            benchmarks=tuple(self._benchmarks),
        )
        self._looks, self._fused, self._benchmarks = [], [], []
        self._probes.sink.add(row)

    def _head(self) -> dict[str, Any]:
        """Fields of every row. To be called last: the row has all texts that were numbered since the one before."""
        texts, self._new = tuple(self._new), []
        return {"graph": self.graph, "round": self.round, "first": len(self._numbers) - len(texts), "texts": texts}
