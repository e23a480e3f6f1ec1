"""`--cache auto`: torch's caches may serve a compile whose facts are kept; what is compiled is kept with its facts.

AOTAutograd's cache holds a compile as a whole. With the graph that Dynamo made at hand, what is kept of it is prepared
before torch may take it; only then may the graphs that it consists of be taken from the FX-graph cache, too.
"""

import hashlib
import os
import threading
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from inspect_compile.kept.collected import collected, sizes
from inspect_compile.kept.entry import Entry, EntryError
from inspect_compile.kept.lines import UnplacedError
from inspect_compile.kept.store import Store, folder, limit
from inspect_compile.lowering.caches.dynamo_graph import DynamoGraph, dynamo_graph, hints
from inspect_compile.lowering.caches.prepared import Prepared, is_code, prepared, record
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.lowering.core.running_calls import RUNNING
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.lowering.passes.inherited import aot_id
from inspect_compile.probe import Probes, argument, describe, let_pass

_WORKING: Final = ("installed", "missing")
"""States of hooks with which a compile is seen as it would be in any other process with the same versions."""


@dataclass
class _Load:
    """One look-up in AOTAutograd's cache, with what is known of the compile: plain values."""

    compile_id: str
    number: int
    """AOTAutograd's number of the compile."""
    graph: DynamoGraph
    hints: tuple[str, ...]
    key: str = ""
    found: Prepared | None = None
    why: str = "nothing is kept of this compile"
    """Why nothing that is kept could be used."""


@dataclass
class _Window:
    """A compile that torch will store, and the sizes of the dump's tables when it began."""

    load: _Load
    root: Path
    sizes: dict[str, int]


@dataclass
class _Loads(threading.local):
    """The look-ups of each thread, innermost last."""

    open: list[_Load | None] = field(default_factory=list)


class Reuse:
    """Keeps the compiles of this process, and lets torch's caches serve those that are kept."""

    def __init__(self) -> None:
        self._store: Store | None = None
        self._loads = _Loads()
        self.forget()

    def facts(self) -> list[Any]:
        """Empty: what is served is recorded at once."""
        return []

    def forget(self) -> None:
        """Another dump begins."""
        self._windows: dict[str, _Window] = {}
        """Key → the compile that torch will store under it."""

    def _kept(self, probes: Probes) -> Store:
        if self._store is None:
            versions = (*probes.versions(), f"texts {probes.keeps_texts}")
            self._store = Store(folder(os.environ), versions, limit(os.environ))
        return self._store

    @property
    def load(self) -> _Load | None:
        """The look-up in AOTAutograd's cache that this thread is in."""
        return self._loads.open[-1] if self._loads.open else None

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A look-up begins, with the arguments of `try_load`."""
        self._loads.open.append(None)
        graph = dynamo_graph(argument(args, kwargs, 0, "mod"))
        number = getattr(argument(args, kwargs, 2, "aot_config"), "aot_id", None)
        name = compile_id()
        if graph is not None and type(number) is int and name is not None:
            self._loads.open[-1] = _Load(name, number, graph, hints(argument(args, kwargs, 1, "args", ())))

    def has(self, probes: Probes, key: str) -> bool:
        """Whether anything is kept for the key of this look-up."""
        load = self.load
        if load is None:
            return False
        load.key = key
        try:
            return self._kept(probes).has(key)
        except OSError as error:
            let_pass(error)
            load.why = f"what is kept cannot be read: {describe(error)}"
            return False

    def is_kept(self, probes: Probes, content: bytes) -> bool:
        """Whether all facts of what torch has stored under the key are kept, and can be told with the lines of this
        run; then they are prepared.
        """
        load = self.load
        if load is None:
            return False
        load.found = None
        try:
            entry = self._kept(probes).read(load.key, hashlib.sha256(content).hexdigest())
            if entry is None:
                return False
            if entry.hints != load.hints:
                load.why = "it is kept for other sizes"
                return False
            load.found = prepared(entry, load.graph, load.compile_id, load.number)
        except (OSError, EntryError, UnplacedError) as error:
            let_pass(error)
            load.why = f"what is kept of it cannot be used: {error}"
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
        if load is None or not load.key:
            return
        probes.sink.flush()
        root = probes.sink.root
        self._windows[load.key] = _Window(load, root, sizes(root))

    def failed(self) -> None:
        """The look-up raised."""
        self._end()

    def _end(self) -> _Load | None:
        RUNNING.is_loading = False
        return self._loads.open.pop() if self._loads.open else None

    def stored(self, probes: Probes, key: str, content: bytes) -> None:
        """torch has stored `content` under `key`: keep what was recorded of the compile."""
        window = self._windows.pop(key, None)
        if window is None or any(hook.state not in _WORKING for hook in probes.hooks):
            return
        load = window.load
        if any(other.load.compile_id == load.compile_id for other in self._windows.values()):
            return  # several compiles of AOTAutograd's in one of Dynamo's: their rows cannot be told apart
        probes.sink.flush()
        if not probes.sink.is_whole or probes.sink.root != window.root:
            return
        ending = f"__{load.number}"
        found = collected(window.root, window.sizes, load.compile_id, lambda name: aot_id(name).endswith(ending))
        if found is None:
            return
        store = self._kept(probes)
        store.write(
            Entry(
                versions=store.versions,
                key=key,
                content=hashlib.sha256(content).hexdigest(),
                when=datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
                compile_id=load.compile_id,
                aot_id=aot_id(found.graphs[0]),
                nodes=load.graph.nodes,
                stacks=load.graph.stacks,
                hints=load.hints,
                caller=CALL_SITES.caller_of(load.compile_id),
                **found._asdict(),
            )
        )


REUSE = Reuse()
"""Of this process."""
