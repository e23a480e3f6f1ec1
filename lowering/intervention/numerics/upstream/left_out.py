"""What Dynamo leaves out of a function while it captures it: its graph can't show what that does to the results."""

import importlib
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Final

from inspect_compile.probe import let_pass, replace
from inspect_compile.torch_compat import dynamo as names
from inspect_compile.torch_compat.runtime import TRANSFORMS

_OWN_RULES: Final = (
    "Dynamo captured the forward of {} inside a transform of torch.func, and not its own backward, jvp or vmap; "
    "only --eager compares with the program's function"
)
_SAME_REGION: Final = (
    "Dynamo used the graph of a nested_compile_region's earlier call again and took {}, which the region reads beside "
    "its arguments, for unchanged; only --eager compares with the program's function"
)


class LeftOut(threading.local):
    """What was left out of the graph that a thread is capturing."""

    def __init__(self) -> None:
        self.is_kept = False
        """The latest autograd.Function is in the graph with its backward."""
        self._graph: Callable[[], Any] = lambda: None
        """Dynamo's object of the graph."""
        self._reason = ""

    def note(self, output: Any, function: Any) -> None:
        """Dynamo has put what `function`, an autograd.Function, computes into the graph of `output` like other code."""
        transforms = TRANSFORMS.load()
        levels = transforms.get_interpreter_stack() or ()
        only_batched = all(one.key() == transforms.TransformType.Vmap for one in levels)
        if levels and not (only_batched and function.generate_vmap_rule):
            self._graph, self._reason = weakref.ref(output), _OWN_RULES.format(function.__name__)

    def note_region(self, output: Any, arguments: Any, region: Any) -> None:
        """Dynamo has put one more call of `region` into the graph of `output`, captured when it was called with other
        `arguments`.
        """
        given = {one for one in (*region.arg_sources, *arguments.arg_sources) if one is not None}
        inputs = (getattr(one, "source", None) for one in region.subgraph_input_mapping)
        read = next((one for one in inputs if one is not None and given.isdisjoint(_bases(one))), None)
        if read is not None:
            self._graph, self._reason = weakref.ref(output), _SAME_REGION.format(read.name)

    def of(self, output: Any) -> str:
        """Why the graph of `output` is not known to be the program's function; empty if nothing was left out."""
        return self._reason if self._graph() is output else ""


def _bases(source: Any) -> Iterator[Any]:
    """Where Dynamo finds a value: in what, and in what that is, up to a variable."""
    while source is not None:
        yield source
        source = getattr(source, "base", None)


def install(check: Any) -> None:
    """Tell `check.origins.left_out` of what is not in the graphs that are captured from now on."""
    left_out: LeftOut = check.origins.left_out

    def applied(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def call_apply(variable: Any, translator: Any, *args: Any, **kwargs: Any) -> Any:
            left_out.is_kept = False
            found = plain(variable, translator, *args, **kwargs)
            if check.is_on and not left_out.is_kept:
                try:
                    left_out.note(translator.output, variable.fn_cls)
                except Exception as error:
                    let_pass(error)
            return found

        return call_apply

    def kept(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def call_function(variable: Any, *args: Any, **kwargs: Any) -> Any:
            found = plain(variable, *args, **kwargs)
            left_out.is_kept = True
            return found

        return call_function

    for name, watched in ((names.APPLIES, applied), (names.KEEPS_BACKWARD, kept)):
        replace(importlib.import_module(name.module), name, watched)


def install_regions(check: Any) -> None:
    """Tell `check.origins.left_out` of graphs of nested_compile_regions that are used again, from now on."""
    left_out: LeftOut = check.origins.left_out

    def called_again(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def stamp_out_subgraph(translator: Any, arguments: Any, region: Any, *args: Any, **kwargs: Any) -> Any:
            found = plain(translator, arguments, region, *args, **kwargs)
            if check.is_on:
                try:
                    left_out.note_region(translator.output, arguments, region)
                except Exception as error:
                    let_pass(error)
            return found

        return stamp_out_subgraph

    name = names.CALLS_REGION_AGAIN
    replace(importlib.import_module(name.module), name, called_again)
