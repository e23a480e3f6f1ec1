"""Inductor's graphs in a TORCH_TRACE log: their FX texts at each stage, the generated code, and files beside them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from inspect_compile.dump import paths
from inspect_compile.facts import DynamoNode, Fact, JointNode, Location, Node, Remark
from inspect_compile.origins.fx_text import nodes_of
from inspect_compile.origins.graph_texts import CODE, CPP_CODE, OfCompile, read_graph
from inspect_compile.origins.torch_trace.records import Record, Unread, decoded
from inspect_compile.origins.torch_trace.symbols import TracedSymbols

_AOT_ID: Final = re.compile(r"# AOT ID: \['(\d{1,9})_([a-z]{1,20})'\]")
_BEFORE_CODE: Final = {
    "fx_graph_runnable": paths.FX_RUNNABLE,
    "before_post_grad_graph": paths.FX_READABLE,
    "before_recompile_post_grad": paths.FX_READABLE,
    "after_post_grad_graph": paths.FX_TRANSFORMED,
    "inductor_post_grad_graph": paths.FX_TRANSFORMED,
}
"""Records of a graph that is compiled → their file. Of the two names for the last torch 2.13 has one; torch
2.6 has another name for what comes before.
"""
_CPP_KERNELS: Final = "kernels of AOTInductor"
_AFTER: Final = {
    "inductor_output_code": CODE,
    "inductor_aot_wrapper_code": CPP_CODE,
    "inductor_aot_kernel_code": _CPP_KERNELS,
    "inductor_provenance_tracking_node_mappings": paths.PROVENANCE,
}
"""Records of its code, and beside it → their file."""
_ENDED: Final = frozenset({"compilation_metrics", "bwd_compilation_metrics"})
"""Records that follow the last graph of a compile."""
_AOT_GRAPHS: Final = {
    "aot_forward_graph": "forward", "aot_backward_graph": "backward", "aot_inference_graph": "inference",
}  # fmt: skip


class File(NamedTuple):
    """A file of the dump."""

    name: str
    """Relative to the dump."""
    text: str


@dataclass
class _Compiling:
    """A graph of which records were met."""

    compile_id: str
    texts: dict[str, str] = field(default_factory=dict)
    """File → its text."""

    @property
    def has_code(self) -> bool:
        return CODE in self.texts or CPP_CODE in self.texts


@dataclass
class TracedGraphs:
    """Makes facts and files of the records of graphs; a graph is told when all of it is known."""

    aot: dict[str, dict[str, str]] = field(default_factory=dict)
    """Compile → kind → the text of the graph that AOTAutograd made."""
    current: dict[str, _Compiling] = field(default_factory=dict)
    kinds: dict[str, list[str]] = field(default_factory=dict)
    """Compile → the kinds of its graphs that were told."""
    order: int = 0
    """How many were told."""
    number: int = 0
    """torch's count of the graphs that AOTAutograd compiles."""
    aot_number: int = 0
    symbols: TracedSymbols = field(default_factory=TracedSymbols)
    lines: dict[str, dict[str, Location]] = field(default_factory=dict)
    """Compile → node of Dynamo's graph → the line that it is from."""

    def facts(self, record: Record, compile_id: str) -> Iterator[Fact | File]:
        """What a record completes."""
        name = record.name or record.kind
        self.symbols.add(record, compile_id)
        if record.kind == "dynamo_output_graph":
            nodes = nodes_of(compile_id, "dynamo", record.text)
            self.lines[compile_id] = {node.name: node.where for node in nodes if node.where is not None}
            yield from (DynamoNode(**_fields(node)) for node in nodes)
        elif record.kind == "aot_joint_graph":
            for node in nodes_of(compile_id, "joint", record.text):
                yield JointNode(**_fields(node))
        elif name in _AOT_GRAPHS:
            self.aot.setdefault(compile_id, {})[_AOT_GRAPHS[name]] = record.text
        elif name in _BEFORE_CODE:
            yield from self._add(compile_id, _BEFORE_CODE[name], record.text, is_first=True)
        elif name in _AFTER:
            yield from self._add(compile_id, _AFTER[name], record.text)
        elif record.kind in _ENDED and compile_id in self.current:  # told now, so that graphs are numbered in order
            yield from self._whole(self.current.pop(compile_id))

    def rest(self) -> Iterator[Fact | File]:
        """Graphs of which no further record came."""
        for compiling in self.current.values():
            yield from self._whole(compiling)
        self.current.clear()

    def _add(self, compile_id: str, what: str, text: str, *, is_first: bool = False) -> Iterator[Fact | File]:
        compiling = self.current.get(compile_id)
        if compiling is not None and (what in compiling.texts or (is_first and compiling.has_code)):
            del self.current[compile_id]
            yield from self._whole(compiling)
            compiling = None
        if compiling is None:
            compiling = self.current[compile_id] = _Compiling(compile_id)
        compiling.texts[what] = text

    def _whole(self, compiling: _Compiling) -> Iterator[Fact | File]:
        """All that is known of a graph."""
        texts, compile_id = compiling.texts, compiling.compile_id
        code = texts.get(CODE, "")
        if (kernels := texts.pop(_CPP_KERNELS, "")) and CPP_CODE in texts:
            texts[CPP_CODE] += f"\n{kernels}"
        aot_number, kind = self._kind(compile_id, code)
        name = self._name(aot_number, kind)
        if paths.FX_READABLE not in texts and (aot := self.aot.get(compile_id, {}).get(kind)):
            texts[paths.FX_READABLE] = aot
        compiled = OfCompile(self.symbols.of(compile_id), self.lines.get(compile_id, {}))
        read = read_graph(name, kind, texts, compile_id or None, compiled)
        yield from read.facts
        folder = paths.graph_folder(name)
        yield from (File(f"{folder}/{path}", text) for path, text in read.files.items())
        if read.note:
            yield Remark(graph=name, kind="analysis", code="not-read", message=read.note)

    def _kind(self, compile_id: str, code: str) -> tuple[int, str]:
        """AOTAutograd's number of the graph, and its kind: from its code, else the next that the compile has."""
        before = self.kinds.setdefault(compile_id, [])
        written = _AOT_ID.search(code[:2000])
        made = self.aot.get(compile_id, {})
        left = [kind for kind in ("forward", "backward", "inference") if kind in made and kind not in before]
        kind = written[2] if written else left[0] if left else "inference"
        number = int(written[1]) if written else self.aot_number
        if kind != "forward":
            self.aot_number = max(self.aot_number, number + 1)
        before.append(kind)
        return number, kind

    def _name(self, aot_number: int, kind: str) -> str:
        """torch's name, by its own count: a joint graph counts, and so does each part of it."""
        number = self.number if kind == "inference" else self.number + 1
        self.number = number + 1
        self.order += 1
        return f"model__{aot_number}_{kind}_{number}.{self.order - 1}"


def _fields(node: Node) -> dict[str, Any]:
    return {name: getattr(node, name) for name in node.__struct_fields__ if name != "fact"}


def tracked(record: Record, unread: Unread) -> dict[str, str]:
    """What torch's `torch_version` record says of the versions."""
    found = decoded(record, unread)
    version = found.get("pytorch_version") if isinstance(found, dict) else None
    return {"torch": version} if isinstance(version, str) else {}
