"""The first thing that happens in a watched process, before the program. Light: imports nothing slow."""

import _signal  # type: ignore[import-not-found] # `signal` itself takes longer to load
import atexit
import os
import sys
import time

from inspect_compile.child import last_resort
from inspect_compile.child.imports import OURS, FoundAsAtStart, ImportWatch
from inspect_compile.child.process import Process
from inspect_compile.child.setting import PYTHON_PATH, VARIABLE, Setting
from inspect_compile.child.unseen import uncovered
from inspect_compile.child.unseen.started import hide_ours
from inspect_compile.outermost import guarded, silent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect_compile.child.session import Session
    from inspect_compile.facts import Fact


class Start(Process):
    """What we do in a process at its start, when it imports torch, and at its end."""

    def modules(self) -> tuple[str, ...]:
        """The modules of torch to wait for; called when torch is being imported."""
        self.saw_torch = True
        try:
            with FoundAsAtStart(self.path, self.finders, OURS):
                from inspect_compile.child.probes import watched

            return watched(has_targets=self.setting.has_targets, is_checked=self.setting.numerics is not None)
        except Exception as error:
            _let_pass(error)
            return ()

    def imported(self, module: str) -> None:
        """One of these modules was imported."""
        try:
            with FoundAsAtStart(self.path, self.finders, OURS):
                self.needed().install(module)
        except Exception as error:
            _let_pass(error)
            # Without a session there is nowhere to report it; the program goes on unwatched.
            return

    def has_torch(self) -> None:
        """torch was imported. How long that took is written: a program may be killed before anything else is."""
        if self.session is not None and self.session.recorder.has_begun:
            self.session.recorder.flush()
        self.life.tell()

    def needed(self) -> "Session":
        """Return the session of this process, created at the first call."""
        if self.session is None:
            # The end is loaded now: there the program may have left no descriptor for its import.
            from inspect_compile.child import ending, place  # noqa: F401

            self.session = place.session(self)
        return self.session

    def _leaves_nothing(self) -> bool:
        """Has nothing been recorded in a run that was not started by a command, which most processes would be?"""
        return self.setting.is_left_on and not os.path.isdir(self.setting.root)

    def at_exit(self) -> None:
        """The program has ended, by returning, raising or sys.exit."""
        self.stretches.touch()
        self._end()
        self.life.tell(is_last=True)

    def _end(self) -> None:
        if self.session is None and (os.getpid() != self.setting.pid or self._leaves_nothing()):
            return
        with last_resort.Room():
            try:
                with FoundAsAtStart(self.path, self.finders):
                    from inspect_compile.child import ending

                    ending.end(self)
            except BaseException as error:
                # Nothing of ours may be printed here, not even for a Ctrl-C at the same moment: the program has ended.
                note = f"{last_resort.MISSING}: {type(error).__name__}: {error}"
                last_resort.record(self, note)
                last_resort.say(self, note)
            else:
                trouble = None if self.session is None else self.session.recorder.trouble
                if trouble is not None:
                    last_resort.record(self, trouble)
        if isinstance(getattr(sys, "last_value", None), KeyboardInterrupt):
            _remember_interrupt()


current: Start | None = None
"""The state of this process, if it is part of a run."""


def record(fact: "Fact") -> None:
    """Record a fact of this process, if it is part of a run."""
    if current is not None:
        current.needed().recorder.add(fact)


def begin(text: str) -> None:
    """Watch this process as `text`, the value of our environment variable, says."""
    setting = Setting.decode(text)
    if setting.trial is not None:
        _try_out(setting, setting.trial)
    if setting.trial is None or setting.trial["is_recorded"]:
        watch(setting)


def _try_out(setting: Setting, asked: "dict[str, str]") -> None:
    """Be a trial of `tune`, in this process alone: its children are none, and do not see that it is."""
    from inspect_compile.child.probes import TRIAL

    if not asked["is_recorded"]:
        setting.close_door(os.environ)
        if setting.python_path is None:
            os.environ.pop(PYTHON_PATH, None)
        else:
            os.environ[PYTHON_PATH] = setting.python_path

    if "serves" in asked:
        listed = os.listdir("/proc/self/fd")  # with that of the folder, which is closed then
        asked["open"] = " ".join(one for one in listed if os.path.lexists(f"/proc/self/fd/{one}"))

    def opened() -> tuple[str]:
        asked["importing"] = repr(time.monotonic())
        return (TRIAL.watches,)

    def imported(module: str) -> None:
        from importlib import import_module

        where, _, function = TRIAL.installer.partition(":")
        getattr(import_module(where), function)(asked)

    ImportWatch(TRIAL.watches, opened, imported).install()


def watch(setting: Setting, session: "Session | None" = None) -> None:
    """Watch this process until its end. With a `session` its probes are installed already."""
    global current
    if current is not None or not _is_main_interpreter():
        return
    start = current = Start(setting)
    if setting.leader is None:
        setting.leader = start.pid
    if setting.run.get("live"):
        guarded(_keep_stderr, start)
    _announce(setting)
    guarded(start.life.sees_parent)
    guarded(hide_ours, start)
    guarded(uncovered.install)
    atexit.register(silent, start.at_exit)
    start.session = session
    if session is None:
        ImportWatch(
            "torch", start.modules, start.imported, start.imports.append, start.has_torch, start.stretches.touch
        ).install()


def _keep_stderr(start: Start) -> None:
    """Lines are printed where stderr is now: the program may put something else in its place, as pytest does."""
    from inspect_compile.child.stderr import Stderr

    if start.setting.heard is None:
        start.setting.heard = list(start.stderr or ())
    start.lines = Stderr(start.setting.heard)


def _is_main_interpreter() -> bool:
    """False in an interpreter within the process: its end is not that of the program, and torch cannot be loaded."""
    try:
        _signal.signal(_signal.SIGTERM, None)
    except TypeError:  # None is no handler; elsewhere signals are refused before it is looked at
        return True
    except ValueError:
        return False
    return True


def _remember_interrupt() -> None:
    """Let the interpreter end by SIGINT, as it does after an uncaught KeyboardInterrupt.

    It remembers the outcome of the last code that it ran from a text, and an import (a NamedTuple, a dataclass) has run
    some since. Without this the exit status would be 1.
    """
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        return


def _let_pass(error: Exception) -> None:
    """Raise an exception that is the program's own: it may occur while probes are installed."""
    from inspect_compile.interrupts import let_pass

    let_pass(error)


def _announce(setting: Setting) -> None:
    """Set the variable for child processes, and hide it from the program where it must see a plain environment.

    `del os.environ[...]` would call unsetenv, and a child started without `env=` (subprocess, multiprocessing's spawn),
    which takes the C library's environment, would not be watched. So only the mapping is changed: the program sees the
    environment of a plain run, and its children get the bootstrap. What the user has set is not hidden.
    """
    if not setting.plain or setting.is_left_on:
        os.environ[VARIABLE] = setting.encode()
        return
    os.putenv(VARIABLE, setting.encode())
    mapping = os.environ._data  # type: ignore[attr-defined]
    mapping.pop(os.environ.encodekey(VARIABLE), None)
    if setting.python_path is None:
        mapping.pop(os.environ.encodekey(PYTHON_PATH), None)
    else:
        mapping[os.environ.encodekey(PYTHON_PATH)] = os.environ.encodevalue(setting.python_path)
