"""What torch stores of a compile is kept with its facts, and again when torch has chosen how to run its kernels."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from inspect_compile.facts import Fact, Remark
from inspect_compile.kept.collected import collected, decided, sizes
from inspect_compile.kept.entry import Entry, EntryError
from inspect_compile.kept.store import Store
from inspect_compile.lowering.caches.dynamo_graph import DynamoGraph
from inspect_compile.lowering.caches.prepared import Prepared
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.lowering.core.undecided import UNDECIDED
from inspect_compile.lowering.passes.inherited import aot_id
from inspect_compile.probe import Probes, let_pass

_WORKING: Final = ("installed", "missing")
"""States of hooks with which a compile is seen as it would be in any other process with the same versions."""


@dataclass
class Load:
    """One look-up in AOTAutograd's cache, with what is known of the compile: plain values."""

    compile_id: str
    number: int
    """AOTAutograd's number of the compile."""
    graph: DynamoGraph
    hints: tuple[str, ...]
    key: str = ""
    found: Prepared | None = None
    why: str = "this compile was not kept"
    """Why nothing that is kept could be used."""


class _Window(NamedTuple):
    """A compile that torch will store, and the sizes of the dump's tables when it began."""

    load: Load
    root: Path
    sizes: dict[str, int]


class _Stored(NamedTuple):
    """A compile that is kept, of which torch has still to choose how its kernels are run."""

    store: Store
    key: str
    content: str
    graphs: tuple[str, ...]
    root: Path


class Keeping:
    """The compiles of this process that are kept."""

    def __init__(self) -> None:
        UNDECIDED.listeners.append(self._decided)
        self.forget()

    def forget(self) -> None:
        """Another dump begins."""
        self._windows: dict[str, _Window] = {}
        """Key → the compile that torch will store under it."""
        self._waiting: list[_Stored] = []
        self._probes: Probes | None = None
        self._refused: set[str] = set()
        """Why something could not be kept, each told once."""

    def begin(self, probes: Probes, load: Load) -> None:
        """torch compiles what it looked up, and will store it."""
        probes.sink.flush()
        root = probes.sink.root
        self._windows[load.key] = _Window(load, root, sizes(root))

    def stored(self, probes: Probes, store: Store, key: str, content: str) -> None:
        """torch has stored something with the sha256 `content` under `key`: keep what was recorded of the compile."""
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
        try:
            found = collected(window.root, window.sizes, load.compile_id, lambda name: aot_id(name).endswith(ending))
            if found is None:
                return
            waits = UNDECIDED.of(found.graphs)
            store.write(
                Entry(
                    versions=store.versions,
                    key=key,
                    content=content,
                    when=datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
                    compile_id=load.compile_id,
                    aot_id=aot_id(found.graphs[0]),
                    nodes=load.graph.nodes,
                    stacks=load.graph.stacks,
                    hints=load.hints,
                    caller=CALL_SITES.caller_of(load.compile_id),
                    waits=waits,
                    **found._asdict(),
                )
            )
        except OSError as error:
            let_pass(error)
            for fact in self._not_kept(store, error):
                probes.sink.add(fact)
            return
        if waits:
            self._probes = probes
            self._waiting.append(_Stored(store, key, content, found.graphs, window.root))

    def _decided(self, graph: str) -> None:
        """torch has chosen how all kernels of a graph are run: keep that, too."""
        probes = self._probes
        done = [one for one in self._waiting if graph in one.graphs and not UNDECIDED.of(one.graphs)]
        if probes is None or not done:
            return
        probes.sink.flush()
        self._waiting = [one for one in self._waiting if one not in done]
        for one in done if probes.sink.is_whole else ():
            for fact in self._amended(one, probes.sink.root):
                probes.sink.add(fact)

    def at_end(self) -> list[Fact]:
        """The dump ends: what was never launched has nothing to be told of. Returns why that could not be kept."""
        probes, waiting = self._probes, self._waiting
        self._waiting = []
        if probes is None or not waiting:
            return []
        probes.sink.flush()
        if not probes.sink.is_whole:
            return []
        return [fact for one in waiting for fact in self._amended(one, probes.sink.root)]

    def _amended(self, one: _Stored, root: Path) -> list[Fact]:
        """Keep it with what torch has chosen since."""
        if root != one.root:
            return []
        try:
            entry = one.store.read(one.key, one.content)
            if entry is not None:
                one.store.write(msgspec.structs.replace(entry, waits=(), files=decided(root, entry)))
        except EntryError:
            return []  # another process has damaged it; the next run compiles it again
        except OSError as error:
            let_pass(error)
            return self._not_kept(one.store, error)
        return []

    def _not_kept(self, store: Store, error: OSError) -> list[Fact]:
        """That something could not be kept, once for each reason."""
        why = error.strerror or str(error)
        if why in self._refused:
            return []
        self._refused.add(why)
        message = f"the recording could not be kept below {store.root}: {why}; the next run compiles it again"
        return [Remark(graph="", kind="analysis", code="facts-not-kept", message=message)]
