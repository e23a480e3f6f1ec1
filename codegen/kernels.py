"""Every kernel that code generation defines: its name, its source, the scheduler nodes that it holds.

What is collected here waits in the graph's scope until the output code, and with it each line, is known: see
`codegen.wrapper`.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from inspect_compile.dump import paths
from inspect_compile.lowering.scopes import SCOPES, Scope, current_graph, torch_object
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import codegen as names
from inspect_compile.torch_compat import inductor as inductor_names

PROBE = "codegen.kernels"

FORMS: Final = {"cpp": "C++", "template": "template", "user_triton": "user-written", "extern": "extern"}
"""Kind of kernel → its form, where that follows from it."""


@dataclass
class Defined:
    """One kernel while code is generated; plain values."""

    name: str
    kind: str = "other"
    form: str = ""
    device: str = ""
    operations: dict[str, None] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)
    nodes: dict[str, None] = field(default_factory=dict)
    computes: dict[str, None] = field(default_factory=dict)
    source: str = ""
    text: str = ""
    """Of the source."""
    metadata: str = ""
    numel: tuple[str, ...] = ()
    inplace: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def defined_in(scope: Scope) -> dict[str, Defined]:
    """The kernels of one graph or subgraph so far, by name."""
    found: dict[str, Defined] = scope.stash.setdefault(PROBE, {})
    return found


def kernel_of(scope: Scope, name: str) -> Defined:
    """One of them. A nested graph that has a kernel of the same source as another one calls that one's."""
    known = defined_in(scope)
    found = known.get(name)
    if found is None:
        first: Defined = scope.kernels.get(name, Defined(name))
        found = known[name] = Defined(name, source=first.source, text=first.text, metadata=first.metadata)
    return found


def install_triton(probes: Probes) -> None:
    """Hook the Triton backend."""
    probes.wrap(PROBE, names.TRITON_DEFINE, after=_scheduled("triton"))


def install_cpp(probes: Probes) -> None:
    """Hook the C++ backend."""
    probes.wrap(PROBE, names.CPP_DEFINE, after=_scheduled("cpp"))


def install_wrapper(probes: Probes) -> None:
    """Hook the place where every kernel's final source goes."""
    sink = probes.sink

    def defined(wrapper: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        scope = SCOPES.here()
        if scope is None:
            return
        name = str(args[0] if args else kwargs["kernel_name"])
        body = str(args[1] if len(args) > 1 else kwargs["kernel_body"])
        metadata = args[2] if len(args) > 2 else kwargs.get("metadata")
        on_gpu = args[3] if len(args) > 3 else kwargs.get("gpu", True)
        kernel = scope.kernels[name] = kernel_of(scope, name)
        kernel.metadata = str(metadata or "")
        if kernel.kind == "other":
            # The backends name their kernels before they have hooks of ours around them only when a user wrote the
            # kernel.
            kernel.kind = (
                ("user_triton" if "user_autotune" in body or "triton_meta" in body else "triton") if on_gpu else "cpp"
            )
            kernel.form = FORMS.get(kernel.kind, "")
        extension = "cpp" if not on_gpu else "py"
        kernel.source = f"{paths.kernel_folder(scope.graph, name)}/source.{extension}"
        kernel.text = bare_source(body)
        sink.text(f"{scope.folder}/{kernel.source}", kernel.text)

    probes.wrap(PROBE, names.WRAPPER_DEFINE, before=defined)


def bare_source(body: str) -> str:
    """The kernel's own text out of the call that defines it, `async_compile.triton('name', ''' … ''', …)`."""
    start = body.find("'''")
    end = body.rfind("'''")
    return body[start + 3 : end].strip("\n") + "\n" if 0 <= start < end else body


def schedule_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """What torch's define_kernel is told of a kernel's scheduler nodes, when it is called with these arguments."""
    schedule = args[1] if len(args) > 1 else kwargs.get("node_schedule", kwargs.get("nodes"))
    return [node for node in schedule or () if hasattr(node, "get_nodes")]


def scheduled_nodes(schedule: list[Any]) -> list[Any]:
    """The single scheduler nodes of a kernel."""
    found = [member for node in schedule for member in node.get_nodes()]
    nested, fused = torch_object(inductor_names.NESTED_REDUCTIONS), current_graph().scheduler.name_to_fused_node
    whole = fused.get(found[0].get_name()) if found and nested is not None else None
    return [*whole.get_nodes()] if whole is not None and isinstance(whole, nested) else found


def _form(schedule: Any, kernel: Any) -> str:
    """Of a Triton kernel that torch wrote."""
    match type(kernel).__name__:
        case "TritonSplitScanKernel":
            return "split scan"
        case "ComboKernel":
            # A foreach operator's nodes are put together as they come, others by their sizes.
            of_foreach = all(getattr(node, "use_custom_partition_algo", None) is False for node in schedule)
            return "foreach" if of_foreach else "combo"
    for form in ("mix_order", "cooperative", "persistent"):
        if getattr(kernel, f"{form}_reduction", False):
            return f"{form.replace('_', '-')} reduction"
    features = getattr(kernel, "features", None)
    return "" if features is None else "reduction" if features.is_reduction() else "pointwise"


def _scheduled(kind: str) -> Any:
    def after(state: Any, backend: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        scope, graph = SCOPES.here(), current_graph()
        if scope is None:
            return
        schedule = schedule_of(args, kwargs)
        nodes = scheduled_nodes(schedule)
        kernel = kernel_of(scope, str(result))
        kernel.kind = "template" if any(node.is_template() for node in nodes) else kind
        fused = graph.scheduler.name_to_fused_node
        for node in nodes:
            name = node.get_name()
            kernel.operations[name] = None
            group = fused[name].get_name() if name in fused else name
            if group not in kernel.groups:
                kernel.groups.append(group)
        origins = [origin for node in nodes if node.node is not None for origin in node.node.get_origins()]
        kernel.nodes.update(dict.fromkeys(scope.in_order(origins)))
        device = nodes[0].get_device() if nodes else None
        kernel.device = "" if device is None else str(device)
        described = args[2] if len(args) > 2 else kwargs.get("kernel")
        kernel.form = FORMS.get(kernel.kind) or _form(schedule, described)
        numels = getattr(described, "numels", None)
        if isinstance(numels, dict):
            kernel.numel = tuple(f"{prefix}={length}" for prefix, length in numels.items())
        kernel.inplace = tuple(f"{new}←{old}" for new, old in getattr(described, "inplace_update_buffers", {}).items())
        kernel.removed = tuple(sorted(str(name) for name in getattr(described, "removed_buffers", ())))

    return after
