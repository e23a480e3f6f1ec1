"""Timers in a generated module: around the statements that launch, and nothing else is changed."""

import importlib.util
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from inspect_compile.codegen.runtime.timed_code import CHECKS, MEMORY, put_timers

SOURCE = """\
done = []

def launch(name):
    if name == "broken":
        raise ValueError(name)
    done.append(name)

def partition_0(args):
    launch(
        "inner",
    )
    return args

class Runner:
    def __init__(self, partitions):
        self.partitions = partitions

    def call(self, args):
        if args:
            with open(__file__):
                launch("with")
                out = launch("assigned")
        else:
            launch("else")
        for name in args:
            launch(name)
        self.partitions[0](args)
        return done

runner = Runner([partition_0])
call = runner.call
"""
INNER, WITH, ASSIGNED, ELSE, LOOP = 10, 21, 22, 24, 26


ALLOCATES = """\
from contextlib import nullcontext as guard

def empty_strided_cpu(size):
    return [size]

def assert_size_stride(given, size):
    assert given == size

def call(args):
    a, b = args
    assert_size_stride(a, 1)
    assert_size_stride(b, 2)
    with guard():
        buf0 = empty_strided_cpu(a)
        buf0.append("kernel")
        del a
        buf1 = empty_strided_cpu(b)
        return (buf0, buf1, )
"""


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    return loaded(tmp_path / "generated.py", SOURCE)


def loaded(path: Path, source: str) -> ModuleType:
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("generated", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def timed(module: ModuleType, lines: tuple[int, ...]) -> list[str]:
    """Put timers at `lines` and around the call; the list that they write to."""
    heard: list[str] = []

    def timers(what: str) -> Any:
        def begin() -> str:
            heard.append(f"({what}")
            return what

        return begin, lambda state: heard.append(f"{state})")

    path = str(module.__file__)
    launches = {line: timers(str(line)) for line in lines}
    assert put_timers(module, SOURCE, path, launches, timers("all")).found == set(lines)
    return heard


def test_each_launch_is_between_its_timers(module: ModuleType) -> None:
    heard = timed(module, (INNER, WITH, ASSIGNED, ELSE, LOOP))

    assert module.call(["a", "b"]) == ["with", "assigned", "a", "b", "inner"]
    assert heard == ["(all", "(21", "21)", "(22", "22)", "(26", "26)", "(26", "26)", "(10", "10)", "all)"]
    heard.clear()
    module.done.clear()
    assert module.call([]) == ["else", "inner"]
    assert heard == ["(all", "(24", "24)", "(10", "10)", "all)"]


def test_a_traceback_is_the_same(module: ModuleType) -> None:
    def told() -> str:
        with pytest.raises(ValueError, match="broken") as raised:
            module.call(["broken"])
        return "".join(traceback.format_exception(raised.value)).partition("module.call")[2]

    before = told()
    heard = timed(module, (INNER, WITH, ASSIGNED, ELSE, LOOP))

    assert "line 26, in call" in before
    assert told() == before
    assert heard[-1] == "(26"


def test_a_line_in_no_function_is_told(module: ModuleType) -> None:
    put = put_timers(module, SOURCE, str(module.__file__), {1: (list, print), WITH: (list, lambda state: None)}, None)
    assert put.found == {WITH}
    assert module.call([]) == ["else", "inner"]


def test_statements_in_a_row_that_allocate_or_check_have_one_timer(tmp_path: Path) -> None:
    module, heard = loaded(tmp_path / "generated.py", ALLOCATES), list[str]()

    def timers(what: str) -> Any:
        return (lambda: heard.append(f"({what}")), lambda state: heard.append(f"{what})")

    launches = {15: timers("launch")}
    others = {kind: timers(kind) for kind in (MEMORY, CHECKS)}
    assert put_timers(module, ALLOCATES, str(module.__file__), launches, timers("all"), others).found == {15}
    assert module.call([1, 2]) == ([1, "kernel"], [2])
    told = ["checks", "memory", "launch", "memory"]
    assert [word.strip("()") for word in heard if word.startswith("(") and word != "(all"] == told
    assert heard.count("memory)") == 2


def test_timers_can_be_left_out_and_each_call_is_counted_all_the_same(module: ModuleType) -> None:
    heard: list[str] = []

    def timers(what: str) -> Any:
        return (lambda: heard.append(f"({what}")), lambda state: heard.append(f"{what})")

    launches = {line: timers(str(line)) for line in (INNER, LOOP)}
    path = str(module.__file__)
    put = put_timers(module, SOURCE, path, launches, timers("all"), None, lambda: heard.append("counted"))
    assert put.can_go

    def called() -> list[str]:
        heard.clear()
        module.call(["a"])
        return list(heard)

    full = ["counted", "(all", "(26", "26)", "(10", "10)", "all)"]
    assert called() == full
    put.turn_call(False)
    put.turn_inside(False)
    assert called() == ["counted"]
    with pytest.raises(ValueError, match="broken") as raised:
        module.call(["broken"])
    assert [frame.lineno for frame in traceback.extract_tb(raised.value.__traceback__)][1:] == [LOOP, 5]
    put.turn_call(True)
    put.turn_inside(True)
    assert called() == full
