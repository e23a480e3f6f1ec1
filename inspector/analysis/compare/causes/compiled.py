"""What Inductor made of one graph on one side: tables by node, operation and kernel, and the launches."""

import ast
import json
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

import msgspec

from inspect_compile.analysis.compare.causes.alignment import Key
from inspect_compile.analysis.compare.causes.records import Cost
from inspect_compile.analysis.compare.content import GraphContent
from inspect_compile.analysis.cost.kernel_work import launch_work
from inspect_compile.analysis.kernels.launch_times import measured
from inspect_compile.dump import Dump
from inspect_compile.dump.paths import FX_RUNNABLE
from inspect_compile.facts import LoopNest, Lowering, Operation, Realize, Settings, Tiling
from inspect_compile.graph import CompiledGraph, Graphs, grouped, nested_path
from inspect_compile.graph.fusion.ledger import Ledger
from inspect_compile.graph.kernels.binaries import Configuration, configurations, of_kernel, of_kernels
from inspect_compile.graph.kernels.chosen import TuningQuery, asked
from inspect_compile.graph.kernels.launches import Launch

_SETTING: Final = re.compile(r"^torch\.(_\w+)\.config\.([\w.]{1,200}) = (.{1,500})$", re.MULTILINE)
_FOR_TUNING: Final = re.compile(r"^    inductor_meta=.*$", re.MULTILINE)
"""Of a Triton kernel what Inductor chooses configurations by: which run, and what they are compiled to, is compared."""
_OWN_SETTINGS: Final = re.compile(r"(?:^|_)custom_p(?:re|ost)_pass|cache_dir|debug_dir|<.{0,200} at 0x")


class Call(msgspec.Struct, frozen=True, eq=False):
    """One launch, with its cost."""

    launch: Launch
    source: str
    """The kernel's code without names, and without what configurations are chosen by."""
    nodes: tuple[Key, ...]
    """What it computes, and what is on the way to that."""
    computes: tuple[Key, ...]
    """What it computes."""
    cost: Cost
    binary: Configuration | None
    """The configuration that runs."""

    @property
    def name(self) -> str:
        """The kernel."""
        return self.launch.kernel.name


class Compiled:
    """One graph of one side."""

    def __init__(self, dump: Dump, content: GraphContent) -> None:
        self.dump, self.content, self.graph = dump, content, content.graph

    def path(self, graph: str) -> str:
        """The path of a nested graph in this one; empty for this one."""
        return nested_path(graph)

    @cached_property
    def lowering(self) -> dict[Key, Lowering]:
        """Node → its lowering."""
        return {(self.path(row.graph), row.node): row for row in self.dump.rows(Lowering, self.graph)}

    @cached_property
    def realize(self) -> dict[Key, list[Realize]]:
        """Node → what became real while it was lowered."""
        rows = [row for row in self.dump.rows(Realize, self.graph) if row.realized]
        return grouped(rows, lambda row: (self.path(row.graph), row.node or ""))

    @cached_property
    def before(self) -> list[Operation]:
        """The scheduler nodes before fusion."""
        return CompiledGraph(self.dump, self.graph).operations

    @cached_property
    def operations(self) -> dict[Key, Operation]:
        """Operation → its row before fusion."""
        return {(self.path(row.graph), row.name): row for row in self.before}

    @cached_property
    def group_of(self) -> dict[Key, str]:
        """Operation → its scheduler node after fusion."""
        rows = CompiledGraph(self.dump, self.graph).groups
        return {(self.path(row.graph), member): row.name for row in rows for member in row.members}

    @cached_property
    def loops(self) -> dict[Key, list[Tiling | LoopNest]]:
        """Kernel → how it iterates."""
        rows: list[Tiling | LoopNest] = [*self.dump.rows(Tiling, self.graph), *self.dump.rows(LoopNest, self.graph)]
        return grouped(rows, lambda row: (self.path(row.graph), row.kernel))

    @cached_property
    def questions(self) -> tuple[dict[Key, TuningQuery], dict[str, TuningQuery]]:
        """Node → what was asked about how to compute it; kernel → what was asked about its configurations."""
        rows = asked(CompiledGraph(self.dump, self.graph))
        nodes = {
            (self.path(row.tuning.graph), node): row
            for row in rows
            if row.tuning.about == "operation"
            for node in row.tuning.nodes
        }
        return nodes, {row.tuning.name: row for row in rows if row.tuning.about == "kernel"}

    @cached_property
    def ledgers(self) -> dict[str, Ledger]:
        """Path of a nested graph → its fusion."""
        return {self.path(one.graph): one for one in CompiledGraph(self.dump, self.graph).ledgers}

    @cached_property
    def settings(self) -> dict[str, str]:
        """Settings of torch that were not the defaults while this graph was compiled, as torch writes them into
        `fx_graph_runnable.py`; a replay's.
        """
        text = self.dump.text(self.graph, FX_RUNNABLE) or ""
        defaults = _defaults(self.dump)
        found = {
            f"{room}.{name}": value
            for room, name, value in _SETTING.findall(text)
            if _json(value) != defaults.get((room, name))  # torch writes down what was set and taken back, too
        }
        found |= {f"_inductor.{name}": value for name, value in self.dump.run.config.items()}
        return {name: value for name, value in found.items() if not _OWN_SETTINGS.search(f"{name} {value}")}

    @cached_property
    def calls(self) -> list[Call]:
        """The launches, in order."""
        moved, work, times = (
            CompiledGraph(self.dump, self.graph).traffic,
            launch_work(CompiledGraph(self.dump, self.graph)),
            measured(Graphs(self.dump, self.graph)),
        )
        codes = (_FOR_TUNING.sub("", source) for source in self.content.kernels)
        sources = dict(zip(self.content.kernel_names, codes, strict=True))
        running = of_kernels(configurations(CompiledGraph(self.dump, self.graph)))
        found = []
        for launch in moved.launches:
            kernel, path = launch.kernel, self.path(launch.graph)
            binary = next(iter(of_kernel(running, launch.graph, kernel.name)), None)
            took = times.get((launch.graph, kernel.name, launch.line))
            done = work.get((launch.graph, kernel.name, launch.line))
            cost = Cost(
                1,
                moved.of(launch).least,
                0 if done is None else done.heavy + done.scalar,
                None if binary is None else binary.registers,
                None if binary is None else binary.spills,
                None if took is None else (took.least if took.in_call is None else took.in_call) / 1e3,
            )
            nodes = tuple((path, name) for name in launch.nodes)
            own = set(kernel.computes)
            computes = tuple((path, name) for name in launch.nodes if name in own)
            found.append(Call(launch, sources.get(kernel.name, kernel.name), nodes, computes or nodes, cost, binary))
        return found


def total(calls: Iterable[Call]) -> Cost:
    """The cost of launches together."""
    return sum((one.cost for one in calls), Cost())


def changed_settings(a: Compiled, b: Compiled) -> tuple[str, ...]:
    """`max_fusion_size: default → 1`, of all settings that differ; between two releases of torch, whose defaults may
    differ, only those that both wrote down.
    """
    ours, theirs = a.settings, b.settings
    is_one_torch = a.dump.run.versions.get("torch") == b.dump.run.versions.get("torch")
    return tuple(
        f"{name.removeprefix('_inductor.')}: {ours.get(name, 'default')} → {theirs.get(name, 'default')}"
        for name in dict.fromkeys([*ours, *theirs])
        if ours.get(name) != theirs.get(name) and (is_one_torch or (name in ours and name in theirs))
    )


def _defaults(dump: Dump) -> dict[tuple[str, str], str]:
    """Package and name of a setting → its default as JSON."""
    return {
        (row.module.removeprefix("torch.").removesuffix(".config"), name): row.defaults.get(name, value)
        for row in dump.rows(Settings)
        for name, value in row.values.items()
        if name not in row.changed or name in row.defaults
    }


def _json(value: str) -> str | None:
    """A value that is written in Python, as JSON; None if it is no literal."""
    try:
        return json.dumps(ast.literal_eval(value), default=str)
    except (ValueError, SyntaxError):
        return None
