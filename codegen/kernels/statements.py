"""Joins every statement of a kernel with the FX nodes that it belongs to.

A statement is written while an operation of a loop's body is interpreted; `lowering.core.loop_tags` knows of which node
that operation is. What is written is collected for each kernel that torch generates: one for Triton, several for C++
(scalar, vector and tail). It is found again in the source when that is known.
"""

import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from inspect_compile.codegen.kernels.cpp_bodies import VERSIONS, blocks_of
from inspect_compile.codegen.kernels.kernels import Defined, kernel_of, schedule_of, scheduled_nodes
from inspect_compile.codegen.kernels.operation_counts import FLOATS, Node, described, operator_of, ranges_of, totals
from inspect_compile.codegen.kernels.statement_lines import LineOrigins, Version, lines_of
from inspect_compile.codegen.kernels.statement_places import Block, places
from inspect_compile.facts import KernelBody, OperationCount, StatementNodes
from inspect_compile.knowledge.cost.kernel_operations import FREE, MOVES
from inspect_compile.lowering.core.by_identity import ByIdentity
from inspect_compile.lowering.core.loop_tags import (
    Tag,
    accumulations,
    kernel_at_hand,
    operation_at_hand,
    running_tag,
    tag_of,
)
from inspect_compile.lowering.core.scopes import SCOPES, Scope, torch_object
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import codegen as names

PROBE = "codegen.statements"

_SECTIONS: Final = ("loads", "compute", "stores")
"""The attributes of torch's kernel object whose lines become a body, in this order."""
TEMPLATE: Final = "template"
"""The operator for text of a template itself."""
PLACED: Final[list[Callable[[Scope, str, list[str], Mapping[int, tuple[Version, ...]], list[Version]], None]]] = []
"""Called with the graph's scope, a kernel's name, the lines of its source, who may have written each (for Triton, line
0 stands for all), and all that was written for it. Empty unless numerics are checked.
"""


def install_lines(probes: Probes) -> None:
    """Hook the buffers of generated code."""

    def written(buffer: Any, args: tuple[Any, ...], result: Any) -> None:
        operation = operation_at_hand()
        if operation is None:
            tag = running_tag()
            if tag is None:
                return  # most lines are the wrapper's
            node, operator = _node(tag), TEMPLATE
        else:
            known = _known(operation)
            node, operator = known.node, known.operator
        line = args[0] if args else None
        text = line if type(line) is str else getattr(line, "line", None)
        if type(text) is str and text and (version := version_of(kernel := kernel_at_hand())) is not None:
            version.write(text, node, operator, _section(kernel, buffer) if version.is_cpp else -1)

    probes.follow(PROBE, names.WRITE_LINE, written)


def install_variables(probes: Probes) -> None:
    """Hook common subexpression elimination."""

    def generated(cse: Any, args: tuple[Any, ...], result: Any) -> None:
        operation = operation_at_hand()
        node = _node(running_tag()) if operation is None else _known(operation).node
        if node is None:
            return
        name = getattr(result, "name", None)
        if type(name) is str and (version := version_of(kernel_at_hand())) is not None:
            version.ask(name, node)

    def made(cse: Any, args: tuple[Any, ...], result: Any) -> None:
        operation = operation_at_hand()
        if operation is None:
            return
        known = _known(operation)
        node, operator = known.node, known.operator
        if node is None or operator in FREE:
            return
        kernel = kernel_at_hand()
        version = version_of(kernel)
        if version is not None and version.operation:
            if operator == "reduction":
                is_at_once = getattr(kernel, "persistent_reduction", False) is True
                operator = operator_of(operation, operator, is_at_once=is_at_once)
            version.computed.made(version.operation, operator, operation, node, result)

    probes.follow(PROBE, names.CSE_GENERATE, generated)
    probes.follow(PROBE, names.CSE_NEW, made)


def install_triton(probes: Probes) -> None:
    """Hook the Triton backend, before its kernels' own hook."""
    probes.wrap(PROBE, names.TRITON_DEFINE, after=_defined(probes, is_cpp=False), fresh_stack=True)


def install_cpp(probes: Probes) -> None:
    """Hook the C++ backend, before its kernels' own hook."""
    probes.wrap(PROBE, names.CPP_DEFINE, after=_defined(probes, is_cpp=True), fresh_stack=True)


def _node(tag: Tag | None) -> tuple[str, str] | None:
    return None if tag is None else (tag.graph, tag.node)


class _Operation:
    """What each line of an operation of a loop's body needs; the operation itself is not kept alive."""

    __slots__ = ("node", "operator")

    def __init__(self, operation: Any) -> None:
        self.node = _node(tag_of(operation))
        self.operator = _operator(operation)


_OPERATIONS: Final[ByIdentity[_Operation]] = ByIdentity()


def _known(operation: Any) -> _Operation:
    found = _OPERATIONS.get(operation)
    if found is None:
        found = _OPERATIONS[operation] = _Operation(operation)
    return found


def _section(kernel: Any, buffer: Any) -> int:
    """Position of a buffer among those that torch puts together to the body of a C++ kernel; -1 for any other."""
    for index, name in enumerate(_SECTIONS):
        if getattr(kernel, name, None) is buffer:
            return index
    return -1


def _operator(operation: Any) -> str:
    """Name of an operation of a loop's body, as in torch's `ops`."""
    kind = operation.op
    if kind == "call_method":
        return str(operation.target)
    if kind == "call_module":
        return "get_index" if operation.target == "get_index" else str(operation.target).rstrip("0123456789")
    return "getitem" if kind == "call_function" else str(kind)


def version_of(kernel: Any) -> Version | None:
    """The version for torch's kernel at hand; None if it is no kernel that is being generated."""
    found = VERSIONS.get(kernel)
    if found is None:
        if not hasattr(kernel, "cse"):
            return None  # none is being generated
        scope = SCOPES.here()
        if scope is None:
            return None
        found = VERSIONS[kernel] = Version(is_cpp=is_cpp(kernel))
        _waiting(scope).append(found)
    scheduled = getattr(kernel, "current_node", None)
    if scheduled is not None and found.scheduled() is not scheduled:
        found.scheduled, found.operation = weakref.ref(scheduled), scheduled.get_name()
    return found


def is_cpp(kernel: Any) -> bool:
    cpp_kernel = torch_object(names.CPP_KERNEL)
    return cpp_kernel is not None and isinstance(kernel, cpp_kernel)


def _waiting(scope: Scope) -> list[Version]:
    """What was written for kernels of the graph that have no source yet."""
    waiting: list[Version] = scope.stash.setdefault(PROBE, [])
    return waiting


def _defined(probes: Probes, *, is_cpp: bool) -> Any:
    def after(state: Any, backend: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        scope = SCOPES.here()
        if scope is None:
            return
        nodes = scheduled_nodes(schedule_of(args, kwargs))
        kernel = None if is_cpp else argument(args, kwargs, 2, "kernel")
        operations = {node.get_name() for node in nodes}
        versions = _own_versions(kernel) or [one for one in _waiting(scope) if operations & one.operations.keys()]
        defined = kernel_of(scope, str(result))
        source = defined.text.splitlines()
        placed = places(source, _blocks(scope, backend, args, kwargs)) if is_cpp else {}
        for callback in PLACED:
            callback(scope, defined.name, source, placed if is_cpp else {0: tuple(versions)}, versions)
        used = set(map(id, versions))
        _waiting(scope)[:] = [version for version in _waiting(scope) if id(version) not in used]
        written = {name for version in versions for name in version.operations}
        if any(node.get_name() not in written for node in nodes) and kernel is not None and len(nodes) > 1:
            nodes = [node for node in nodes if _is_here(node, written)] or nodes
        found = lines_of(source, versions, _accumulators(nodes), placed)
        own = _own_nodes(scope, nodes)
        counted = totals(
            (version.computed for version in versions), ranges_of(nodes), getattr(kernel, "numels", None) or {}
        )
        dtypes = [version.computed.dtype for version in versions]
        probes.sink.add(_body(scope, defined, nodes, found, _loops(scope, nodes), own, counted, dtypes))

    return after


def _blocks(scope: Scope, backend: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Block]:
    """The loop nests of the C++ kernel that is being defined."""
    own = argument(args, kwargs, 2, "kernel_args")
    return blocks_of(scope, backend.kernel_group.args if own is None else own)


def _own_versions(kernel: Any) -> list[Version]:
    """The version of a Triton kernel, or of the kernels that it contains."""
    kernels = [] if kernel is None else [kernel, *getattr(kernel, "sub_kernels", ())]
    return [version for kernel in kernels if (version := VERSIONS.get(kernel)) is not None]


def _is_here(node: Any, written: set[str]) -> bool:
    """True if it wrote lines of its own, or what torch writes for it at the end."""
    return node.get_name() in written or node.is_template() or bool(_accumulators([node]))


def _accumulators(nodes: list[Any]) -> list[Node | None]:
    """The FX node of each reduction along rows in a kernel that also reduces along columns, in torch's order."""
    bodies = [body for node in nodes if (body := getattr(node, "_body", None)) is not None]
    return [_node(tag_of(operation)) for body in bodies for operation in accumulations(body.get_nodes())]


def _own_nodes(scope: Scope, nodes: list[Any]) -> tuple[str, ...]:
    """The FX nodes of the templates among these scheduler nodes."""
    own: list[str] = []
    for node in nodes:
        template = node.node if node.is_template() else None
        if template is not None:
            own += scope.extern_nodes(template)[-1:]
    return tuple(own)


def _loops(scope: Scope, nodes: list[Any]) -> dict[str, set[int]]:
    """FX node → the loops of which it owns an operation that computes."""
    found: dict[str, set[int]] = {}
    for node in nodes:
        body = getattr(node, "_body", None)
        for operation in body.get_nodes() if body is not None else ():
            tag = None if _operator(operation) in MOVES else tag_of(operation)
            if tag is not None and tag.graph == scope.graph:
                found.setdefault(tag.node, set()).add(tag.loop)
    return found


def _body(
    scope: Scope,
    kernel: Defined,
    nodes: list[Any],
    found: LineOrigins,
    loops: dict[str, set[int]],
    templates: tuple[str, ...],
    counted: Counter[tuple[str, Node, Any]],
    dtypes: list[str],
) -> KernelBody:
    rows: list[tuple[int, str, set[str]]] = [
        (line, operator, {node for graph, node in whose if graph == scope.graph})
        for line, operator, whose in found.lines
    ]
    unmapped = [*found.unmapped, *(line for line, _, whose in rows if not whose)]
    rows = [row for row in rows if row[2]]
    if templates:
        rows += [(line, TEMPLATE, set(templates)) for line in unmapped]
        unmapped = []
    computes = [*loops, *templates]
    kernel.computes.update(dict.fromkeys(computes))
    done = [(key, count) for key, count in counted.items() if key[1][0] == scope.graph]
    named = sorted(
        {*computes, *(name for _, _, whose in rows for name in whose), *(node for (_, (_, node), _), _ in done)},
        key=_place(scope),
    )
    operators = list(
        dict.fromkeys([*(operator for _, operator, _ in rows), *(operator for (operator, _, _), _ in done)])
    )
    domains = {elements: described(elements) for elements in dict.fromkeys(elements for (_, _, elements), _ in done)}
    domain = {elements: index for index, elements in enumerate(domains)}
    position = {name: index for index, name in enumerate(named)}
    place = {name: index for index, name in enumerate(operators)}
    return KernelBody(
        graph=scope.graph,
        kernel=kernel.name,
        operations=tuple(node.get_name() for node in nodes),
        nodes=tuple(named),
        loops=tuple(tuple(sorted(loops.get(name, ()))) for name in named),
        operators=tuple(operators),
        statements=tuple(
            StatementNodes(line, place[operator], tuple(sorted(position[name] for name in whose)))
            for line, operator, whose in sorted(rows, key=lambda row: row[0])
        ),
        unmapped=tuple(sorted(unmapped)),
        computed=tuple(
            OperationCount(place[operator], position[node], domain[elements], count)
            for (operator, (_, node), elements), count in done
        ),
        domains=tuple(text for text, _ in domains.values()),
        elements=tuple(hint for _, hint in domains.values()),
        dtype=next((dtype for dtype in FLOATS if dtype in dtypes), ""),
    )


def _place(scope: Scope) -> Any:
    return lambda name: (scope.order.get(name, 1 << 30), name)
