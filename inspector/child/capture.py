"""Recording from inside a process or a notebook: what `inspect_compile.capture` is made of, and `install()`."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from inspect_compile.at_start import AtStart
from inspect_compile.child import exit_summary, finishing, left_on, run_record, start
from inspect_compile.child.imports import ImportWatch
from inspect_compile.child.probes import watched
from inspect_compile.child.run_config import LEVELS, Level, RunConfig
from inspect_compile.child.session import Session
from inspect_compile.child.setting import Setting
from inspect_compile.dump import Dump
from inspect_compile.dump.root import default_root, make_root
from inspect_compile.errors import CommandError, DumpError
from inspect_compile.facts import Frame, NumericsRequest
from inspect_compile.facts.numerics import KEPT_IN_MEMORY, usual_calls
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat.targets import COUNTERS


class Capture(Dump):
    """The dump of a capture, complete when the block has ended; `refresh` reads what was written since the
    last time.
    """

    nothing = ""
    """Why nothing was compiled in a block that has ended; empty where something was."""

    @property
    def path(self) -> Path:
        """Its directory: `inspect-compile open PATH` walks through it."""
        return self.root


class _Own:
    """The session that all captures of this process share, because probes are installed only once."""

    def __init__(self) -> None:
        self.session: Session | None = None
        self.is_open = False

    def open(self, root: Path, asked: NumericsRequest | None, config: RunConfig) -> Session:
        self.is_open = True
        if self.session is not None:
            self.session.configure(config)
            self.session.reopen(root, top=root)
            self.session.check(asked)
        else:
            argv, cwd = sys.orig_argv[1:], os.getcwd()
            self.session = Session(root, top=root, argv=argv, cwd=cwd, started=AtStart.time(), config=config)
            self.session.check(asked)
            ImportWatch("torch", watched, self._imported).install()
        self.session.listen(True)
        return self.session

    def go_on(self, setting: Setting) -> Session:
        """The session of earlier captures records the rest of the process: probes are installed only once."""
        assert self.session is not None
        self.is_open = True
        self.session.configure(RunConfig.of(setting.run))
        self.session.reopen(Path(setting.root), top=Path(setting.root))
        self.session.belong_to(setting)
        self.session.listen(True)
        return self.session

    def _imported(self, module: str) -> None:
        assert self.session is not None
        try:
            self.session.install(module)
            self.session.listen(self.is_open)
        except Exception as error:
            let_pass(error)


_own = _Own()
C = TypeVar("C", bound=Capture)


@contextmanager
def recorded(
    kind: type[C],
    dump: str | os.PathLike[str] | None,
    *,
    recompile: bool,
    numerics: bool | Mapping[str, object],
    level: Level,
) -> Iterator[C]:
    """A block that is recorded, with a handle of `kind`: `inspect_compile.capture`, which says what its options mean.

    The handle tells at the end why there is nothing, if so.
    """
    asked = _asked(numerics)
    if level not in LEVELS:
        raise CommandError(f"capture(level={level!r}): no such level; there are {', '.join(LEVELS)}")
    if start.current is not None:
        if recompile:
            _forget()
        session = start.current.needed()
        session.recorder.begin()
        with _checking(session, asked):
            yield kind(session.recorder.root)
        session.recorder.flush()
        return
    if _own.is_open:
        raise RuntimeError("inspect_compile.capture: another capture of this process is open; they cannot be nested")
    cwd = os.getcwd()
    root = Path(cwd, dump) if dump is not None else default_root(Path(cwd), os.getpid(), datetime.now())
    try:
        make_root(root)
    except DumpError as error:
        look = f", or look at this one: inspect-compile show {root}" if error.problem == "taken" else ""
        raise CommandError(f"{error}; name a new directory{look}") from None
    config = RunConfig(level=level)
    session = _own.open(root, asked, config)
    handle = kind(root)
    end = run_record.Ended("finished")
    try:
        session.recorder.begin()
        if session.recorder.trouble is not None:
            raise CommandError(session.recorder.trouble)
        if recompile:
            _forget()
        before = _graphs_so_far()
        yield handle
    except BaseException as error:
        end = run_record.raised(error)._replace(exit_code=None)
        raise
    finally:
        session.listen(False)
        session.check(None)
        _own.is_open = False
        words = _why_nothing(session, compiled_before=before > 0) if end.exception is None else None
        if words is not None:
            handle.nothing = words
            session.notes.append(f"inspect_compile.capture saw nothing: {words}")
        session.close(end)
        if session.recorder.tally.graphs and config.makes_derived:
            failure = finishing.finish(root, cwd)
            if failure is not None:
                session.add_note(failure)
        with suppress(CommandError):  # a dump that was removed meanwhile
            handle.refresh()


def install(
    dumps: str | os.PathLike[str] | None = None,
    *,
    level: Level = left_on.LEVEL,
    keep: int = left_on.KEEP,
    max_bytes: int = left_on.MAX_BYTES,
    cache: str = left_on.CACHE,
    live: Literal["", "text", "json"] = "",
) -> Path:
    """Record what this process and its children compile from now on, until they end, and return where.

    That is a new folder in `dumps` (torch_compile_debug/ here), which is there once something was compiled. It is meant
    to be left on: it holds the first compile of each function and the newest `keep` recompiles, at most `max_bytes` for
    each process; `level`, `cache` and `live` are those of `run`. The environment variable INSPECT_COMPILE=1 does the
    same without a change of the program. In a program that is recorded already that recording goes on, and its place
    is returned.

    Raises CommandError for an option that does not exist, RuntimeError inside a capture.
    """
    if start.current is not None:
        return Path(start.current.setting.top or start.current.setting.root)
    if _own.is_open:
        raise RuntimeError("inspect_compile.install: a capture of this process is open; call it before or after")
    try:
        setting = left_on.new_setting(dumps, level=level, keep=keep, max_bytes=max_bytes, cache=cache, live=live)
    except ValueError as error:
        raise CommandError(f"inspect_compile.install: {error}") from None
    start.watch(setting, None if _own.session is None else _own.go_on(setting))
    return Path(setting.root)


@contextmanager
def _checking(session: Session, asked: NumericsRequest | None) -> Iterator[None]:
    """A block that checks what `asked` says; with None what was checked before."""
    before = session.checks
    if asked is None:
        yield
        return
    session.check(asked)
    try:
        yield
    finally:
        session.check(before)


def _asked(numerics: bool | Mapping[str, object]) -> NumericsRequest | None:
    if isinstance(numerics, bool):
        return NumericsRequest() if numerics else None
    unknown = sorted(numerics.keys() - set(NumericsRequest.__struct_fields__))
    if unknown:
        there = ", ".join(NumericsRequest.__struct_fields__)
        raise CommandError(f"capture(numerics=…): no such option as {unknown[0]}; there are: {there}")
    every, recorder = numerics.get("every", 0), bool(numerics.get("recorder"))
    nonfinite = recorder or bool(numerics.get("nonfinite"))
    calls = usual_calls(every=every if isinstance(every, int) else 0, nonfinite=nonfinite)
    usual = {"calls": calls, "keep": KEPT_IN_MEMORY if recorder else 0}
    try:
        return NumericsRequest.of({**usual, **numerics})
    except ValueError as error:
        raise CommandError(f"capture(numerics=…): {error}") from None


def _why_nothing(session: Session, *, compiled_before: bool) -> str | None:
    tally = session.recorder.tally
    if tally.graphs:
        return None
    if tally.failure is None and compiled_before and not tally.facts[Frame]:
        return "everything in it was compiled before; capture(recompile=True) compiles it again"
    return exit_summary.why_nothing(tally, saw_torch="torch" in sys.modules)


def _forget() -> None:
    """Make Dynamo compile again what it has compiled, if it has been loaded at all."""
    dynamo: Any = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()


def _graphs_so_far() -> int:
    counters: Any = getattr(sys.modules.get(COUNTERS.module), COUNTERS.attribute, {})
    return int(counters["stats"]["unique_graphs"]) if "stats" in counters else 0
