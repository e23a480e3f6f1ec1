"""Scheduler nodes before and after fusion, with what they read, write and depend on."""

from collections.abc import Mapping
from typing import Any

import msgspec

from inspect_compile.facts import Access, Operation
from inspect_compile.lowering.core.expressions import text
from inspect_compile.lowering.core.scopes import SCOPES, Scope, torch_object
from inspect_compile.lowering.ir.loaded_places import loaded_places
from inspect_compile.probe import Probes, let_pass
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.schedule"
_MOST_CHANGES = 1000
"""Maximum length of a chain of mutations that is followed to the buffer."""

_KINDS = (
    ("ForeachKernelSchedulerNode", "foreach"),
    ("FusedExternTritonKernelSchedulerNode", "fused"),
    ("FusedSchedulerNode", "fused"),
    ("GroupedSchedulerNode", "grouped"),
    ("NopKernelSchedulerNode", "nop"),
    ("ExternKernelSchedulerNode", "extern"),
)
"""(scheduler class, kind): the first one in a node's mro counts. Foreach nodes are fused nodes too."""


def install_debug(probes: Probes) -> None:
    """Hook the log call that receives the nodes before fusion."""

    def found(instance: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        scope = SCOPES.here()
        if scope is not None:
            _record(probes, scope, "pre_fusion", args[0])

    probes.wrap(PROBE, names.LOG_PRE_FUSION, before=found, fresh_stack=True)


def install(probes: Probes) -> None:
    """Hook the scheduler when it is ready for code generation."""

    def ready(state: Any, scheduler: Any, args: Any, kwargs: Any, result: Any) -> None:
        scope = SCOPES.here()
        if scope is not None:
            _record(probes, scope, "post_fusion", scheduler.nodes)
            probes.sink.flush()

    probes.wrap(PROBE, names.SCHEDULER_INIT, after=ready, fresh_stack=True)


def _record(probes: Probes, scope: Scope, phase: str, nodes: Any) -> None:
    probes.sink.add_all(operation(scope, phase, order, node) for order, node in enumerate(nodes))


def operation(scope: Scope, phase: str, order: int, node: Any) -> Operation:
    """One scheduler node as a fact."""
    ir_node = getattr(node, "node", None)
    members = tuple(node.get_nodes())
    device = node.get_device()
    numel, rnumel = _numels(node)
    kind = kind_of(node)
    found = [member.node for member in members if member.node is not None]
    places = loaded_places(node)
    return Operation(
        graph=scope.graph,
        phase=phase,
        order=order,
        name=node.get_name(),
        kind=kind,
        node_type=type(node).__name__,
        ir_type=_ir_type(ir_node),
        device="" if device is None else str(device),
        members=tuple(member.get_name() for member in members),
        buffers=tuple(buffer.get_name() for buffer in node.get_outputs()),
        numel=numel,
        rnumel=rnumel,
        reads=_accesses(scope, node.read_writes.reads, places),
        writes=_in_place(node, _accesses(scope, node.read_writes.writes, places)),
        users=_users(node),
        predecessors=_predecessors(node),
        last_usage=tuple(sorted(node.last_usage)),
        nodes=_nodes(scope, kind, found),
        extern_kernel=_extern_kernel(ir_node),
    )


def _nodes(scope: Scope, kind: str, ir_nodes: list[Any]) -> tuple[str, ...]:
    """The FX nodes that a scheduler node computes."""
    if kind == "extern":
        return tuple(dict.fromkeys(name for one in ir_nodes for name in scope.extern_nodes(one)))
    return scope.in_order({origin for one in ir_nodes for origin in one.get_origins()})


def kind_of(node: Any) -> str:
    """pointwise, reduction, extern, template, nop, foreach, fused, grouped or other."""
    classes = {kind.__name__ for kind in type(node).__mro__}
    for name, kind in _KINDS:
        if name in classes:
            return kind
    if node.is_template():
        return "template"
    return ("reduction" if node.is_reduction() else "pointwise") if "SchedulerNode" in classes else "other"


def _ir_type(ir_node: Any) -> str:
    if ir_node is None:
        return ""
    data = getattr(ir_node, "data", None)
    outer = type(ir_node).__name__
    return f"{outer}({type(data).__name__})" if data is not None and outer == "ComputedBuffer" else outer


def _extern_kernel(ir_node: Any) -> str | None:
    name = getattr(ir_node, "get_kernel_name", None)
    if name is None:
        return None
    try:
        return str(name())
    except (AssertionError, AttributeError, NotImplementedError) as error:
        let_pass(error)
        return str(getattr(ir_node, "python_kernel_name", None) or type(ir_node).__name__)


def _numels(node: Any) -> tuple[str, str]:
    """Iterated and reduced elements, as texts; empty if a node has no loops."""
    sizes = getattr(node, "_sizes", None)
    if not (isinstance(sizes, (tuple, list)) and len(sizes) == 2):
        return "", ""
    products: list[Any] = []
    for ranges in sizes:
        product: Any = 1
        for length in ranges:
            product = product * length
        products.append(product)
    return text(products[0]), text(products[1])


def _accesses(scope: Scope, dependencies: Any, places: Mapping[Any, str]) -> tuple[Access, ...]:
    """Most dependencies are the same before and after fusion, and a fused node has those of its members.

    `places` are those of this node: where another one's index looks the same, its values may be others.
    """
    known, sizes = scope.stash.setdefault(PROBE, ({}, {}))
    found: list[Access] = []
    for dependency in dependencies:
        one = known.get(dependency)
        if one is None:
            one = known[dependency] = access(dependency, sizes)
        held = places.get(dependency)
        found.append(one if held is None else msgspec.structs.replace(one, places=held))
    return tuple(sorted(found, key=_order)) if len(found) > 1 else tuple(found)


def _in_place(node: Any, writes: tuple[Access, ...]) -> tuple[Access, ...]:
    """The writes, with the buffer whose memory each goes to if that is not its own."""
    into = {buffer.get_name(): name for buffer in node.get_outputs() for name in buffer.get_mutations()}
    if not into:
        return writes
    return tuple(msgspec.structs.replace(write, into=into.get(write.buffer)) for write in writes)


def _order(found: Access) -> tuple[str, str, str, tuple[str, ...]]:
    return found.buffer, found.kind, found.index or "", found.ranges


_Sizes = dict[str, tuple[int | None, int | None]]
"""Buffer → bytes of one element, and of all; None where they are not known."""


def access(dependency: Any, sizes: _Sizes) -> Access:
    """A MemoryDep, StarDep or WeakDep as plain values; `sizes` are those of buffers that were met before."""
    kind = {"MemoryDep": "memory", "StarDep": "star", "WeakDep": "weak"}.get(type(dependency).__name__, "star")
    size = None
    if kind != "weak":
        try:
            size = _hint(_measured(dependency))
        except Exception as error:
            let_pass(error)
            size = None  # a buffer without a layout (a tuple of an extern kernel)
    if kind != "memory":
        return Access(buffer=dependency.name, kind=kind, bytes=size)
    if dependency.name not in sizes:
        sizes[dependency.name] = _sizes_of(dependency.name)
    item, whole = sizes[dependency.name]
    ranges = tuple(
        f"{text(name)}={text(length)}" for name, length in zip(dependency.var_names, dependency.size, strict=False)
    )
    return Access(
        buffer=dependency.name,
        index=text(dependency.index),
        ranges=ranges,
        kind=kind,
        bytes=size,
        item=item,
        whole=whole,
    )


def _measured(dependency: Any) -> Any:
    """The object that has the size of a dependency."""
    home, star = _home(dependency.name), torch_object(names.WHOLE_BUFFER)
    is_whole = home != dependency.name and star is not None and type(dependency) is star
    return star(home) if is_whole and star is not None else dependency


def _home(buffer: str) -> str:
    """The buffer whose memory an extern kernel wrote, if `buffer` only marks the mutation: its own size is a single
    float.
    """
    graph, names_of = torch_object(names.VIRTUALIZED).graph, torch_object(names.CHANGED)
    for _ in range(_MOST_CHANGES):
        found = graph.try_get_buffer(buffer)
        if names_of is None or not isinstance(found, names_of) or len(found.get_mutation_names()) != 1:
            break
        buffer = found.get_mutation_names()[0]
    return buffer


def _hint(dependency: Any) -> int | None:
    """Bytes of a dependency; None for an unbacked size, for which torch returns 0."""
    size = int(dependency.numbytes_hint())
    if size:
        return size
    try:
        return None if dependency.get_numel().free_symbols else 0
    except Exception as error:
        let_pass(error)
        return 0  # nothing: no layout


def _sizes_of(buffer: str) -> tuple[int | None, int | None]:
    """Bytes of one element of a buffer, and of the whole buffer."""
    star = torch_object(names.WHOLE_BUFFER)
    try:
        buffer = _home(buffer)
        item = torch_object(names.VIRTUALIZED).graph.get_dtype(buffer).itemsize
        return int(item), None if star is None else _hint(star(buffer))
    except Exception as error:
        let_pass(error)
        return None, None  # no hint, or no layout


def _users(node: Any) -> tuple[str, ...]:
    own = {member.get_name() for member in node.get_nodes()}
    found = {user.get_name(): None for buffer in node.get_outputs() for user in buffer.users}
    return tuple(name for name in found if name not in own)


def _predecessors(node: Any) -> tuple[str, ...]:
    """Operations whose results it depends on."""
    own = {member.get_name() for member in node.get_nodes()}
    buffers = (node.scheduler.name_to_buf.get(dependency.name) for dependency in node.unmet_dependencies)
    defining = (buffer.defining_op for buffer in buffers if buffer is not None)
    return tuple(sorted({operation.get_name() for operation in defining if operation is not None} - own, key=_number))


def _number(name: str) -> tuple[int, str]:
    digits = "".join(character for character in name if character.isdigit())
    return (int(digits[:9]) if digits else 0), name
