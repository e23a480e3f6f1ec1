"""Classifies lines of a wrapper for which torch has no class: plain text.

Plain text written by an extern operation is recognised by that operation; the rest by its form.
"""

import re
import weakref
from typing import Any, Final, NamedTuple

from inspect_compile.lowering.core.scopes import SCOPES, Scope, current_graph
from inspect_compile.probe import Probes, argument, let_pass
from inspect_compile.torch_compat import inductor as names

PROBE = "codegen.plain_lines"

_HOST: Final = frozenset(
    {
        "AssertScalar",
        "DynamicScalar",
        "DynamicSelectStorageOffset",
        "DynamicSliceSize",
        "MemoryCheckKernel",
        "TMADescriptor",
        "TMADescriptorExperimental",
        "TMADescriptorStable",
    }
)
"""IR classes that compute a number or describe a tensor on the host, and run nothing on its elements."""
_SUBGRAPHS: Final = frozenset(
    {"Conditional", "InvokeSubgraph", "ScanHigherOrder", "SubgraphBuffer", "Switch", "WhileLoop"}
)
"""IR classes whose lines call nested graphs."""
_NAMED: Final = {"DeviceCopy": "aten.copy_"}
"""IR class without a kernel name → the function that it calls."""
_CALLS: Final = frozenset({"extern", "launch", "multi_output"})
"""Kinds of lines that are an operation's call: other lines of the operation support it."""

_FORMS: Final = tuple(
    (what, re.compile(form))
    for what, form in (
        ("none", r"\s*$"),
        ("comment", r"\s*(?:#|//)"),
        ("assert", r"\s*(?:assert_\w+\(|assert )"),
        ("align", r"\s*\w+ = copy_if_misaligned\(\w+\)$"),
        ("text", r"workspace_\d+\.zero_\(\);?$"),
        ("text", r"partition\d+_args = \["),
        ("text", r"(?:\(.*\)|\w+) = self\.partitions\[\d+\]\(partition\d+_args\)$"),
        ("text", r"del partition\d+_args$"),
        ("host", r"(?:raw_)?stream\d+ = get_raw_stream\(\d+\)$"),
        ("host", r"[a-zA-Z_]\w* = (?:[a-z]{1,3}\d++|\d++|max|min|math|floor|ceil|trunc|[\s+\-*/%().,])++;?$"),
    )
)
"""Kind of a line that no operation wrote → its form. Numbers are computed from numbers, on the host."""


class Written(NamedTuple):
    """The lines that an extern operation wrote."""

    first: int
    """Index of the first in the wrapper's lines."""
    after: int
    """Index of the line after the last."""
    operation: str
    buffer: str
    kernel: str
    device: str
    nodes: tuple[str, ...]
    """The FX nodes that it computes."""
    what: str
    """The kind of its plain lines: extern, host or text."""
    plain: dict[int, str]
    """Index → text, for plain lines."""


_written: "weakref.WeakKeyDictionary[Any, list[Written]]" = weakref.WeakKeyDictionary()


def install(probes: Probes) -> None:
    """Hook the scheduler where it lets an extern operation write its lines."""

    def before(scheduler: Any, args: Any, kwargs: Any) -> int:
        return len(current_graph().wrapper_code.lines)

    def after(first: int | None, scheduler: Any, args: Any, kwargs: Any, result: Any) -> None:
        scope, wrapper = SCOPES.here(), current_graph().wrapper_code
        node = getattr(argument(args, kwargs, 0, "scheduler_node"), "node", None)
        if scope is not None and first is not None and node is not None and hasattr(node, "get_operation_name"):
            lines = enumerate(wrapper.lines[first:], first)
            plain = {position: line for position, line in lines if type(line) is str}
            if plain:
                _written.setdefault(wrapper, []).append(_of(scope, node, first, len(wrapper.lines), plain))

    probes.wrap(PROBE, names.EXTERN_CALL, before=before, after=after)


def _of(scope: Scope, node: Any, first: int, after: int, plain: dict[int, str]) -> Written:
    kind = type(node).__name__
    what = "host" if kind in _HOST else "text" if kind in _SUBGRAPHS else "extern"
    device = node.get_device() if hasattr(node, "get_device") else None
    return Written(
        first,
        after,
        str(node.get_operation_name()),
        str(node.get_name()),
        _NAMED.get(kind) or kernel_name(node),
        str(device or ""),
        scope.extern_nodes(node),
        what,
        plain,
    )


def kernel_name(node: Any) -> str:
    """The function that an extern operation calls; its IR class if torch does not say."""
    try:
        name = node.get_kernel_name()
    except (AssertionError, AttributeError, NotImplementedError) as error:
        let_pass(error)
        name = None
    return str(name or getattr(node, "python_kernel_name", None) or type(node).__name__)


def tell_plain(wrapper: Any, rows: list[dict[str, Any]]) -> list[tuple[int, Written]]:
    """Set the kind of the plain lines in the rows, which are given in order.

    Returns the extern calls among them: index of the row, and what was written there.
    """
    calls: list[tuple[int, Written]] = []
    owners: dict[int, Written] = {}
    for one in _written.pop(wrapper, ()):
        places = range(one.first, min(one.after, len(rows)))
        plain = [place for place in places if _is_still(rows[place], one.plain.get(place))]
        owners.update(dict.fromkeys(plain, one))
        calling = [place for place in plain if not _aside(rows[place])]
        if one.what == "extern" and calling and not any(rows[place]["what"] in _CALLS for place in places):
            calls.append((calling[0], one))
    for position, row in enumerate(rows):
        if row["what"] == "text":
            owner = owners.get(position)
            further = _form(row["text"]) if owner is None else "host" if owner.what == "host" else "text"
            row["what"] = _aside(row) or further
    for position, one in calls:
        rows[position].update(what="extern", kernel=one.kernel, buffer=one.buffer)
    return calls


def _is_still(row: dict[str, Any], line: str | None) -> bool:
    """True if the row is for the line that was written there: planning leaves plain lines where they are."""
    return line is not None and row["what"] == "text" and line.startswith(row["text"])


def _aside(row: dict[str, Any]) -> str:
    found = _form(row["text"])
    return found if found in ("none", "comment", "assert", "align") else ""


def _form(text: str) -> str:
    return next((what for what, form in _FORMS if form.match(text)), "other")
