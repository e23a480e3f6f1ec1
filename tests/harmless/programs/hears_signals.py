"""Compiles while signals come, are blocked or are ignored, or garbage is collected, as its argument names."""

import faulthandler
import gc
import os
import signal
import socket
import sys
import weakref
from collections.abc import Callable
from types import FrameType

import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


X = torch.ones(4)


def blocked() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    print(f(X), sorted(signal.sigpending()), len(signal.pthread_sigmask(signal.SIG_BLOCK, [])))


def wakes_up() -> None:
    first, second = socket.socketpair()
    second.setblocking(False)
    signal.set_wakeup_fd(second.fileno())
    signal.signal(signal.SIGUSR2, lambda number, frame: None)
    print(f(X))
    os.kill(os.getpid(), signal.SIGUSR2)
    print(first.recv(10))
    signal.set_wakeup_fd(-1)


def profiled() -> None:
    heard = []
    signal.signal(signal.SIGPROF, lambda number, frame: heard.append(frame is not None))
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    result = f(X)
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(result, set(heard))


def itself() -> None:
    heard: list[str] = []

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(frame.f_code.co_name if frame else "")

    signal.signal(signal.SIGUSR1, hear)
    os.kill(os.getpid(), signal.SIGUSR1)
    print(f(X))
    os.kill(os.getpid(), signal.SIGUSR1)
    print(heard, signal.getsignal(signal.SIGPIPE), signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))


def children() -> None:
    heard = []
    signal.signal(signal.SIGCHLD, lambda number, frame: heard.append(number))
    print(f(X))
    pid = os.fork()
    if not pid:
        os._exit(3)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), len(heard) > 0)


def no_children() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        print(f(X))
    except Exception as error:
        print(type(error).__name__)


def pipe() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    print(f(X), flush=True)
    reader, writer = os.pipe()
    os.close(reader)
    os.write(writer, b"x")


def computes_long() -> None:
    import resource

    signal.signal(signal.SIGXCPU, lambda number, frame: print("too long"))
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + 600
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 10))
    print(f(X), resource.getrlimit(resource.RLIMIT_CPU) == (limit, limit + 10))


def faults() -> None:
    faulthandler.enable()
    print(f(X), faulthandler.is_enabled(), flush=True)
    os.kill(os.getpid(), signal.SIGABRT)


def collected() -> None:
    phases: list[str] = []
    gc.callbacks.append(lambda phase, info: phases.append(phase))
    print(f(X))
    gc.collect()
    print(len(phases) % 2, len(gc.callbacks), gc.get_threshold(), gc.isenabled())


def callback_raises() -> None:
    def fail(phase: str, info: dict[str, int]) -> None:
        raise ValueError("no")

    sys.unraisablehook = lambda told: None
    gc.callbacks.append(fail)
    print(f(X))
    gc.callbacks.remove(fail)


def frozen() -> None:
    gc.freeze()
    print(f(X))
    gc.unfreeze()
    gc.collect()
    print(gc.garbage)


def often() -> None:
    gc.set_threshold(5, 1, 1)
    print(torch.compile(lambda x: x + 1, backend="aot_eager")(X), gc.get_threshold())


def never() -> None:
    gc.disable()
    print(f(X), gc.isenabled(), gc.get_debug())


def references() -> None:
    inputs = torch.full((4,), 2.0)
    known = weakref.ref(inputs)
    result = f(inputs)
    made = weakref.ref(result)
    del inputs, result
    print(known() is None, made() is None)


def counts() -> None:
    before = sys.getrefcount(X), sys.getrefcount(f), sys.getrefcount(torch.compile)
    f(X)
    f(X)
    print(sys.getrefcount(X) - before[0], sys.getrefcount(f) - before[1], sys.getrefcount(torch.compile) - before[2])


def descriptors() -> None:
    before = len(os.listdir("/proc/self/fd"))
    f(X)
    print(os.dup(0) < 64, len(os.listdir("/proc/self/fd")) >= before)


def profile_of_calls() -> None:
    heard: set[str] = set()
    sys.setprofile(lambda frame, event, arg: heard.add(event))
    result = torch.compile(lambda x: x + 1, backend="eager")(X)
    sys.setprofile(None)
    print(result, sorted(heard))


def monitoring() -> None:
    tool = getattr(sys, "monitoring", None)
    if tool is not None:
        tool.use_tool_id(4, "test")
        tool.register_callback(4, tool.events.PY_START, lambda code, offset: None)
        tool.set_events(4, tool.events.PY_START)
    print(f(X))
    if tool is not None:
        tool.set_events(4, 0)
        tool.free_tool_id(4)


def audits() -> None:
    heard: set[str] = set()
    sys.addaudithook(lambda name, arguments: heard.add(name))
    print(f(X), "compile" in heard or "exec" in heard)


WAYS: dict[str, Callable[[], None]] = {
    way.__name__: way
    for way in (
        *(blocked, wakes_up, profiled, itself, children, no_children, pipe, computes_long, faults, collected),
        *(callback_raises, frozen, often, never, references, counts, descriptors, profile_of_calls, monitoring, audits),
    )
}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
