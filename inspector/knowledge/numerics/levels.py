"""The levels at which a result of a graph can have gone wrong, apart from passes, which have names of their own."""

from typing import Final

DYNAMO: Final = "Dynamo"
BACKEND: Final = "the backend before Inductor"
"""Edits of Dynamo's graph by a backend that then calls Inductor."""
PRE_GRAD: Final = "pre-grad passes"
"""Edits of Dynamo's graph by Inductor outside of a pass with a name."""
AOT: Final = "AOTAutograd and decompositions"
JOINT_PASSES: Final = "joint passes"
"""Edits of the joint graph by Inductor outside of a pass with a name."""
PARTITIONER: Final = "the partitioner"
ALL_PASSES: Final = "all passes"
LOWERING: Final = "the lowering"
"""All that follows the passes, for a result that no FX node of a launch has the value of."""
COMPILED: Final = "the compiled code"
"""All that was generated, in a call in which nothing is forced: more than one launch makes a result, and the code
between launches.
"""
PACKAGE: Final = "AOTInductor"
"""All that it did to an exported module."""
CALL: Final = "the whole call"
"""In the place of a level: something below is wrong, or nothing is."""
NOT_PASSES: Final = frozenset(
    {DYNAMO, BACKEND, PRE_GRAD, AOT, JOINT_PASSES, PARTITIONER, ALL_PASSES, LOWERING, COMPILED, PACKAGE, CALL}
)

LOWERED_GRAPH: Final = "the graph that is lowered"
BEFORE_PASSES: Final = "the graph before the passes"
JOINT_GRAPH: Final = "the joint graph"
DYNAMO_GRAPH: Final = "Dynamo's graph"
FUNCTION: Final = "the program's function"
EXPORTED: Final = "the exported module"
AGAINST: Final = (FUNCTION, EXPORTED, DYNAMO_GRAPH, JOINT_GRAPH, BEFORE_PASSES, LOWERED_GRAPH)
"""What results of a graph, or of a call, are compared with."""
AOT_GRAPH: Final = "AOTAutograd's graph"


def between(earlier: str, later: str) -> str:
    """In the place of a level: what is right at `earlier` is wrong at `later`, and nothing in between was compared."""
    return f"{_BETWEEN}{earlier} and {later}"


def level_text(level: str) -> str:
    """What a level is called: passes have names of their own."""
    return level if level in NOT_PASSES or level.startswith(_BETWEEN) else f"pass {level}"


def made_wrong(level: str, buffer: str, graph: str) -> str:
    """Which level made a result, or an input, of a graph wrong: `pass remove_noop_ops makes result 0 of … wrong`."""
    what = f"{buffer if buffer.startswith(_NOT_INPUTS) else f'input {buffer}'} of {graph}"
    if level.startswith(_BETWEEN):
        return f"{what} becomes wrong {level}"
    return f"{level_text(level)} {'make' if level in _SEVERAL else 'makes'} {what} wrong"


_NOT_INPUTS: Final = ("result", "changed tensor")
_BETWEEN: Final = "between "
_SEVERAL: Final = frozenset({PRE_GRAD, AOT, JOINT_PASSES, ALL_PASSES})
