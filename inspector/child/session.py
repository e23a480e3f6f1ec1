"""Watches one process: its probes, its recorder, its run.json. Created once torch's compiler is loaded."""

import contextlib
import functools
import importlib
import os
import sys
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspect_compile.at_start import AtStart
from inspect_compile.child import run_record
from inspect_compile.child.life import of_stretch
from inspect_compile.child.live.live import Live
from inspect_compile.child.probes import (
    CHECK,
    CHECKED,
    COLLECTIVES,
    FAILED_CALL,
    MAPPING,
    MEASURE,
    PROBES,
    PROGRAM,
    SENDER,
    STEER,
    STOPS,
    STORES,
    TORCH,
    TRACER,
    Entry,
)
from inspect_compile.child.recorder import Recorder
from inspect_compile.child.run_config import RunConfig
from inspect_compile.child.setting import Setting
from inspect_compile.child.stretches import Stretches
from inspect_compile.child.surroundings import device, rank, versions
from inspect_compile.child.targets import Targets
from inspect_compile.child.unseen import started
from inspect_compile.dump.root import claim_part, write_first
from inspect_compile.dump.wholeness import table_sizes
from inspect_compile.facts import SCHEMA_VERSION, Fact, Hook, Imported, NumericsRequest, Remark, Run, Stretch
from inspect_compile.outermost import guarded
from inspect_compile.probe import Probes, describe, let_pass, untraced


class Session:
    """Facts of this process go to `root`; if that is None, and for forks, to a folder below `top`, the run's root.

    That folder is created with the first write: it may never be needed, and the rank may not be known before.
    """

    def __init__(
        self,
        root: Path | None,
        *,
        top: Path,
        argv: list[str],
        cwd: str,
        started: float,
        config: RunConfig = RunConfig(),  # noqa: B008 - it is frozen
        target: str | None = None,
        replay_of: str = "",
        settings: Mapping[str, str] | None = None,
        steer: Mapping[str, Any] | None = None,
        numerics: NumericsRequest | None = None,
        is_fork: bool = False,
    ) -> None:
        """`target`, `replay_of`, `settings` and `steer` are those of `Setting`, where `settings` is `config`. With
        `numerics`, calls of compiled graphs are checked. `is_fork`: the process was forked from the one that started.
        """
        self._top = top
        self._argv = argv
        self._cwd = cwd
        self._started = started
        self._config = config
        self._target = target
        self._steer = steer
        self._numerics = numerics
        self._checking: Any = None
        self._checked: set[str] = set()
        """The modules in which the check is installed."""
        self._entries = (*PROBES, *(MEASURE if config.measure else ()))
        self._told = {"replay_of": replay_of, "config": dict(settings or {}), **_steered(steer or {})}
        self.targets: Targets | None = None
        self._to_map: list[str] = []
        self._is_mapped = False
        self._is_fork = is_fork
        self._is_placed = root is not None
        self._is_rank = False
        """Whether it was a rank of a distributed run when it first compiled; at its end it may have left."""
        self.leader: tuple[int, tuple[str, ...]] | None = None
        """Process id and command of the first process of a run that it began itself: it has no run.json yet."""
        self.imports: list[tuple[str, float, float]] = []
        """Imports that took long and are not recorded yet: module, start and seconds."""
        self.stretches: Stretches | None = None
        """When nothing that is watched happened."""
        self._run = Run()
        self.notes: list[str] = []
        self.recorder = Recorder(
            root or top,
            first=self._first_write,
            limited=self._limited,
            pending=self._tell_imports,
            config=config,
            every_compile=bool(replay_of),
        )
        self.probes = Probes(self.recorder)
        self.probes.pass_over_caches = config.cache != "keep"
        self._is_plain = target is None and not replay_of and steer is None and numerics is None
        self.probes.reuses_facts = self._reuses_facts
        self.probes.versions = lambda: (f"schema {SCHEMA_VERSION}", *map(" ".join, versions().items()))
        self.probes.keeps_texts = config.keeps_texts
        os.register_at_fork(after_in_child=functools.partial(guarded, self._forked))

    def install(self, module: str) -> None:
        """Install the probes that wait for `module`, which the program has imported."""
        untraced(guarded, what_they_call=True)
        untraced(*started.replaced, what_they_call=False)
        if self._steer is not None:  # before the probes, which then see its effects
            lost = "fusion could not be steered"
            if module == STEER.watches:
                self._call(STEER, lost, lambda: (self._steer, self._count))
            for entry in STORES:
                if entry.watches == module:
                    self._call(entry, lost, lambda: (module,))
        if self._numerics is not None:  # before the probes, which take what it needs
            self._install_check((module,))
        for entry in self._entries:
            if entry.watches == module:
                self._install(entry)
        if self.targets is not None:
            self._map(module)
            lost = "not all graphs were compiled for the targets"
            if module == SENDER.watches:
                given = self._deliver, self._refused, self._uses_gpu, self._unwatched
                self._call(SENDER, f"{SENDER.installer}: {lost}", lambda: given)
            if module == TRACER.watches:
                self._call(TRACER, f"{TRACER.installer}: {lost}", lambda: (self._unwatched,))

    def send_to(self, setting: Setting) -> None:
        """Have graphs compiled for the targets, in the place of what is here, by processes that `setting` is for."""
        self.targets = Targets(self._config.targets, setting, self._argv)

    def _map(self, module: str) -> None:
        """Map CUDA in `module` to the CPU, as soon as torch is there: a program may import Triton first."""
        self._to_map.append(module)
        if TORCH in sys.modules and (module == TORCH or self._is_mapped):
            self._is_mapped = True
            for entry in MAPPING:
                if entry.watches in self._to_map:
                    lost = f"{entry.installer}: the program's CUDA is not all mapped to the CPU"
                    self._call(entry, lost, lambda: (self.program,))
            self._to_map.clear()

    @functools.cached_property
    def program(self) -> Any:
        """The program's state, created once torch is there."""
        assert self.targets is not None
        return _function(PROGRAM)(
            self.targets.names, fake_kernels=self._config.fake_kernels, tell=self.targets.remark, deliver=self._deliver
        )

    def _deliver(self, data: bytes) -> None:
        self.recorder.begin()
        if self.targets is not None:
            self.targets.deliver(data, self.recorder.root)

    def _refused(self, compile_id: str, reason: str) -> None:
        message = f"graph {compile_id} was not compiled: it can't be sent to another process ({reason})"
        if self.targets is not None:
            self.targets.remark(Remark(kind="missed", code="target-not-sent", message=message))

    def _uses_gpu(self) -> bool:
        return self._is_mapped and bool(self.program.uses_gpu)

    @property
    def made_up(self) -> tuple[str, ...]:
        """The operators that only a GPU has and whose results are made up, `aten::mm.dtype`."""
        return tuple(self.program.made_up) if self._is_mapped else ()

    def _install(self, entry: Entry) -> None:
        reason = self._call(entry, f"{entry.installer} could not be installed", lambda: (self.probes,))
        if reason:
            self.recorder.add(Hook(probe=entry.installer, target=entry.watches, state="failed", reason=reason))

    def _call(self, entry: Entry, lost: str, given: Callable[[], tuple[Any, ...]]) -> str:
        """Call an installer with what `given` returns. If that fails, because of what this torch lacks, it never fails
        the program's import of torch: a note says what is `lost`, and why, which is also returned.
        """
        try:
            _function(entry.installer)(*given())
        except Exception as error:
            let_pass(error)
            reason = describe(error)
            error.__traceback__ = None
            self.notes.append(f"{lost}: {reason}")
            return reason
        return ""

    def check(self, asked: NumericsRequest | None) -> None:
        """Check calls of graphs that are compiled from now on; None: no longer those of any graph."""
        self._numerics = asked
        if asked is not None:
            self._install_check(sys.modules)
        if self._checking is not None:
            self._checking.ask(asked)

    @property
    def checks(self) -> NumericsRequest | None:
        """What is checked."""
        return self._numerics

    def _install_check(self, modules: Container[str]) -> None:
        for entry in CHECKED:
            if entry.watches in modules and entry.installer not in self._checked:
                self._checked.add(entry.installer)
                self._call(entry, "numerics could not be checked", self._check)

    def _check(self) -> tuple[Any]:
        """What checks the numerics of compiled graphs."""
        if self._checking is None:
            self._checking = _function(CHECK)(self._count, self._keep)
            self._checking.ask(self._numerics)
        return (self._checking,)

    def _end_check(self) -> None:
        """Have the check tell what it has not told yet."""
        if self._checking is None:
            return
        try:
            self._checking.ask(None)
        except Exception as error:
            let_pass(error)
            self.notes.append(f"numerics: checks that were still running at the end are lost: {describe(error)}")

    def _count(self, fact: Fact) -> None:
        """Write it at once: a check may end by a signal."""
        self.recorder.add(fact)
        self.recorder.flush()

    def _keep(self, name: str, data: bytes) -> bool:
        """Write a file of the dump; False if it could not be written, or a limit excludes it."""
        self.recorder.file(name, data)
        return (self.recorder.root / name).is_file()

    def finish_targets(self, *, wait: bool) -> None:
        """Wait for what is still being compiled for the targets, or end it."""
        if self.targets is None:
            return
        if self._is_mapped:
            self.program.ended(run_record.uncaught())
        self.notes += self.targets.finish(wait=wait)
        for remark in self.targets.untold:
            self.recorder.add(remark)

    def listen(self, listens: bool, *, besides: Collection[str] = ()) -> None:
        """Turn all hooks on or off, but for those of the probes `besides`; those that failed stay off."""
        for hook in self.probes.hooks:
            if hook.state == "installed" and hook.probe not in besides:
                hook.off = not listens
        self.probes.pass_over_caches = listens and self._config.cache != "keep"
        self.probes.reuses_facts = listens and self._reuses_facts

    @contextlib.contextmanager
    def _unwatched(self) -> Iterator[None]:
        """A block in which nothing is recorded."""
        self.listen(False)
        try:
            yield
        finally:
            self.listen(True)

    def reopen(self, root: Path | None, *, top: Path) -> None:
        """Start again with another dump or another part of one."""
        self._top = top
        self._is_placed = root is not None
        self._started = AtStart.time()
        self.notes = []
        self.recorder.reopen(root or top)
        for hook in self.probes.hooks:
            hook.forget()
        for counted in self.probes.accounts:
            counted.forget()

    def close(self, end: run_record.Ended) -> None:
        """Write everything that is pending. A session that recorded nothing leaves nothing."""
        if not self.recorder.is_open:
            return
        self._end_check()
        if self.recorder.live is not None:
            self.recorder.live.close()
            self.notes += filter(None, [self.recorder.live.trouble])
        self.probes.tell_accounts()
        self._tell_collectives()
        self._tell_failed_call()
        if not self.recorder.is_empty:
            for hook in self.probes.hooks:
                if hook.state != "missing":
                    self.recorder.add(hook.fact("closed" if hook.state == "installed" else None))
        self.recorder.close()
        if self.recorder.has_begun:
            ended = run_record.ended(self._run, end, started=self._started, notes=self._all_notes())
            self._run = msgspec.structs.replace(
                ended,
                omitted=self.recorder.omissions(),
                device=device(self._target),
                tables=table_sizes(self.recorder.root),
            )
            self.recorder.run(self._run)

    def _tell_collectives(self) -> None:
        """Record what a rank that compiled sent to the others."""
        if not self.recorder.has_begun or not (self._is_rank or rank() is not None):
            return
        try:
            for fact in _function(COLLECTIVES)():
                self.recorder.add(fact)
        except Exception as error:
            self.notes.append(f"the collectives of this rank are not known: {describe(error)}")

    def _tell_failed_call(self) -> None:
        """Record what came out of a graph's code and ended the program."""
        error = run_record.uncaught()
        if error is None or not self.recorder.has_begun:
            return
        try:
            for fact in _function(FAILED_CALL)(error, self.recorder.root):
                self.recorder.add(fact)
        except Exception as trouble:
            self.notes.append(f"whether the error came from compiled code is not known: {describe(trouble)}")

    def add_note(self, note: str) -> None:
        """Add a note to the run.json of a closed session."""
        self._run = msgspec.structs.replace(self._run, notes=(*self._run.notes, note))
        self.recorder.run(self._run)

    def _all_notes(self) -> tuple[str, ...]:
        notes = list(self.notes)
        if self.recorder.trouble is not None:
            notes.append(self.recorder.trouble)
        return tuple(notes)

    def _limited(self) -> None:
        """Something is not recorded: say so now, as the program may be killed. A full dump ends the watching of all but
        what stops a compile.
        """
        if self.recorder.is_full:
            self.listen(False, besides=STOPS)
        if self.recorder.has_begun:
            self._run = msgspec.structs.replace(self._run, omitted=self.recorder.omissions())
            self.recorder.run(self._run)

    def _first_write(self) -> None:
        self._is_rank = rank() is not None
        if not self._is_placed:
            self._is_placed = True
            self.recorder.root = claim_part(self._top, rank(), os.getpid())
            if self.leader is not None:
                self._claim_top(*self.leader)
        self._run = run_record.running(
            argv=self._argv, cwd=self._cwd, started=self._started, cache=self._config.cache, notes=tuple(self.notes)
        )
        self._run = msgspec.structs.replace(
            self._run,
            omitted=self.recorder.omissions(),
            target=self._target or "",
            targets=() if self.targets is None else self.targets.names,
            numerics=self._numerics,
            **self._told,
        )
        self.recorder.run(self._run)
        self.recorder.flush()  # the program may be killed before there is anything else to write
        util = sys.modules.get("multiprocessing.util")
        if self._is_fork and util is not None:
            # A forked worker of multiprocessing ends in os._exit, after that package's own finalizers only.
            util.Finalize(None, guarded, args=(self.close, run_record.Ended("finished")), exitpriority=-1000)

    def _tell_imports(self) -> None:
        """Record the imports that took long, and when nothing that is watched happened."""
        imports = list(self.imports)
        del self.imports[: len(imports)]
        for module, start, seconds in imports:
            self.recorder.add(Imported(module=module, start=start, seconds=round(seconds, 6)))
        if self.stretches is not None:
            for before, after in self.stretches.taken():
                self.recorder.add(msgspec.convert(of_stretch(before, after), Stretch))

    def _claim_top(self, pid: int, words: tuple[str, ...]) -> None:
        """Make the record of a run whose first process has recorded nothing so far, and perhaps never will."""
        run = run_record.running(argv=words, cwd=self._cwd, started=self._started, cache=self._config.cache)
        try:
            write_first(self._top, run_record.of_no_process(run, pid))
        except OSError as error:  # the part of this process will find the same
            let_pass(error)

    @property
    def _reuses_facts(self) -> bool:
        """What intervenes, or times launches, needs a compile of its own."""
        of = self._config
        return of.cache == "auto" and self._is_plain and not of.measure and not of.targets

    def belong_to(self, setting: Setting) -> None:
        """It is part of a run that goes on in the processes that this one starts."""
        self.probes.open_door, self.probes.close_door = setting.open_door, setting.close_door
        if setting.is_left_on:
            self.leader = setting.pid, tuple(setting.words or ())

    def note_stretches(self, stretches: Stretches) -> None:
        """Record when nothing that is watched happens in this process."""
        stretches.looks_at_queue = True
        self.stretches, self.recorder.touch = stretches, stretches.touch

    def tell(self, live: Live | None) -> None:
        """Tell what happens from now on while it happens; None: no longer."""
        self.recorder.live = live

    def configure(self, config: RunConfig) -> None:
        """Record so from the next dump on."""
        self._config = config
        self.probes.keeps_texts = config.keeps_texts
        self.recorder.configure(config)

    @property
    def makes_derived(self) -> bool:
        """Are derived files made when the program has ended?"""
        return self._config.makes_derived

    def _forked(self) -> None:
        try:
            is_open = self.recorder.is_open
            self._is_fork = True
            self.imports.clear()
            if self.stretches is not None:
                self.stretches.found.clear()
            if self.recorder.live is not None:
                self.recorder.live.forked()
            if self.targets is not None:
                self.targets.forget()
            self.reopen(None, top=self._top)
            self.recorder.is_open = is_open
        except Exception:
            self.recorder.is_open = False


def _steered(steer: Mapping[str, Any]) -> dict[str, Any]:
    """`steer` in the form of run.json."""
    denied = tuple(("_".join(a), "_".join(b)) for _, a, b in steer.get("deny", ()))
    return {"denied": denied, "fusions": steer.get("limit")}


def _function(name: str) -> Any:
    """The function called `module:function`."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)
