"""What stands in the place of a function of torch's is one as plain: copied, pickled and asked as the one before."""

import copy
import functools
import inspect
import pickle
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import torch

from inspect_compile.dump import Writer
from inspect_compile.probe import Probes, ThreadCallBuffer, is_replaced
from inspect_compile.torch_compat import Name

SOURCE = '''
import functools
import math

def function(first: int, *more: int, third: int = 3) -> int:
    """What it does."""
    return first + sum(more) + third

function.marked = True

@functools.lru_cache
def cached(value: int) -> int:
    return value

class Called:
    def __call__(self, value: int) -> int:
        return value

called = Called()
written_in_c = math.floor

class Base:
    def inherited(self, value: int) -> int:
        return value

class Thing(Base):
    def work(self, value: int, /, again: int = 1, **self_too: int) -> int:
        return value * again

    @staticmethod
    def static(value: int = 2) -> int:
        return value

    @classmethod
    def of_class(cls, value: int) -> tuple[str, int]:
        return cls.__name__, value
'''


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    made: Any = types.ModuleType("replaced_module")
    monkeypatch.setitem(sys.modules, "replaced_module", made)
    exec(SOURCE, made.__dict__)
    return made


FUNCTIONS = ("function", "cached", "Thing.work", "Thing.static", "Thing.of_class")
WAYS = ("wrap", "fresh_stack", "answer", "sift", "follow", "note", "count")


def _found(module: Any, path: str) -> Any:
    return functools.reduce(getattr, path.split("."), module)


def _watch(probes: Probes, way: str, path: str) -> None:
    name = Name("replaced_module", path, "a test", "none")
    if way in ("wrap", "fresh_stack"):
        probes.wrap("p", name, before=lambda *args: None, after=lambda *args: None, fresh_stack=way == "fresh_stack")
    elif way == "answer":
        probes.answer("p", name, int, lambda *args: NotImplemented)
    elif way == "sift":
        probes.sift("p", name, lambda *args: None)
    elif way == "follow":
        probes.follow("p", name, lambda *args: None)
    elif way == "note":
        probes.note("p", name, ThreadCallBuffer(), "label")
    else:
        probes.count("p", name, lambda instance: None)
    assert [hook.reason for hook in probes.hooks] == [""]


@pytest.mark.parametrize("path", FUNCTIONS)
@pytest.mark.parametrize("way", WAYS)
def test_it_is_copied_pickled_and_asked_as_before(module: Any, tmp_path: Path, path: str, way: str) -> None:
    plain = _found(module, path)
    known = [getattr(plain, name) for name in ("__name__", "__qualname__", "__module__", "__doc__")]
    asked = inspect.signature(plain), inspect.getfullargspec(plain) if path != "cached" else None
    _watch(Probes(Writer(tmp_path)), way, path)
    watched = _found(module, path)

    assert [getattr(watched, name) for name in ("__name__", "__qualname__", "__module__", "__doc__")] == known
    assert inspect.signature(watched) == asked[0]
    assert asked[1] is None or inspect.getfullargspec(watched) == asked[1]
    inner = getattr(watched, "__func__", watched)
    assert type(inner) is types.FunctionType
    assert is_replaced(inner)
    assert getattr(watched, "marked", None) == getattr(plain, "marked", None)
    assert copy.copy(watched) == copy.deepcopy(watched) == watched
    assert pickle.loads(pickle.dumps(watched)) == watched


def test_it_is_called_as_before(module: Any, tmp_path: Path) -> None:
    seen: list[Any] = []
    probes = Probes(Writer(tmp_path))
    for path in (*FUNCTIONS, "called", "written_in_c", "Thing.inherited"):
        probes.wrap(
            "p",
            Name("replaced_module", path, "a test", "none"),
            before=lambda instance, args, kwargs: seen.append((instance, args, kwargs)),
        )
    thing = module.Thing()

    assert module.function(1, 2, third=4) == 7
    assert module.cached(1) == module.called(1) == module.written_in_c(1.5) == 1
    assert thing.work(2, again=3, value=1, self=1, instance=1) == module.Thing.work(thing, 2, 3) == 6
    assert thing.static(3) == 3
    assert module.Thing.static() == 2
    assert thing.of_class(1) == ("Thing", 1)
    assert thing.inherited(1) == module.Base().inherited(1) == 1
    with pytest.raises(TypeError, match="required positional argument"):
        module.Thing.inherited()
    assert seen == [
        (None, (1, 2), {"third": 4}),
        *[(None, (1,), {}), (None, (1,), {}), (None, (1.5,), {})],
        (thing, (2,), {"again": 3, "value": 1, "self": 1, "instance": 1}),
        (thing, (2, 3), {}),
        *[(None, (3,), {}), (None, (), {})],
        (module.Thing, (1,), {}),
        (thing, (1,), {}),
    ]
    assert probes.hooks[-1].state == "installed"


def test_another_modules_function_is_pickled_as_this_modules(module: Any, tmp_path: Path) -> None:
    """Under its own name stands the plain one."""
    other: Any = types.ModuleType("other_module")
    other.borrowed = module.function
    sys.modules["other_module"] = other
    try:
        Probes(Writer(tmp_path)).wrap(
            "p", Name("other_module", "borrowed", "a test", "none"), before=lambda *args: None
        )
        assert pickle.loads(pickle.dumps(other.borrowed)) is other.borrowed
        assert pickle.loads(pickle.dumps(module.function)) is module.function
    finally:
        del sys.modules["other_module"]


@pytest.mark.parametrize("way", WAYS)
def test_its_frame_is_one_that_can_be_read(module: Any, tmp_path: Path, way: str) -> None:
    """As a program does that looks at its stack: each frame of a file has the file, and a line of it."""
    module.looks = lambda instance: inspect.stack()
    module.looks.__qualname__, module.looks.__module__ = "looks", "replaced_module"
    _watch(Probes(Writer(tmp_path)), way, "looks")

    (frame,) = [one for one in module.looks(1) if "_bootstrap" in one.filename and one.function == "watch"]

    assert Path(frame.filename).is_file()
    assert frame.code_context
    assert "importlib" in frame.filename
    assert frame.filename.startswith(str(Path(torch.__file__).parent))
    assert Path(inspect.getsourcefile(module.looks) or "").is_file()
