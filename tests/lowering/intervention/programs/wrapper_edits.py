"""Mistakes in the code that calls the kernels: each edits one line of what torch generated.

An edit is a function of a line. It returns the line with the mistake, or None where it has nothing to change; a line
that is empty afterwards is left out.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

Edit = Callable[[str], str | None]

_LAUNCH: Final = re.compile(r"^(\s*(?:cpp_fused|triton_)\w*?(?:\.run)?\()(.*)(\))$")
_TENSOR: Final = re.compile(r"^(?:buf\d+|arg\d+_\d+|primals_\d+|tangents_\d+)$")
_CALL: Final = re.compile(r"^\s*extern_kernels\.\w+\(")


def _arguments(line: str) -> tuple[str, list[str], str] | None:
    """What is before the arguments of a launch, these, and what is behind them."""
    found = _LAUNCH.match(line)
    return (found[1], found[2].split(", "), found[3]) if found else None


def _with(line: str, change: Callable[[list[str]], list[str] | None]) -> str | None:
    parts = _arguments(line)
    changed = None if parts is None else change(parts[1])
    return None if parts is None or changed is None or changed == parts[1] else f"{parts[0]}{', '.join(changed)}{parts[2]}"


def _offset(arguments: list[str]) -> list[str] | None:
    """As if the first argument began an element further on."""
    if not _TENSOR.match(arguments[0]):
        return None
    return [f"torch.roll({arguments[0]}, 1)", *arguments[1:]]


def _order(arguments: list[str]) -> list[str] | None:
    """The first two arguments are the other way round, if both are read."""
    tensors = [one for one in arguments if _TENSOR.match(one)]
    if len(tensors) < 3 or arguments[:2] != tensors[:2]:
        return None
    return [arguments[1], arguments[0], *arguments[2:]]


def _numel(arguments: list[str]) -> list[str] | None:
    """The last element is left out: of a size, of a GPU's kernel its number of elements."""
    at = next((at for at, one in enumerate(arguments) if re.match(r"^(?:s\d+|\d+|\w+_xnumel)$", one)), None)
    if at is None:
        return None
    return [*arguments[:at], f"{arguments[at]} - 1", *arguments[at + 1 :]]


def _dropped(line: str) -> str | None:
    return "" if _LAUNCH.match(line) or _CALL.match(line) else None


def _replaced(pattern: str, by: str) -> Edit:
    def edit(line: str) -> str | None:
        found = re.sub(pattern, by, line, count=1)
        return found if found != line else None

    return edit


EDITS: Final[dict[str, Edit]] = {
    "offset": lambda line: _with(line, _offset),
    "order": lambda line: _with(line, _order),
    "numel": lambda line: _with(line, _numel),
    "dropped": _dropped,
    "beta": _replaced(r"\bbeta=1\b", "beta=0"),
    "alpha": _replaced(r"\balpha=1\b", "alpha=2"),
    "view": _replaced(r"^(\s*extern_kernels.*reinterpret_tensor\(\w+, \((\d+), \2\), )\(1, \2\)", r"\1(\2, 1)"),
    "factors": _replaced(r"^(\s*extern_kernels\.mm\()(\w+), (\w+), ", r"\1\3, \2, "),
    "results": _replaced(r"^(\s*return \()(buf\d+), (buf\d+), ", r"\1\3, \2, "),
}
"""Kind of mistake → its edit."""


class Fault(NamedTuple):
    """One mistake in the code of one graph."""

    kind: str
    graph: int
    """Which of the graphs of a compile, in the order in which their code is written."""
    line: int
    """Line number in its source."""
    text: str
    """The line with the mistake."""


def faults(sources: list[str]) -> Iterator[Fault]:
    """All mistakes of all kinds."""
    for graph, source in enumerate(sources):
        for at, line in enumerate(source.split("\n")):
            for kind, edit in EDITS.items():
                text = edit(line)
                if text is not None:
                    yield Fault(kind, graph, at + 1, text)


def with_fault(source: str, fault: Fault) -> str:
    """The source with the mistake."""
    lines = source.split("\n")
    lines[fault.line - 1 : fault.line] = [fault.text] if fault.text else []
    return "\n".join(lines)
