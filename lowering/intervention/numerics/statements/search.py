"""Which statement of a C++ kernel makes a wrong element."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from inspect_compile.facts import Checked, StatementsOf
from inspect_compile.lowering.intervention.numerics.statements.evaluated import Evaluated, Statements, wrong_node
from inspect_compile.lowering.intervention.numerics.statements.one_launch import Element, OneLaunch
from inspect_compile.probe import let_pass

VALUE: Final = "value"
INDEX: Final = "index"
STORE: Final = "store"
VARIABLE: Final = "variable"
NODE: Final = "node"

_ELEMENTS: Final = 6
"""Maximum number of elements that are looked at: those that the same kernel wrote before and read again come next."""
_TURNS: Final = 128
"""Maximum number of turns of an inner loop that are looked at."""
_MOST: Final = 400
"""Maximum number of statements that are kept of one kernel."""

Follow = Callable[[Callable[[OneLaunch], None]], None]
"""Makes the forced call up to the launch, and calls the function there."""
ExactOf = Callable[[str, frozenset[str]], Any]
"""The value of an FX node in fp64, from those of other nodes."""


def statements_of(row: Checked, code: Any, follow: Follow, exact_of: ExactOf) -> StatementsOf:
    """The statements of the launch that wrote the wrong result `row`, and which of them is wrong.

    `code` is that of `codegen.runtime.checked`.
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

    said = _with(found, reason="the launch that wrote it was not made again")

    def look(launch: OneLaunch) -> None:
        nonlocal said
        try:
            said = _looked(found, row, kernel, launch, exact_of)
        except Exception as error:
            let_pass(error)
            said = _with(found, reason=f"{type(error).__name__}: {error}"[:300])

    follow(look)
    return said


def _looked(found: StatementsOf, row: Checked, kernel: Any, launch: OneLaunch, exact_of: ExactOf) -> StatementsOf:
    if launch.worst is None:
        return _with(found, reason="it is not known where the element is in memory")
    first: tuple[StatementsOf, Statements, list[Evaluated]] | None = None
    waiting = [launch.worst]
    for element in waiting:
        values = launch.run(kernel, element)
        if not values.stored:
            if kernel.sees_every_store(element.buffer):
                line = kernel.points[kernel.stores(element.buffer)[0]].line
                return _with(found, buffer=element.buffer, element=element.position, blamed=line, why=STORE)
            continue
        statements = Statements(kernel, launch.memory, element, values)
        evaluated = statements.evaluated()
        said = _said(found, element, evaluated)
        if not evaluated:
            said = _with(said, reason="the loop that stores it is in a form that is not understood")
        if said.blamed is None and statements.stores_elsewhere():
            said = _with(said, blamed=values.store.line, why=INDEX)
        if said.blamed is None and statements.stores_another():
            said = _with(said, blamed=values.store.line, why=VARIABLE)
        if said.blamed is not None:
            return said
        first = first or (said, statements, evaluated)
        again = (one for one in statements.read_again if one not in waiting and one.buffer in launch.memory)
        waiting += list(dict.fromkeys(again))[: _ELEMENTS - len(waiting)]
    if first is None:
        return _with(found, reason="it is not known which statement stores the element")
    for element in waiting:
        for evaluated in _of_inner_loops(kernel, launch, element):
            said = _said(found, element, evaluated)
            if said.blamed is not None:
                return said
    said, statements, evaluated = first
    if statements.reads_own_results:  # what it read may be wrong
        return said
    line = wrong_node(evaluated, statements.storing, lambda node: exact_of(node, launch.sources), row.worst, row.size)
    return said if line is None else _with(said, blamed=line, why=NODE)


def _of_inner_loops(kernel: Any, launch: OneLaunch, element: Element) -> Iterator[list[Evaluated]]:
    """The statements in each turn of the loops whose result the element is made of, and in each lane of vectors."""
    earlier = None
    for turn in range(_TURNS):
        values = launch.run(kernel, element, turn)
        if not values.stored or values.lanes == earlier:
            return
        earlier = values.lanes
        for lane in range(max(map(len, values.lanes.values()))):
            yield Statements(kernel, launch.memory, element, values, lane).evaluated()


def _said(found: StatementsOf, element: Element, evaluated: Sequence[Evaluated]) -> StatementsOf:
    wrong = next((one.row for one in evaluated if one.row.is_wrong), None)
    return _with(
        found,
        buffer=element.buffer,
        element=element.position,
        statements=tuple(one.row for one in evaluated[:_MOST]),
        blamed=None if wrong is None else wrong.line,
        why="" if wrong is None else VALUE,
    )


def _with(found: StatementsOf, **fields: Any) -> StatementsOf:
    return msgspec.structs.replace(found, **fields)
