"""Which lines of a program differ between two compiles, as far as the compilers saw them."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import msgspec

from inspect_compile.analysis.compare.causes.alignment import calls_to, in_order
from inspect_compile.analysis.compare.causes.finding import Finding
from inspect_compile.analysis.compare.content import own
from inspect_compile.analysis.frontend.frames import resumed
from inspect_compile.facts import Location, Node
from inspect_compile.graph import grouped, unless_script

_Function = tuple[str, str]
"""Name of the file, empty for the program that was run, and of the function."""


class Edit(msgspec.Struct, frozen=True):
    """Lines of one function that are other ones, or that only one side has."""

    old: tuple[Location, ...]
    new: tuple[Location, ...]


class Sources:
    """The lines that made nodes, on both sides, and the edits between them."""

    def __init__(
        self, a: Iterable[Node], b: Iterable[Node], scripts: tuple[str, str], *, has_calls: bool = True
    ) -> None:
        """`scripts`: the file name of the program of either side. Without `has_calls` only the lines of the nodes
        themselves: of an older dump those before are not known.
        """
        self._has_calls = has_calls
        self._scripts = scripts
        ours, theirs = _lines(a, scripts[0], has_calls), _lines(b, scripts[1], has_calls)
        self._edits: dict[tuple[bool, str, str, int], Edit] = {}
        self._are_known = bool(ours and theirs)
        """Not if a dump was shared without source lines."""
        self._there = {
            False: {(function, line.code.strip()) for function, lines in ours.items() for line in lines},
            True: {(function, line.code.strip()) for function, lines in theirs.items() for line in lines},
        }
        for function in sorted(ours.keys() & theirs.keys()):
            self._compare(function, ours[function], theirs[function])

    def edited(self) -> list[Edit]:
        """The lines that are other ones: neither only added nor only removed."""
        return [edit for edit in dict.fromkeys(self._edits.values()) if edit.old and edit.new]

    def edit(self, where: Location | None, *, is_b: bool) -> Edit | None:
        """The edit that a line, or one that led to it, is part of: the outermost. None if all of them are the same."""
        calls = calls_to(where, self._has_calls) if self._are_known else []
        script = self._scripts[is_b]
        for one in reversed(calls):
            found = self._edits.get((is_b, *_function(one, script), one.line))
            if found is not None:
                return found
        for one in reversed(calls):
            if one.code and (_function(one, script), one.code.strip()) not in self._there[not is_b]:
                return Edit((), (one,)) if is_b else Edit((one,), ())
        return None

    def _compare(self, function: _Function, ours: list[Location], theirs: list[Location]) -> None:
        texts = [[line.code.strip() for line in lines] for lines in (ours, theirs)]
        same = [(-1, -1), *in_order(texts[0], texts[1]), (len(ours), len(theirs))]
        for (before, above), (after, below) in pairwise(same):
            edit = Edit(tuple(ours[before + 1 : after]), tuple(theirs[above + 1 : below]))
            for is_b, lines in ((False, edit.old), (True, edit.new)):
                self._edits.update({(is_b, *function, line.line): edit for line in lines})


_EDITED: Final = {
    (True, True): ("edited", "the program has another line"),
    (False, True): ("added", "the program has one more line"),
    (True, False): ("removed", "the program has one line fewer"),
}
"""Whether there are old lines and new ones → what that is."""


def edit_finding(
    edit: Edit,
    places: tuple[Location | None, Location | None] = (None, None),
    nodes: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
) -> Finding:
    """An edit as a cause. Where one side has no line: its place (of the other side, of the first), and its nodes."""
    what, message = _EDITED[bool(edit.old), bool(edit.new)]
    where, old = next(iter(edit.new), places[0]), next(iter(edit.old), places[1])
    texts = [tuple(line.code for line in lines) for lines in (edit.old, edit.new)]
    return Finding("source", what, message, ("source", edit), where, old, texts[0] or nodes[0], texts[1] or nodes[1])


def _lines(nodes: Iterable[Node], script: str, has_calls: bool) -> dict[_Function, list[Location]]:
    """Function → its lines that made nodes, or called what did, in the order of the file, each once."""
    found: dict[tuple[str, str, int], Location] = {}
    for node in nodes:
        for one in calls_to(node.where, has_calls):
            if one.code:
                found.setdefault((*_function(one, script), one.line), one)
    by_function = grouped(found.values(), lambda one: _function(one, script))
    return {function: sorted(lines, key=lambda line: line.line) for function, lines in by_function.items()}


def _function(where: Location, script: str) -> _Function:
    rest = resumed(where.function)  # what comes after a graph break is of the same function
    return unless_script(own(where.file), script), where.function if rest is None else rest[0]
