"""One record for each autotuning decision of torch: the candidates and the one that was taken.

Includes decisions that were answered from a cache, and those that nothing could be measured for.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inspect_compile.analysis.kernels.triton_heuristics import heuristics
from inspect_compile.dump import Dump
from inspect_compile.facts import Choice, Kernel, Operation
from inspect_compile.graph import CompiledGraph, Id, shared_fields
from inspect_compile.graph.kernels.binaries import Configuration, compiled_as, configurations, of_kernels
from inspect_compile.graph.kernels.chosen import TuningQuery, asked
from inspect_compile.graph.kernels.chosen import of_kernels as asked_of_kernels


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate, with what follows from its Choice fact."""

    label: str
    kind: str
    step: str = ""
    config: dict[str, int | str] = {}
    milliseconds: float | None = None
    source: str = "not measured"
    why: str = ""
    is_winner: bool = False
    times: float | None = None
    """Its time as a multiple of the winner's; None unless both are known."""
    registers: int | None = None
    """Registers of its binary, like the next three fields; of a template, before anything is fused into it."""
    spills: int | None = None
    shared: int | None = None
    occupancy: float | None = None


class Autotuned(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="autotuned"):
    """One decision. `show autotune --json` prints these."""

    graph: str
    number: int | None = None
    """Number of its `tuning` fact; None for a kernel whose configurations were not measured in this run."""
    about: str
    name: str
    kernel: str
    """The kernel that runs the decision's result; empty if none was found."""
    operation: str = ""
    nodes: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    choices: tuple[Option, ...]
    """The winner first, then by time, then those without a time."""
    source: str
    """`measured`, `cached`, `partly cached`, `remembered` (only the winner is known) or `not measured`."""
    in_worker: bool = False
    seconds: float | None = None
    winner: str
    by: str
    """See `Chosen.by`."""
    margin: float | None = None
    """The second best time as a multiple of the winner's; below 1 if torch took a slower candidate."""
    spread: float | None = None
    """The slowest time as a multiple of the winner's."""
    failed: int = 0
    """Number of candidates that torch tried and that have no time."""
    spilled: int
    """Number of candidates that spill registers."""
    runs: bool | None = None
    """Whether the generated code runs the winner; None if that is not known."""


def autotuned(graph: CompiledGraph) -> list[Autotuned]:
    """The decisions of `graph`, nested graphs included: operations in lowering order, then kernels."""
    return list(_sheets(graph))


def of_kernel(sheets: list[Autotuned], kernel: Kernel) -> list[Autotuned]:
    """The decisions about one kernel; calls of the same extern function share a name."""
    return [
        row
        for row in sheets
        if row.kernel == kernel.name
        and row.graph == kernel.graph
        and (row.about == "kernel" or row.operation in kernel.operations)
    ]


def _sheets(graph: CompiledGraph) -> Iterator[Autotuned]:
    compiled = {key: {row.label: row for row in rows} for key, rows in of_kernels(configurations(graph)).items()}
    questions = asked(graph)
    kernels = graph.rows(Kernel)
    nodes = {Id.of(row): row.nodes for row in graph.rows(Operation)}
    for one in questions:
        if one.tuning.about == "operation":
            yield _of_operation(graph.dump, one, kernels, nodes)
    of_names = asked_of_kernels(questions)
    for kernel in {Id.of(row): row for row in kernels}.values():
        found = of_names.get(compiled_as(of_names, kernel.graph, kernel.name))
        there = compiled.get(compiled_as(compiled, kernel.graph, kernel.name), {})
        if found is not None:
            row = _sheet(found, kernel=kernel.name, nodes=kernel.nodes, compiled=there, runs=_is_kept(found, there))
            yield msgspec.structs.replace(row, graph=kernel.graph)
        elif len(there) > 1 or any(row.is_remembered for row in there.values()):
            yield _not_asked(kernel, there)


def _of_operation(
    dump: Dump, one: TuningQuery, kernels: list[Kernel], nodes: Mapping[Id, tuple[str, ...]]
) -> Autotuned:
    tuning = one.tuning
    mine = [row for row in kernels if row.graph == tuning.graph and tuning.operation in row.operations]
    kernel = mine[0] if mine and tuning.operation else None
    return _sheet(
        one,
        kernel="" if kernel is None else kernel.name,
        nodes=tuning.nodes or nodes.get(Id(tuning.graph, tuning.operation), ()),
        runs=None if kernel is None else _is_what_runs(dump, one, kernel),
    )


def _sheet(
    one: TuningQuery,
    *,
    kernel: str,
    nodes: tuple[str, ...],
    compiled: Mapping[str, Configuration] | None = None,
    runs: bool | None,
) -> Autotuned:
    tuning, winner = one.tuning, one.winner
    label = "" if winner is None else winner.label
    compared = one.compared
    best = one.milliseconds(label)
    others = [row.milliseconds for row in compared if row.label != label and row.milliseconds is not None]
    alike = {id(row) for row in compared} if best else set()
    options = [
        _option(row, label, best if id(row) in alike else None, (compiled or {}).get(row.label)) for row in one.choices
    ]
    sources = {row.source for row in options if row.milliseconds is not None}
    return Autotuned(
        **shared_fields(tuning, Autotuned, "nodes", "seconds"),
        kernel=kernel,
        nodes=nodes,
        choices=tuple(sorted(options, key=_place)),
        source="partly cached" if len(sources) > 1 else next(iter(sources), "not measured"),
        seconds=one.seconds,
        winner=label,
        by="" if winner is None else winner.by,
        margin=round(min(others) / best, 4) if best and others else None,
        spread=round(max(others) / best, 4) if best and others else None,
        failed=sum(row.milliseconds is None and row.source == "measured" for row in options),
        spilled=sum(bool(row.spills) for row in options),
        runs=runs,
    )


def _option(row: Choice, winner: str, best: float | None, binary: Configuration | None) -> Option:
    """The candidate `row`; `best` is the winner's time if the time of `row` can be compared with it."""
    return Option(
        **(shared_fields(row, Option) | _asks(binary)),
        is_winner=row.label == winner,
        times=round(row.milliseconds / best, 4) if best and row.milliseconds is not None else None,
    )


def _asks(binary: Configuration | None) -> dict[str, Any]:
    names = ("registers", "spills", "shared", "occupancy")
    return {name: getattr(binary, name) for name in names} if binary is not None else {}


def _place(row: Option) -> tuple[bool, float, str]:
    return (not row.is_winner, row.milliseconds if row.milliseconds is not None else float("inf"), row.label)


def _not_asked(kernel: Kernel, compiled: Mapping[str, Configuration]) -> Autotuned:
    """The record of a kernel that was not tuned in this run: the answer was cached, or nothing could be run."""
    remembered = next((row for row in compiled.values() if row.is_remembered), None)
    winner = "" if remembered is None else remembered.label
    return Autotuned(
        graph=kernel.graph,
        about="kernel",
        name=kernel.name,
        kernel=kernel.name,
        nodes=kernel.nodes,
        choices=tuple(
            Option(
                label=row.label,
                kind="configuration",
                config={**row.config, "num_warps": row.num_warps or 0, "num_stages": row.num_stages or 0},
                source="cached" if row.label == winner else "not measured",
                is_winner=row.label == winner,
                **_asks(row),
            )
            for row in compiled.values()
        ),
        source="remembered" if winner else "not measured",
        winner=winner,
        by="remembered" if winner else "",
        spilled=sum(bool(row.spills) for row in compiled.values()),
    )


def _is_kept(one: TuningQuery, compiled: Mapping[str, Configuration]) -> bool | None:
    """True if the configuration that torch took was compiled to a recorded binary; None if that is not known."""
    return (one.winner.label in compiled or None) if one.winner is not None else None


def _is_what_runs(dump: Dump, one: TuningQuery, kernel: Kernel) -> bool | None:
    """Whether the kernel in the generated code is the winner, by name or by block sizes; None if that is not known."""
    if one.winner is None:
        return None
    taken = next((row for row in one.choices if row.label == one.winner.label), None)
    if taken is None:
        return None
    if taken.kind == "extern":
        return kernel.kind == "extern" and taken.label.lstrip("_") in kernel.name
    if kernel.kind != "template":
        return False
    if taken.kind != "triton template":
        return True
    written = heuristics(dump.text(kernel.graph, kernel.source) or "") if kernel.source else None
    if written is None:
        return None
    shared = taken.config.keys() & written.constants.keys()
    return all(str(taken.config[name]) == str(written.constants[name]) for name in shared) if shared else None
