"""Which statement of a C++ kernel makes a wrong element."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec
from torch.fx import GraphModule

from inspect_compile.facts import Checked, StatementsOf, StatementValue
from inspect_compile.knowledge.numerics.statements import is_wrong
from inspect_compile.lowering.intervention.numerics.statements.evaluated import Evaluated, Statements
from inspect_compile.lowering.intervention.numerics.statements.of_nodes import HALF, SINGLE, Graph, not_computed
from inspect_compile.lowering.intervention.numerics.statements.one_launch import Element, OneLaunch
from inspect_compile.probe import let_pass

VALUE: Final = "value"
INDEX: Final = "index"
STORE: Final = "store"
VARIABLE: Final = "variable"
NODE: Final = "node"
ABSENT: Final = "absent"
LOOP: Final = "loop"

_ELEMENTS: Final = 24
"""Maximum number of elements that are looked at: those that the same kernel wrote before and read again come next."""
_TURNS: Final = 128
"""Maximum number of turns of an inner loop that are looked at."""
_LANES: Final = 64
"""Maximum number of lanes that are looked at in one turn: a row that a Triton kernel has at once can have thousands."""
_LOOKS: Final = 2048
"""Maximum number of lanes that are looked at in all: each takes about a millisecond."""
_MOST: Final = 400
"""Maximum number of statements that are kept of one kernel."""

Follow = Callable[[Callable[[OneLaunch], None]], None]
"""Makes the forced call up to the launch, and calls the function there."""
ExactOf = Callable[[str, frozenset[str]], Any]
"""The value of an FX node in fp64, from those of other nodes."""


def statements_of(row: Checked, code: Any, follow: Follow, module: GraphModule, exact_of: ExactOf) -> StatementsOf:
    """The statements of the launch that wrote the wrong result `row`, and which of them is wrong.

    `code` is that of `codegen.runtime.checked`, and `module` the graph that it was generated of.
    """
    found = StatementsOf(
        graph=row.graph, call=row.call, index=row.index, kernel=row.kernel, buffer=row.buffer, node=row.node
    )
    try:
        kernel = code.probed(row.kernel, row.buffer)
    except Exception as error:
        let_pass(error)
        kernel = f"it can't be compiled with its statements written out: {type(error).__name__}"
    if isinstance(kernel, str):
        return _with(found, reason=kernel)

    said = _with(found, reason="the launch that wrote it was not repeated")

    def look(launch: OneLaunch) -> None:
        nonlocal said
        try:
            said = _looked(found, row, kernel, launch, module, exact_of)
        except Exception as error:
            let_pass(error)
            said = _with(found, reason=f"{type(error).__name__}: {error}"[:300])

    follow(look)
    return said


class _Look:
    """An element, and the statements of the iteration that stored it."""

    def __init__(self, element: Element, statements: Statements) -> None:
        self.element = element
        self.statements = statements
        self.evaluated = statements.evaluated()


def _looked(
    found: StatementsOf, row: Checked, kernel: Any, launch: OneLaunch, module: GraphModule, exact_of: ExactOf
) -> StatementsOf:
    if launch.worst is None:
        return _with(found, reason="it is not known where the element is in memory")
    looks: list[_Look] = []
    waiting = [launch.worst]
    for element in waiting:
        values = launch.run(kernel, element)
        if not values.stored:
            missing = _missing(kernel, launch, element)
            if missing is not None:
                said = _with(found, buffer=element.buffer, element=element.position, blamed=missing.line, why=STORE)
                return said if missing.left_out is None else _left_out(said, missing.left_out)
            continue
        look = _Look(element, Statements(kernel, launch.memory, element, values, sizes=launch.sizes))
        said = _said(found, element, look.evaluated)
        if not look.evaluated:
            said = _with(said, reason="the loop that stores it is in a form that cannot be read")
        if said.blamed is None and look.statements.stores_elsewhere():
            said = _with(said, blamed=values.store.line, why=INDEX)
        if said.blamed is None and look.statements.stores_another():
            said = _with(said, blamed=values.store.line, why=VARIABLE)
        said = said if said.blamed is not None else _misread(found, looks, look)
        if said.blamed is not None:
            return said
        looks.append(look)
        again = (one.element for one in look.statements.reads)
        again = (one for one in again if one not in waiting and one.buffer in launch.memory)
        waiting += list(dict.fromkeys(again))[: _ELEMENTS - len(waiting)]
    if not looks:
        return _with(found, reason="it is not known which statement stores the element")
    lanes = ((element, lane) for element in waiting for lane in _of_inner_loops(kernel, launch, element))
    for element, evaluated in itertools.islice(lanes, _LOOKS):
        said = _said(found, element, evaluated)
        if said.blamed is not None:
            return said
    first = looks[0]
    said = _said(found, first.element, first.evaluated)
    left_out = kernel.too_short([name for look in looks for name in launch.names_of(look.element.buffer)])
    if left_out is not None:
        return _left_out(said, left_out)
    if not first.evaluated:
        return _with(said, reason="the loop that stores it is in a form that cannot be read")
    if not all(look.statements.is_whole for look in looks):
        return _with(said, reason="it reads what the same kernel stores, and it is not known where")
    slack = HALF if row.not_once is None else SINGLE
    graph = Graph(module, launch.sources, lambda node: exact_of(node, launch.sources), slack)
    for look in reversed(looks):  # those whose results others read come first
        place = row.worst if look is first else ()
        other = not_computed(look.evaluated, look.statements.storing, graph, place, row.size)
        if other is not None:
            said = _with(_said(found, look.element, look.evaluated), blamed=other.line)
            return _with(said, why=ABSENT, absent=other.node) if other.is_absent else _with(said, why=NODE)
    return said


def _missing(kernel: Any, launch: OneLaunch, element: Element) -> Any:
    """Why the element is never stored (`codegen.numerics.probed_kernel.Missing`): by what is to store the buffer, or a
    part of its memory that has another name; None if it is not known.
    """
    if element.buffer in kernel.written:
        return kernel.missing(element.buffer, element.position)
    whole = launch.memory[element.buffer]
    address = whole.address + element.position * whole.dtype.itemsize
    for name in sorted(kernel.written & launch.memory.keys()):
        part = launch.memory[name]
        position = (address - part.address) // part.dtype.itemsize
        if part.here.data_ptr() == whole.here.data_ptr() and kernel.has_place(name, position, launch.sizes):
            return kernel.missing(name, position)
    return None


def _misread(found: StatementsOf, earlier: Sequence[_Look], look: _Look) -> StatementsOf:
    """The statement that read something else than what `look` says the kernel stored there."""
    stored = look.statements.stored()
    if stored is None:
        return found
    for one in earlier:
        for read in (read for read in one.statements.reads if read.element == look.element):
            if is_wrong(float(read.row.value), stored, read.dtype, roundings=1.0):
                row = msgspec.structs.replace(read.row, expected=str(stored), is_wrong=True)
                rows = [row if each.row is read.row else each.row for each in one.evaluated]
                return _with(_rows(found, one.element, rows), blamed=row.line, why=VALUE)
    return found


def _left_out(said: StatementsOf, left_out: Any) -> StatementsOf:
    """The loop or condition (`codegen.numerics.loops.Short`) is a statement that has another end than it is to have."""
    row = StatementValue(left_out.line, LOOP, "", str(left_out.end), str(left_out.due), "", True)
    rows = sorted([*said.statements, row], key=lambda one: one.line)
    return _with(said, blamed=left_out.line, why=LOOP, statements=tuple(rows))


def _of_inner_loops(kernel: Any, launch: OneLaunch, element: Element) -> Iterator[list[Evaluated]]:
    """The statements in each turn of the loops whose result the element is made of, and in each lane of vectors, or
    some of many: the first and the last ones, where masks and places are most often wrong, and some between.
    """
    earlier = None
    for turn in range(_TURNS):
        values = launch.run(kernel, element, turn)
        if not values.stored or values.lanes == earlier:
            return
        earlier = values.lanes
        reduced: dict[tuple[int, str], StatementValue] = {}
        for lane in _some(max(map(len, values.lanes.values()))):
            yield Statements(kernel, launch.memory, element, values, lane, reduced, sizes=launch.sizes).evaluated()


def _some(lanes: int) -> Sequence[int]:
    if lanes <= _LANES:
        return range(lanes)
    ends = _LANES // 4
    between = range(ends, lanes - ends, math.ceil((lanes - 2 * ends) / (_LANES - 2 * ends)))
    return [*range(ends), *range(lanes - ends, lanes), *between]


def _said(found: StatementsOf, element: Element, evaluated: Sequence[Evaluated]) -> StatementsOf:
    wrong = next((one.row for one in evaluated if one.row.is_wrong), None)
    said = _rows(found, element, [one.row for one in evaluated])
    return said if wrong is None else _with(said, blamed=wrong.line, why=VALUE)


def _rows(found: StatementsOf, element: Element, rows: Sequence[StatementValue]) -> StatementsOf:
    return _with(found, buffer=element.buffer, element=element.position, statements=tuple(rows[:_MOST]))


def _with(found: StatementsOf, **fields: Any) -> StatementsOf:
    return msgspec.structs.replace(found, **fields)
