"""The watching of one process: its probes, its recorder, its run.json. Needed once torch's compiler is loaded."""

import contextlib
import functools
import importlib
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspect_compile.child import account
from inspect_compile.child.probes import (
    COLLECTIVES,
    MEASURE,
    PROBES,
    PROGRAM,
    SENDER,
    SHADOW,
    STEER,
    STORES,
    TORCH,
    TRACER,
    Entry,
)
from inspect_compile.child.recorder import Recorder
from inspect_compile.child.setting import Setting
from inspect_compile.child.surroundings import device, rank
from inspect_compile.child.targets import Targets
from inspect_compile.dump.root import claim_part
from inspect_compile.facts import Fact, Hook, Remark, Run
from inspect_compile.probe import Probes, describe, let_pass


class Session:
    """Facts of this process go to `root`; where it is None, and for forks, to a folder below `top`, the run's root.

    That folder is taken with the first write: until then nothing may need it, and the rank may not be known.
    """

    def __init__(
        self,
        root: Path | None,
        *,
        top: Path,
        argv: list[str],
        cwd: str,
        started: float,
        cache: str = "bypass",
        graphs_limit: int | None = None,
        bytes_limit: int | None = None,
        texts: bool = True,
        target: str | None = None,
        replay_of: str = "",
        config: Mapping[str, str] | None = None,
        steer: Mapping[str, Any] | None = None,
        measure: bool = False,
    ) -> None:
        self._top = top
        self._argv = argv
        self._cwd = cwd
        self._started = started
        self._cache = cache
        self._target = target
        self._steer = steer
        self._entries = (*PROBES, *(MEASURE if measure else ()))
        self._told = {"replay_of": replay_of, "config": dict(config or {}), **_steered(steer or {})}
        self.targets: Targets | None = None
        self._to_map: list[str] = []
        self._is_mapped = False
        self._is_fork = False
        self._is_placed = root is not None
        self._is_rank = False
        """Was it one of a distributed run when it first compiled? At its end it may have left."""
        self._run = Run()
        self.notes: list[str] = []
        self.recorder = Recorder(
            root or top,
            first=self._first_write,
            limited=self._limited,
            bytes_limit=bytes_limit,
            graphs_limit=graphs_limit,
            texts=texts,
        )
        self.probes = Probes(self.recorder)
        self.probes.pass_over_caches = cache == "bypass"
        self.probes.keeps_texts = texts
        os.register_at_fork(after_in_child=self._forked)

    def install(self, module: str) -> None:
        """Place the probes that wait for `module`, which the program has imported."""
        if self._steer is not None:
            self._install_steer(module, self._steer)  # before the probes, which then see what it does
        for entry in self._entries:
            if entry.watches == module:
                self._install(entry)

        if self.targets is not None:
            self._map(module)
            if module == SENDER.watches:
                self._install_sender(self.targets)
            if module == TRACER.watches:
                _function(TRACER.installer)(self._unwatched)

    def send_to(self, setting: Setting) -> None:
        """Have graphs compiled for the targets of `setting`, in the place of what is here."""
        self.targets = Targets(setting, self._argv)
        self._fake_kernels = setting.fake_kernels

    def _map(self, module: str) -> None:
        """Map CUDA in `module` to the CPU, as soon as torch is there: a program may import Triton first."""
        self._to_map.append(module)
        if TORCH in sys.modules and (module == TORCH or self._is_mapped):
            self._is_mapped = True
            for entry in SHADOW:
                if entry.watches in self._to_map:
                    self._install_shadow(entry)
            self._to_map.clear()

    def _install_shadow(self, entry: Entry) -> None:
        try:
            _function(entry.installer)(self.program)
        except Exception as error:
            let_pass(error)
            self.notes.append(f"{entry.installer}: the program's CUDA is not all mapped to the CPU: {describe(error)}")

    @functools.cached_property
    def program(self) -> Any:
        """Made once torch is there."""
        assert self.targets is not None
        return _function(PROGRAM)(
            self.targets.names, fake_kernels=self._fake_kernels, tell=self.targets.remark, deliver=self._deliver
        )

    def _deliver(self, data: bytes) -> None:
        self.recorder.begin()
        if self.targets is not None:
            self.targets.deliver(data, self.recorder.root)

    def _install_sender(self, targets: Targets) -> None:
        def refused(compile_id: str, reason: str) -> None:
            message = f"graph {compile_id} was not compiled: it can't be sent to another process ({reason})"
            targets.remark(Remark(kind="missed", code="target-not-sent", message=message))

        def uses_gpu() -> bool:
            return self._is_mapped and bool(self.program.uses_gpu)

        _function(SENDER.installer)(self._deliver, refused, uses_gpu, self._unwatched)

    def _install(self, entry: Entry) -> None:
        try:
            _function(entry.installer)(self.probes)
        except Exception as error:
            let_pass(error)
            reason = describe(error)
            error.__traceback__ = None
            self.notes.append(f"{entry.installer} could not be installed: {reason}")
            self.recorder.add(Hook(probe=entry.installer, target=entry.watches, state="failed", reason=reason))

    def _install_steer(self, module: str, steer: Mapping[str, Any]) -> None:
        try:
            if module == STEER.watches:
                _function(STEER.installer)(steer, self._count)
            for entry in STORES:
                if module == entry.watches:
                    _function(entry.installer)(module)
        except Exception as error:
            let_pass(error)
            self.notes.append(f"fusion could not be steered: {describe(error)}")

    def _count(self, fact: Fact) -> None:
        """Written at once: a check may end by a signal."""
        self.recorder.add(fact)
        self.recorder.flush()

    def finish_targets(self, *, wait: bool) -> None:
        """Wait for what is still being compiled for the targets, or end it."""
        if self.targets is None:
            return
        if self._is_mapped:
            self.program.ended(account.uncaught())
        self.notes += self.targets.finish(wait=wait)
        for remark in self.targets.untold:
            self.recorder.add(remark)

    def listen(self, listens: bool) -> None:
        """Let the hooks watch, or have them step aside; those that failed stay where they are."""
        for hook in self.probes.hooks:
            if hook.state == "installed":
                hook.off = not listens
        self.probes.pass_over_caches = listens and self._cache == "bypass"

    @contextlib.contextmanager
    def _unwatched(self) -> Iterator[None]:
        """Nothing is recorded meanwhile."""
        self.listen(False)
        try:
            yield
        finally:
            self.listen(True)

    def reopen(self, root: Path | None, *, top: Path) -> None:
        """Begin again, with another dump or another part of one."""
        self._top = top
        self._is_placed = root is not None
        self._started = time.time()
        self.notes = []
        self.recorder.reopen(root or top)
        for hook in self.probes.hooks:
            hook.forget()
        for counted in self.probes.accounts:
            counted.forget()

    def close(self, end: account.Ended) -> None:
        """Write everything that is still to be written. What nothing was recorded for leaves nothing."""
        if not self.recorder.is_open:
            return
        self.probes.tell_accounts()
        self._tell_collectives()
        if self.recorder.has_begun or self.recorder.tally.facts:
            for hook in self.probes.hooks:
                if hook.state != "missing":
                    self.recorder.add(hook.fact("closed" if hook.state == "installed" else None))
        self.recorder.close()
        if self.recorder.has_begun:
            ended = account.ended(self._run, end, started=self._started, notes=self._all_notes())
            self._run = msgspec.structs.replace(ended, omitted=self.recorder.omissions(), device=device(self._target))
            self.recorder.run(self._run)

    def _tell_collectives(self) -> None:
        """What a rank that compiled sent to the others."""
        if not self.recorder.has_begun or not (self._is_rank or rank() is not None):
            return
        try:
            for fact in _function(COLLECTIVES)():
                self.recorder.add(fact)
        except Exception as error:
            self.notes.append(f"the collectives of this rank are not known: {describe(error)}")

    def add_note(self, note: str) -> None:
        """Tell something in the run.json of a session that is closed."""
        self._run = msgspec.structs.replace(self._run, notes=(*self._run.notes, note))
        self.recorder.run(self._run)

    def _all_notes(self) -> tuple[str, ...]:
        notes = list(self.notes)
        if self.recorder.trouble is not None:
            notes.append(self.recorder.trouble)
        return tuple(notes)

    def _limited(self) -> None:
        """Something is not recorded: say so now, as the program may be killed. A full dump ends the watching."""
        if self.recorder.is_full:
            self.listen(False)
        if self.recorder.has_begun:
            self._run = msgspec.structs.replace(self._run, omitted=self.recorder.omissions())
            self.recorder.run(self._run)

    def _first_write(self) -> None:
        self._is_rank = rank() is not None
        if not self._is_placed:
            self._is_placed = True
            self.recorder.root = claim_part(self._top, rank(), os.getpid())
        self._run = account.running(
            argv=self._argv, cwd=self._cwd, started=self._started, cache=self._cache, notes=tuple(self.notes)
        )
        self._run = msgspec.structs.replace(
            self._run,
            omitted=self.recorder.omissions(),
            target=self._target or "",
            targets=() if self.targets is None else self.targets.names,
            **self._told,
        )
        self.recorder.run(self._run)
        util = sys.modules.get("multiprocessing.util")
        if self._is_fork and util is not None:
            # A forked worker of multiprocessing ends in os._exit, after the finalizers of that package alone.
            util.Finalize(None, self.close, args=(account.Ended("finished"),), exitpriority=-1000)

    def _forked(self) -> None:
        try:
            is_open = self.recorder.is_open
            self._is_fork = True
            if self.targets is not None:
                self.targets.forget()
            self.reopen(None, top=self._top)
            self.recorder.is_open = is_open
        except Exception:
            self.recorder.is_open = False


def _steered(steer: Mapping[str, Any]) -> dict[str, Any]:
    """The same as run.json tells it."""
    denied = tuple(("_".join(a), "_".join(b)) for _, a, b in steer.get("deny", ()))
    return {"denied": denied, "fusions": steer.get("limit")}


def _function(name: str) -> Any:
    """Of `module:function`."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)
