"""Compiles from within a module of Python's library, in the way that its argument names."""

import os
import sys
from collections.abc import Callable

import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


X = torch.ones(4)


def asyncio() -> None:
    import asyncio

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_debug(True)
        loop.slow_callback_duration = 1000
        print(await asyncio.to_thread(f, X))
        print(await asyncio.gather(asyncio.to_thread(f, X), asyncio.to_thread(f, X)))

    asyncio.run(main())


def contextvars() -> None:
    import contextvars

    variable = contextvars.ContextVar("variable", default=0)
    before = len(contextvars.copy_context())

    def inside() -> torch.Tensor:
        variable.set(5)
        return f(X)

    context = contextvars.copy_context()
    print(context.run(inside), context[variable], variable.get(), len(contextvars.copy_context()) - before)


def code() -> None:
    import code

    console = code.InteractiveConsole({"f": f, "x": X})
    for line in ("print(f(x))", "1 / 0", "f(x).shape"):
        console.push(line)


def doctest() -> None:
    import doctest

    text = ">>> f(x).shape\ntorch.Size([4])\n>>> f(x)[5]\nTraceback (most recent call last):\nIndexError: nope\n"
    test = doctest.DocTestParser().get_doctest(text, {"f": f, "x": X}, "test", None, None)
    print(doctest.DocTestRunner().run(test))


def unittest() -> None:
    import unittest

    class Test(unittest.TestCase):
        def test_no_logs(self) -> None:
            with self.assertNoLogs():
                f(X)

        def test_logs(self) -> None:
            with self.assertLogs("torch._dynamo", "DEBUG") as logged:
                torch.compile(lambda x: x + 3, backend="eager")(X)
            print(len({record.funcName for record in logged.records}), sorted({r.filename for r in logged.records}))

        def test_no_warnings(self) -> None:
            with self.assertWarns(UserWarning):
                torch.compile(lambda x: x + 1, backend="aot_eager")(X)

    with open(os.devnull, "w") as file:
        tests = unittest.defaultTestLoader.loadTestsFromTestCase(Test)
        found = unittest.TextTestRunner(stream=file).run(tests)
    print([text.splitlines()[-1] for _, text in found.failures], len(found.errors))


def cprofile() -> None:
    import cProfile
    import pstats

    profile = cProfile.Profile()
    print(profile.runcall(f, X))
    print(any("inspect_compile" in file for file, _, _ in pstats.Stats(profile).stats))  # type: ignore[attr-defined]


def runpy() -> None:
    import runpy
    from pathlib import Path

    Path("inner.py").write_text("import torch\nprint(torch.compile(torch.cos)(torch.ones(3)), __name__)\n")
    print(sorted(name for name in runpy.run_path("inner.py", run_name="__main__") if not name.startswith("__")))


def threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    def work(number: int) -> str:
        return str(torch.compile(lambda x: x + number, backend="aot_eager")(X))

    with ThreadPoolExecutor(4) as pool:
        print(sorted(pool.map(work, range(8))))


def processes() -> None:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        print(pool.submit(_in_process).result())


def _in_process() -> list[float]:
    found: list[float] = f(X).tolist()
    return found


def excepthooks() -> None:
    import threading
    import traceback

    sys.excepthook = lambda kind, error, told: print(
        kind.__name__, [x.f_code.co_name for x, _ in traceback.walk_tb(told)]
    )
    threading.excepthook = lambda told: print("in a thread", told.exc_type.__name__)

    def fail() -> None:
        f(X)
        raise ValueError("no")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    f(X)
    raise KeyError("x")


def atexit() -> None:
    import atexit

    def fail() -> None:
        print(f(X + 1))
        raise ValueError("at exit")

    atexit.register(fail)
    print(f(X))
    atexit.register(print, "first", flush=True)
    sys.exit("a message")


def atexit_at_once() -> None:
    import atexit

    atexit.register(print, "once")
    print(f(X))
    atexit._run_exitfuncs()
    print(f(X + 1))


def mock() -> None:
    from unittest import mock

    from torch._inductor import graph, scheduler

    fuse, run = scheduler.Scheduler.fuse_nodes, graph.GraphLowering.run_node
    with (
        mock.patch.object(scheduler.Scheduler, "fuse_nodes", autospec=True, side_effect=fuse) as fused,
        mock.patch.object(graph.GraphLowering, "run_node", autospec=True, side_effect=run) as ran,
    ):
        print(f(X), fused.call_count, ran.call_count)


def inspect() -> None:
    import inspect

    from torch._dynamo import convert_frame
    from torch._inductor import graph, scheduler

    print(f(X))
    for found in (
        graph.GraphLowering.run_node,
        scheduler.Scheduler.can_fuse,
        torch.compile,
        convert_frame.compile_frame,
    ):
        print(found.__qualname__, found.__module__, inspect.signature(found), (found.__doc__ or "")[:40])
        print(len(inspect.getsource(found)), inspect.getsourcelines(found)[1])


def copies() -> None:
    import copy
    import pickle

    model = torch.nn.Linear(2, 2)
    torch.nn.init.ones_(model.weight)
    torch.nn.init.zeros_(model.bias)
    compiled = torch.compile(model, backend="aot_eager")
    print(
        compiled(torch.ones(1, 2)).tolist(),
        copy.deepcopy(compiled)(torch.ones(1, 2)).tolist(),
        sorted(compiled.state_dict()),
    )
    try:
        print(len(pickle.dumps(compiled)) > 0)
    except Exception as error:
        print(type(error).__name__)
    model.compile(backend="aot_eager")
    print(model(torch.ones(1, 2)).tolist(), pickle.loads(pickle.dumps(model))(torch.ones(1, 2)).tolist())


def alone() -> None:
    import threading

    print(f(X), [thread.name for thread in threading.enumerate()], threading.active_count())


def sqlite() -> None:
    import sqlite3

    connection = sqlite3.connect(":memory:")
    connection.create_function("f", 1, lambda number: f(X * number).sum().item())
    print(connection.execute("select f(2)").fetchall())


def ctypes() -> None:
    import ctypes

    @ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    def called(number: float) -> float:
        return f(X * number).sum().item()

    print(called(2.0))


def sorting() -> None:
    print(sorted([3, 1, 2], key=lambda number: f(X * number).sum().item()))


def generators() -> None:
    def numbers():  # type: ignore[no-untyped-def]
        try:
            while True:
                yield f(X).sum().item()
        finally:
            print("closed", f(X + 1).sum().item())

    found = numbers()
    print(next(found), next(found))
    found.close()


def finalizers() -> None:
    class Last:
        def __del__(self) -> None:
            print("last", f(X).sum().item())

    last = Last()
    del last


def warnings() -> None:
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print(f(X))
        warnings.warn("mine", stacklevel=1)
    print([(str(one.message), one.lineno) for one in caught if one.filename == __file__])


def contexts() -> None:
    import contextlib
    import io

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        print(f(X))
    print(len(out.getvalue()), err.getvalue())


def logging() -> None:
    import logging

    with open(os.devnull, "w") as file:
        logging.basicConfig(level=logging.DEBUG, format="%(name)s %(filename)s:%(funcName)s", stream=file)
        print(f(X))
        logging.getLogger().handlers.clear()
    print([name for name in logging.root.manager.loggerDict if "inspect" in name])


def logging_off() -> None:
    import logging

    logging.disable(logging.CRITICAL)
    logging.raiseExceptions = False
    print(f(X))


WAYS: dict[str, Callable[[], None]] = {
    way.__name__: way
    for way in (
        *(asyncio, contextvars, code, doctest, unittest, cprofile, runpy, threads, processes, excepthooks, atexit),
        *(atexit_at_once, mock, inspect, copies, alone, sqlite, ctypes, sorting, generators, finalizers),
        *(warnings, contexts, logging, logging_off),
    )
}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
