"""`--cache auto`: torch's caches may serve a compile whose facts are kept; what is compiled is kept with its facts.

AOTAutograd's cache holds a compile as a whole. With the graph that Dynamo made at hand, what is kept of it is prepared
before torch may take it; only then may the graphs that it consists of be taken from the FX-graph cache, too.
"""

import os
import threading
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from inspect_compile.kept.entry import EntryError
from inspect_compile.kept.lines import UnplacedError
from inspect_compile.kept.store import Store, folder, limit
from inspect_compile.lowering.caches.dynamo_graph import dynamo_graph, hints
from inspect_compile.lowering.caches.keeping import Keeping, Load
from inspect_compile.lowering.caches.prepared import is_code, prepared, record
from inspect_compile.lowering.core.running_calls import RUNNING
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.probe import Probes, argument, describe, let_pass


@dataclass
class _Loads(threading.local):
    """The look-ups of each thread, innermost last."""

    open: list[Load | None] = field(default_factory=list)


class Reuse:
    """Keeps the compiles of this process, and lets torch's caches serve those that are kept."""

    def __init__(self) -> None:
        self._store: Store | None = None
        self._loads = _Loads()
        self._keeping = Keeping()
        self._looked_up: set[str] = set()
        """The compiles that AOTAutograd's cache was asked for."""

    def facts(self) -> list[Any]:
        """What could not be kept of what came after torch had stored a compile; what is served is recorded at once."""
        return self._keeping.at_end()

    def forget(self) -> None:
        """Another dump begins."""
        self._keeping.forget()
        self._looked_up.clear()

    def _kept(self, probes: Probes) -> Store:
        if self._store is None:
            versions = (*probes.versions(), f"texts {probes.keeps_texts}")
            self._store = Store(folder(os.environ), versions, limit(os.environ))
        return self._store

    @property
    def load(self) -> Load | None:
        """The look-up in AOTAutograd's cache that this thread is in."""
        return self._loads.open[-1] if self._loads.open else None

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A look-up begins, with the arguments of `try_load`."""
        self._loads.open.append(None)
        graph = dynamo_graph(argument(args, kwargs, 0, "mod"))
        number = getattr(argument(args, kwargs, 2, "aot_config"), "aot_id", None)
        name = compile_id()
        if graph is not None and type(number) is int and name is not None:
            self._loads.open[-1] = Load(name, number, graph, hints(argument(args, kwargs, 1, "args", ())))

    def has(self, probes: Probes, key: str) -> bool:
        """Whether anything is kept for the key of this look-up."""
        load = self.load
        if load is None:
            return False
        load.key = key
        self._looked_up.add(load.compile_id)
        try:
            return self._kept(probes).has(key)
        except OSError as error:
            let_pass(error)
            load.why = f"the kept recording cannot be read: {describe(error)}"
            return False

    def looked_up(self, compile_id: str | None) -> bool:
        """Whether AOTAutograd's cache was asked for a compile; it is not where it is off, or bypassed."""
        return compile_id in self._looked_up

    def is_kept(self, probes: Probes, content: bytes) -> bool:
        """Whether all facts of what torch has stored under the key are kept, and can be told with the lines of this
        run; then they are prepared.
        """
        load = self.load
        if load is None:
            return False
        load.found = None
        try:
            entry = self._kept(probes).read(load.key, sha256(content).hexdigest())
            if entry is None:
                return False
            if entry.waits:
                load.why = f"the kept run ended before torch had chosen how to run {entry.waits[0]}"
                return False
            if entry.hints != load.hints:
                load.why = "the kept recording is for other sizes"
                return False
            load.found = prepared(entry, load.graph, load.compile_id, load.number)
        except (OSError, EntryError, UnplacedError) as error:
            let_pass(error)
            load.why = f"the kept recording cannot be used: {error}"
            return False
        RUNNING.is_loading = True
        return True

    def is_code(self, source: str) -> bool:
        """Whether this is the generated code of a graph of the compile that is being served."""
        load = self.load
        return load is not None and load.found is not None and is_code(load.found, source)

    def served(self, probes: Probes) -> None:
        """torch took the compile from its cache."""
        load = self._end()
        if load is not None and load.found is not None:
            record(probes, load.found)

    def missed(self, probes: Probes) -> None:
        """torch compiles it, and will store it."""
        load = self._end()
        if load is not None and load.key:
            self._keeping.begin(probes, load)

    def failed(self) -> None:
        """The look-up raised."""
        self._end()

    def _end(self) -> Load | None:
        RUNNING.is_loading = False
        return self._loads.open.pop() if self._loads.open else None

    def stored(self, probes: Probes, key: str, content: bytes) -> None:
        """torch has stored `content` under `key`: keep what was recorded of the compile."""
        self._keeping.stored(probes, self._kept(probes), key, sha256(content).hexdigest())


REUSE = Reuse()
"""Of this process."""
