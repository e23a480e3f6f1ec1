"""Records the files and FX graphs of a graph's compile through the calls that TORCH_COMPILE_DEBUG would answer.

torch's own switch changes the generated code, so it stays off: these calls are made in every compile, and usually do
nothing.
"""

import functools
import inspect
import io
import weakref
from typing import Any

from inspect_compile.at_start import AtStart
from inspect_compile.dump import paths
from inspect_compile.facts import Graph, GraphEnd
from inspect_compile.knowledge.overview.compiler_errors import brief
from inspect_compile.lowering.core.fx_nodes import NodeReader
from inspect_compile.lowering.core.muted_logging import muted
from inspect_compile.lowering.core.scopes import SCOPES, Scope, allows_tf32, aot_graph_name, torch_object
from inspect_compile.lowering.frontend.failures import Failed, failed_in
from inspect_compile.lowering.passes.inherited import aot_id, origins_in
from inspect_compile.lowering.schedule.schedule_text import Rendered, schedule_text
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import inductor as names
from inspect_compile.torch_compat.targets import CUSTOM_OPERATORS

PROBE = "lowering.debug_door"


def install(probes: Probes) -> None:
    """Hook DebugContext."""
    sink = probes.sink

    def entered(state: Any, context: Any, args: Any, kwargs: Any, result: Any) -> None:
        SCOPES.opened(context, aot_graph_name())

    def leaving(context: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        scope = SCOPES.of_context(context)
        if scope is None or not scope.announced:
            return
        error = args[1] if len(args) > 1 else None
        failed = Failed() if error is None else failed_in(error, scope)
        sink.add(
            GraphEnd(
                graph=scope.graph,
                status="failed" if error is not None else "compiled",
                seconds=round(AtStart.perf_counter() - scope.started, 6),
                exception=None if error is None else brief(f"{type(error).__name__}: {error}"),
                stage=failed.stage,
                nodes=failed.nodes,
            )
        )
        sink.flush()

    def fx_graph(context: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        scope = SCOPES.of_context(context)
        if scope is None:
            return
        _announce(probes, scope, args[0])
        if probes.keeps_texts:
            sink.text(f"{scope.folder}/{paths.FX_READABLE}", args[0].print_readable(print_output=False))
            if PROBE not in scope.stash:
                _render_repro(args, kwargs)
        inherited = functools.partial(origins_in, aot_id(scope.graph))
        sink.add_all(NodeReader(inherited).all_facts(args[0], graph=scope.graph, stage="aot"))
        sink.flush()

    def fx_graph_transformed(context: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        scope = SCOPES.of_context(context)
        if scope is not None and probes.keeps_texts:
            sink.text(f"{scope.folder}/{paths.FX_TRANSFORMED}", args[0].print_readable(print_output=False))
            sink.flush()

    rendered: weakref.WeakKeyDictionary[Any, Rendered] = weakref.WeakKeyDictionary()

    def ir_text(name: str) -> Any:
        def heard(context: Any, args: tuple[Any, ...], kwargs: Any) -> None:
            scope = SCOPES.here() or SCOPES.of_context(context)
            if scope is None or not probes.keeps_texts:
                return
            # torch overwrites the graph's schedule with those of its subgraphs: here each has a file.
            text = schedule_text(args[0], rendered.setdefault(context, Rendered()))
            sink.text(f"{scope.folder}/{paths.ir_text(name, scope.graph)}", text)

        return heard

    def output_code(context: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        scope = SCOPES.of_context(context)
        if scope is None:
            return
        extension = argument(args, kwargs, 1, "extension", "py")
        with AtStart.open(args[0], encoding="utf-8", errors="replace") as file:
            sink.text(f"{scope.folder}/{paths.OUTPUT_CODE}.{extension}", file.read())
        sink.flush()

    probes.wrap(PROBE, names.DEBUG_ENTER, after=entered)
    probes.wrap(PROBE, names.DEBUG_EXIT, before=leaving)
    for method, heard in (
        ("fx_graph", fx_graph),
        ("fx_graph_transformed", fx_graph_transformed),
        ("ir_pre_fusion", ir_text(paths.IR_PRE_FUSION)),
        ("ir_post_fusion", ir_text(paths.IR_POST_FUSION)),
        ("output_code", output_code),
    ):
        probes.listen(PROBE, names.DEBUG_CONTEXT, method, heard)


def _render_repro(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Render the repro script, which torch 2.14 and later do only for the structured trace."""
    render = torch_object(names.SAVE_REPRO)
    if render is None:
        return
    more: dict[str, Any] = {}
    if "is_inference" in inspect.signature(render).parameters:  # not before torch 2.14
        more["is_inference"] = bool(argument(args, kwargs, 2, "is_inference"))
    # Rendering multiplies symbolic sizes, which torch may be asked to log.
    with muted(torch_object(names.SYMBOL_LOG)):
        render(io.StringIO(), args[0], args[1], "inductor", save_dir=None, **more)


def install_repro(probes: Probes) -> None:
    """Take over the text of fx_graph_runnable.py: torch renders it for every compile."""

    def repro_saved(state: Any, instance: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        virtualized = torch_object(names.VIRTUALIZED)
        scope = SCOPES.of_context(virtualized.debug) if virtualized is not None else None
        getvalue = getattr(argument(args, kwargs, 0, "fd"), "getvalue", None)
        if scope is None or getvalue is None:
            return
        _announce(probes, scope, argument(args, kwargs, 1, "gm"))
        scope.stash[PROBE] = True
        if not probes.keeps_texts:
            return
        probes.sink.text(f"{scope.folder}/{paths.FX_RUNNABLE}", getvalue())

    probes.wrap(PROBE, names.SAVE_REPRO, after=repro_saved)


def _announce(probes: Probes, scope: Scope, graph_module: Any) -> None:
    if scope.announced:
        return
    scope.announced = True
    nodes = graph_module.graph.nodes
    devices = {str(value.device) for node in nodes if hasattr(value := node.meta.get("val"), "device")}
    probes.sink.add(
        Graph(
            graph=scope.graph,
            kind=scope.kind,
            compile_id=scope.compile_id,
            name=scope.graph.rsplit(".", 1)[0],
            inputs=sum(node.op == "placeholder" for node in nodes),
            device=", ".join(sorted(devices)),
            tf32=allows_tf32(),
            operators=_defined_operators(graph_module),
        )
    )


def _defined_operators(graph_module: Any) -> dict[str, str]:
    """Operators of the graph and of those in it that `torch.library.custom_op` defined → the module that did."""
    defined = torch_object(CUSTOM_OPERATORS) or {}
    if not defined:
        return {}
    found: dict[str, str] = {}
    for module in graph_module.modules():
        for node in getattr(getattr(module, "graph", None), "nodes", ()):
            name = getattr(getattr(node.target, "_schema", None), "name", "") if node.op == "call_function" else ""
            function = getattr(defined.get(name), "_init_fn", None)
            if function is not None:
                found[name] = str(getattr(function, "__module__", ""))
    return found
