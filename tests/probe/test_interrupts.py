"""The program's own exceptions go on wherever they strike in our code; what our code caused stays in it."""

import contextlib
import ctypes
import functools
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Launched
from inspect_compile.interrupts import let_pass
from inspect_compile.probe import Notes, Probes, ThreadCallBuffer
from inspect_compile.torch_compat import Name

TARGET = Name("struck_module", "Thing.work", "a test", "none")
KINDS = (
    TimeoutError,
    ValueError,
    AttributeError,
    KeyError,
    RuntimeError,
    AssertionError,
    type("Own", (Exception,), {}),
)


class _Thing:
    def work(self, value: int) -> int:
        if value < 0:
            raise ValueError("the program's own")
        return value + 1


@pytest.fixture
def thing(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = types.ModuleType("struck_module")
    own = type("Thing", (), {"work": _Thing.work})
    module.Thing = own  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "struck_module", module)
    return own


def _struck(kind: type[Exception]) -> NoReturn:
    raise kind("the program's own")


class _Called:
    def __init__(self, kind: type[Exception]) -> None:
        self.kind = kind

    def __call__(self, number: int, frame: Any) -> None:
        raise self.kind("the program's own")

    def bound(self, number: int, frame: Any) -> None:
        raise self.kind("the program's own")


def _with_kind(kind: type[Exception], number: int, frame: Any) -> None:
    raise kind("the program's own")


def _function(kind: type[Exception]) -> Any:
    def handler(number: int, frame: Any) -> None:
        raise kind("the program's own")

    return handler


def _removes_itself(kind: type[Exception]) -> Any:
    def handler(number: int, frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise kind("the program's own")

    return handler


def _forgets_its_frame(kind: type[Exception]) -> Any:
    def handler(number: int, frame: Any) -> None:
        del frame
        raise kind("the program's own")

    return functools.partial(handler)


def _decorated(kind: type[Exception]) -> Any:
    @functools.wraps(_with_kind)
    def handler(*args: Any) -> None:
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)
        _with_kind(kind, *args)

    return handler


SHAPES: dict[str, Callable[[type[Exception]], Any]] = {
    "function": _function,
    "lambda": lambda kind: lambda number, frame: _struck(kind),
    "partial": lambda kind: functools.partial(_with_kind, kind),
    "callable object": _Called,
    "bound method": lambda kind: _Called(kind).bound,
    "removes itself": _removes_itself,
    "through a helper": lambda kind: lambda *_: [_struck(kind) for _ in range(1)],
    "forgets its frame": _forgets_its_frame,
    "decorated": _decorated,
}


@contextlib.contextmanager
def handled(handler: Any) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def send(kind: type[BaseException]) -> None:
    """As another thread does it."""
    ident = ctypes.c_ulong(threading.get_ident())
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(kind))


def _by_signal() -> None:
    signal.raise_signal(signal.SIGUSR1)


def _in_a_loop() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    while True:
        pass


def _in_a_call() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    time.sleep(30)


def _where_it_is_turned_into_another() -> None:
    try:
        _by_signal()
    except Exception as error:
        raise RuntimeError("ours") from error


def _where_all_is_passed_over() -> None:
    with contextlib.suppress(ZeroDivisionError):
        try:
            _by_signal()
        except Exception as error:
            let_pass(error)


PLACES = {
    "a call": _by_signal,
    "a loop": _in_a_loop,
    "a wait": _in_a_call,
    "turned into another": _where_it_is_turned_into_another,
    "passed over": _where_all_is_passed_over,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_handler_of_any_shape_raises_in_a_hook_is_the_programs(
    thing: Any, tmp_path: Path, shape: str, place: str
) -> None:
    kind = KINDS[(list(SHAPES).index(shape) + 2 * list(PLACES).index(place)) % len(KINDS)]
    probes = Probes(Writer(tmp_path))
    probes.wrap("p", TARGET, before=lambda *args: PLACES[place]())
    handler = SHAPES[shape](kind)
    with handled(handler):
        before = signal.signal(signal.SIGALRM, handler)
        try:
            with pytest.raises(kind, match="the program's own") as caught:
                thing().work(1)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    assert probes.hooks[0].state == "installed"
    files = [frame.filename for frame in traceback.extract_tb(caught.tb)]
    assert not [file for file in files if "inspector/probe" in file]


WAYS = ("before", "after", "failed", "follow", "follow, not timed", "count", "note", "answer", "sift")


def _hooked(probes: Probes, way: str, strike: Callable[[], None], desk: ThreadCallBuffer) -> None:
    def hook(*args: Any) -> Any:
        strike()

    if way.startswith("follow"):
        probes.follow("p", TARGET, hook)
    elif way == "count":
        probes.count("p", TARGET, hook)
    elif way == "note":
        probes.note("p", TARGET, desk, "work")
        desk.notes = Notes(hook)
        desk.notes.extend([("work", None, ())] * 1000)
    elif way == "answer":
        probes.answer("p", TARGET, int, hook)
    elif way == "sift":
        probes.sift("p", TARGET, hook)
    else:
        probes.wrap("p", TARGET, **{way: hook})  # type: ignore[arg-type]


@pytest.mark.parametrize("sent", [False, True], ids=["signal", "thread"])
@pytest.mark.parametrize("way", WAYS)
def test_it_goes_on_from_a_hook_of_any_kind(thing: Any, tmp_path: Path, way: str, sent: bool) -> None:
    armed: list[int] = []

    def strike() -> None:
        if armed and sent:
            send(LookupError)
            for _ in range(1000):
                pass
        elif armed:
            signal.raise_signal(signal.SIGUSR1)

    probes = Probes(Writer(tmp_path))
    _hooked(probes, way, strike, ThreadCallBuffer())
    if way == "follow, not timed":
        for _ in range(5):
            thing().work(1)
    armed.append(1)
    with handled(_removes_itself(LookupError)), pytest.raises(LookupError) as caught:
        thing().work(-1 if way == "failed" else 1)
    armed.clear()
    assert type(caught.value) is LookupError
    assert probes.hooks[0].state == "installed"
    assert thing().work(1) == 2


@pytest.mark.parametrize("kind", [TimeoutError, ValueError, type("Own", (Exception,), {})])
@pytest.mark.parametrize(
    "code", ["while True: pass", "while True: len(())", "while True: f()", "[f() for _ in count()]"]
)
def test_what_another_thread_sends_goes_on_wherever_it_strikes(
    thing: Any, tmp_path: Path, code: str, kind: type[Exception]
) -> None:
    import itertools

    running = threading.Event()
    ident = threading.get_ident()

    def hook(*args: Any) -> None:
        running.set()
        exec(code, {"f": lambda: None, "count": itertools.count})

    def sends() -> None:
        running.wait(10)
        time.sleep(0.005)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(kind))

    probes = Probes(Writer(tmp_path))
    probes.wrap("p", TARGET, before=hook)
    sender = threading.Thread(target=sends)
    sender.start()
    with pytest.raises(kind):
        thing().work(1)
    sender.join()
    assert probes.hooks[0].state == "installed"


def _thrown() -> None:
    def generator() -> Generator[None, None, None]:
        yield

    running = generator()
    next(running)
    running.throw(ValueError())


def _given_the_callers_frame() -> None:
    """As who looks for the line that called a frame."""

    def looks(frame: Any) -> None:
        caller = frame
        raise ValueError(caller)

    looks(sys._getframe())


class _StubbornError(Exception):
    """Refuses to set attributes, as a frozen dataclass does."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(name)


class _Refuses:
    def __repr__(self) -> str:
        raise NotImplementedError


def _raised_again() -> None:
    try:
        raise KeyError
    except KeyError as error:
        raise error from None


OURS: dict[str, Callable[[], Any]] = {
    "raised without arguments": lambda: _struck(ValueError),
    "a key": lambda: dict[str, int]()["x"],
    "a type": lambda: len(5),  # type: ignore[arg-type]
    "an iterator": lambda: next(iter(())),
    "an attribute": lambda: object().x,  # type: ignore[attr-defined]
    "a number": lambda: int("x"),
    "a division": lambda: 1 // 0,
    "thrown into a generator": _thrown,
    "an object of the program's": lambda: repr(_Refuses()),
    "a file": lambda: Path("/nonexistent/file").read_text(),
    "raised again": _raised_again,
    "given its caller's frame": _given_the_callers_frame,
    "refuses attributes": lambda: _struck(_StubbornError),
    "too deep": lambda: (lambda f: f(f))(lambda f: f(f)),
}


@pytest.mark.parametrize("handling", [False, True])
@pytest.mark.parametrize("cause", OURS)
def test_what_our_code_causes_stays_in_it(thing: Any, tmp_path: Path, cause: str, handling: bool) -> None:
    probes = Probes(Writer(tmp_path))
    probes.wrap("p", TARGET, before=lambda *args: OURS[cause]())
    with handled(_function(TimeoutError)):
        if handling:
            try:
                signal.raise_signal(signal.SIGUSR1)
            except TimeoutError:
                assert thing().work(1) == 2
        else:
            assert thing().work(1) == 2
    assert probes.hooks[0].state == "failed"


@pytest.mark.parametrize("way", WAYS)
def test_an_exception_that_refuses_attributes_passes_as_it_is(thing: Any, tmp_path: Path, way: str) -> None:
    probes = Probes(Writer(tmp_path))

    def refuses(_: Any, value: int) -> NoReturn:
        raise _StubbornError(value)

    thing.work = refuses
    _hooked(probes, way, lambda: None, ThreadCallBuffer())
    with pytest.raises(_StubbornError) as caught:
        thing().work(1)
    assert [frame.name for frame in traceback.extract_tb(caught.tb)][1:] == ["refuses"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_what_was_recorded_before_it_strikes_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A strike in the middle of a write: all rows come with the next one, each once."""
    writer = Writer(tmp_path)
    monkeypatch.setattr("inspect_compile.dump.writer.FLUSH_SECONDS", 0.0)
    struck, total = 0, 0
    armed = False

    def handler(number: int, frame: Any) -> None:
        nonlocal armed
        if armed and frame.f_code.co_filename.endswith(("writer.py", "whole_writes.py")):
            armed = False
            raise TimeoutError("the program's own")

    with handled(signal.SIG_DFL):
        before = signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        try:
            for number in range(3000):
                writer._rows(Launched(graph="g", kernel="k", calls=0)).facts.append(
                    Launched(graph="g", kernel="k", calls=number)
                )
                total += 1
                try:
                    armed = True
                    writer.flush()
                    armed = False
                except TimeoutError:
                    struck += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    writer.flush()
    assert writer.trouble is None
    assert [row.calls for row in Dump(tmp_path).rows(Launched)] == list(range(total))
    assert struck > 5
