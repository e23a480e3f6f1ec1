"""A graph that runs node by node as its values are asked for, and lets them go after their last use."""

import contextlib
import functools
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule

from inspect_compile.lowering.intervention.numerics.graphs import philox
from inspect_compile.lowering.intervention.numerics.graphs.nodes import names_of
from inspect_compile.lowering.intervention.numerics.graphs.offload import Offload, Values
from inspect_compile.lowering.intervention.numerics.graphs.reference import Plain, Reference, reference
from inspect_compile.lowering.intervention.numerics.graphs.shared import (
    Shared,
    SharedRun,
    can_share,
)


class OnDemand:
    """The nodes run in the graph's order, each once: random numbers are drawn, and inputs are changed, as in a run of
    the whole graph. It goes on as far as the value lies that is asked for.
    """

    def __init__(
        self,
        module: GraphModule,
        inputs: Callable[[], Sequence[Any]],
        draws: philox.Form | None,
        shared: Shared,
        only: Collection[str],
        last_uses: Mapping[str, int],
        aside: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """For `draws`, `shared` and `only` see `reference`; the graph changes no memory but that of `inputs`, which are
        made for each run. `last_uses`: node → the latest position at which its value is asked for. A run takes place
        in blocks of one `aside`.
        """
        self._module, self._inputs, self._draws, self._only = module, inputs, draws, only
        self._last_uses = last_uses
        self._store, self._aside = shared.store, aside
        self._block = aside()
        self.seconds = 0.0
        """How long it has run."""
        self.inputs = given = list(inputs())
        """The inputs, in the state in which the nodes that have run left them."""
        known = SharedRun(shared, module, given, None) if can_share(module) else None
        results = set(names_of(module)) - {""}
        names = {node.name for node in module.graph.nodes} & set(only)
        values = functools.partial(_Asked, self._reach, self._again, names)
        self._run: Plain | None = Plain(module, given, known, only, self._store, draws, values=values, shares=results)
        self.reference = self._run.reference(self._finished, {})
        """Its values. What it has beside them is complete for the nodes that have run."""
        self._values = self.reference.values
        self._whole: Reference | None = None

    def passed(self, position: int) -> None:
        """What is asked for at this position, and at earlier ones, has been asked for."""
        for name in list(self._values.data):
            if self._last_uses.get(str(name), -1) <= position and self._values.is_own(name):
                self._values.let_go(name)

    def close(self) -> None:
        """Let go of all values: they and what computes them know each other, and would wait for Python's collector."""
        for one in (self._values, self.reference.late, self.reference.after):
            one.data.clear()
        self.reference.results.close()
        self._run = self._whole = None
        self.inputs.clear()

    def whole(self) -> Reference:
        """The values of all nodes, which are computed anew and held."""
        if self._whole is None:
            with self._running(self._aside()):
                given = self._inputs()
                shared = Shared(self._store)
                self._whole = reference(self._module, given, self._draws, shared=shared, only=self._only)
        return self._whole

    def _reach(self, name: str) -> None:
        """Go on until the value of this node has been computed."""
        if self._run is not None and name not in self._run.done:
            with self._running(self._block):
                self._run.advance(name)

    def _again(self, name: str) -> Any:
        """The value of a node that is asked for after its last use."""
        return self.whole().values.data.get(name)

    def _finished(self) -> Any:
        """What the graph returns."""
        assert self._run is not None
        with self._running(self._block):
            found = self._run.advance()
        self._run = None
        return found

    @contextlib.contextmanager
    def _running(self, block: AbstractContextManager[None]) -> Iterator[None]:
        started = time.perf_counter()
        with block, torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
        self.seconds += time.perf_counter() - started


@dataclass(frozen=True)
class Whole:
    """All values of a graph, which are held; otherwise like `OnDemand`."""

    reference: Reference
    seconds: float
    inputs: list[Any]
    """The inputs, as the graph left them."""

    def passed(self, position: int) -> None:
        """Nothing is let go."""

    def close(self) -> None:
        """Nothing needs to be let go: the values go with this."""

    def whole(self) -> Reference:
        """The values of all nodes."""
        return self.reference


class _Asked(Values):
    """Values that are computed once they are asked for."""

    def __init__(
        self,
        compute: Callable[[str], None],
        again: Callable[[str], Any],
        names: Collection[str],
        store: Offload | None,
        apart: Collection[int],
        *,
        is_fixed: bool,
    ) -> None:
        """`compute` puts the value of a node here, if it has not been computed yet; `again` gives it if it was. `names`
        are those of the nodes that can be asked for. For the others see `Values`.
        """
        super().__init__(store, apart, is_fixed=is_fixed)
        self._compute, self._again, self._names = compute, again, names

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: Any) -> Any:
        if name not in self._names:
            raise KeyError(name)
        if name not in self.data:
            self._compute(name)
        return super().__getitem__(name) if name in self.data else self._again(name)

    def get(self, name: Any, default: Any = None) -> Any:
        """The value of that name, if it can be asked for."""
        return self[name] if name in self._names else default
