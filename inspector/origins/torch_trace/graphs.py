"""Inductor's graphs in a TORCH_TRACE log: their FX texts at each stage, the generated code, and files beside them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from inspect_compile.dump import paths
from inspect_compile.facts import DynamoNode, Fact, Graph, GraphEnd, JointNode, Kernel, Location, Node, Remark
from inspect_compile.origins.fx_text import nodes_of
from inspect_compile.origins.output_code import read_code
from inspect_compile.origins.torch_trace.records import Record

_AOT_ID: Final = re.compile(r"# AOT ID: \['(\d{1,9})_([a-z]{1,20})'\]")
_CPP: Final = "inductor_aot_wrapper_code"
_BEFORE_CODE: Final = {
    "fx_graph_runnable": "runnable",
    "before_post_grad_graph": "readable",
    "after_post_grad_graph": "transformed",
    "inductor_post_grad_graph": "transformed",
}
"""Records of a graph that is compiled → what of it they hold. Of the two names for the last torch 2.13 has one."""
_AFTER: Final = {"inductor_provenance_tracking_node_mappings": paths.PROVENANCE}
"""Records beside its code → their file."""
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
    """What was met → its text: `runnable`, `readable`, `transformed`, `code`, `cpp`, and files beside them."""

    @property
    def has_code(self) -> bool:
        return "code" in self.texts or "cpp" in self.texts


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

    def facts(self, record: Record, compile_id: str) -> Iterator[Fact | File]:
        """What a record completes."""
        name = record.name or record.kind
        if record.kind == "dynamo_output_graph":
            for node in nodes_of(compile_id, "dynamo", record.text):
                yield DynamoNode(**_fields(node))
        elif record.kind == "aot_joint_graph":
            for node in nodes_of(compile_id, "joint", record.text):
                yield JointNode(**_fields(node))
        elif name in _AOT_GRAPHS:
            self.aot.setdefault(compile_id, {})[_AOT_GRAPHS[name]] = record.text
        elif name in _BEFORE_CODE:
            yield from self._add(compile_id, _BEFORE_CODE[name], record.text, is_first=True)
        elif record.kind == "inductor_output_code":
            yield from self._add(compile_id, "code", record.text)
        elif name == _CPP:
            yield from self._add(compile_id, "cpp", record.text)
        elif name in _AFTER:
            yield from self._add(compile_id, _AFTER[name], record.text)

    def rest(self) -> Iterator[Fact | File]:
        """Graphs of which no further record came."""
        for compiling in self.current.values():
            yield from self._told(compiling)
        self.current.clear()

    def _add(self, compile_id: str, what: str, text: str, *, is_first: bool = False) -> Iterator[Fact | File]:
        compiling = self.current.get(compile_id)
        if compiling is not None and (what in compiling.texts or (is_first and compiling.has_code)):
            del self.current[compile_id]
            yield from self._told(compiling)
            compiling = None
        if compiling is None:
            compiling = self.current[compile_id] = _Compiling(compile_id)
        compiling.texts[what] = text

    def _told(self, compiling: _Compiling) -> Iterator[Fact | File]:
        texts, compile_id = compiling.texts, compiling.compile_id
        code = texts.get("code", "")
        aot_number, kind = self._kind(compile_id, code)
        name = self._name(aot_number, kind)
        aot = self.aot.get(compile_id, {}).get(kind, "") or texts.get("readable", "")
        nodes = [*nodes_of(name, "aot", aot)] if aot else []
        final = [*nodes_of(name, "post_grad", texts["transformed"])] if "transformed" in texts else []
        known = final or nodes
        devices = (value.device for node in known for value in node.values if value.device)
        yield Graph(
            graph=name, kind=kind, compile_id=compile_id or None, name=name.rpartition(".")[0],
            inputs=sum(node.op == "placeholder" for node in known), is_cpp_wrapper="cpp" in texts,
            device=next(devices, "").partition(":")[0],
        )  # fmt: skip
        yield from nodes
        yield from final
        folder = paths.graph_folder(name)
        generated = read_code(name, code)
        lines = {node.name: node.where for node in known if node.where is not None}
        mapped = _mapped(texts.get(paths.PROVENANCE, ""))
        for fact in generated.facts:
            yield _of_nodes(fact, mapped, lines) if isinstance(fact, Kernel) else fact
        for path, source in generated.sources:
            yield File(f"{folder}/{path}", source)
        if code and generated.note:
            yield Remark(graph=name, kind="analysis", code="not-read", message=generated.note)
        for what, file in (
            ("runnable", paths.FX_RUNNABLE), ("transformed", paths.FX_TRANSFORMED),
            ("code", f"{paths.OUTPUT_CODE}.py"), ("cpp", f"{paths.OUTPUT_CODE}.cpp"),
        ):  # fmt: skip
            if what in texts:
                yield File(f"{folder}/{file}", texts[what])
        if readable := texts.get("readable") or aot:
            yield File(f"{folder}/{paths.FX_READABLE}", readable)
        for file in _AFTER.values():
            if file in texts:
                yield File(f"{folder}/{file}", texts[file])
        if compiling.has_code:
            yield GraphEnd(graph=name, status="compiled", seconds=0.0)

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


def _mapped(text: str) -> dict[str, tuple[str, ...]]:
    """Kernel → its post-grad nodes, from torch's own record of them."""
    try:
        found = msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, RecursionError):
        return {}
    kernels = found.get("cppCodeToPost") if isinstance(found, dict) else None
    nodes: dict[str, tuple[str, ...]] = {}
    for kernel, names in kernels.items() if isinstance(kernels, dict) else ():
        if isinstance(kernel, str) and isinstance(names, list):
            own = kernel.partition(":")[0]  # torch 2.9 and later add the number of the call
            nodes[own] = tuple(dict.fromkeys((*nodes.get(own, ()), *(name for name in names if isinstance(name, str)))))
    return nodes


def _of_nodes(kernel: Kernel, mapped: Mapping[str, tuple[str, ...]], lines: Mapping[str, Location]) -> Kernel:
    """The kernel with the nodes that torch recorded for it, if its code does not name them, and their lines."""
    nodes = kernel.nodes or mapped.get(kernel.name, ())
    where = dict.fromkeys(lines[node] for node in nodes if node in lines)
    return msgspec.structs.replace(kernel, nodes=nodes, lines=tuple(where))


def _fields(node: Node) -> dict[str, Any]:
    return {name: getattr(node, name) for name in node.__struct_fields__ if name != "fact"}


def tracked(record: Record) -> dict[str, str]:
    """What torch's `torch_version` record says of the versions."""
    try:
        found = msgspec.json.decode(record.payload)
    except (msgspec.DecodeError, RecursionError):
        return {}
    version = found.get("pytorch_version") if isinstance(found, dict) else None
    return {"torch": version} if isinstance(version, str) else {}
