"""What the wrapper's plain lines do with memory: calls of nested graphs, and loops around them."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple, Protocol

from inspect_compile.facts import WrapperLine
from inspect_compile.graph.memory.storages import Storages
from inspect_compile.knowledge.kernels.parameters import split_arguments

LIST: Final = "_args"
"""The arguments of a nested graph are in a list named after it, with this suffix."""
_ARGUMENTS = re.compile(rf"\s*(\w+){LIST} = \[(.*)\]\s*$", re.DOTALL)
_CALLED = re.compile(rf"\s*(?:(\w+)|\(([\w\[\], ]*)\)) = (\w+)\(\3{LIST}\)")
_SLOT = re.compile(r"\s*(\w+)\[(\d+)\] = (.*)$", re.DOTALL)
_APPENDED = re.compile(r"\s*(\w+\[\d+\])\.append\((\w+\[\d+\])\)$")
_STACKED = re.compile(r"torch\.stack\((\w+\[\d+\]), dim=0\)$")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\[\d+\])?")
_FLAG: Final = "should_loop"
_SKIPPED: Final = f"if not {_FLAG}:"
_LOOP: Final = f"while {_FLAG}:"
_NEXT: Final = f"{_FLAG} = "
_CLONE: Final = ".clone()"

Turn = Literal["", "no round", "first round", "last round"]
_NO_ROUND: Final[tuple[Turn, ...]] = ("no round",)
_ROUNDS: Final[tuple[Turn, ...]] = ("first round", "last round")
"""A loop's carried values belong to the caller in the first round, then to the loop; later rounds are alike."""


class Output(NamedTuple):
    """One output of a nested graph."""

    new: tuple[tuple[int, int], ...]
    """Memory that was allocated for it: (number, bytes), the same number for outputs that share it."""
    given: int | None
    """Position of the input that it is, if it is one."""


class Called(NamedTuple):
    """What a call does."""

    peak: int
    """Bytes above what was held when the call began."""
    outputs: tuple[Output, ...]


class Callee(Protocol):
    """A nested graph."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of its inputs."""

    def call(self, own: dict[tuple[str, ...], int], is_planned: bool) -> Called:
        """Play a call that must free the inputs in `own`."""


def turns(rows: list[WrapperLine]) -> Iterator[tuple[int, Turn]]:
    """Positions of rows in the order in which they run, those of a loop as often as it is played.

    "no round" is what runs instead of a loop that is not entered.
    """
    position = 0
    while position < len(rows):
        text = rows[position].text.strip() if rows[position].what == "text" else ""
        last = _end(rows, position) if text in (_SKIPPED, _LOOP) else None
        if last is None:
            yield position, ""
            position += 1
            continue
        for turn in _ROUNDS if text == _LOOP else _NO_ROUND:
            yield from ((inside, turn) for inside in range(position, last + 1))
        position = last + 1


def is_end_of_round(row: WrapperLine) -> bool:
    """True if a loop's round ends with this row. The flag that is set before the loop is not indented."""
    return row.what == "text" and row.text[:1].isspace() and row.text.strip().startswith(_NEXT)


def _end(rows: list[WrapperLine], first: int) -> int | None:
    """The last row of the block that begins at `first`; None if it does not end."""
    is_loop = rows[first].text.strip() == _LOOP
    for position in range(first + 1, len(rows)):
        text = rows[position].text.strip() if rows[position].what == "text" else ""
        if is_loop and text.startswith(_NEXT):
            return position
        if text in (_LOOP, _SKIPPED):
            return position - 1 if text == _LOOP and not is_loop else None
    return None


class Calls:
    """The plain lines of one replay."""

    def __init__(
        self,
        storages: Storages,
        nested: Mapping[str, Callee],
        inputs: Mapping[str, int],
        parts: Mapping[str, Mapping[str, int]],
        of_part: dict[str, list[int]],
        *,
        is_planned: bool,
    ) -> None:
        self._storages, self._nested, self._inputs, self._parts = storages, nested, inputs, parts
        self._of_part, self._is_planned = of_part, is_planned
        self._passed: dict[str, list[list[int]]] = {}
        """Nested graph → the storages of each of its arguments."""
        self._slots: dict[str, dict[str, None]] = {}
        """List of a loop's carried values → names of its elements."""
        self._kept: dict[str, int] = {}
        """List of the results of all rounds → bytes."""
        self._unentered = 0
        """Bytes copied so far for a loop that is not entered."""

    def play(self, text: str, turn: Turn) -> int:
        """Bytes held during the line, beyond what is live after it."""
        if turn == "no round":
            return self._copied(text)
        self._unentered = 0
        if (listed := _ARGUMENTS.match(text)) is not None and listed[1] in self._nested:
            self._listed(listed[1], listed[2])
        elif (call := _CALLED.match(text)) is not None and call[3] in self._nested:
            return self._called(call[3], call[1], call[2])
        elif (slot := _SLOT.match(text)) is not None:
            self._filled(f"{slot[1]}[{slot[2]}]", slot[3])
        elif (appended := _APPENDED.match(text)) is not None:
            self._appended(appended[1], self._storages.of(appended[2]))
        elif text.strip().startswith(_NEXT):
            self._storages.bind(_FLAG, self._storages.of(text.strip().removeprefix(_NEXT)))
        return 0

    def part(self, name: str, of: str) -> bool:
        """If `of` is a value that a loop carried, bind `name` to it and return True."""
        if of not in self._slots.get(_base(of), ()):
            return False
        self._storages.bind(name, self._storages.of(of))
        return True

    def free(self, name: str | None) -> None:
        """Drop a name, and the contents of the list that it belongs to."""
        for slot in self._slots.pop(name or "", ()):
            self._storages.drop(slot)
        self._storages.drop(name)

    def _copied(self, text: str) -> int:
        slot = _SLOT.match(text)
        if slot is not None and slot[3].endswith(_CLONE):
            self._unentered += self._bytes(slot[3])
        return self._unentered

    def _bytes(self, value: str) -> int:
        names = _NAME.findall(value.removesuffix(_CLONE))
        own = sum(self._storages.all[one].bytes for name in names for one in self._storages.of(name))
        return own or sum(self._inputs.get(name, 0) for name in names)

    def _bind(self, slot: str, storages: list[int]) -> None:
        self._slots.setdefault(_base(slot), {})[slot] = None
        self._storages.bind(slot, storages)

    def _appended(self, kept: str, storages: list[int]) -> None:
        self._kept[kept] = self._kept.get(kept, 0) + sum(self._storages.all[one].bytes for one in storages)
        self._bind(f"{kept}.{len(self._slots.get(_base(kept), ()))}", storages)

    def _filled(self, slot: str, value: str) -> None:
        stacked = _STACKED.match(value)
        if stacked is not None:
            size = self._kept.get(stacked[1], 0)
            self._bind(slot, [self._storages.new(size, "allocated")])
        else:
            self._bind(slot, self._of(value))

    def _of(self, argument: str) -> list[int]:
        return list(dict.fromkeys(one for name in _NAME.findall(argument) for one in self._storages.of(name)))

    def _listed(self, name: str, arguments: str) -> None:
        passed = [self._of(argument) for argument in split_arguments(arguments)]
        self._passed[name] = passed
        self._storages.bind(f"{name}{LIST}", list(dict.fromkeys(one for found in passed for one in found)))

    def _called(self, name: str, result: str | None, results: str | None) -> int:
        """Bytes that the call holds at its peak beyond its end. It frees the arguments that only the list holds."""
        storages, inner = self._storages, self._nested[name]
        passed = self._passed.pop(name, [])
        own: dict[tuple[str, ...], int] = {}
        only = storages.only_of(f"{name}{LIST}")
        for argument, found in zip(inner.inputs, passed, strict=False):
            if found and only.issuperset(found):
                own[argument,] = sum(storages.all[one].bytes for one in found)
        called = inner.call(own, self._is_planned)
        peak = storages.live + called.peak
        storages.drop(f"{name}{LIST}")
        if result is not None:
            for part, size in self._parts.get(result, {}).items():
                self._of_part[part] = [storages.new(size, "nested")]
            storages.bind(result, [one for part in self._parts.get(result, {}) for one in self._of_part[part]])
        else:
            self._returned(called, split_arguments(results or ""), passed)
        return max(peak - storages.live, 0)

    def _returned(self, called: Called, names: list[str], passed: list[list[int]]) -> None:
        made: dict[int, int] = {}
        for name, output in zip(names, called.outputs, strict=False):
            for number, size in output.new:
                if number not in made:
                    made[number] = self._storages.new(size, "nested")
            found = [made[number] for number, _ in output.new]
            if output.given is not None and output.given < len(passed):
                found = passed[output.given]
            target = name.strip()
            (self._bind if target.endswith("]") else self._storages.bind)(target, found)


def _base(slot: str) -> str:
    return slot.partition("[")[0]
