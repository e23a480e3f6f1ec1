"""Pictures of FX graphs, of a kernel's inside, and of one node's way."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Final

from inspect_compile.diagrams.kinds.kind import STAGES, Drawn, Kind, Missing, Pictures, Wanted
from inspect_compile.graph import Graphs

FEW: Final = 8
"""Kernels or nodes of one name that are drawn."""

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph, Graphs


def _fx(dump: "Dump", graphs: "Sequence[CompiledGraph]", wanted: Wanted) -> Pictures:
    from inspect_compile.diagrams.dot import dot_text
    from inspect_compile.diagrams.fx.picture import WORDS, fx_picture

    for graph in graphs:
        unfold = None if wanted.fold is None else not wanted.fold
        is_earlier = bool(dump.run.origin) and wanted.stage == Wanted.stage and not graph.stage(wanted.stage)
        stage = "aot" if is_earlier else wanted.stage  # of an exported program there is no other
        found = fx_picture(graph, stage, unfold=unfold, everything=wanted.everything)
        if found is None:
            yield Missing(graph.fact, f"no {WORDS[stage]} was recorded")
        else:
            yield Drawn(graph.fact, f"fx_{stage}", WORDS[stage], dot_text(found))


def _fx_listed(graphs: "Graphs") -> Iterator[tuple[str, str]]:
    from inspect_compile.tables.text import number_of

    for graph, stage in product(graphs, STAGES):
        count = len(graph.stage(stage))
        yield f"fx --stage {stage}", number_of(count, "node") if count else "not recorded"


def _kernel(dump: "Dump", graphs: "Sequence[CompiledGraph]", wanted: Wanted) -> Pictures:
    from inspect_compile.analysis.lookup.answer import together
    from inspect_compile.analysis.lookup.kernels import find_kernels
    from inspect_compile.diagrams.dot import dot_text
    from inspect_compile.diagrams.kernel import kernel_picture
    from inspect_compile.dump import paths
    from inspect_compile.tables.lookup_text import resolved

    by_graph = {graph.name: graph.fact for graph in graphs}
    found = resolved(together(find_kernels(graph, wanted.name) for graph in graphs))
    for kernel in found[:FEW]:
        graph = by_graph.get(kernel.graph) or dump.graph(kernel.graph)
        unfold = None if wanted.fold is None else not wanted.fold
        picture = kernel_picture(dump, kernel, unfold=unfold, everything=wanted.everything)
        if picture is None:
            yield Missing(graph, f"{kernel.name}: its statements were not recorded, or its source is not in the dump")
        else:
            name = paths.cased_name(f"kernel_{kernel.name}")
            yield Drawn(graph, name, f"inside of {kernel.name}", dot_text(picture))
    if len(found) > FEW:
        yield Missing(None, f"{len(found) - FEW} more kernels have this name: choose one")


def _kernel_listed(graphs: "Graphs") -> Iterator[tuple[str, str]]:
    from inspect_compile.facts import KernelBody
    from inspect_compile.tables.text import number_of

    for graph in graphs:
        count = len({row.kernel for row in graph.rows(KernelBody)})
        yield "kernel NAME", f"one of {number_of(count, 'kernel')}" if count else "no statements were recorded"


def _node(dump: "Dump", graphs: "Sequence[CompiledGraph]", wanted: Wanted) -> Pictures:
    from inspect_compile.analysis.lookup.answer import together
    from inspect_compile.analysis.lookup.nodes import find_nodes
    from inspect_compile.diagrams.dot import dot_text
    from inspect_compile.diagrams.node import node_picture
    from inspect_compile.dump import paths
    from inspect_compile.tables.lookup_text import resolved

    is_all = [one.name for one in graphs] == [one.graph for one in dump.outermost()]
    named = [None] if is_all else [graph.name for graph in graphs]
    found = resolved(together(find_nodes(Graphs(dump, name), wanted.name) for name in named))
    by_first = {meant.kins[0]: meant for meant in reversed(found)}  # a node of Dynamo's may be of several graphs
    meant_ones = list(reversed(by_first.values()))
    if len(meant_ones) > FEW:
        yield Missing(None, f"{len(meant_ones) - FEW} more graphs have a node of this name: --graph chooses one")
    for meant in meant_ones[:FEW]:
        first = meant.kins[0]
        graph = dump.graph(first.graph) or meant.lineage.graphs[0].fact
        name = paths.cased_name(f"node_{wanted.name}")
        picture = node_picture(dump, meant, wanted.name, everything=wanted.everything)
        yield Drawn(graph, name, f"the path of {wanted.name}", dot_text(picture))


def _node_listed(graphs: "Graphs") -> Iterator[tuple[str, str]]:
    from inspect_compile.tables.text import number_of

    for graph in graphs:
        count = len(graph.stage("post_grad"))
        status = f"one of {number_of(count, 'node')}, or of an earlier graph" if count else "none was recorded"
        yield "node NAME", status


FX = Kind(
    "fx",
    "an FX graph, at any stage",
    _fx,
    _fx_listed,
    frozenset({"stage", "fold", "everything"}),
    on_page=Wanted(),
)
KERNEL = Kind(
    "kernel",
    "inside a kernel: loads, operations, stores",
    _kernel,
    _kernel_listed,
    frozenset({"fold", "everything"}),
    "KERNEL",
)
NODE = Kind("node", "a node's path through all levels", _node, _node_listed, frozenset({"everything"}), "NODE")
