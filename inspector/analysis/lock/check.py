"""What differs from a contract and may not, by its rules: the causes first, then what follows from them."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from inspect_compile.analysis.lock.contract import Compiled
from inspect_compile.analysis.lock.figures import (
    Row,
    frame_of,
    function_of,
    kind_of,
    labels_of,
    listed,
    more_of,
    name_of,
    number_in,
    plural,
)
from inspect_compile.analysis.lock.figures import before as before_of
from inspect_compile.analysis.lock.metrics import METRICS, Metric
from inspect_compile.analysis.lock.pairs import frame_pairs, graph_pairs, machine_pairs
from inspect_compile.analysis.lock.places import Place, Places
from inspect_compile.analysis.lock.promises import broken_promises
from inspect_compile.analysis.lock.records import VERSIONS, GraphLock, Lock, MachineGraph, Made
from inspect_compile.analysis.lock.rules import Bound, Forbidden, Ignore, NoChange, Rule, Together
from inspect_compile.analysis.lock.words import change_words, number_words
from inspect_compile.facts import Location
from inspect_compile.graph import outermost

_ORDER: Final = {name: index for index, name in enumerate(METRICS)}
_EACH: Final = ("graph_breaks", "recompiles", "fallback", "missed")
"""Each label is a difference of its own, at its own line; labels of other metrics are one together."""
_FIGURES: Final = ("launches", "flops", "bytes", "peak")
"""Numbers of a graph; the other metrics are tables of labels."""
_OF_BINARIES: Final = ("spills", "registers")
"""Numbers of a graph's kernels, as they were compiled here."""
_TOLD_ANYWAY: Final = ("graph_breaks", "recompiles", "fallback")
"""Also in a function with another graph break or recompile."""


class Change(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="change"):
    """Something that differs from a contract although a rule forbids it. `check --format json` prints these."""

    metric: str
    rule: str
    """The rule that it breaks."""
    frame: str = ""
    kind: str = ""
    """Kind of the graph; empty for what is not about one."""
    message: str = ""
    """What differs, as a sentence."""
    why: str = ""
    """The cause, as the dump shows it; empty if it does not."""
    where: Location | None = None
    is_new_line: bool = False
    """True if the contract does not know the line at `where`."""
    follows: bool = False
    """True if it only follows from others that are told, too: of a graph break or a recompile all else in that
    function, and another source of a kernel from whatever else differs in its graph."""
    leads: bool = False
    """True if it is told before the others of its graph, as most likely their cause: a dtype that was not there."""

    is_better: bool = False
    """True if there is less of what nobody wants, such as a graph break: told after the others."""


def other_versions(old: Made, now: Made) -> list[str]:
    """The versions that a contract was made with and that are others now: `python 3.11.7 (now 3.12.3)`."""
    pairs = ((name, getattr(old, name), getattr(now, name)) for name in VERSIONS)
    return [f"{name} {one} (now {other})" for name, one, other in pairs if one and other and one != other]


class Result(NamedTuple):
    """What a check found."""

    changes: list[Change]
    is_same_machine: bool
    """Whether what depends on the machine was compared."""
    rules: int


def check(old: Lock, now: Compiled, rules: Sequence[Rule]) -> Result:
    """All differences that break a rule, the causes first."""
    same_machine = bool(now.lock.machine.kind) and old.machine.kind == now.lock.machine.kind
    checked = _Check(old, now, rules)
    found = list(checked.changes(same_machine))
    cut = {function_of(one.frame) for one in found if one.metric in ("graph_breaks", "recompiles") and one.frame}
    graphs = {(one.frame, one.kind) for one in found if METRICS[one.metric].of == "graph"}
    changes = [
        msgspec.structs.replace(one, follows=True)
        if (function_of(one.frame) in cut and one.metric not in _TOLD_ANYWAY)
        or (one.metric == "sources" and (one.frame, one.kind) in graphs)
        else one
        for one in found
    ]
    ordered = sorted(changes, key=_order)
    return Result(ordered, same_machine, len(rules))


def _order(change: Change) -> tuple[object, ...]:
    rank = _ORDER["fallback"] if change.leads else _ORDER[change.metric]
    return change.follows, change.is_better, rank, change.frame, change.kind


class _Check:
    def __init__(self, old: Lock, now: Compiled, rules: Sequence[Rule]) -> None:
        self._old, self._now, self._rules = old, now, rules
        self._places = Places(old, now)
        self._graphs = graph_pairs(old.graphs, now.lock.graphs)
        self._machine = machine_pairs(old.machine.graphs, now.lock.machine.graphs)

    def changes(self, same_machine: bool) -> Iterator[Change]:
        yield from self._frames()
        for (a, b), position in self._graphs:
            yield from self._graph(a, b, position)
        if same_machine:
            for (one, other), position in self._machine:
                if one is not None and other is not None:
                    yield from self._labelled("sources", one, other, self._now.names[position])
                    yield from self._labelled("choices", one, other, self._now.names[position])
                    yield from self._figures(_OF_BINARIES, one, other, self._now.names[position])
        for rule in self._rules:
            if isinstance(rule, Bound):
                yield from self._bound(rule, same_machine)
            elif isinstance(rule, Forbidden):
                yield from self._forbidden(rule)
            elif isinstance(rule, Together) and (broken := broken_promises(rule, self._now)) is not None:
                yield Change(metric="fused", rule=rule.text, message=broken.message, why=broken.why, where=broken.where)

    def _unchanged(self, metric: str, kind: str = "") -> str:
        """The rule that keeps a metric as it was; empty if a later one says otherwise."""
        found = ""
        for rule in self._rules:
            if isinstance(rule, NoChange) and rule.metric in ("", metric) and rule.kind in ("", kind):
                found = rule.text
            elif isinstance(rule, Ignore | Bound) and rule.metric == metric and rule.kind in ("", kind):
                found = ""
        return found

    def _frames(self) -> Iterator[Change]:
        for a, b in frame_pairs(self._old.frames, self._now.lock.frames):
            if a is not None and b is not None:
                for metric in ("graph_breaks", "recompiles", "guards"):
                    yield from self._labelled(metric, a, b, b.name)
                if (rule := self._unchanged("status")) and a.status != b.status:
                    place = self._places.of_frame(b.name)
                    yield self._change("status", rule, b, f"{b.name} is {b.status}, was {a.status}", place)
                continue
            only = a or b
            assert only is not None
            for metric in ("graph_breaks", "recompiles"):
                empty = msgspec.structs.replace(only, graph_breaks={}, recompiles={})
                yield from self._labelled(metric, a or empty, b or empty, only.name)
            if rule := self._unchanged("frames"):
                words = "is no longer compiled" if b is None else "is compiled, and was not"
                yield self._change("frames", rule, only, f"{only.name} {words}", self._places.of_frame(only.name))

    def _graph(self, a: GraphLock | None, b: GraphLock | None, position: int) -> Iterator[Change]:
        if a is None or b is None:
            only = a or b
            assert only is not None
            if rule := self._unchanged("graphs"):
                words = "is no longer there" if b is None else "was not there"
                place = self._places.of_frame(only.frame)
                yield self._change("graphs", rule, only, f"the graph {only.name} {words}", place)
            return
        owner = self._now.names[position]
        for metric in ("fallback", "missed", "fused", "kernels", "extern", "dtypes"):
            yield from self._labelled(metric, a, b, owner)
        if (rule := self._unchanged("cudagraphs", b.kind)) and a.cudagraphs != b.cudagraphs:
            message = f"CUDA graphs of {b.name} are {b.cudagraphs or 'not used'}, were {a.cudagraphs or 'not used'}"
            yield self._change("cudagraphs", rule, b, message, self._places.best(b.frame, ()))
        yield from self._figures(_FIGURES, a, b, owner)

    def _labelled(
        self,
        metric: str,
        a: Row,
        b: Row,
        owner: str,
    ) -> Iterator[Change]:
        """Labels that are more or fewer."""
        rule = self._unchanged(metric, kind_of(b))
        before, after = labels_of(metric, a), labels_of(metric, b)
        if not rule or before == after:
            return
        more = [label for label in after if after[label] > before.get(label, 0)]
        fewer = [label for label in before if before[label] > after.get(label, 0)]
        what = METRICS[metric].what
        if metric in _EACH:
            for label in (*more, *fewer):
                place = self._places.marked(frame_of(b), self._places.of_label(owner, metric, label))
                if metric == "missed" or place.where is None:
                    place = self._places.best(frame_of(b), [place])
                message = change_words(what, name_of(b), before.get(label, 0), after.get(label, 0), label)
                change = self._change(metric, rule, b, message, place)
                yield msgspec.structs.replace(change, is_better=label in fewer)
            return
        candidates = [self._places.of_label(owner, metric, label) for label in more]
        candidates += [self._lost(owner, label) for label in fewer] if metric == "fused" else []
        message = change_words(
            what, name_of(b), sum(before.values()), sum(after.values()), listed(more, fewer, before, after)
        )
        change = self._change(metric, rule, b, message, self._places.best(frame_of(b), candidates))
        yield msgspec.structs.replace(change, leads=metric == "dtypes" and any(one not in before for one in more))

    def _lost(self, owner: str, label: str) -> Place:
        """Where the operators are now that one loop had computed, with the reason why they are apart."""
        wanted = set(label.split(" + "))
        loops = [one for one in self._now.loops if outermost(one.graph) == owner and wanted & set(one.operators)]
        names = {one.name for one in loops}
        pair = next((one for one in self._now.apart if one.a in names and one.b in names), None)
        where = next((at for one in reversed(loops) for at in reversed(one.lines)), None)
        return Place(where, pair.why if pair is not None else "", False)

    def _figures(
        self, metrics: Sequence[str], a: GraphLock | MachineGraph, b: GraphLock | MachineGraph, owner: str
    ) -> Iterator[Change]:
        """Numbers that are others."""
        for name in metrics:
            metric, rule = METRICS[name], self._unchanged(name, b.kind)
            before, after = getattr(a, name), getattr(b, name)
            if rule and before != after:
                yield self._figure(metric, rule, a, b, owner, before or 0, after or 0)

    def _figure(
        self, metric: Metric, rule: str, a: object, b: GraphLock | MachineGraph, owner: str, before: int, after: int
    ) -> Change:
        explanation, place = self._explained(metric.name, a, b, owner)
        words = (
            f"{metric.name} of {name_of(b)}: {number_words(before, metric.unit)} → {number_words(after, metric.unit)}"
        )
        return self._change(metric.name, rule, b, words + explanation, place)

    def _explained(self, metric: str, a: object, b: GraphLock | MachineGraph, owner: str) -> tuple[str, Place]:
        """Which operators the difference of a figure is of, and where those are."""
        by = {"flops": "operators", "peak": "held"}.get(metric)
        if by is not None and isinstance(a, GraphLock):
            before, after = getattr(a, by), getattr(b, by)
            grown = sorted(before | after, key=lambda label: before.get(label, 0) - after.get(label, 0))
            more = [label for label in grown if after.get(label, 0) > before.get(label, 0)]
            candidates = [self._places.of_label(owner, by, label) for label in more]
            unit = METRICS[metric].unit
            listed = [
                f"{label} {number_words(before.get(label, 0), unit)} → {number_words(after.get(label, 0), unit)}"
                for label in more[:3]
            ]
            return (f" ({', '.join(listed)})" if listed else ""), self._places.best(frame_of(b), candidates)
        if metric in _OF_BINARIES:
            return "", self._places.of_label(owner, metric, "")
        candidates = []
        if isinstance(a, GraphLock) and isinstance(b, GraphLock):
            for name in ("fallback", "fused", "extern", "dtypes"):
                more = more_of(labels_of(name, a), labels_of(name, b))
                candidates += [self._places.of_label(owner, name, label) for label in more]
        return "", self._places.best(frame_of(b), [*candidates, self._places.of_label(owner, "bytes", "")])

    def _bound(self, rule: Bound, same_machine: bool) -> Iterator[Change]:
        metric = METRICS[rule.metric]
        if rule.is_multiple and metric.of in ("graph", "machine"):
            yield from self._multiples(rule, metric, same_machine)
            return
        owners = [
            (owner, one)
            for owner, one in self._owners(metric)
            if rule.kind in ("", kind_of(one)) and number_in(metric, one) is not None
        ]
        numbers = [number_in(metric, one) or 0 for _, one in owners]
        found = (max(numbers, default=0) if metric.is_largest else sum(numbers)) if metric.of != "run" else len(owners)
        before = before_of(self._old, metric, rule.kind)
        if (metric.of == "machine" and not owners) or rule.holds(found, before):
            return
        message = f"{number_words(found, metric.unit)} {plural(metric.what, found)}, and the rule is {rule.text}"
        largest = sorted(owners, key=lambda one: -(number_in(metric, one[1]) or 0))[:1]
        place = Place(None, "", False)
        for owner, one in largest:
            if metric.name in _OF_BINARIES:
                place = self._places.of_label(owner, metric.name, "")
                break
            labels = labels_of(metric.name, one) if metric.name not in _FIGURES else {}
            candidates = [self._places.of_label(owner, metric.name, label) for label in labels]
            place = (
                candidates[0] if candidates and metric.name in _EACH else self._places.best(frame_of(one), candidates)
            )
        yield Change(
            metric=metric.name, rule=rule.text, kind=rule.kind, message=message, why=place.why, where=place.where,
            is_new_line=place.is_new,
        )  # fmt: skip

    def _multiples(self, rule: Bound, metric: Metric, same_machine: bool) -> Iterator[Change]:
        if metric.of == "machine" and not same_machine:
            return
        pairs: Sequence[tuple[tuple[object, object], int]] = self._machine if metric.of == "machine" else self._graphs
        for (a, b), position in pairs:
            if not isinstance(a, GraphLock | MachineGraph) or not isinstance(b, GraphLock | MachineGraph):
                continue
            before, after = number_in(metric, a), number_in(metric, b)
            if rule.kind in ("", b.kind) and before is not None and after is not None and not rule.holds(after, before):
                yield self._figure(metric, rule.text, a, b, self._now.names[position], before, after)

    def _forbidden(self, rule: Forbidden) -> Iterator[Change]:
        metric = METRICS[rule.metric]
        for owner, one in self._owners(metric):
            for label, number in labels_of(rule.metric, one).items():
                if not rule.name or rule.name in label:
                    place = self._places.of_label(owner, rule.metric, label)
                    message = f"{name_of(one)} has {number_words(number)} {plural(metric.what, number)}: {label}"
                    yield self._change(rule.metric, rule.text, one, message, place)

    def _owners(self, metric: Metric) -> list[tuple[str, Row]]:
        now = self._now.lock
        if metric.of == "frame" or metric.name == "frames":
            return [(one.name, one) for one in now.frames]
        rows: Sequence[GraphLock | MachineGraph] = now.machine.graphs if metric.of == "machine" else now.graphs
        return [(self._now.names[index], one) for index, one in enumerate(rows)]

    @staticmethod
    def _change(metric: str, rule: str, of: Row, message: str, place: Place) -> Change:
        return Change(
            metric=metric, rule=rule, frame=frame_of(of), kind=kind_of(of), message=message, why=place.why,
            where=place.where, is_new_line=place.is_new,
        )  # fmt: skip
