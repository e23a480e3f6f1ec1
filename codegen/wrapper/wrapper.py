"""The wrapper.

Every line of Wrapper IR after memory planning, with the line of output_code.py that it writes; and the kernels,
joined to their lines.
"""

import re
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from inspect_compile.codegen.kernels.kernels import FORMS, Defined, defined_in
from inspect_compile.codegen.wrapper.memory_plan import in_pool, memory_plan, node_bytes, result_of
from inspect_compile.codegen.wrapper.plain_lines import kernel_name, tell_plain
from inspect_compile.facts import Kernel, Location, MemoryPlan, WrapperLine
from inspect_compile.lowering.core.scopes import SCOPES, Scope, current_graph, torch_object
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import codegen as names

PROBE = "codegen.wrapper"
CALLS = "codegen.wrapper.calls"
"""Key in the stash of an outermost graph's scope: `Calls`."""

WHAT: dict[str, str] = {
    "AllocateLine": "allocate",
    "CommBufferAllocateLine": "allocate",
    "ReuseLine": "reuse",
    "FreeLine": "free",
    "FreeIfNotReusedLine": "free",
    "CommBufferFreeLine": "free",
    "KernelCallLine": "launch",
    "ExternKernelAllocLine": "extern",
    "ExternKernelOutLine": "extern",
    "ExternKernelMultiOutLine": "extern",
    "ScatterFallbackLine": "extern",
    "IndexPutFallbackLine": "extern",
    "MultiOutputLine": "multi_output",
    "ReinterpretLine": "reinterpret",
    "AllocFromPoolLine": "pool_allocate",
    "DeallocFromPoolLine": "pool_free",
    "EnterSubgraphLine": "enter_subgraph",
    "ExitSubgraphLine": "exit_subgraph",
    "KernelDefinitionLine": "define",
    "AssertSizeStrideLine": "assert",
    "AssertAlignmentLine": "assert",
    "AssertDivByZeroLine": "assert",
    "GroupedAssertSizeStrideLine": "assert",
    "DynamicScalarLine": "host",
    "SymbolicCallArgLine": "host",
    "UnbackedSymbolDefsLine": "host",
    "EnterDeviceContextManagerLine": "device",
    "ExitDeviceContextManagerLine": "device",
    "EnterDeviceContextManagerWithStreamInfoLine": "device",
    "ExitDeviceContextManagerWithStreamInfoLine": "device",
    "EnterCudaStreamContextLine": "device",
    "ExitCudaStreamContextLine": "device",
    "EnterCudaMemPoolContextLine": "device",
    "ExitCudaMemPoolContextLine": "device",
    "CommentLine": "comment",
    "EnterKernelProfileScopeLine": "comment",
    "ExitKernelProfileScopeLine": "comment",
    "NullLine": "none",
    "LineContext": "none",
    "str": "text",
}
"""Wrapper IR class → kind of the line."""


_SHORT, _LONG = 300, 20_000
"""Maximum characters kept of a plain line, and of one that lists the arguments of a nested graph."""


_SECOND_STAGE = re.compile(r"(\w+) = workspace_\d+\[(?:(?!\]\.view\().)*\]\.view\(.*?\)\.(\w+)\(dim=0\)")
"""A line without a class in torch: what a kernel that reduces along both axes left over is reduced eagerly."""


class _Marker:
    """Replaces an IR node in a LineContext; removed from the line map before torch reads it."""

    stack_trace = None

    def __init__(self, index: int) -> None:
        self.index = index


@dataclass
class _Plan:
    """The lines of one wrapper."""

    scope: Scope
    rows: list[dict[str, Any]]
    memory: MemoryPlan | None = None
    calls: list[tuple[str, str, str, tuple[str, ...], int]] = field(default_factory=list)
    """Extern calls: kernel, operation, device, FX nodes, row."""
    text: str = ""
    lines: dict[int, tuple[int, int | None]] = field(default_factory=dict)


@dataclass
class Calls:
    """The calls in a graph's code, including nested graphs."""

    text: str
    launches: list[tuple[str, str, int, str]] = field(default_factory=list)
    """Graph, kernel, line of `text`, device."""
    operations: dict[tuple[str, str, int], tuple[str, ...]] = field(default_factory=dict)
    """Graph, kernel and line of a launch → all operations of the kernel."""


def install(probes: Probes) -> None:
    """Hook PythonWrapperCodegen, which the subgraph and C++ wrappers inherit from."""
    plans: weakref.WeakKeyDictionary[Any, _Plan] = weakref.WeakKeyDictionary()

    def planning(wrapper: Any, args: Any, kwargs: Any) -> set[int]:
        return {id(line) for line in wrapper.lines if type(line).__name__ == "ReuseLine"}

    def planned(in_place: Any, wrapper: Any, args: Any, kwargs: Any, result: Any) -> None:
        scope = SCOPES.here()
        marker = torch_object(names.LINE_CONTEXT)
        if scope is None or marker is None:
            return
        plan = _Plan(scope, [], memory_plan(scope.graph, wrapper))
        marked: list[Any] = []
        sizes: dict[int, int | None] = {}
        for index, line in enumerate(wrapper.lines):
            row = _row(line, sizes)
            node = getattr(line, "node", None)
            if second := _SECOND_STAGE.match(row.get("text", "")):
                node = current_graph().get_buffer(second[1])
                row.update(
                    what="extern", kernel=f"torch.ops.aten.{second[2]}", buffer=second[1], bytes=node_bytes(node)
                )
            if row["what"] == "reuse":
                row["is_planned"] = id(line) not in (in_place or ())
            plan.rows.append(row)
            if row["what"] == "extern" and node is not None:
                operation = node.get_operation_name() if hasattr(node, "get_operation_name") else ""
                device = node.get_device() if hasattr(node, "get_device") else None
                kernel = row["kernel"] or type(node).__name__
                plan.calls.append((kernel, operation, str(device or ""), scope.extern_nodes(node), index))
            marked += [marker(_Marker(index)), line]
        marked.append(marker(_Marker(len(plan.rows))))
        for index, one in tell_plain(wrapper, plan.rows):
            plan.calls.append((one.kernel, one.operation, one.device, one.nodes, index))
        plan.calls.sort(key=lambda call: call[-1])
        wrapper.lines[:] = marked
        plans[wrapper] = plan
        _launch_nodes(scope, plan)

    def generated(state: Any, wrapper: Any, args: Any, kwargs: Any, result: Any) -> None:
        plan = plans.get(wrapper)
        value = result[0] if isinstance(result, tuple) else result
        line_map = getattr(value, "line_map", None)
        if line_map is None:
            return
        where = {context.index: line for line, context in line_map if isinstance(context, _Marker)}
        line_map[:] = [(line, context) for line, context in line_map if not isinstance(context, _Marker)]
        if plan is None:
            return
        plan.text = value.value
        for index in range(len(plan.rows)):
            first, after = where.get(index), where.get(index + 1)
            if first is not None and after is not None and after > first:
                plan.lines[index] = (first, after - 1)
        parent = getattr(wrapper, "parent_wrapper", None)
        if parent is None:
            outermost(plan)
        else:
            nested_in(parent).append(plan)

    nested: weakref.WeakKeyDictionary[Any, list[_Plan]] = weakref.WeakKeyDictionary()

    def nested_in(wrapper: Any) -> list[_Plan]:
        while getattr(wrapper, "parent_wrapper", None) is not None:
            wrapper = wrapper.parent_wrapper
        return nested.setdefault(wrapper, [])

    def outermost(plan: _Plan) -> None:
        wrapper = next(wrapper for wrapper, found in plans.items() if found is plan)
        code = plan.text.splitlines()
        calls = plan.scope.stash[CALLS] = Calls(plan.text)
        for part in (*nested.pop(wrapper, ()), plan):
            offset = 0 if part is plan else _offset(part.text, code)
            for kernel in _emit(part, offset, code, probes):
                probes.sink.add(kernel)
                calls.launches += [(kernel.graph, kernel.name, line, kernel.device) for line in kernel.launches]
                calls.operations.update(
                    {(kernel.graph, kernel.name, line): kernel.operations for line in kernel.launches}
                )
        probes.sink.flush()

    probes.wrap(PROBE, names.WRAPPER_PASSES, before=planning, after=planned, fresh_stack=True)
    probes.wrap(PROBE, names.WRAPPER_GENERATE, after=generated, fresh_stack=True)


def _row(line: Any, sizes: dict[int, int | None]) -> dict[str, Any]:
    """One Wrapper IR line as the fields of a WrapperLine; `sizes`: bytes of IR nodes met before, by identity."""
    kind = type(line).__name__
    row: dict[str, Any] = {"torch_type": kind, "what": WHAT.get(kind, "other"), "kernel": None}
    node = getattr(line, "node", None)
    if node is not None and hasattr(node, "get_name"):
        row["buffer"] = node.get_name()
        if id(node) not in sizes:
            sizes[id(node)] = node_bytes(node)
        row["bytes"] = sizes[id(node)]
        if row["what"] == "extern":
            row["kernel"] = kernel_name(node)
    if kind == "ExternKernelAllocLine":
        row.update(result_of(node))
    if kind in ("ReuseLine", "ReinterpretLine"):
        row["becomes"] = line.reused_as.get_name()
        row["delete_old"] = bool(getattr(line, "delete_old", False))
    elif kind == "FreeIfNotReusedLine":
        row["is_reused"] = bool(line.is_reused)
    elif row["what"] in ("pool_allocate", "pool_free"):
        row.update(in_pool(line))
    elif kind == "MultiOutputLine":
        row["buffer"] = str(line.result_name)
        row["text"] = str(line.arg_name) + "".join(f"[{place!r}]" for _, place in line.indices)
    elif kind == "KernelCallLine":
        row["kernel"] = str(line.kernel_name)
        row["arguments"] = tuple(str(argument) for argument in line.call_args)
        row["device"] = str(line.device)
        row["fx_node"] = str(getattr(line, "original_fxnode_name", "") or "")
    elif kind == "KernelDefinitionLine":
        row["kernel"] = str(line.kernel_name)
    elif kind == "str":
        row["text"] = line[: _LONG if "_args = [" in line else _SHORT]
    return row


def _launch_nodes(scope: Scope, plan: _Plan) -> None:
    """Users' kernels come without scheduler nodes.

    Their launch names the FX node, and that node its operation.
    """
    scheduler = getattr(current_graph(), "scheduler", None)
    by_node: dict[str, tuple[str, str]] = {}
    for node in getattr(scheduler, "nodes", ()):
        if node.node is not None and type(node.node).__name__ == "UserDefinedTritonKernel":
            for name in scope.in_order(node.node.get_origins()):
                by_node[name] = (node.get_name(), str(node.get_device() or ""))
    known = defined_in(scope)
    for row in plan.rows:
        kernel = known.get(row["kernel"] or "")
        name = row.get("fx_node", "")
        if row["what"] != "launch" or kernel is None or kernel.kind != "user_triton":
            continue
        kernel.nodes.update(dict.fromkeys([name] if name else []))
        kernel.device = kernel.device or row.get("device", "")
        operation, _ = by_node.get(name, ("", ""))
        if operation:
            kernel.operations[operation] = None
            kernel.groups.append(operation)


def _offset(text: str, code: list[str]) -> int:
    """How many lines further down a subgraph's function is in the whole code."""
    stripped = [line.strip() for line in code]
    for number, line in enumerate(text.splitlines()):
        if line.strip().startswith("def ") and line.strip() in stripped:
            return stripped.index(line.strip()) - number
    return 0


def _emit(plan: _Plan, offset: int, code: list[str], probes: Probes) -> Iterator[Kernel]:
    """Write the lines, and yield the kernels."""
    scope = plan.scope
    launches: dict[str, list[int]] = {}
    rows: list[WrapperLine] = []
    for index, row in enumerate(plan.rows):
        row.pop("fx_node", None)
        first, last = plan.lines.get(index, (None, None))
        line, end = (None, None) if first is None else (first + offset, (last or first) + offset)
        if row["what"] == "host" and line is None:
            row["what"] = "none"
        if row["what"] == "launch" and line is not None:
            launches.setdefault(row["kernel"], []).append(_call_line(code, line, end or line, row["kernel"]))
        rows.append(WrapperLine(graph=scope.graph, index=index, line=line, end=end, **row))
    probes.sink.add_all(rows)
    if plan.memory is not None:
        probes.sink.add(plan.memory)
    for kernel in defined_in(scope).values():
        yield _defined_kernel(scope, kernel, launches.get(kernel.name, []), code)
    for name, operation, device, origins, index in plan.calls:
        first, last = plan.lines.get(index, (None, None))
        yield Kernel(
            graph=scope.graph,
            name=name,
            kind="extern",
            form=FORMS["extern"],
            device=device,
            operations=(operation,) if operation else (),
            groups=(operation,) if operation else (),
            nodes=origins,
            lines=_user_lines(scope, origins),
            launches=() if first is None else (_call_line(code, first + offset, (last or first) + offset, name),),
        )
    defined_in(scope).clear()


def _defined_kernel(scope: Scope, kernel: Defined, launches: list[int], code: list[str]) -> Kernel:
    start, end = definition(kernel.name, code)
    same = ("name", "kind", "form", "device", "source", "metadata", "numel", "inplace", "removed")
    return Kernel(
        graph=scope.graph,
        **{name: getattr(kernel, name) for name in same},
        operations=tuple(kernel.operations),
        groups=tuple(kernel.groups),
        nodes=tuple(kernel.nodes),
        computes=tuple(name for name in kernel.nodes if name in kernel.computes),
        lines=_user_lines(scope, kernel.nodes),
        path=_path(kernel.metadata),
        defined_at=start,
        defined_to=end,
        launches=tuple(launches),
    )


def _call_line(code: list[str], first: int, last: int, kernel: str) -> int:
    """The line that names the kernel, among those of one Wrapper IR line (a launch may first get a stream)."""
    short = kernel.rsplit(".", 1)[-1]
    return next((line for line in range(first, last + 1) if line <= len(code) and short in code[line - 1]), first)


def definition(name: str, code: list[str]) -> tuple[int | None, int | None]:
    """First and last line number of a kernel's definition in the output code, from 1."""
    start = next((number for number, line in enumerate(code, 1) if line.lstrip().startswith(f"{name} = ")), None)
    if start is None:
        return None, None
    for number in range(start, len(code) + 1):
        if number > start and code[number - 1].lstrip().startswith("'''"):
            return start, number
    return start, start


def _path(metadata: str) -> str:
    found = re.search(r"^(?:#|//) kernel path: (.+)$", metadata, re.MULTILINE)
    return found[1].strip() if found else ""


def _user_lines(scope: Scope, nodes: Any) -> tuple[Location, ...]:
    return tuple(dict.fromkeys(where for name in nodes if (where := scope.where.get(name)) is not None))
