"""A hook observes, and whatever goes wrong in it the program does not notice."""

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Hook
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import Name

TARGET = Name("watched_module", "Thing.work", "none", "a test")


class _Thing:
    def work(self, value: int) -> int:
        if value < 0:
            raise ValueError("the program's own")
        return value + 1


@pytest.fixture
def thing(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = types.ModuleType("watched_module")
    own = type("Thing", (_Thing,), {"work": _Thing.work})
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
    probes.wrap("p", Name("watched_module", "Thing.gone", "none", "a test"), before=lambda *args: None)
    probes.wrap("p", TARGET, before=lambda *args: None)
    writer.flush()

    assert thing().work(1) == 2
    assert [(hook.target, hook.state) for hook in _hooks(tmp_path)] == [("watched_module.Thing.gone", "missing")]
    assert probes.hooks[1].calls == 1


def test_a_slow_hook_stands_aside(thing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspect_compile.probe.SLOW_SECONDS", 0.0)
    writer = Writer(tmp_path)
    probes = Probes(writer)
    probes.wrap("p", TARGET, before=lambda *args: sum(range(200_000)))
    for _ in range(20):
        thing().work(1)
    writer.flush()

    assert probes.hooks[0].calls < 20
    assert "stood aside" in _hooks(tmp_path)[0].reason


@pytest.mark.parametrize(("asked", "got"), [(True, 40), (False, 2), (None, 2), ("yes", 2), (1, 2)])
def test_an_answer_stands_for_the_function(thing: Any, tmp_path: Path, asked: Any, got: int) -> None:
    probes = Probes(Writer(tmp_path))
    probes.answer("p", TARGET, lambda: asked, lambda: 40)

    assert thing().work(1) == got


def test_one_who_cannot_answer_stands_aside(thing: Any, tmp_path: Path) -> None:
    probes = Probes(Writer(tmp_path))
    probes.answer("p", TARGET, lambda: 1 // 0 == 0, lambda: 40)

    assert [thing().work(1), thing().work(2)] == [2, 3]
    assert probes.hooks[0].state == "failed"
