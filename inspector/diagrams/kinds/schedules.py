"""Pictures of the scheduler's graph: before and after fusion, parts of it, and what fusion joined."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.diagrams.kinds.kind import HEATS, NARROWING, Drawn, Kind, Missing, Pictures, Wanted
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.pair_choice import ResolvedOperations
    from inspect_compile.diagrams.schedule.heat import Heat
    from inspect_compile.diagrams.schedule.units import Phase
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph, Graphs

NOT_MEASURED: Final = {
    "bytes": "no launch was recorded",
    "flops": "no FLOPs are counted",
    "time": "no launch was timed (inspect-compile run --measure), and the device's peaks are not known",
    "registers": "no Triton kernel was compiled",
    "error": "no launch was checked (inspect-compile numerics SCRIPT)",
}
"""Kind of heat → why there is none of a graph."""
_PHASE_WORDS: Final = {"pre_fusion": "before fusion", "post_fusion": "after fusion"}


def _draw(dump: "Dump", graphs: "Sequence[CompiledGraph]", wanted: Wanted) -> Pictures:
    from inspect_compile.diagrams.schedule.heat import HEATS as HEAT_OF
    from inspect_compile.facts.nesting import outermost

    _check(wanted)
    if wanted.findings:
        yield from _findings(dump, graphs)
        return
    around = _around(dump, graphs, wanted.around) if wanted.around is not None else {}
    path = _path(dump, graphs, wanted.path) if wanted.path is not None else {}
    for graph in graphs:
        outer = outermost(graph.name)
        if (around and outer not in around) or (path and outer not in path):
            continue
        heat = HEAT_OF[wanted.heat](graph) if wanted.heat is not None else None
        if wanted.heat is not None and heat is None:
            yield Missing(graph.fact, NOT_MEASURED[wanted.heat])
            continue
        yield from _phases(graph, wanted, heat, around.get(outer), path.get(outer))


def _phases(
    graph: "CompiledGraph",
    wanted: Wanted,
    heat: "Heat | None",
    around: "ResolvedOperations | None",
    path: "tuple[ResolvedOperations, ResolvedOperations] | None",
) -> Pictures:
    from inspect_compile.diagrams.schedule.schedule import schedule_dot
    from inspect_compile.facts import Operation

    recorded = {row.phase for row in graph.rows(Operation)}
    for phase in wanted.phases:
        if phase not in recorded:
            yield Missing(graph.fact, f"no operations were recorded {_PHASE_WORDS[phase]}")
            continue
        text = schedule_dot(
            graph,
            phase,
            around=around,
            depth=wanted.depth,
            path=path,
            refused=wanted.refused,
            heat=heat,
            fold=wanted.fold,
        )
        yield Drawn(graph.fact, _name(phase, wanted), f"the schedule {_PHASE_WORDS[phase]}", text)


def _findings(dump: "Dump", graphs: "Sequence[CompiledGraph]") -> Pictures:
    from inspect_compile.diagrams.dot import dot_text
    from inspect_compile.diagrams.schedule.findings import findings_picture

    for graph in graphs:
        found = findings_picture(graph)
        if found is None:
            yield Missing(graph.fact, "no finding is about this schedule (see show findings for others)")
        else:
            yield Drawn(graph.fact, "schedule_findings", "what the findings are about", dot_text(found))


def _check(wanted: Wanted) -> None:
    given = [f"--{name}" for name in NARROWING if getattr(wanted, name)]
    if len(given) > 1:
        raise CommandError(f"{given[0]} and {given[1]} choose different parts of a schedule: give one of them")
    if wanted.findings and (wanted.heat is not None or wanted.refused or wanted.fold is not None):
        other = "--heat" if wanted.heat is not None else "--refused" if wanted.refused else "--fold or --unfold"
        raise CommandError(f"--findings draws boxes of its own: omit {other}")


def _around(dump: "Dump", graphs: "Sequence[CompiledGraph]", name: str) -> "dict[str, ResolvedOperations]":
    """Outermost graph → the operations that `name` means in it, of those that have any; CommandError if none has."""
    from inspect_compile.facts.nesting import outermost

    return {outermost(meant.graph): meant for (meant,) in _resolved(dump, graphs, (name,))}


def _path(
    dump: "Dump", graphs: "Sequence[CompiledGraph]", names: tuple[str, str]
) -> "dict[str, tuple[ResolvedOperations, ResolvedOperations]]":
    """Outermost graph → what both names mean in it. CommandError if there is no path between them in any."""
    from inspect_compile.diagrams.schedule.schedule import on_path
    from inspect_compile.facts.nesting import outermost
    from inspect_compile.graph import CompiledGraph

    meant = {outermost(one.graph): (one, other) for one, other in _resolved(dump, graphs, names)}
    found = {graph: pair for graph, pair in meant.items() if on_path(CompiledGraph(dump, graph), pair)}
    if not found:
        raise CommandError(
            f"--path {' '.join(names)}: neither depends on the other, in {', '.join(meant)}: there is no path to draw; "
            f"inspect-compile why {dump.root} {' '.join(names)} says what they share"
        )
    return found


def _resolved(
    dump: "Dump", graphs: "Sequence[CompiledGraph]", names: tuple[str, ...]
) -> "tuple[tuple[ResolvedOperations, ...], ...]":
    from inspect_compile.analysis.lookup.answer import together
    from inspect_compile.analysis.lookup.operations import find_operations
    from inspect_compile.tables.lookup_text import resolved

    return resolved(together(find_operations(graph, names) for graph in graphs))


def _name(phase: "Phase", wanted: Wanted) -> str:
    from inspect_compile.dump import paths

    name = {"pre_fusion": paths.SCHEDULE_PRE_FUSION, "post_fusion": paths.SCHEDULE_POST_FUSION}[phase]
    name = name if wanted.heat is None else f"{name}_{wanted.heat}"
    if wanted.around is not None:
        name = paths.cased_name(f"{name}_around_{wanted.around}")
    return name if wanted.path is None else paths.cased_name(f"{name}_path_{'_'.join(wanted.path)}")


def _listed(graphs: "Graphs") -> Iterator[tuple[str, str]]:
    from inspect_compile.diagrams.schedule.findings import findings_picture
    from inspect_compile.diagrams.schedule.heat import HEATS as HEAT_OF
    from inspect_compile.diagrams.schedule.schedule import is_folded
    from inspect_compile.diagrams.schedule.units import schedule
    from inspect_compile.tables.text import number_of

    phases: tuple[Phase, ...] = ("pre_fusion", "post_fusion")
    for graph in graphs:
        for phase in phases:
            found = schedule(graph, phase)
            count = sum(1 for unit in found.units for _ in unit.groups)
            status = number_of(count, "scheduler node") if count else "not recorded"
            yield f"schedule, {_PHASE_WORDS[phase]}", f"{status}{', folded' * is_folded(found)}"
        is_any = findings_picture(graph) is not None
        yield "schedule --findings", "yes" if is_any else "no finding is about its schedule"
        for heat in HEATS:
            status = "yes" if HEAT_OF[heat](graph) is not None else "not recorded"
            yield f"schedule --heat {heat}", status


SCHEDULE = Kind(
    "schedule",
    "the scheduler's graph, before and after fusion",
    _draw,
    _listed,
    frozenset({"phases", *NARROWING, "depth", "refused", "heat", "fold"}),
    on_page=Wanted(findings=True),
)


def _fusion(dump: "Dump", graphs: "Sequence[CompiledGraph]", wanted: Wanted) -> Pictures:
    from inspect_compile.diagrams.dot import dot_text
    from inspect_compile.diagrams.schedule.joined import joined_picture

    for graph in graphs:
        found = joined_picture(graph, fold=wanted.fold)
        if found is None:
            yield Missing(graph.fact, _no_fusion(graph))
        else:
            yield Drawn(graph.fact, "fusion", "what fusion joined", dot_text(found))


def _fusion_listed(graphs: "Graphs") -> Iterator[tuple[str, str]]:
    from inspect_compile.graph.fusion.ledger import candidates
    from inspect_compile.tables.text import number_of

    for graph in graphs:
        count = sum(row.verdict == "fused" for row in candidates(graph))
        yield "fusion", number_of(count, "fusion") if count else _no_fusion(graph)


def _no_fusion(graph: "CompiledGraph") -> str:

    return "nothing was fused" if graph.groups else "no fusion was recorded"


FUSION = Kind(
    "fusion",
    "what fusion joined, round by round",
    _fusion,
    _fusion_listed,
    frozenset({"fold"}),
    on_page=Wanted(),
)
