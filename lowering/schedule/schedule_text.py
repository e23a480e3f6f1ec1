"""The schedule as TORCH_COMPILE_DEBUG writes it, by torch's own formatters, with each piece rendered once."""

import re
import textwrap
import threading
import weakref
from dataclasses import dataclass, field
from typing import Any, Final

from inspect_compile.lowering.core.expressions import PrintedOnce
from inspect_compile.lowering.core.muted_logging import muted
from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.lowering.ir.body_text import quick_body
from inspect_compile.lowering.ir.ir_printer import Printer
from inspect_compile.probe import Probes, let_pass
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.schedule_text"

_DELETIONS = re.compile(r";[^\n]*")
"""`; load = None` after a statement."""
_WIDTH: Final = 80
_LONGEST_WORD: Final = 70
"""pprint breaks some values that are longer than the remaining width."""
_KNOWN: Final = frozenset({
    ("BaseSchedulerNode.debug_str", "SchedulerNode.debug_str_extra"),
    ("BaseSchedulerNode.debug_str", "ExternKernelSchedulerNode.debug_str_extra"),
    ("BaseSchedulerNode.debug_str", "BaseSchedulerNode.debug_str_extra"),
    ("FusedSchedulerNode.debug_str", "FusedSchedulerNode.debug_str_extra"),
})  # fmt: skip
"""torch's methods that print a scheduler node, and what comes last in it."""
_DEPENDENCIES: Final = frozenset({"MemoryDep", "StarDep", "WeakDep"})


@dataclass
class Rendered:
    """Pieces of one graph's schedules: most are equal before and after fusion. Texts, names and expressions."""

    bodies: "weakref.WeakKeyDictionary[Any, tuple[int, str]]" = field(default_factory=weakref.WeakKeyDictionary)
    """Loop body → its number of nodes and its text."""
    dependencies: dict[Any, str] = field(default_factory=dict)
    layouts: Printer = field(default_factory=Printer)
    is_same: dict[type, bool] = field(default_factory=dict)
    """Class of scheduler nodes → whether the text made here is the one that torch makes."""


class _Telling(threading.local):
    """What this thread is rendering; the compiler's own prints are left alone."""

    def __init__(self) -> None:
        self.rendered: Rendered | None = None


_TELLING = _Telling()


def schedule_text(nodes: Any, rendered: Rendered) -> str:
    """The scheduler nodes, each followed by two empty lines."""
    _TELLING.rendered = rendered
    try:
        # torch logs it if a scheduler node cannot be printed.
        with muted(torch_object(names.SCHEDULER_LOG)), PrintedOnce():
            return "".join(f"{_node(node, rendered)}\n\n\n" for node in nodes)
    finally:
        _TELLING.rendered = None


def install(probes: Probes) -> None:
    """Replace the printing of a scheduler node's dependencies and layouts while we render a schedule."""

    def pretty(instance: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        rendered = _TELLING.rendered
        return NotImplemented if rendered is None or len(args) != 1 else _pretty(args[0], rendered)

    probes.answer(PROBE, names.PRETTY, str, pretty)


def install_bodies(probes: Probes) -> None:
    """Let a loop body return a text that is rendered once, while we render a schedule."""

    def body(block: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        rendered = _TELLING.rendered
        if rendered is None:
            return NotImplemented
        size = len(block.graph.nodes)
        found = rendered.bodies.get(block.graph)
        if found is None or found[0] != size:
            found = rendered.bodies[block.graph] = size, body_text(block.graph, *args, **kwargs)
        return found[1]

    probes.answer(PROBE, names.BODY_TEXT, str, body)


def _node(node: Any, rendered: Rendered) -> str:
    """The same as `node.debug_str()`, which writes each line through several buffers.

    The first node of each class is compared with torch's own text.
    """
    kind = type(node)
    is_same = rendered.is_same.get(kind)
    if is_same:
        return _quick(node, rendered)
    text = str(node.debug_str())
    if is_same is None:
        how = (kind.debug_str.__qualname__, kind.debug_str_extra.__qualname__)
        rendered.is_same[kind] = how in _KNOWN and _as_quick(node, rendered) == text
    return text


def _as_quick(node: Any, rendered: Rendered) -> str | None:
    try:
        return _quick(node, rendered)
    except (AttributeError, TypeError) as error:  # another torch, whose nodes hold and print something else
        let_pass(error)
        return None


def _quick(node: Any, rendered: Rendered) -> str:
    name, reads_writes = node.get_name(), node.read_writes
    members = getattr(node, "snodes", None)
    nodes = [getattr(node, "node", None)] if members is None else members
    lines = [
        f"{name}: {type(node).__name__}({','.join(type(one).__name__ for one in nodes)})",
        f"{name}.writes = {_dependencies(reads_writes.writes, rendered)}",
        f"{name}.unmet_dependencies = {_dependencies(node.unmet_dependencies, rendered)}",
        f"{name}.met_dependencies = {_dependencies(reads_writes.reads - node.unmet_dependencies, rendered)}",
        f"{name}.min_input_distance = {node.min_input_distance}",
        f"{name}.max_input_distance = {node.max_input_distance}",
        f"{name}.outputs = [",
        *(f"    {line}" for buffer in node.get_outputs() for line in _buffer(buffer, rendered)),
        "]",
    ]
    if members is None:
        lines.append(node.debug_str_extra())
    else:
        lines += [f"{name}.snodes[{index}] =\n{_node(member, rendered)}" for index, member in enumerate(members)]
        lines += node._debug_str_for_device() if members[0].node is not None else ()
    return "\n".join(lines).rstrip()


def _buffer(buffer: Any, rendered: Rendered) -> list[str]:
    if buffer.get_aliases() or buffer.get_mutations():
        return str(buffer.debug_str()).rstrip().split("\n")
    name = buffer.get_name()
    users = [repr(user) for user in buffer.users]
    return [
        f"{name}: {type(buffer.node).__name__}",
        f"{name}.layout = {rendered.layouts.str_of(buffer.node.layout)}",
        *([f"{name}.users = [", *(f"    {user}," for user in users), "]"] if len(users) > 1 else ()),
        *([f"{name}.users = [{', '.join(users)}]"] if len(users) < 2 else ()),
    ]


def _dependencies(found: Any, rendered: Rendered) -> str:
    text = _pretty(found, rendered)
    return str(torch_object(names.PRETTY)(found)) if text is NotImplemented else text


def _pretty(value: Any, rendered: Rendered) -> Any:
    """The same as the scheduler's pformat; NotImplemented if pprint would have to break a value."""
    if type(value).__name__ not in ("OrderedSet", "set"):
        text = rendered.layouts.str_of(value) if type(value).__name__ in ("FixedLayout", "FlexibleLayout") else ""
        return text if text and "\n" not in text else NotImplemented
    texts: list[str] = []
    for dependency in value:
        if type(dependency).__name__ not in _DEPENDENCIES:
            return NotImplemented
        if dependency not in rendered.dependencies:
            rendered.dependencies[dependency] = repr(dependency)
        texts.append(rendered.dependencies[dependency])
    texts.sort()
    line = f"[{', '.join(texts)}]"
    if len(line) <= _WIDTH:
        return line
    if any(len(text) > _LONGEST_WORD and not text.startswith("MemoryDep(") for text in texts):
        return NotImplemented
    lines = "[   " + ",\n    ".join(texts) + "]"
    return lines if len(texts) == 1 else "\n" + textwrap.indent(lines, "    ")


def body_text(graph: Any, name: str = "block") -> str:
    """The text that LoopBodyBlock.debug_str makes.

    torch builds a GraphModule for it, which compiles the text, makes itself the graph's owner and increments the
    counter that also names the program's modules (`<eval_with_key>.7`).
    """
    quick = quick_body(graph, name)
    if quick is not None:
        return quick
    code = graph.python_code(root_module="self").src.strip().replace("def forward(", f"def {name}(")
    return _DELETIONS.sub("", code)
