"""Facts about what stopped or interrupted a compile: no limit of a dump may lose them."""

from typing import Final

from inspect_compile.facts import Fact, Frame, GraphBreak, Remark
from inspect_compile.facts.compile_id import frame_id

_WENT_ON: Final = ("compiled", "no graph")
"""Outcomes of an attempt to compile a frame that stopped nothing."""
_STOPPING: Final = ("recompile-limit", "graph-break")
"""Codes of remarks about what stopped or interrupted a compile."""


def is_end(fact: Fact) -> bool:
    """Does it say that an attempt to compile a frame gave nothing?"""
    return isinstance(fact, Frame) and fact.status not in _WENT_ON


class Stops:
    """What stopped or interrupted compiles of each frame, each reason once."""

    def __init__(self) -> None:
        self._seen: set[tuple[object, ...]] = set()

    def is_new(self, fact: Fact) -> bool:
        """Does it say that a compile was stopped or interrupted, for a reason that was not seen of its frame?"""
        found: tuple[object, ...]
        if isinstance(fact, Frame) and is_end(fact):
            found = (fact.status, fact.reason, fact.limit)
        elif isinstance(fact, GraphBreak):
            found = (fact.reason, fact.where and (fact.where.file, fact.where.line))
        elif isinstance(fact, Remark) and fact.code in _STOPPING:
            found = (fact.code, fact.message, fact.where)
        else:
            return False
        found = (type(fact), frame_id(fact.graph), *found)
        is_new = found not in self._seen
        self._seen.add(found)
        return is_new
