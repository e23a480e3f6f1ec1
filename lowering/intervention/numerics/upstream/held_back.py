"""What was found in one checked call of a compiled function, until the program's own function was compared with it:
where that gives what the compiled function gives, a graph that gives something else is no reference.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

import torch
from torch.fx import GraphModule

from inspect_compile.facts import Checked, Fact, NumericsCall
from inspect_compile.knowledge.numerics.levels import FUNCTION
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.graphs.nodes import inputs_of
from inspect_compile.lowering.intervention.numerics.graphs.shared import changed_inputs, memory_of
from inspect_compile.lowering.intervention.numerics.results import Left
from inspect_compile.lowering.intervention.numerics.upstream.beside import not_valid
from inspect_compile.lowering.intervention.numerics.upstream.shadow import memory_key

_NO_REFERENCE: Final = "the program's function gives what the compiled code gives, and {} does not"
_SAYS_WHAT: Final = ("graph", "call", "index", "level", "against", "buffer", "node")


class _Seen(NamedTuple):
    """A result of a graph, or an input that it got, as its call left it."""

    named: tuple[str, int, str]
    """The graph, its call, and what rows call this."""
    value: torch.Tensor
    traced: Any
    """The same of Dynamo's graph on the same inputs; None if that did not run."""
    version: int
    """autograd's count of changes, once torch has counted those of the graph; -1 if it says nothing: others have the
    same memory, or torch counts none.
    """


class HeldBack:
    """What was found, and what graphs left behind, in one checked call of a compiled function."""

    def __init__(self, made: Mapping[int, Any]) -> None:
        """`made`: the memory that the program's function made, see `Shadow.made`."""
        self.graphs: list[str] = []
        """The compiled graphs that ran, in their order."""
        self.is_kept = False
        """A graph got memory that was `made`: the function was called in another state than the compiled one."""
        self.is_wrong = False
        """Something is wrong at another level; known once the facts were `released`."""
        self.is_unknown = False
        """A result of a graph could not be compared with the level above it; known at the same time."""
        self._made = made
        self._facts: list[Fact] = []
        self._seen: list[_Seen] = []

    def add(self, fact: Fact) -> bool:
        """Something was found. False for what says how far the check is: that must be known if the program crashes."""
        if isinstance(fact, NumericsCall) and fact.stage:
            return False
        self._facts.append(fact)
        return True

    def returned(self, graph: str, number: int, module: GraphModule, left: Left, traced: Left | None) -> None:
        """The program's own call of a graph `left` this behind, and Dynamo's graph `traced`; None if that did not run.
        These tensors are kept, so that no others can get their memory.
        """
        given = (one for one in left.inputs if isinstance(one, torch.Tensor) and one.layout is torch.strided)
        made = (self._made.get(memory_key(one)) for one in given)
        self.is_kept = self.is_kept or any(one is not None and not one.expired() for one in made)
        self.is_unknown = self.is_unknown or traced is None
        inputs, results = inputs_of(module), [f"result {at}" for at in range(len(left.results))]
        values = [*zip(inputs, left.inputs, strict=False), *zip(results, left.results, strict=False)]
        beside = dict(zip(inputs, traced.inputs, strict=False)) if traced is not None else {}
        beside |= dict(zip(results, traced.results, strict=False)) if traced is not None else {}
        tensors = [(name, one) for name, one in values if isinstance(one, torch.Tensor)]
        memories = Counter(memory_of(one) for _, one in tensors)
        positions = changed_inputs(module)
        changed = {name for at, name in enumerate(inputs) if positions is None or at in positions}
        for name, one in tensors:
            is_known = memories[memory_of(one)] == 1 and not one.is_inference()
            version = one._version + (name in changed) if is_known else -1
            self._seen.append(_Seen((graph, number, name), one, beside.get(name), version))

    def released(self, right: Collection[Any], *, is_compared: bool) -> list[Fact]:
        """What was found, in its order. `right`: what the compiled function gave, and the program's own one gives;
        `is_compared`: all that it gave was compared with what that gives.
        """
        confirmed = {
            one.named
            for one in self._seen
            if one.version >= 0
            and one.value._version <= one.version
            and any(_is_same(one.value, other) for other in right)
        }
        facts = [_judged(one, confirmed) if isinstance(one, Checked) else one for one in self._facts]
        if is_compared:
            facts = [one for one in facts if not isinstance(one, NumericsCall) or one.against != FUNCTION]
        for fact in facts:
            if isinstance(fact, NumericsCall) and fact.against != FUNCTION:
                self.is_unknown = self.is_unknown or bool(fact.reason)
            if isinstance(fact, Checked):
                said = verdict(fact)
                self.is_wrong = self.is_wrong or said == WRONG
                self.is_unknown = self.is_unknown or (fact.index < 0 and said == NOT_COMPARABLE)
        return facts

    def traced(self, value: Any) -> Any:
        """What Dynamo's graph gives for what the compiled function gave; None if that is not known."""
        return next((one.traced for one in reversed(self._seen) if _is_same(one.value, value)), None)


def _judged(row: Checked, confirmed: Collection[tuple[str, int, str]]) -> Checked:
    """`row`, unless it accuses a level of what is `confirmed` to be right."""
    if row.index >= 0 or verdict(row) != WRONG or (row.graph, row.call, row.buffer) not in confirmed:
        return row
    plain = Checked(**{name: getattr(row, name) for name in _SAYS_WHAT})
    return not_valid(plain, _NO_REFERENCE.format(row.against))


def _is_same(one: torch.Tensor, other: Any) -> bool:
    """True if these are one tensor, or look the same at one memory."""
    if not isinstance(other, torch.Tensor) or not memory_of(one) or memory_of(one) != memory_of(other):
        return False
    return (one.shape, one.stride(), one.storage_offset()) == (other.shape, other.stride(), other.storage_offset())
