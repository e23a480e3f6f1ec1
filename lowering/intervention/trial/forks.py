"""A program that has imported torch, and becomes one trial after another from there on, each in a fork of its own.

What comes before that, and what torch's compiler loads and computes once in each process, takes seconds of each trial;
here it is spent once. What the program has begun by then may be nothing that a fork has not.
"""

import contextlib
import importlib
import json
import os
import random
import signal
import socket
import sys
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec

from inspect_compile.facts.trials import Answer, Loaded
from inspect_compile.torch_compat import Name, compilers, inductor

_LONGEST: Final = 1 << 16
"""Bytes of a message: a path and a number."""
_COMPILER: Final = ("torch", "triton", "sympy", "mpmath")
_HARMLESS: Final = (os.devnull, "/dev/urandom")
"""Files that a fork may share with others."""


def loaded_since(before: Collection[str]) -> Loaded:
    """What this process has loaded, but for the modules `before`."""
    import torch

    return Loaded(
        modules=tuple(name for name in list(sys.modules) if name not in before and name.partition(".")[0] in _COMPILER),
        has_cuda=torch.cuda.is_available(),
        knows_isa=_has_loaded(compilers.VEC_ISAS) and compilers.VEC_ISAS.load().cache_info().currsize > 0,
    )


def _has_loaded(name: Name) -> bool:
    return name.module in sys.modules


def serve(asked: Mapping[str, str]) -> tuple[str, int]:
    """Answer the search until it closes its end. Returns in a fork: the file that says what trial it is, and the
    descriptor of the socket of its turns.

    `asked["ahead"]` is the answer of a first run whose modules are loaded, or empty; `asked["open"]` are descriptors
    that were there at the start.
    """
    connection = socket.socket(fileno=int(asked["serves"]))
    on_interrupt = signal.getsignal(signal.SIGINT)
    try:
        connection.set_inheritable(False)
        if asked["ahead"]:
            ahead = msgspec.json.decode(Path(asked["ahead"]).read_bytes(), type=Answer)
            if ahead.loaded is not None:
                _load(ahead.loaded)
        _say(connection, {"why_not": _why_not(_opened(besides=asked["open"].split()))})
        if on_interrupt is not None:  # a Ctrl-C ends the search, which lets its forks end and then this process
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        while True:
            text, descriptors, _, _ = socket.recv_fds(connection, _LONGEST, 2)
            said: dict[str, Any] = json.loads(text) if text else _end()
            if "poll" in said:
                ended, status = os.waitpid(said["poll"], os.WNOHANG)
                _say(connection, {"status": os.waitstatus_to_exitcode(status) if ended else None})
                continue
            numbers = random.getstate()  # a fork seeds it anew
            child = os.fork()
            if not child:
                break
            for one in descriptors:
                os.close(one)
            _say(connection, {"pid": child})
    except BaseException:  # what would go on is a program that nobody watches
        _end()
    if on_interrupt is not None:
        signal.signal(signal.SIGINT, on_interrupt)
    random.setstate(numbers)
    connection.close()
    turns, log = descriptors
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)
    return said["request"], turns


def _end() -> NoReturn:
    os._exit(0)


def _say(connection: socket.socket, what: Mapping[str, object]) -> None:
    connection.send(json.dumps(what).encode())


def _load(ahead: Loaded) -> None:
    """Load the same, without what no fork could use: asking CUDA's driver begins threads and opens devices."""
    import torch

    is_available = torch.cuda.is_available
    torch.cuda.is_available = lambda: ahead.has_cuda
    try:
        for name in ahead.modules:
            with contextlib.suppress(Exception):  # a module that something else has put there
                importlib.import_module(name)
    finally:
        torch.cuda.is_available = is_available
    with contextlib.suppress(Exception):  # then each fork finds it out
        if _has_loaded(inductor.TORCH_KEY):
            inductor.TORCH_KEY.load()()
        if ahead.knows_isa:
            compilers.VEC_ISAS.load()()


def _opened(besides: Collection[str]) -> Iterator[str]:
    """What this process holds open, but for the descriptors `besides`."""
    for number in os.listdir("/proc/self/fd"):
        if number not in besides:
            with contextlib.suppress(OSError):  # that of the folder itself
                yield os.readlink(f"/proc/self/fd/{number}")


def _why_not(opened: Iterable[str]) -> str:
    """Why this process cannot be forked; empty if it can."""
    if threading.active_count() > 1 or threading.current_thread() is not threading.main_thread():
        return "it starts a thread before it imports torch"
    shared = sorted(target for target in opened if target not in _HARMLESS)
    return f"it holds {shared[0]} open when torch is imported" if shared else ""
