"""A graph with wrong results compiled again and checked, with one setting after the other: which of them fix it."""

from collections.abc import Iterator

import msgspec

from inspect_compile.analysis.dumps.parts import asked, replays
from inspect_compile.analysis.numerics.kept import blamed
from inspect_compile.analysis.numerics.verdicts import summary
from inspect_compile.dump import Dump, paths, readable_dump
from inspect_compile.facts import NumericsCall, Operation
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.knowledge.numerics.settings import SETTINGS, not_tried
from inspect_compile.knowledge.numerics.verdicts import WORSE, WRONG

STILL = "still wrong"
NOT_WRONG = "not wrong"
"""Outcomes of the compile as it was."""
FIXES = "fixes it"
HELPS = "helps"
FIXES_NOT = "does not fix it"
FAILED = "failed"
NOT_TRIED = "not tried"

_AS_IT_WAS = "as it was"


class Attempt(msgspec.Struct, frozen=True):
    """What is changed in a compile."""

    config: dict[str, str]
    """Settings, with values as Python writes them."""
    apart: tuple[tuple[str, ...], ...] = ()
    """Two groups of operations that are not fused with each other; none."""
    about: str = ""
    """What is suspected."""
    reason: str = ""
    """Why it need not be tried."""

    @property
    def denied(self) -> tuple[tuple[str, str], ...]:
        """`apart` in the form of run.json."""
        return (("_".join(self.apart[0]), "_".join(self.apart[1])),) if self.apart else ()

    @property
    def words(self) -> str:
        """What is changed, for a person."""
        return asked("", self.config, self.denied) or _AS_IT_WAS


class Counterfactual(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="counterfactual"):
    """A graph compiled again with one change. `show numerics --json` prints these."""

    graph: str
    change: str
    """`emulate_precision_casts=True`; `as it was` for the compile without a change."""
    config: dict[str, str]
    denied: tuple[tuple[str, str], ...]
    about: str
    """What is suspected."""
    outcome: str
    """fixes it, helps, does not fix it, failed or not tried; of the compile without a change still wrong, not wrong or
    failed.
    """
    reason: str = ""
    """Why it failed, or was not tried."""
    replay: int | None = None
    """Number of the replay with the details."""
    wrong: int = 0
    """Number of results, here and below."""
    worse: int = 0
    """Results that are worse than eager's."""
    compared: int = 0
    launches: int | None = None
    """Number of launches in a call; None if it was not compiled."""
    bytes: int | None = None
    """That these read and write, each element once."""
    first_launches: int
    first_bytes: int
    """The same of the first compile."""


def attempts(graph: CompiledGraph) -> Iterator[Attempt]:
    """What is tried, the compile as it was first."""
    yield Attempt({})
    torch = graph.dump.run.versions.get("torch", "")
    text = graph.text(paths.FX_RUNNABLE) or ""
    apart = _apart(graph)
    for setting in SETTINGS:
        if apart and "max_fusion_size" in setting.config:
            yield Attempt({}, apart, "this fusion")
        reason = not_tried(setting, graph.fact.device or graph.dump.run.device, torch, text)
        yield Attempt(setting.literals(), (), setting.about, reason)


def causes(graphs: Graphs) -> list[Counterfactual]:
    """The graphs that were compiled again and checked; the latest of several compiles with one change counts."""
    found: dict[str, dict[tuple[object, ...], tuple[int, Dump]]] = {}
    for number, part in replays(graphs.dump).items():
        again = readable_dump(part.dump.root)
        if again is None or graphs.name not in (None, again.run.replay_of):
            continue
        if _is_checked(again) or again.run.exception:
            key = tuple(again.run.config.items()), again.run.denied
            found.setdefault(again.run.replay_of, {})[key] = number, again
    rows: list[Counterfactual] = []
    for name, tried in found.items():
        as_it_was = tried.get(((), ()))
        if (of := graphs.dump.graph(name)) is not None and as_it_was is not None and _is_checked(as_it_was[1]):
            rows += _of_graph(CompiledGraph(graphs.dump, of.graph), tried)
    return rows


def _is_checked(dump: Dump) -> bool:
    return any(not call.stage for call in dump.rows(NumericsCall))


def _of_graph(graph: CompiledGraph, tried: dict[tuple[object, ...], tuple[int, Dump]]) -> Iterator[Counterfactual]:
    first = _cost(graph)
    recorded = blamed(graph.dump).get(graph.name)
    base: tuple[int, int] | None = None
    for attempt in attempts(graph):
        number, part = tried.get((tuple(attempt.config.items()), attempt.denied), (None, None))
        plain = Counterfactual(
            graph=graph.name,
            change=attempt.words,
            config=attempt.config,
            denied=attempt.denied,
            about=attempt.about,
            outcome=NOT_TRIED,
            reason=attempt.reason,
            replay=number,
            first_launches=first[0],
            first_bytes=first[1],
        )
        if part is None:
            yield plain
            continue
        whole = summary(Graphs(part))
        now = whole.wrong, whole.verdicts.get(WORSE, 0)
        failure = "" if whole.compared else next((call.reason for call in whole.trouble), part.run.exception or "")
        if not whole.compared:
            outcome = FAILED
        elif base is None:
            is_wrong = now[0] if recorded is not None and recorded.verdict == WRONG else any(now)
            outcome = STILL if is_wrong else NOT_WRONG
        else:
            outcome = _outcome(base, now)
        base = base or now
        launches, size = _cost(CompiledGraph(part, graph.name))
        yield msgspec.structs.replace(
            plain,
            outcome=outcome,
            reason=failure,
            wrong=now[0],
            worse=now[1],
            compared=whole.compared,
            launches=launches,
            bytes=size,
        )


def _outcome(base: tuple[int, int], now: tuple[int, int]) -> str:
    """What `now`, numbers of wrong and of worse results, is beside those of the compile as it was."""
    before, after = (base[0], now[0]) if base[0] else (base[1], now[1])
    if not before:
        return FIXES_NOT
    return FIXES if not after else HELPS if after < before else FIXES_NOT


def fixing(rows: list[Counterfactual]) -> list[Counterfactual]:
    """Those that fix it, the cheapest first."""
    found = [row for row in rows if row.outcome == FIXES]
    return sorted(found, key=lambda row: (row.bytes or 0, row.launches or 0))


def _apart(graph: CompiledGraph) -> tuple[tuple[str, ...], ...]:
    """The operation that writes the first wrong result, and those that it is fused with; empty if there are none."""
    row = blamed(graph.dump).get(graph.name)
    if row is None or not row.buffer:
        return ()
    before = [one for one in graph.rows(Operation) if one.phase == "pre_fusion"]
    writer = next((one.name for one in before if row.buffer in one.buffers), None)
    for one in graph.rows(Operation):
        if one.phase == "post_fusion" and writer is not None and writer in one.members and len(one.members) > 1:
            return (writer,), tuple(name for name in one.members if name != writer)
    return ()


def _cost(graph: CompiledGraph) -> tuple[int, int]:
    """Launches in a call of the graph, and the bytes that they read and write."""
    rows = graph.traffic.all()
    return len(rows), sum(row.least for row in rows)
