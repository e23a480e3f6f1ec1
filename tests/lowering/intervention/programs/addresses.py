"""Which lines of kernels, C++ or Triton, tell where memory is read or written.

With a mistake in one of them a kernel reads what lies beside a buffer, or nothing: the program ends there or goes on, by
what happens to be there.
"""

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"\b(?:masked_)?tmp\w*")
_POINTER: Final = re.compile(r"\b(?P<pointer>(?:in|out|in_out)_ptr\d+)(?:\[| \+ |, (?=tmp\w+, tmp))")
"""An index follows."""
_ASSIGNED: Final = re.compile(r"^\s*(?P<type>[\w:<>, ]+ )?(?P<name>(?:masked_)?tmp\w*)(?:\[\w+\])? = ?(?P<value>.*)$")
_WHOLE: Final = re.compile(r"\bint64_t\* (\w+_ptr\d+)\b|'(\w+_ptr\d+)': '\*i64'")
"""A pointer to numbers that may be indices, as C++ and Triton declare it."""
_STORED: Final = re.compile(r"(?:\.store\(|tl\.store\(|^\s*)((?:out|in_out)_ptr\d+)(?: \+ |\[)")


def lines_with_addresses(sources: Sequence[str]) -> list[frozenset[int]]:
    """Of each kernel of a program, the positions of the lines that compute an index for it or for another kernel."""
    kernels = [_kernel(source.split("\n")) for source in sources]
    if not any(kernel.reads_indices() for kernel in kernels):
        return [kernel.made_in(kernel.indices) for kernel in kernels]
    return [kernel.made_in(kernel.indices.union(*kernel.stored.values())).union(kernel.stored) for kernel in kernels]


class _Statement(NamedTuple):
    """One that sets a variable. Variables are known by the position of the line that declares them."""

    sets: int
    reads: frozenset[int]
    at: int
    """Its position, or that of a loop in which it goes on from what the variable is."""


class _Scope:
    """What stands between braces."""

    def __init__(self, loop: int | None = None) -> None:
        self.loop = loop
        """The position of the line that says how often it runs."""
        self.variables: dict[str, int] = {}


class _Kernel(NamedTuple):
    lines: Sequence[str]
    whole: frozenset[str]
    """Pointers to whole numbers of 64 bits."""
    statements: list[_Statement]
    indices: frozenset[int]
    """The variables that stand in an index."""
    stored: dict[int, frozenset[int]]
    """Positions of the lines that store whole numbers, and of the loops around them → the variables that are stored."""

    def reads_indices(self) -> bool:
        """Is an index read from memory?"""
        lines = (self.lines[at] for at in self.made_in(self.indices))
        return any(found["pointer"] in self.whole for line in lines for found in _POINTER.finditer(line))

    def made_in(self, variables: Set[int]) -> frozenset[int]:
        """Positions of the lines that compute them."""
        wanted = set(variables)
        while more := {name for each in self.statements if each.sets in wanted for name in each.reads} - wanted:
            wanted |= more
        return frozenset(each.at for each in self.statements if each.sets in wanted)


def _kernel(lines: Sequence[str]) -> _Kernel:
    whole = frozenset(name for line in lines for names in _WHOLE.findall(line) for name in names if name)
    statements: list[_Statement] = []
    indices: set[int] = set()
    stored: dict[int, frozenset[int]] = {}
    scopes = [_Scope()]
    loop: int | None = None
    ends: dict[int, int] = {}
    """Of a variable that a function without a name returns, where that ends."""

    def variables(text: str) -> frozenset[int]:
        visible = {name: at for scope in scopes for name, at in scope.variables.items()}
        return frozenset(visible[name] for name in _NAME.findall(text) if name in visible)

    for at, line in enumerate(lines):
        assigned = _ASSIGNED.match(line)
        reads = variables(assigned["value"] if assigned else line)
        indices.update(*map(variables, _indices(line)))
        loops = [scope.loop for scope in scopes if scope.loop is not None]
        if (store := _STORED.search(line)) and store[1] in whole:
            stored.update(dict.fromkeys((*loops, at), reads))
        statements += [_Statement(variable, reads, at) for variable, end in ends.items() if at <= end]
        loop = at if re.match(r"\s*for\b", line) else loop
        for brace in re.findall(r"[{}]", line):
            if brace == "{":
                scopes.append(_Scope(loop))
                loop = None
            else:
                scopes.pop()
        if assigned:
            if assigned["type"] or not variables(assigned["name"]):
                scopes[-1].variables[assigned["name"]] = at
            (variable,) = variables(assigned["name"])
            places = *(each for each in loops if each > variable), at
            statements += [_Statement(variable, reads, place) for place in places]
            if not assigned["value"]:
                ends[variable] = next(place for place in range(at, len(lines)) if lines[place].strip() == ";")
    return _Kernel(lines, whole, statements, frozenset(indices), stored)


def _indices(line: str) -> Iterator[str]:
    for found in _POINTER.finditer(line):
        depth = 0
        for end in range(found.end(), len(line)):
            depth += (line[end] in "([") - (line[end] in ")]")
            if depth < 0 or (line[end] == "," and depth == 0):
                yield line[found.end() : end]
                break
