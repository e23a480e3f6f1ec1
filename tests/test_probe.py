"""A hook observes, and whatever goes wrong in it the program does not notice."""

import gc
import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Fact, Hook, Launched
from inspect_compile.probe import NOTHING, HookState, Notes, Probes, ThreadCallBuffer
from inspect_compile.probe.harmless import on_fresh_stack
from inspect_compile.torch_compat import Name

TARGET = Name("watched_module", "Thing.work", "a test", "none")


class _Thing:
    def work(self, value: int) -> int:
        if value < 0:
            raise ValueError("the program's own")
        return value + 1

    def play(self) -> None:
        pass


@pytest.fixture
def thing(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = types.ModuleType("watched_module")
    own = type("Thing", (_Thing,), {"work": _Thing.work, "play": _Thing.play})
    module.Thing = own  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "watched_module", module)
    return own


def _hooks(root: Path) -> list[Hook]:
    return Dump(root).rows(Hook)


def test_before_and_after_see_the_call(thing: Any, tmp_path: Path) -> None:
    seen: list[Any] = []
    probes = Probes(Writer(tmp_path))
    probes.wrap(
        "p",
        TARGET,
        before=lambda instance, args, kwargs: args,
        after=lambda state, instance, args, kwargs, result: seen.append((state, result)),
    )

    assert thing().work(1) == 2
    assert seen == [((1,), 2)]
    assert probes.hooks[0].calls == 1


@pytest.mark.parametrize("part", ["before", "after"])
def test_a_failing_hook_stands_aside_and_says_so(thing: Any, tmp_path: Path, part: str) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("ours")

    writer = Writer(tmp_path)
    probes = Probes(writer)
    probes.wrap("p", TARGET, **{part: fail})  # type: ignore[arg-type]

    assert [thing().work(1), thing().work(2)] == [2, 3]
    writer.flush()
    (hook,) = _hooks(tmp_path)
    assert (hook.state, hook.target) == ("failed", str(TARGET))
    assert "RuntimeError: ours" in hook.reason
    assert probes.hooks[0].calls == 1


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_is_the_programs_passes(thing: Any, tmp_path: Path, kind: type[BaseException]) -> None:
    def interrupted(*args: Any) -> None:
        raise kind

    probes = Probes(Writer(tmp_path))
    probes.wrap("p", TARGET, before=interrupted)

    with pytest.raises(kind):
        thing().work(1)


def test_the_programs_exception_is_seen_and_goes_on(thing: Any, tmp_path: Path) -> None:
    seen: list[str] = []
    probes = Probes(Writer(tmp_path))
    probes.wrap("p", TARGET, failed=lambda state, instance, args, kwargs, error: seen.append(str(error)))

    with pytest.raises(ValueError, match="the program's own"):
        thing().work(-1)
    assert seen == ["the program's own"]


def test_a_name_that_is_gone_costs_one_hook(thing: Any, tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    probes = Probes(writer)
    probes.wrap("p", Name("watched_module", "Thing.gone", "a test", "none"), before=lambda *args: None)
    probes.wrap("p", TARGET, before=lambda *args: None)
    writer.flush()

    assert thing().work(1) == 2
    assert [(hook.target, hook.state) for hook in _hooks(tmp_path)] == [("watched_module.Thing.gone", "missing")]
    assert probes.hooks[1].calls == 1


def test_a_full_garbage_collection_is_the_programs(thing: Any, tmp_path: Path) -> None:
    heap = [[number] for number in range(2_000_000)]
    collects = False
    took: list[float] = []

    def before(*args: Any) -> None:
        if collects:
            start = time.perf_counter()
            gc.collect()
            took.append(time.perf_counter() - start)

    probes = Probes(Writer(tmp_path))
    probes.wrap("p", TARGET, before=before)
    thing().work(1)
    collects = True
    for _ in range(3):
        gc.collect(1)  # what comes before a full one that Python itself begins
        thing().work(1)

    assert len(heap) == 2_000_000
    assert probes.hooks[0].calls == 4
    assert 0 < probes.hooks[0].seconds < min(took) / 4


def test_a_slow_hook_stands_aside(thing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspect_compile.probe.harmless.SLOW_SECONDS", 0.0)
    writer = Writer(tmp_path)
    probes = Probes(writer)
    probes.wrap("p", TARGET, before=lambda *args: sum(range(200_000)))
    for _ in range(20):
        thing().work(1)
    writer.flush()

    assert probes.hooks[0].calls < 20
    assert "it cost" in _hooks(tmp_path)[0].reason


SPIN = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
print("on", flush=True)
while True:
    pass
"""


@pytest.mark.skipif(
    not Path("/proc/thread-self/schedstat").exists(), reason="the system does not say what a thread waits"
)
def test_waiting_for_a_processor_is_not_a_hooks_own_cost(
    thing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspect_compile.probe.harmless.SLOW_SECONDS", 0.6)
    processor = min(os.sched_getaffinity(0))
    probes = Probes(Writer(tmp_path))

    def spin(*args: Any) -> None:
        start = time.thread_time()
        while time.thread_time() - start < 0.04:
            pass

    def call() -> None:
        os.sched_setaffinity(0, {processor})
        for _ in range(10):
            thing().work(1)

    probes.wrap("p", TARGET, before=spin)
    busy = [subprocess.Popen([sys.executable, "-c", SPIN, str(processor)], stdout=subprocess.PIPE) for _ in range(4)]
    try:
        assert [one.stdout is not None and one.stdout.readline() for one in busy] == [b"on\n"] * 4
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
    finally:
        for one in busy:
            one.kill()
            one.communicate()

    assert probes.hooks[0].seconds > 0.6
    assert not probes.hooks[0].off
    assert probes.hooks[0].calls == 10


def test_an_answer_stands_for_the_function(thing: Any, tmp_path: Path) -> None:
    probes = Probes(Writer(tmp_path))
    probes.answer("p", TARGET, int, lambda instance, args, kwargs: 40 if args[0] == 1 else NotImplemented)

    assert [thing().work(1), thing().work(2)] == [40, 3]


def test_an_answer_of_another_type_stands_for_nothing(thing: Any, tmp_path: Path) -> None:
    probes = Probes(Writer(tmp_path))
    probes.answer("p", TARGET, int, lambda instance, args, kwargs: "40")

    assert thing().work(1) == 2
    assert (probes.hooks[0].state, probes.hooks[0].off) == ("failed", True)
    assert "the answer is of type str, not int" in probes.hooks[0].reason


class _Iterating:
    def work(self, first: int) -> Iterator[int]:
        yield from range(first, first + 3)


@pytest.fixture
def iterating(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = types.ModuleType("watched_module")
    own = type("Thing", (), {"work": _Iterating.work})
    module.Thing = own  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "watched_module", module)
    return own


def _sifted(thing: Any, tmp_path: Path, chosen: Any) -> tuple[list[int], Probes]:
    """What is left of `work`'s numbers, which begin with the argument."""
    probes = Probes(Writer(tmp_path))
    probes.sift("p", TARGET, lambda instance, args, kwargs: chosen)
    return list(thing().work(1)), probes


def test_candidates_are_sifted(iterating: Any, tmp_path: Path) -> None:
    assert _sifted(iterating, tmp_path, lambda one: one != 2)[0] == [1, 3]


def test_all_candidates_or_none(iterating: Any, tmp_path: Path) -> None:
    assert _sifted(iterating, tmp_path / "all", None)[0] == [1, 2, 3]
    assert _sifted(iterating, tmp_path / "none", NOTHING)[0] == []


def test_what_cannot_be_judged_is_left_to_torch(iterating: Any, tmp_path: Path) -> None:
    found, probes = _sifted(iterating, tmp_path, lambda one: one // 0)

    assert found == [1, 2, 3]
    assert (probes.hooks[0].state, probes.hooks[0].calls) == ("failed", 1)


def test_a_hook_inside_a_hook_is_counted_once(thing: Any, tmp_path: Path) -> None:
    """Or one that is slow would have the one around it stand aside, too."""
    probes = Probes(Writer(tmp_path))
    probes.wrap("outer", TARGET._replace(attribute="Thing.play"), before=lambda instance, *args: instance.work(1))
    probes.wrap("inner", TARGET, before=lambda *args: time.sleep(0.05))
    thing().play()
    outer, inner = probes.hooks

    assert inner.seconds >= 0.05 > outer.seconds


def test_where_answering_fails_torch_answers(thing: Any, tmp_path: Path) -> None:
    probes = Probes(Writer(tmp_path))
    probes.answer("p", TARGET, int, lambda instance, args, kwargs: 1 // 0)

    assert [thing().work(1), thing().work(2)] == [2, 3]
    assert probes.hooks[0].state == "failed"


def _places(call: Callable[[], Any]) -> list[tuple[str, int | None, str]]:
    """Where the traceback of the exception that `call` raises leads through, this function left out."""
    try:
        call()
    except BaseException as error:
        return [(frame.filename, frame.lineno, frame.name) for frame in traceback.extract_tb(error.__traceback__)][1:]
    raise AssertionError("nothing was raised")


def _seen(*args: Any) -> None:
    """A hook."""


@pytest.mark.parametrize("way", ["before", "after", "failed", "off", "answer"])
def test_a_traceback_leads_through_nothing_of_ours(thing: Any, tmp_path: Path, way: str) -> None:
    def work() -> None:
        thing().work(-1)

    plain = _places(work)
    probes = Probes(Writer(tmp_path))
    if way == "answer":
        probes.answer("p", TARGET, int, lambda *args: NotImplemented)
    else:
        probes.wrap("p", TARGET, **{"before" if way == "off" else way: _seen})  # type: ignore[arg-type]
        probes.hooks[0].off = way == "off"

    assert len(plain) == 2
    assert _places(work) == plain
    assert _places(work) == plain


def test_an_exception_in_a_hook_of_a_failing_call_leaves_no_trace(thing: Any, tmp_path: Path) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("ours")

    probes = Probes(Writer(tmp_path))
    probes.wrap("p", TARGET, failed=fail)
    with pytest.raises(ValueError, match="the program's own") as caught:
        thing().work(-1)
    assert caught.value.__context__ is None
    assert [frame.name for frame in traceback.extract_tb(caught.tb)][1:] == ["work"]


def test_an_interrupt_in_a_hook_leads_through_nothing_of_ours(thing: Any, tmp_path: Path) -> None:
    probes = Probes(Writer(tmp_path))
    probes.wrap("p", TARGET, before=lambda *args: signal.raise_signal(signal.SIGINT))

    def work() -> None:
        thing().work(1)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert [name for _, _, name in _places(work)] == ["work"]


@pytest.mark.parametrize("way", ["wrap", "follow", "count"])
def test_what_a_signal_handler_of_the_program_raises_in_a_hook_is_the_programs(
    thing: Any, tmp_path: Path, way: str
) -> None:
    def took_too_long(number: int, frame: Any) -> None:
        raise TimeoutError("the program's own")

    def hooked(*args: Any) -> None:
        if is_armed:
            signal.raise_signal(signal.SIGUSR1)

    is_armed = False
    probes = Probes(Writer(tmp_path))
    if way == "follow":
        probes.follow("p", TARGET, hooked)
        for _ in range(5):
            thing().work(1)  # the first calls are timed, most are not
    elif way == "count":
        probes.count("p", TARGET, hooked)
    else:
        probes.wrap("p", TARGET, before=hooked)
    is_armed = True
    before = signal.signal(signal.SIGUSR1, took_too_long)
    try:
        places = _places(lambda: thing().work(1))
        with pytest.raises(TimeoutError):
            thing().work(1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert [name for _, _, name in places] == ["<lambda>", "took_too_long"]
    assert probes.hooks[0].state == "installed"


def test_blame_goes_where_it_would_go_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A warning and a log line count frames to find out who is to blame."""
    module: Any = types.ModuleType("watched_module")

    def work() -> None:
        warnings.warn("deprecated", DeprecationWarning, stacklevel=2)
        logging.getLogger("blame").warning("look", stacklevel=2)

    module.work = work
    monkeypatch.setitem(sys.modules, "watched_module", module)
    Probes(Writer(tmp_path)).wrap("p", TARGET._replace(attribute="work"), before=_seen, after=_seen)

    with pytest.warns(DeprecationWarning, match="deprecated") as caught:
        module.work()
    assert caught[0].filename == __file__
    assert caplog.records[0].pathname == __file__


def test_a_method_that_is_called_all_the_time_is_followed(thing: Any, tmp_path: Path) -> None:
    seen: list[Any] = []
    probes = Probes(Writer(tmp_path))
    probes.follow("p", TARGET, lambda instance, args, result: seen.append((args, result)))

    assert [thing().work(value) for value in range(200)] == list(range(1, 201))
    assert seen == [((value,), value + 1) for value in range(200)]
    assert probes.hooks[0].calls == 200
    assert probes.hooks[0].seconds > 0
    with pytest.raises(ValueError, match="own") as raised:
        thing().work(-1)
    assert [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)][1:] == ["work"]


def test_a_call_that_is_timed_counts_for_those_that_were_not() -> None:
    hook = HookState("p", "t", every=64)
    costs = []
    for call, seconds in ((1, 5.0), (2, 1.0), (64, 1.0), (128, 9.0), (192, 1000.0)):
        hook.calls = call
        hook.cost(seconds)
        costs.append(hook.seconds)

    assert costs == [5.0, 6.0, 6.0 + 62, 68.0 + 64 * 9, 644.0 + 63 * 32 * 9 + 1000]
    hook.forget()
    hook.calls = 1
    hook.cost(2.0)
    assert hook.seconds == 2.0


@pytest.fixture
def many_objects() -> Iterator[None]:
    """So many that a full collection takes far longer than a hook."""
    kept = [[number] for number in range(1_000_000)]
    yield
    kept.clear()


@pytest.mark.usefixtures("many_objects")
def test_a_full_collection_in_a_hooks_first_call_does_not_count(thing: Any, tmp_path: Path) -> None:
    took: list[float] = []

    def collects(*args: Any) -> None:
        began = time.perf_counter()
        gc.collect()
        took.append(time.perf_counter() - began)
        took.append(len([[number] for number in range(5_000)]))  # younger generations are collected after it

    before = list(gc.callbacks)
    probes = Probes(Writer(tmp_path))
    probes.wrap("p", TARGET, before=collects)
    gc.collect(0), gc.collect(1)  # the generation before the oldest has been collected since the oldest was
    assert thing().work(1) == 2
    assert 0 < probes.hooks[0].seconds < took[0] / 2
    assert gc.callbacks == before


@pytest.mark.usefixtures("many_objects")
def test_a_signal_in_a_collection_that_is_timed_is_not_lost(thing: Any, tmp_path: Path) -> None:
    def struck(number: int, frame: Any) -> None:
        raise KeyboardInterrupt("the program's own")

    def collects(*args: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        gc.collect()

    probes = Probes(Writer(tmp_path))
    probes.wrap("p", TARGET, before=collects)
    others = list(gc.callbacks)
    gc.callbacks.clear()  # those of the test runner's plugins are in Python, and it can be lost in one
    before = signal.signal(signal.SIGALRM, struck)
    try:
        with pytest.raises(KeyboardInterrupt, match="own"):
            thing().work(1)
    finally:
        signal.signal(signal.SIGALRM, before)
        gc.callbacks[:] = others
    assert probes.hooks[0].state == "installed"


@pytest.mark.parametrize("call", [1, 64])
def test_what_goes_wrong_in_following_turns_only_the_hook_off(thing: Any, tmp_path: Path, call: int) -> None:
    writer = Writer(tmp_path)
    probes = Probes(writer)

    def fails(instance: Any, args: tuple[Any, ...], result: Any) -> None:
        if probes.hooks[0].calls == call:
            raise RuntimeError("ours")

    probes.follow("p", TARGET, fails)
    assert [thing().work(value) for value in range(100)] == list(range(1, 101))
    writer.flush()
    assert [(hook.state, hook.calls) for hook in _hooks(tmp_path)] == [("failed", call)]


def test_calls_are_noted_and_given_away_many_at_a_time(thing: Any, tmp_path: Path) -> None:
    told: list[Any] = []
    probes, desk = Probes(Writer(tmp_path)), ThreadCallBuffer()
    probes.note("p", TARGET, desk, "work", has_inner=True)
    made = thing()

    assert made.work(1) == 2
    assert probes.hooks[0].calls == 0  # nobody asked for it
    desk.notes = notes = Notes(told.extend)
    assert [made.work(value) for value in range(100)] == list(range(1, 101))
    with pytest.raises(ValueError, match="own") as raised:
        made.work(-1)
    assert [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)][1:] == ["work"]
    assert 0 < len(told) < 202
    notes.flush()

    expected = [note for value in range(100) for note in (("work", made, (value,)), ("ended", value + 1, None))]
    assert told == [*expected, ("work", made, (-1,)), ("failed", None, None)]
    assert probes.hooks[0].calls == 101
    assert probes.hooks[0].seconds > 0


def test_notes_that_cannot_be_read_turn_only_the_hook_off(thing: Any, tmp_path: Path) -> None:
    def fails(taken: list[Any]) -> None:
        raise RuntimeError("ours")

    writer, desk = Writer(tmp_path), ThreadCallBuffer()
    probes = Probes(writer)
    probes.note("p", TARGET, desk, "work")
    desk.notes = Notes(fails)
    assert [thing().work(value) for value in range(400)] == list(range(1, 401))
    writer.flush()
    (hook,) = _hooks(tmp_path)
    assert (hook.state, hook.calls) == ("failed", 128)
    assert desk.notes == []


def test_a_method_of_the_running_program_is_counted(thing: Any, tmp_path: Path) -> None:
    seen: list[Any] = []
    probes = Probes(Writer(tmp_path))
    probes.count("p", TARGET, seen.append)
    own = thing()

    assert own.work(1) == 2
    with pytest.raises(ValueError, match="the program's own") as raised:
        own.work(-1)
    assert seen == [own, own]
    assert probes.hooks[0].calls == 2
    assert [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)][1:] == ["work"]


def test_a_count_that_fails_stands_aside_and_says_so(thing: Any, tmp_path: Path) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("ours")

    writer = Writer(tmp_path)
    probes = Probes(writer)
    probes.count("p", TARGET, fail)

    assert [thing().work(1), thing().work(2)] == [2, 3]
    writer.flush()
    (hook,) = _hooks(tmp_path)
    assert (hook.state, hook.target) == ("failed", str(TARGET))


def test_an_account_that_fails_leaves_the_others(tmp_path: Path) -> None:
    class Broken:
        def facts(self) -> list[Fact]:
            raise RuntimeError("ours")

        def forget(self) -> None:
            pass

    class Kept(Broken):
        def facts(self) -> list[Fact]:
            return [Launched(graph="g", kernel="k", calls=3)]

    writer = Writer(tmp_path)
    probes = Probes(writer)
    probes.accounts += [Broken(), Kept()]
    probes.tell_accounts()
    writer.flush()

    assert [row.calls for row in Dump(tmp_path).rows(Launched)] == [3]
    assert "RuntimeError: ours" in _hooks(tmp_path)[0].reason


def test_a_hook_that_has_room_is_as_harmless(thing: Any, tmp_path: Path) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("ours")

    seen: list[Any] = []
    writer = Writer(tmp_path)
    probes = Probes(writer)
    probes.wrap("p", TARGET, before=lambda *args: seen.append(args[1]), after=fail, fresh_stack=True)

    assert [thing().work(1), thing().work(2)] == [2, 3]
    assert seen == [(1,)]
    writer.flush()
    assert "RuntimeError: ours" in _hooks(tmp_path)[0].reason


def _page_faults(depth: int) -> int:
    """Of a thousand calls of a function, that many calls below this one."""
    if depth:
        return _page_faults(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(1000):
        _nothing()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def _nothing() -> None:
    pass


def _most_page_faults() -> int:
    return max(map(_page_faults, range(200)))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="seen in Python 3.11 to 3.13")
def test_where_there_is_room_no_call_maps_memory() -> None:
    """Elsewhere each call does that begins behind the end of a chunk of the stack."""
    assert _most_page_faults() >= 1000
    assert on_fresh_stack(lambda: _most_page_faults())() < 100
