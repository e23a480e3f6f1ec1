"""Compiles after it has replaced something of Python's or the system's, as its argument names."""

import builtins
import datetime
import decimal
import hashlib
import json
import locale
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import torch

HOUR = 3600.0


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


X = torch.ones(4)


def counted(owner: Any, name: str) -> list[str]:
    """Count the calls of a function from now on."""
    calls: list[str] = []
    real = getattr(owner, name)

    def counting(*arguments: Any, **named: Any) -> Any:
        calls.append(name)
        return real(*arguments, **named)

    setattr(owner, name, counting)
    return calls


def time_goes_back() -> None:
    real, calls = time.time, [0]

    def back() -> float:
        calls[0] += 1
        return real() - HOUR * calls[0]

    time.time = back
    print(f(X), calls[0] > 0)


def time_stands_still() -> None:
    for name in ("time", "monotonic", "perf_counter"):
        setattr(time, name, lambda: 5.0)
    for name in ("time_ns", "monotonic_ns", "perf_counter_ns", "process_time_ns", "thread_time_ns"):
        setattr(time, name, lambda: 5)
    print(f(X))


def time_jumps() -> None:
    real, calls = time.monotonic, [0]

    def jumps() -> float:
        calls[0] += 1
        return real() + (1e9 if calls[0] % 2 else 0)

    time.monotonic = jumps
    print(f(X))


def no_clocks() -> None:
    print(f(X))

    def fail(*arguments: Any) -> Any:
        raise RuntimeError("no clock")

    for name in ("monotonic", "process_time", "thread_time", "process_time_ns", "thread_time_ns", "monotonic_ns"):
        setattr(time, name, fail)
    try:
        print(torch.compile(lambda x: x.cos())(X))
    except Exception as error:
        print(type(error).__name__)


def another_year() -> None:
    class Fake(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> "Fake":
            return cls(2000, 1, 1, tzinfo=tz)

    datetime.datetime = Fake  # type: ignore[misc]
    time.time = lambda: 946684800.0
    time.time_ns = lambda: 946684800_000000000
    print(f(X))


def no_sleep() -> None:
    time.strftime = lambda *arguments: "then"
    time.localtime = lambda *arguments: time.gmtime(0)
    time.sleep = lambda seconds: None
    print(f(X))


def sorted_() -> None:
    real = builtins.sorted
    calls = counted(builtins, "sorted")
    result = f(X)
    builtins.sorted = real
    print(result, len(calls) > 0)


def json_() -> None:
    calls = counted(json, "loads")
    print(f(X), calls)


def hashes() -> None:
    calls = [counted(hashlib, name) for name in ("sha512", "blake2s")]
    print(f(X), calls)


def threads() -> None:
    made: list[str] = []
    real = threading.Thread.start

    def start(self: threading.Thread) -> None:
        made.append(type(self).__name__)
        real(self)

    threading.Thread.start = start  # type: ignore[method-assign]
    print(f(X), made, threading.active_count())


def numbers() -> None:
    decimal.getcontext().prec = 3
    random.seed(3)
    state = random.getstate()
    torch.manual_seed(3)
    print(f(X), random.getstate() == state, decimal.getcontext().prec)
    print(torch.compile(lambda x: torch.nn.functional.dropout(x, 0.5))(torch.ones(8)), torch.rand(2), random.random())


def language() -> None:
    try:
        locale.setlocale(locale.LC_ALL, "C")
    except locale.Error:
        print("none")
    print(f(X), locale.getlocale()[0])


def environment() -> None:
    os.environ.clear()
    try:
        print(f(X))
    except Exception as error:
        print(type(error).__name__)
    print(sorted(os.environ))


def path() -> None:
    print(f(X))
    sys.path.clear()
    sys.path_hooks.clear()
    print(torch.compile(torch.cos)(X))


def modules() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("json", "logging", "inspect", "weakref")]:
        del sys.modules[name]
    print(f(X))


def streams() -> None:
    sys.stderr = None
    print(f(X))


def argv() -> None:
    sys.argv.clear()
    print(f(X))


def umask() -> None:
    os.umask(0o777)
    try:
        print(f(X))
    except Exception as error:
        print(type(error).__name__)
    print(oct(os.umask(0)))


def directory() -> None:
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")
    print(f(X))


def digits() -> None:
    sys.set_int_max_str_digits(700)
    sys.setswitchinterval(1e-5)
    print(f(X), sys.get_int_max_str_digits(), sys.getswitchinterval())


def import_() -> None:
    real, names = builtins.__import__, set()

    def imports(name: str, *arguments: Any, **named: Any) -> Any:
        names.add(name.partition(".")[0])
        return real(name, *arguments, **named)

    builtins.__import__ = imports
    print(f(X))
    builtins.__import__ = real
    print(len(names) > 1)


WAYS: dict[str, Callable[[], None]] = {
    way.__name__: way
    for way in (
        *(time_goes_back, time_stands_still, time_jumps, no_clocks, another_year, no_sleep, sorted_, json_, hashes),
        *(threads, numbers, language, environment, path, modules, streams, argv, umask, directory, digits, import_),
    )
}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
