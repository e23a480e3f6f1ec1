"""Finds the FX node of each operation in a loop's body.

Inductor keeps the nodes that flowed into a loop, but not which of its operations belongs to which. A loop is a
function, made while its node is lowered, that may call the functions of other loops; its body is recorded while it
runs. So each function gets a tag when it is made, and each operation the tag of the innermost running function.
"""

import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from inspect_compile.facts.nesting import enclosing
from inspect_compile.lowering.core.scopes import SCOPES, torch_object
from inspect_compile.probe import Probes, leave_traceback, uncounted
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.loop_tags"

_REDUCTION = ("reduction", "store_reduction")
"""Operations of a body that has a reduction."""
_FUNCTIONS = ("inner_fn", "output_indexer")
"""Fields of loops that hold a function; `inner_fns` holds several."""


class Tag(NamedTuple):
    """What a loop belongs to; plain values."""

    graph: str
    node: str
    loop: int
    """Number of the loop in its graph. A loop that is in two kernels is computed twice."""


class _Running(threading.local):
    """The loop functions that run on this thread, and the outermost one that ended last."""

    tags: tuple[Tag, ...] = ()
    last: Tag | None = None


_running = _Running()
_tags: weakref.WeakKeyDictionary[Any, Tag] = weakref.WeakKeyDictionary()
"""Operation of a loop's body → tag. Not in the operation's `meta`, whose entries torch takes for its own."""


def install(probes: Probes) -> None:
    """Hook the places where loops are made and where their operations are recorded."""

    def born(state: Any, loops: Any, args: Any, kwargs: Any, result: Any) -> None:
        node = getattr(torch_object(names.VIRTUALIZED).current_node, "name", None)
        scope = SCOPES.here()
        if type(node) is not str or scope is None:
            return  # nothing is being lowered: a loop is made again from functions that have tags
        # A pointwise subgraph, for example of attention, belongs to a node of the enclosing graph.
        graph = scope.graph if node in scope.order else enclosing(scope.graph) or scope.graph
        tag = Tag(graph, node, next(scope.stash.setdefault(PROBE, itertools.count())))
        fields = vars(loops)
        for field in _FUNCTIONS:
            if callable(fields.get(field)):
                object.__setattr__(loops, field, tagged(fields[field], tag))
        if type(fields.get("inner_fns")) is tuple:
            object.__setattr__(loops, "inner_fns", tuple(tagged(function, tag) for function in fields["inner_fns"]))

    probes.wrap(PROBE, names.LOOPS_BORN, after=born)


def install_bodies(probes: Probes) -> None:
    """Hook the tracer of loop bodies."""

    def written(tracer: Any, args: tuple[Any, ...], operation: Any) -> None:
        interpreted = operation_at_hand()
        if interpreted is not None:  # a body is recorded again, in another order
            tag = _tags.get(interpreted)
        elif _running.tags:
            tag = _running.tags[-1]
        else:
            if operation.op == "placeholder":  # a body begins
                _running.last = None
            tag = _running.last  # what happens to the result: it is stored, or reduced
        if tag is not None:
            _tags[operation] = tag

    def of_rows(block: Any, args: Any, kwargs: Any) -> Tag | None:
        return _reduction_tag(block.graph.nodes)

    def made_one(tag: Tag | None, block: Any, args: Any, kwargs: Any, result: Any) -> None:
        if tag is not None:
            _tags.update((operation, tag) for operation in accumulations(result.graph.nodes))

    probes.follow(PROBE, names.BODY_OPERATION, written)
    probes.wrap(PROBE, names.REDUCTION_OF_ROWS, before=of_rows, after=made_one)


def install_schedule(probes: Probes) -> None:
    """Hook the place where a split reduction is merged again, from a function without a tag."""

    def split(node: Any, args: Any, kwargs: Any) -> Tag | None:
        return _reduction_tag(node._body.get_nodes())

    def whole(tag: Tag | None, node: Any, args: Any, kwargs: Any, result: Any) -> None:
        if tag is not None:
            operations = node._body.get_nodes()
            _tags.update((operation, tag) for operation in operations if operation.target in _REDUCTION)

    probes.wrap(PROBE, names.SPLIT_CANCELLED, before=split, after=whole)


def _reduction_tag(operations: Iterable[Any]) -> Tag | None:
    return next((tag_of(operation) for operation in operations if operation.target in _REDUCTION), None)


def accumulations(operations: Iterable[Any]) -> Iterator[Any]:
    """Operations that reduce along rows in a kernel that also reduces along columns."""
    return (operation for operation in operations if operation.target == "partial_accumulate")


@functools.cache
def _handlers() -> tuple[Any, str, str]:
    """Where torch keeps each thread's interpreter and kernel: going through torch's `V` takes ten times as long, and so
    does asking for an attribute that the thread does not have.
    """
    return torch_object(names.HANDLERS), torch_object(names.INTERPRETER)._key, torch_object(names.KERNEL)._key


def operation_at_hand() -> Any:
    """The operation of a loop's body that the current thread is handling, or None."""
    handlers, interpreter, _ = _handlers()
    return getattr(vars(handlers).get(interpreter), "current_node", None)


def kernel_at_hand() -> Any:
    """torch's kernel that the current thread is generating, or None."""
    handlers, _, kernel = _handlers()
    return vars(handlers).get(kernel)


def running_tag() -> Tag | None:
    """Tag of the innermost loop function running on this thread, outside of any body."""
    return _running.tags[-1] if _running.tags else None


def tag_of(operation: Any) -> Tag | None:
    """Tag of an operation; for one that code generation inserted, such as a cast, that of its input."""
    found = _tags.get(operation)
    while found is None and operation is not None:
        operation = next((node for node in operation.all_input_nodes if node.op != "placeholder"), None)
        found = None if operation is None else _tags.get(operation)
    return found


def tagged(function: Callable[..., Any], tag: Tag) -> Callable[..., Any]:
    """`function`, wrapped so that its tag is known while it runs."""

    def run(*args: Any, **kwargs: Any) -> Any:
        before = _running.tags
        _running.tags = (*before, tag)
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            leave_traceback(error)
            raise
        finally:
            _running.tags = before
            if not before:
                _running.last = tag

    functools.update_wrapper(run, function)
    run.__dict__[PROBE] = function
    wrapped: Callable[..., Any] = uncounted(run)
    return wrapped


def untagged(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without the wrapper."""
    while PROBE in getattr(function, "__dict__", ()):
        function = function.__dict__[PROBE]
    return function
