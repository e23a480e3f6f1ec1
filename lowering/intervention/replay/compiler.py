"""Compiles one recorded graph, from the text of its fx_graph_runnable.py through compile_fx_inner."""

import ast
import builtins
import functools
import importlib
import linecache
import math
import operator
import re
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch
from torch.fx import GraphModule
from torch.fx.graph import dtype_abbrs  # type: ignore[attr-defined]
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

from inspect_compile.lowering.core.scopes import SCOPES, torch_compile_id
from inspect_compile.lowering.intervention.cross_compile import by_device
from inspect_compile.lowering.intervention.cross_compile.attention.attention import taken as decisions
from inspect_compile.lowering.intervention.replay import attention, knobs
from inspect_compile.lowering.intervention.replay.flex import adapt
from inspect_compile.lowering.intervention.replay.graphs import graph_module
from inspect_compile.lowering.intervention.replay.groups import make_groups
from inspect_compile.lowering.intervention.replay.inputs import FUNCTIONS, Reader, Symbols
from inspect_compile.lowering.intervention.replay.known import Known
from inspect_compile.lowering.intervention.replay.replay_metadata import annotate, keep_eager_inputs
from inspect_compile.lowering.intervention.replay.runnable import Body, RefusedError, Runnable, annotations, names_in
from inspect_compile.lowering.intervention.replay.stand_ins import StandIns
from inspect_compile.torch_compat import compilers as names
from inspect_compile.torch_compat.call_path import COMPILE_INNER
from inspect_compile.torch_compat.dynamo import COMPILE_CONTEXT
from inspect_compile.torch_compat.inductor import CONFIG, VIRTUALIZED

_NAME: Final = re.compile(r"(.+)__((?:\d{1,18}_\w{1,200}?)?)_(\d{1,18})\.(\d+)")
_ANNOTATED: Final = re.compile(r"(\w+)[\[(]([^\])]*)[\])]")
_DTYPES: Final = {short: dtype for dtype, short in dtype_abbrs.items()} | {"Sym": None}
_OWN: Final[dict[str, Any]] = {"fx_graph_cache": False, "fx_graph_remote_cache": False, "compile_threads": 1}


def compile_again(
    recorded: Runnable,
    known: Known,
    wanted: Mapping[str, Any],
    remark: Callable[[str, str], None],
    *,
    is_of_strangers: bool = False,
    device: torch.device | None = None,
    own: Mapping[str, Any] | None = None,
    call: Callable[[Callable[[list[Any]], Any]], None] | None = None,
) -> None:
    """Compile it with its recorded settings, those in `wanted`, and our `own`; what was on the CPU is put on `device`.

    It is never run, unless `call` is given, which is handed what was compiled.

    Raises RefusedError, or what torch raises. `remark` receives code and sentence of what a reader should know.
    """
    asked = knobs.checked(wanted)
    make_groups(recorded)
    namespace = _executed(recorded, remark)
    _define(known.operators)
    stand_ins = StandIns(recorded.body, known, remark, is_of_strangers=is_of_strangers)
    if call is None:
        _only_generate()
    names.STORE_TIMINGS.put(lambda cache, timings: None)
    _name(known)

    def there(place: Any) -> Any:
        return device if device is not None and isinstance(place, torch.device) and place.type == "cpu" else place

    module = graph_module(recorded.body, namespace["Repro"](), namespace)
    if device is not None:
        _move(module, there)
    symbols = Symbols(recorded.hints, names_in(recorded.program), known.unbacked, recorded.ragged)
    stand_ins.use(symbols, there)
    namespace |= FUNCTIONS | symbols.sizes | symbols.values
    mode = names.FAKE_TENSOR_MODE.load()(shape_env=symbols.shapes, allow_non_fake_inputs=True)
    with CONFIG.load().patch(asked | _OWN | dict(own or {})):
        annotate(module, known)
        with mode, torch.no_grad():
            values = _loaded(namespace, Reader(symbols, there))
            devices = [value.device for value in values if isinstance(value, torch.Tensor)]
            places = _Places(symbols, devices[0] if devices else torch.device("cpu"))
            propagation = _Propagation(mode, places, stand_ins)
            propagation.run(module, recorded.body, values)
            adapt(module)
            if device is not None:
                if attention.put_back(module):
                    propagation.run(module, recorded.body, values)
                _tell_of_device(module, remark)
            keep_eager_inputs(module)
        compiled = _compile(module, values, mode, known)
        if call is not None:
            call(compiled)


def _executed(recorded: Runnable, remark: Callable[[str, str], None]) -> dict[str, Any]:
    """Run the code around the graph: imports, the program's Triton kernels, its settings of torch."""
    file = "<fx_graph_runnable>"
    lines = recorded.source.splitlines(keepends=True)
    linecache.cache[file] = (len(recorded.source), None, lines, file)  # where Triton looks for its kernels
    namespace: dict[str, Any] = {"__name__": "fx_graph_runnable", "__file__": file, "nan": math.nan}
    namespace |= {"math": math, "operator": operator, "builtins": builtins}
    try:
        exec(compile(recorded.program, file, "exec"), namespace)
    except Exception as error:
        raise RefusedError(f"fx_graph_runnable.py can't be run: {type(error).__name__}: {error}") from error
    for setting in recorded.settings:
        try:
            exec(compile(ast.Module([setting], []), file, "exec"), namespace)
        except Exception as error:  # a setting of another torch
            message = f"the recorded compile had {ast.unparse(setting)}, which can't be set here: {error}"
            remark("replay-setting", message)
    return namespace


def _define(operators: Mapping[str, str]) -> None:
    """Import the modules that define operators of the graph. RefusedError if one is not there.

    What the program itself defines is missing, which is told where the graph calls it.
    """
    for operator_name, module in operators.items():
        if module != "__main__":
            try:
                importlib.import_module(module)
            except Exception as error:
                words = f"the graph calls {operator_name}, which {module} defines, and that can't be imported here"
                raise RefusedError(f"{words}: {type(error).__name__}: {error}") from error


def _loaded(namespace: dict[str, Any], reader: Reader) -> list[Any]:
    try:
        namespace["load_args"](reader)
    except (NameError, KeyError) as error:
        raise RefusedError(f"the inputs of the graph can't be recreated: {error}") from None
    return reader.made()


def _only_generate() -> None:
    """Generate C++ without building it: only its source is recorded."""
    for name in names.BUILDS:
        try:
            name.put(staticmethod(_unbuilt))
        except AttributeError:  # this torch has no such hook
            continue


def _unbuilt(*arguments: Any, **named: Any) -> Callable[..., Any]:
    def called(*_: Any) -> Any:
        raise RuntimeError("a graph that was compiled again is not run")

    return called


def _name(known: Known) -> None:
    """Give the graph its recorded name."""
    match = _NAME.fullmatch(known.graph)
    if match is None:
        return
    names.MODEL_NAME.put(match[1])
    names.GRAPH_BEING_COMPILED.put([match[2]] if match[2] else [])
    names.NTH_GRAPH.put(int(match[3]))
    SCOPES.count_from(int(match[4]))


def _move(module: GraphModule, there: Callable[[Any], Any]) -> None:
    """Replace the CPU by the device where the graph names it."""
    for graph_module_ in module.modules():
        if isinstance(graph_module_, GraphModule):
            for node in graph_module_.graph.nodes:
                node.args = torch.fx.node.map_aggregate(node.args, there)
                node.kwargs = torch.fx.node.map_aggregate(node.kwargs, there)


def _tell_of_device(module: GraphModule, remark: Callable[[str, str], None]) -> None:
    """Remarks on where the graph is not what the device would have received."""
    message = "it was recorded on the CPU: AOTAutograd's decompositions for the CPU remain"
    taken = ", ".join(dict.fromkeys(decision.kernel for decision in decisions()))
    remark("replay-by-device", f"{message}, but for attention ({taken})" if taken else message)
    for what in by_device.remaining(module):
        remark("replay-by-device", f"{what}: it is as on the CPU")


class _Propagation:
    """Computes the fake value of each node, in subgraphs too, from what the operators call them with."""

    def __init__(self, mode: Any, places: "_Places", stand_ins: StandIns) -> None:
        self._mode = mode
        self._places = places
        self._stand_ins = stand_ins

    def run(self, module: GraphModule, body: Body, values: Sequence[Any], prefix: str = "") -> Any:
        """The values of the outputs; `prefix` is the path of a subgraph."""
        children = {name: getattr(module, name) for name in body.children}
        called: set[str] = set()

        def in_subgraph(name: str, *arguments: Any) -> Any:
            called.add(name)
            result = self.run(children[name], body.children[name], arguments, f"{prefix}{name}/")
            children[name].graph.output_node().meta.pop("val", None)  # as AOTAutograd leaves it
            return result

        for name, child in children.items():
            child.forward = functools.partial(in_subgraph, name)
        try:
            values_of = _Values(module, self._mode, self._stand_ins, prefix)
            result = values_of.propagate_dont_convert_inputs(*values)
        finally:
            for child in children.values():
                del child.forward
        for name in children.keys() - called:  # flex_attention knows its shapes without them
            in_subgraph(name, *self._places.inputs(body.children[name]))
        return result


class _Values(FakeTensorProp):
    """Computes values with each view as a reshape (view_to_reshape).

    A backward graph is traced with contiguous values, and compiled with those that its forward really saves: some, of a
    channels-last convolution, cannot be viewed as before.
    """

    def __init__(self, module: GraphModule, mode: Any, stand_ins: StandIns, prefix: str) -> None:
        super().__init__(module, mode)
        self._stand_ins = stand_ins
        self._prefix = prefix

    def run_node(self, n: Any) -> Any:
        """Compute the value of one node, of which a stand-in may know what was recorded."""
        self._stand_ins.node(f"{self._prefix}{n.name}")
        return super().run_node(n)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Compute the value of one node."""
        made = torch.ops.aten.reshape.default if target is torch.ops.aten.view.default else target
        return super().call_function(made, args, kwargs)


class _Places:
    """Inputs of a subgraph, from their annotations: `f32[8, 8]`."""

    def __init__(self, symbols: Symbols, device: torch.device) -> None:
        self._symbols = symbols
        self._device = device

    def inputs(self, body: Body) -> list[Any]:
        """FakeTensors, made in the current mode."""
        return [self._input(text) for text in annotations(body.function).values()]

    def _input(self, text: str) -> Any:
        match = _ANNOTATED.match(text)
        if match is None or match[1] not in _DTYPES:
            raise RefusedError(f"an input of a subgraph is {text}, which can't be recreated")
        if match[1] == "Sym":
            return self._symbols.value(match[2], None)
        sizes = [self._symbols.value(size, None) for size in match[2].split(", ") if size]
        return torch.empty(sizes, dtype=_DTYPES[match[1]], device=self._device)


def _compile(module: GraphModule, values: Sequence[Any], mode: Any, known: Known) -> Callable[[list[Any]], Any]:
    placeholders = [node.name for node in module.graph.find_nodes(op="placeholder")]
    donated = [index for index, name in enumerate(placeholders) if name in known.donated]
    context = names.TRACING_CONTEXT.load()(mode)
    context.aot_graph_name = list(names.AOT_CONTEXT.load()()[0])
    context.fw_metadata = types.SimpleNamespace(
        bw_donated_idxs=donated if known.kind == "backward" else None, static_input_indices=[]
    )
    compile_id = torch_compile_id(known.compile_id)
    config, boxed_bool = CONFIG.load(), names.BOXED_BOOL.load()
    with (
        names.TRACING.load()(context),
        names.SET_COMPILE_CONTEXT.load()(COMPILE_CONTEXT.load()(compile_id)),
        VIRTUALIZED.load().set_fake_mode(mode),
    ):
        compiled: Callable[[list[Any]], Any] = COMPILE_INNER.load()(
            module,
            values,
            static_input_idxs=[index for index, name in enumerate(placeholders) if name in known.static],
            cudagraphs=boxed_bool(config.triton.cudagraphs),
            is_backward=known.kind == "backward",
            is_inference=known.kind == "inference",
            cpp_wrapper=config.cpp_wrapper,
            boxed_forward_device_index=names.BOXED_DEVICE_INDEX.load()(None),
        )
    return compiled
