"""Replaces this process by the program, so that nothing of us remains in between; or runs it to its end."""

import functools
import os
import resource
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from inspect_compile.errors import CommandError

_UTF_8 = ("C.UTF-8", "C.utf8", "UTF-8")


def find(command: str) -> str:
    """The path of the program that a shell would start for `command`."""
    found = shutil.which(command)
    if found is None:
        known = "is not an executable file" if Path(command).exists() else "no such command"
        raise CommandError(f"{command}: {known}; nothing was started")
    return found


def replace(path: str, argv: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Become `path`. Returns only with a CommandError, if the system refuses."""
    _flush()
    restore_signals()
    try:
        os.execve(path, list(argv), dict(environment))
    except OSError as error:
        raise CommandError(f"{path}: can't be started ({error.strerror or error})") from None


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # it may be closed
            stream.flush()


def restore_signals() -> None:
    """Restore two signals that Python ignores, which a started program would inherit."""
    for name in ("SIGPIPE", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def hold_interrupts() -> set[int | signal.Signals]:
    """Make Ctrl-C wait; returns the mask that `release_interrupts` takes.

    One in the middle of `subprocess.Popen(...)` would leave a process running that nobody knows.
    """
    return signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def release_interrupts(mask: set[int | signal.Signals]) -> None:
    """Let Ctrl-C through again; raises KeyboardInterrupt if one has waited."""
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def as_it_was_started(mask: set[int | signal.Signals]) -> None:
    """In a process that is about to become a program: signals as they are where nobody holds or ignores them."""
    restore_signals()
    release_interrupts(mask)


def die_of(number: int) -> None:
    """End this process by the signal that ended the program: whoever waits for us sees the same. Without a second core
    dump.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    _flush()
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def plain_environment() -> dict[str, str]:
    """The environment that this command was started with.

    In a C locale Python sets LC_CTYPE for its children (PEP 538). A second Python would take that for the user's
    choice, and turn off UTF-8 mode, which a plain run has on.
    """
    environment = dict(os.environ)
    coerced = sys.flags.utf8_mode and environment.get("PYTHONUTF8") != "1" and environment.get("LC_CTYPE") in _UTF_8
    if coerced:
        try:
            block = Path("/proc/self/environ").read_bytes()
        except OSError:
            block = b""
        before = [entry for entry in block.split(b"\0") if entry.startswith(b"LC_CTYPE=")]
        del environment["LC_CTYPE"]
        if before:
            environment["LC_CTYPE"] = os.fsdecode(before[0].partition(b"=")[2])
    return environment


def ended(path: str, argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program on our own terminal to its end; returns its exit status, or the negative number of a signal."""
    import subprocess  # `run`, which replaces us, need not wait for it

    mask = hold_interrupts()
    try:
        program = subprocess.Popen(
            argv, executable=path, env=environment, preexec_fn=functools.partial(as_it_was_started, mask)
        )
    except BaseException:
        release_interrupts(mask)
        raise
    while True:
        try:
            release_interrupts(mask)
            return program.wait()
        except KeyboardInterrupt:  # the program got it too, and may take its time to end
            continue
