"""What each statement of a kernel's source reads of the others: through variables, and through memory that the kernel
wrote before. Read from the text of the source, C++ or Triton; which FX node a statement is of is recorded.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from inspect_compile.graph.kernels.statements import Annotated
from inspect_compile.knowledge.kernels.statement_forms import assigned

_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_BRACE: Final = re.compile(r"[{}]")
_WORD: Final = re.compile(r"\w+")
_ELEMENT: Final = re.compile(r"(\w{1,80})\[[^\]]{0,200}\]\s*[-+*|&]?=[^=]")
"""An assignment to an element of an array."""
_DECLARED: Final = re.compile(
    r"(?:(?:alignas\([^;]{0,100}\)|__at_align__)\s{1,4})?[\w:]{1,80}(?:<[^;()]{1,100}>)?\s{1,4}"
    r"(\w{1,80})(?:\[[^;]{0,100}\]|\([^;]{0,200}\))?;"
)
"""A variable without a first value."""
_GIVEN: Final = re.compile(r"auto\s{1,4}(\w{1,80})\s{0,4}=$")
"""A variable whose value is that of the block which follows."""
_INTO: Final = re.compile(r"\w{1,80}\.store\(\s*(\w{1,80})")
_TRANSPOSED: Final = re.compile(r"(?:at::vec::)?transpose_m\w*[<(]")
_HELPER: Final = re.compile(r"&(\w{0,60}_helper\w{0,60})")
"""What a call adds to."""
_POINTER: Final = re.compile(r"\b(?:(?:in_out|in|out)_ptr|local_buffer_data_)\w*")
_ALIAS: Final = re.compile(r"auto\s+(\w{1,80})\s*=\s*(\w{1,80});")
_FOR_C: Final = re.compile(r"for\s*\(\s*[\w:]+\s+(\w{1,80})\s*=[^;]*;\s*\w+\s*<\s*([^;]{1,200});")
_FOR_PYTHON: Final = re.compile(r"for\s+(\w{1,80})\s+in\s+(.{1,200}):")
_CAST: Final = re.compile(r"static_cast<\w+>\((-?\w+)\)")
_MOST: Final = 16
"""Statements that one variable may stand for, through others that are not known."""

LOAD, STORE, REDUCE, COMPUTE, CONSTANT = "load", "store", "reduction", "compute", "constant"


class Read(NamedTuple):
    """A value that a statement takes from another one."""

    step: int
    by: str
    """The variable, or the pointer to the memory that it was stored in."""
    is_memory: bool = False


class Step(NamedTuple):
    """A statement that computes, loads or stores a value."""

    row: Annotated
    role: str
    """load, store, reduction, compute or constant."""
    reads: tuple[Read, ...]
    pointers: tuple[str, ...]
    """Arguments of the kernel that it reads or writes."""
    loops: tuple[int, ...]
    """The loops that it is in, outermost first: positions in `Flow.loops`."""


class Flow(NamedTuple):
    """The statements of one kernel."""

    steps: tuple[Step, ...]
    loops: tuple[str, ...]
    """`x0 < 64`, in the order of the source."""
    tails: int
    """Statements left out because they do for the last, shorter vector what others do for whole ones."""


class _Block(NamedTuple):
    indent: int
    names: dict[str, frozenset[int]]
    loop: int | None
    tail: int | None
    """The number of the block for the last, shorter vector, or of that for whole ones."""
    opened_by: int | str | None
    """The statement whose value the block computes; the variable, if the statement is not annotated."""


def flow(rows: Sequence[Annotated], source: str) -> Flow:
    """The statements that are annotated in `rows`, by line of `source`, and what each reads."""
    read = _Reader({row.line: row for row in rows}, is_python="@triton" in source or "tl." in source)
    for number, line in enumerate(source.splitlines(), 1):
        read.line(number, line)
    return read.flow()


class _Reader:
    def __init__(self, rows: dict[int, Annotated], *, is_python: bool) -> None:
        self._rows, self._is_python = rows, is_python
        self._blocks = [_Block(-1, {}, None, None, None)]
        self._steps: list[Step] = []
        self._loops: list[str] = []
        self._stored: dict[str, int] = {}
        """Pointer → the last statement that stored through it."""
        self._aliases: dict[str, str] = {}
        self._branches: dict[int, tuple[bool, list[int]]] = {}
        """Number of an if block → whether it is for the last vector, and its statements."""
        self._next: tuple[int | None, int | None] = (None, None)
        """The loop and the branch that the next block is of."""
        self._lambda: int | str | None = None
        """The statement, or the variable, whose value the next block computes."""

    def line(self, number: int, line: str) -> None:
        """The next line."""
        bare = _STRING.sub('""', line.strip())
        if self._is_python:
            self._dedent(line, bare)
        else:
            rest = bare.lstrip("} \t")
            for _ in range(bare[: len(bare) - len(rest)].count("}")):
                self._close()
            bare = rest
        self._head(bare, len(line) - len(line.lstrip()))
        made = self._statement(number, bare)
        if not self._is_python:
            if (given := _GIVEN.match(bare)) is not None:
                self._lambda = given[1]
                self._blocks[-1].names[given[1]] = frozenset()
            elif "[&]" in bare and made is not None:
                self._lambda = made
            for brace in _BRACE.findall(bare):
                if brace == "{":
                    self._open()
                else:
                    self._close()

    def _dedent(self, line: str, bare: str) -> None:
        indent = len(line) - len(line.lstrip())
        while bare and len(self._blocks) > 1 and indent <= self._blocks[-1].indent:
            names = self._blocks.pop().names
            self._blocks[-1].names.update(names)  # Python's variables outlive a loop

    def _head(self, bare: str, indent: int) -> None:
        """What the next block is of, if the line says so."""
        if self._is_python:
            if (found := _FOR_PYTHON.match(bare)) is not None:
                self._loops.append(f"{found[1]} in {found[2]}")
                self._blocks.append(_Block(indent, {}, len(self._loops) - 1, None, None))
            return
        if bare.startswith("for"):
            found = _FOR_C.match(bare)
            self._loops.append(f"{found[1]} < {_CAST.sub(_plain, found[2])}" if found is not None else "a loop")
            self._next = (len(self._loops) - 1, None)
        elif bare.startswith("if") and "C10_" in bare:
            self._branches[len(self._branches)] = ("C10_UNLIKELY" in bare, [])
            self._next = (None, len(self._branches) - 1)
        elif (alias := _ALIAS.match(bare)) is not None and _POINTER.fullmatch(alias[2]):
            self._aliases[alias[1]] = self._aliases.get(alias[2], alias[2])

    def _open(self) -> None:
        self._blocks.append(_Block(0, {}, *self._next, self._lambda))
        self._next, self._lambda = (None, None), None

    def _close(self) -> None:
        if len(self._blocks) > 1:
            self._blocks.pop()

    def _statement(self, number: int, bare: str) -> int | None:
        """Takes in a statement; its position if it is one of those that are annotated."""
        names, adds = _written(bare)
        used = _variables(bare.partition("=")[2] if assigned(bare) else bare)
        reads = {(step, name) for name in dict.fromkeys((*used, *adds)) for step in self._known(name)}
        if (declared := _DECLARED.match(bare)) is not None and _is_variable(declared[1]):
            self._blocks[-1].names[declared[1]] = frozenset()
        row = self._rows.get(number)
        if row is None or not (names or adds or self._is_store(row)):
            passed_on = frozenset(sorted(step for step, _ in reads)[:_MOST])
            self._assign(names, bare, passed_on)
            self._add(adds, passed_on)
            if bare.startswith("return"):
                self._give(self._blocks[-1].opened_by, reads)
            return None
        place = len(self._steps)
        pointers = tuple(dict.fromkeys(self._aliases.get(name, name) for name in _POINTER.findall(bare)))
        role = self._role(row)
        found = [Read(step, name) for step, name in sorted(reads)]
        if role == STORE:
            self._stored.update(dict.fromkeys(pointers, place))
        else:
            found += [Read(self._stored[name], name, True) for name in pointers if name in self._stored]
        loops = tuple(block.loop for block in self._blocks if block.loop is not None)
        self._steps.append(Step(row, role, tuple(found), pointers, loops))
        for block in self._blocks:
            if block.tail is not None:
                self._branches[block.tail][1].append(place)
        self._assign(names, bare, frozenset({place}))
        self._add(adds, frozenset({place}))
        return place

    def _give(self, to: int | str | None, reads: set[tuple[int, str]]) -> None:
        """A value that a block gives back is read by the statement that the block is in."""
        if isinstance(to, str):
            self._add((to,), frozenset(step for step, _ in reads))
        elif to is not None:
            one = self._steps[to]
            more = [Read(*read) for read in sorted(reads) if Read(*read) not in one.reads]
            self._steps[to] = one._replace(reads=(*one.reads, *more))

    def _known(self, name: str) -> frozenset[int]:
        return next((block.names[name] for block in reversed(self._blocks) if name in block.names), frozenset())

    def _assign(self, names: tuple[str, ...], bare: str, made: frozenset[int]) -> None:
        for name in names:
            is_again = not self._is_python and bare.startswith(name)
            block = next((one for one in reversed(self._blocks) if name in one.names), None) if is_again else None
            (block or self._blocks[-1]).names[name] = made

    def _add(self, names: tuple[str, ...], made: frozenset[int]) -> None:
        """Of what is written in parts, each part counts."""
        for name in names:
            block = next((one for one in reversed(self._blocks) if name in one.names), self._blocks[-1])
            block.names[name] = frozenset(sorted(block.names.get(name, frozenset()) | made)[-_MOST:])

    @staticmethod
    def _is_store(row: Annotated) -> bool:
        return row.operator.startswith(("store", "atomic"))

    def _role(self, row: Annotated) -> str:
        if self._is_store(row):
            return STORE
        if row.operator.startswith(("reduction", "welford", "scan")):
            return REDUCE
        if row.operator == "load":
            return LOAD
        return CONSTANT if row.operator in ("constant", "index_expr") else COMPUTE

    def flow(self) -> Flow:
        """What was read; statements for the last, shorter vector are those for whole ones."""
        same: dict[int, int] = {}
        whole: list[int] = []
        for is_tail, steps in self._branches.values():
            if not is_tail:
                whole = steps
            elif [self._does(step) for step in steps] == [self._does(step) for step in whole]:
                same.update(zip(steps, whole, strict=True))
        kept = [place for place in range(len(self._steps)) if place not in same]
        new = {old: number for number, old in enumerate(kept)}
        made: list[Step] = []
        for place in kept:
            one = self._steps[place]
            reads = (read._replace(step=new[same.get(read.step, read.step)]) for read in one.reads)
            own = new[place]
            made.append(one._replace(reads=tuple(dict.fromkeys(read for read in reads if read.step != own))))
        return Flow(tuple(made), tuple(self._loops), len(same))

    def _does(self, step: int) -> tuple[object, ...]:
        row = self._steps[step].row
        return row.operator, row.nodes, self._steps[step].pointers


def _variables(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if _is_variable(word)]


def _is_variable(word: str) -> bool:
    """True for what Inductor calls a value, and for what it sums up in."""
    bare = word.removeprefix("_").removeprefix("masked_")
    return bare.startswith("tmp") or "cascade_helper" in word or "welford_helper" in word


def _written(bare: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables that a statement assigns to, and those of which it writes a part: a tile, an array, a sum."""
    names = assigned(bare)
    adds = dict.fromkeys(_HELPER.findall(bare))
    if (element := _ELEMENT.match(bare) or _INTO.match(bare)) is not None and _is_variable(element[1]):
        adds[element[1]] = None
    if _TRANSPOSED.match(bare):  # from the first argument to the last
        last = max((found.start() for found in _POINTER.finditer(bare)), default=-1)
        adds.update(dict.fromkeys(_variables(bare[max(last, 0) :])[-1:]))
    return names, tuple(adds)


def _plain(found: re.Match[str]) -> str:
    return found[1].removesuffix("L")
