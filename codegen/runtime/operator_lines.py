"""Finds the line of the program that calls each operator outside of compiled graphs, in a few steps of their own.

torch's first profiler writes down Python's stack at each operator, without a hook in the interpreter, so that a program
with a tracer of its own keeps it. It is slow, which is why no time is taken from these steps.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any, Final, NamedTuple

from inspect_compile.facts import Location, OperatorLine
from inspect_compile.knowledge.cost.operator_order import REGION, OperatorKey, OperatorOrder
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.torch_compat import runtime as names

_FRAME: Final = re.compile(r"(?P<file>.*)\((?P<line>\d+)\): (?P<function>.*)", re.DOTALL)
_MOST_EVENTS: Final = 200_000
"""What comes after so many events of a thread is not looked at."""
_MOST_ROWS: Final = 4096


class _Called(NamedTuple):
    key: OperatorKey
    stack: tuple[str, ...]
    """Innermost first: `train.py(41): step`."""


def start() -> None:
    """Begin to watch this thread; raises what torch raises if this cannot be."""
    begin, mark, settings = names.STACKS_BEGIN.load(), names.MARKS_CALLS.load(), names.STACKS.load()(with_stack=True)
    begin(settings.config())
    mark(True)


def stop() -> list[OperatorLine]:
    """End it, on the same thread: what was seen."""
    names.MARKS_CALLS.load()(False)
    records = names.STACKS_END.load()()
    found = dict.fromkeys(row for thread in records for row in _of_thread(thread))
    return list(islice(found, _MOST_ROWS))


def _of_thread(records: Iterable[Any]) -> Iterator[OperatorLine]:
    """Runs of operators of one name on one line. Only the thread that calls compiled functions has them."""
    by_name: dict[tuple[str, str], list[tuple[int, Location | None]]] = {}
    for key, stack in _operators(records):
        by_name.setdefault((key.after, key.name), []).append((key.number, _line(stack)))
    for (after, name), numbered in by_name.items():
        for one in _passes(numbered):
            for where, run in groupby(one, key=lambda pair: pair[1]):
                numbers = [number for number, _ in run]
                if where is not None:
                    yield OperatorLine(after=after, operator=name, first=numbers[0], last=numbers[-1], where=where)


def _passes(numbered: list[tuple[int, Location | None]]) -> Iterator[list[tuple[int, Location | None]]]:
    """The operators behind each run of one compiled region: their numbers begin at 0 again."""
    run: list[tuple[int, Location | None]] = []
    for pair in numbered:
        if run and pair[0] <= run[-1][0]:
            yield run
            run = []
        run.append(pair)
    if run:
        yield run


def _operators(records: Iterable[Any]) -> Iterator[_Called]:
    order = OperatorOrder()
    around: list[bool] = []
    is_begun = False
    for index, record in enumerate(records):
        kind = record.kind()
        if index >= _MOST_EVENTS:
            return
        if kind == "pop" and around:
            around.pop()
        elif kind == "push":
            name = record.name()
            is_begun = is_begun or name.startswith(REGION)
            key, is_inside = order.key(name, is_inside=bool(around) and around[-1])
            around.append(is_inside)
            if key is not None and is_begun:
                yield _Called(key, tuple(record.stack()))


def _line(stack: tuple[str, ...]) -> Location | None:
    """The innermost line of the program or a library of its, with the calls that led to it."""
    frames = []
    for text in reversed(stack):
        found = _FRAME.fullmatch(text)
        if found is not None and values.is_program_file(found["file"]):
            frames.append(values.location(found["file"], int(found["line"]), found["function"]))
    return CALL_SITES.located(tuple(frames))
