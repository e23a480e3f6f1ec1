"""Each function of ours that a run reaches raises, one at a time, and the program notices nothing.

All but the outermost guard, whose instructions are read. Programs are forks of an interpreter that spoiled/ prepares.
What `make harmless` adds is some 2,600 of (program, function, exception): a run reaches less than 1,000 functions.
"""

import dis
import importlib
import json
import subprocess
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pytest
import torch

from tests.harmless.conftest import PROGRAMS
from tests.harmless.harness import EVERYWHERE, SECONDS, Case, Outcome, Place, difference
from tests.harmless.test_programs import CACHES_OFF
from tests.warm import Interpreter

SPOILED: Final = Path(__file__).parent / "spoiled" / "interpreter.py"
ONE_KERNEL: Final = Case("one_kernel.py", ("one_kernel.py",))
OPTIONS: Final = ("--level", "texts")
"""No derived files: they are made by another process."""


class Other(NamedTuple):
    """A program that reaches more, and how it is run."""

    case: Case
    options: tuple[str, ...] = OPTIONS


def _sample(name: str) -> Case:
    return Case(f"../../../samples/{name}.py", (f"{name}.py",), path=f"{name}.py")


OTHERS: Final = {
    **{
        name: Other(Case(f"{name}.py", (f"{name}.py",)))
        for name in (
            *("backend_raises", "forks", "goes_on_after_breaks", "lowering_raises", "raises_when_run"),
            "raises_when_traced",
        )
    },
    "compiles_in_threads": Other(
        Case("compiles_in_threads.py", ("compiles_in_threads.py",), by_chance=(r"AOT ID: \['\d+_",))
    ),
    "ahead_of_time": Other(Case("ahead_of_time.py", ("ahead_of_time.py", "package"))),
    "modes": Other(Case("modes.py", ("modes.py", "reduce-overhead"))),
    "kept": Other(ONE_KERNEL, ("--cache", "auto", *OPTIONS)),
    "derived": Other(ONE_KERNEL, ()),
    **{name: Other(_sample(name)) for name in ("attention_block", "conditional", "conv_bias", "flex_attention")},
}

CRASHES: Final = {
    "compiles_in_threads": pytest.mark.skipif(
        torch.__version__ < "2.13",
        reason="threads that compile backward graphs at once end torch by SIGSEGV, plain too",
    )
}
"""Programs that torch itself may end."""

TWICE: Final = {name: Other(Case(f"{name}.py", (f"{name}.py",))) for name in ("dynamic", "fullgraph")}
"""Those that compile one graph twice: alone they would take the second one from torch's cache."""

KINDS: Final = ("RuntimeError", "StopIteration", "MemoryError", "RecursionError", "UnprintableError", "StubbornError")
"""Exceptions of Python's, and two of spoiled/."""

PROBES: Final = "probe.registry:Probes"
OUTERMOST: Final = frozenset(
    {
        "__init__:__getattr__",
        *(f"outermost:{name}" for name in ("guarded", "leave_traceback", "of_program", "silent")),
        *(f"probe.harmless:Guard.{name}" for name in ("guard", "untimed")),
        *(f"probe.without_frame:Around.{name}" for name in ("from_param", "stop")),
        *(f"child.imports:ImportWatch.install.<locals>.{name}" for name in ("begin", "make", "leave")),
        *(f"child.unseen.started:hide_ours.<locals>.{name}" for name in ("fork_exec", "execv")),
        *(f"{PROBES}.{way}.<locals>.watched.<locals>.watch" for way in ("wrap", "answer", "sift")),
        f"{PROBES}.follow.<locals>.followed.<locals>.watch",
        f"{PROBES}.note.<locals>.noted.<locals>.watch",
        f"{PROBES}.count.<locals>.counted.<locals>.watch",
        f"{PROBES}.listen.<locals>.called",
        f"{PROBES}._sifted",
        "lowering.core.loop_tags:tagged.<locals>.run",
    }
)
"""What torch, Python or C calls, and the guard that calls all other functions of ours: `module:function`, the module
without our name.
"""

ATTRIBUTES: Final = frozenset(
    {
        *("off", "calls", "state", "reason", "guard", "untimed", "_timed", "_report", "_sifted"),  # hooks and probes
        *("notes", "append", "flush"),  # the list of notes
        *("name", "_gate", "open", "_awaited", "discard", "add", "_imported", "modules"),  # imports
        *("_name", "loading", "is_passing", "_passed"),
        *("tags", "last", "tb_next", "traceback_of", "set_traceback", "_begins", "_ended", "__getattr__"),
    }
)
"""What it looks up in objects: they are ours, but for `spec.name`, `sys.modules` and what `listen` calls of torch's."""

SHORT: Final = (
    "child.imports:ImportWatch.open",
    "child.limits.first:Limits.refuses",
    "child.limits.first:Limits._is_again",
    "child.recorder:Recorder.add",
    "child.recorder:Recorder.begin",
    "child.recorder:Recorder._wants",
    "child.recorder:Tally.add",
    "child.session:Session.install",
    "child.session:Session.close",
    "child.start:Start.imported",
    "child.start:Start.at_exit",
    "dump.writer:Writer.add",
    "dump.writer:Writer._rows",
    "dump.writer:_Rows.__init__",
    "lowering.core.values:is_program",
    "probe.harmless:Guard._timed",
    "probe.hook:HookState.cost",
    f"{PROBES}.first_calls.<locals>.ready.<locals>.begins",
    f"{PROBES}.first_calls.<locals>.ready.<locals>.ended",
)
FAILS: Final = "probe.hook:HookState.cost"
"""With it each hook fails: what a run reaches only then is the report of a failure."""
REPORT: Final = ("probe.harmless:Guard._report", "interrupts:of_program", "interrupts:is_program", "outermost:whose")
SLICES: Final = 20


def whole(name: str) -> str:
    """A function as spoiled/ names it."""
    module, _, function = name.partition(":")
    return f"inspect_compile.{module}:{function}".replace(".__init__:", ":")


class SpoiledPlace(Place):
    """Programs run in forks of one interpreter, in which functions of ours raise."""

    def __init__(self, root: Path, caches: Path, variables: Mapping[str, str]) -> None:
        super().__init__(root, caches, PROGRAMS)
        self._spoiled, self._reached = root / "spoiled.json", root / "reached"
        _, environment = self.prepare(EVERYWHERE)
        self.spoil([], "")
        self.interpreter = Interpreter({**environment, **variables, "SPOILED": str(self._spoiled)}, first=SPOILED)

    def spoil(self, functions: Sequence[str], kind: str) -> None:
        """Let these raise from now on."""
        told = {"functions": list(map(whole, functions)), "kind": kind, "reached": str(self._reached)}
        self._spoiled.write_text(json.dumps(told))

    def harm(
        self, case: Case, plain: Outcome, functions: Sequence[str], kind: str, options: Sequence[str] = OPTIONS
    ) -> str:
        """In what the program differs where these raise."""
        self.spoil(functions, kind)
        return difference(plain, self.inspected(case, options))

    def reached(self, case: Case, functions: Sequence[str] = (), options: Sequence[str] = OPTIONS) -> set[str]:
        """The functions that a run reaches, but for the outermost guard."""
        self.spoil(functions, "RuntimeError")
        self._reached.unlink(missing_ok=True)
        outcome = self.inspected(case, options)
        assert self._reached.exists(), (outcome.ended, outcome.stderr)
        found = {name.removeprefix("inspect_compile.") for name in self._reached.read_text().splitlines()}
        return {name.replace("inspect_compile:", "__init__:") for name in found} - OUTERMOST

    def _ended(
        self, command: list[str], cwd: Path, environment: dict[str, str], stdin: str
    ) -> subprocess.CompletedProcess[bytes]:
        done, _ = self.interpreter.run(command, cwd, environment, stdin, SECONDS)
        texts = (text.encode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(command, done.returncode, *texts)


QUICKLY: Final = {"SPOILED_QUICKLY": "1", "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0"}
"""For a small compile, of which patterns and a compiler's header are three quarters."""


@pytest.fixture(scope="module")
def spoiled(caches: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpoiledPlace]:
    place = SpoiledPlace(tmp_path_factory.mktemp("spoiled"), caches, {})
    yield place
    place.interpreter.close()


@pytest.fixture(scope="module")
def quick(caches: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpoiledPlace]:
    """For ONE_KERNEL."""
    place = SpoiledPlace(tmp_path_factory.mktemp("quick"), caches, QUICKLY)
    yield place
    place.interpreter.close()


@pytest.fixture(scope="module")
def uncached(caches: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpoiledPlace]:
    """For TWICE."""
    place = SpoiledPlace(tmp_path_factory.mktemp("uncached"), caches, CACHES_OFF)
    yield place
    place.interpreter.close()


def _plain(spoiled: SpoiledPlace, case: Case) -> Outcome:
    """With compiled kernels at hand, which the second run has."""
    spoiled.plain(case)
    return spoiled.plain(case)


@pytest.fixture(scope="module")
def one_kernel(quick: SpoiledPlace) -> Outcome:
    return _plain(quick, ONE_KERNEL)


@pytest.fixture(scope="module")
def everywhere(spoiled: SpoiledPlace) -> Outcome:
    return _plain(spoiled, EVERYWHERE)


def _code_of(name: str) -> tuple[types.CodeType, types.ModuleType]:
    module = importlib.import_module(whole(name).partition(":")[0])
    waiting = [compile(Path(str(module.__file__)).read_bytes(), "", "exec")]
    while waiting:
        code = waiting.pop()
        if code.co_qualname == name.partition(":")[2]:
            return code, module
        waiting += [const for const in code.co_consts if type(const) is types.CodeType]
    raise AssertionError(f"there is no {name}")


@pytest.mark.parametrize("name", sorted(OUTERMOST))
def test_the_outermost_guard_calls_nothing_that_may_fail_or_be_replaced(name: str) -> None:
    """What it calls is a class, written in C or the guard itself; what it looks up in objects is ours."""
    code, module = _code_of(name)
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR") and name != "__init__:__getattr__":
            assert step.argval in ATTRIBUTES
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found = vars(module).get(step.argval)
            own = f"{getattr(found, '__module__', None)}:{step.argval}".removeprefix("inspect_compile.")
            assert type(found) is not types.FunctionType or own in {*OUTERMOST, "outermost:whose"}


@pytest.mark.parametrize("number", range(len(SHORT)), ids=SHORT)
def test_a_function_that_raises(number: int, quick: SpoiledPlace, one_kernel: Outcome) -> None:
    assert quick.harm(ONE_KERNEL, one_kernel, [SHORT[number]], KINDS[number % len(KINDS)]) == ""


@pytest.mark.parametrize("name", REPORT)
def test_the_report_of_a_failure_that_raises(name: str, quick: SpoiledPlace, one_kernel: Outcome) -> None:
    assert quick.harm(ONE_KERNEL, one_kernel, [FAILS, name], "RuntimeError") == ""


def test_a_keyboard_interrupt_is_the_programs_wherever_it_strikes(quick: SpoiledPlace) -> None:
    """No function of ours raises one: it is never swallowed, also where the report of a failure is struck."""
    for functions in (["child.recorder:Recorder.add"], [FAILS, "probe.harmless:Guard._report"]):
        quick.spoil(functions, "KeyboardInterrupt")
        assert quick.inspected(ONE_KERNEL, OPTIONS).stderr.splitlines()[-1].startswith("KeyboardInterrupt")


def test_the_program_reaches_the_short_list(quick: SpoiledPlace) -> None:
    assert set(SHORT) - quick.reached(ONE_KERNEL) == set()
    assert set(REPORT) - {"outermost:whose"} - quick.reached(ONE_KERNEL, [FAILS]) == set()


@pytest.mark.harmless
@pytest.mark.parametrize("part", range(SLICES))
def test_each_function_of_one_kernel(part: int, quick: SpoiledPlace, one_kernel: Outcome) -> None:
    """Each with two of the exceptions."""
    names = sorted(quick.reached(ONE_KERNEL))
    assert len(names) > 600
    for number in range(part, len(names), SLICES):
        for turn in (0, len(KINDS) // 2):
            name, kind = names[number], KINDS[(number // SLICES + part + turn) % len(KINDS)]
            assert (name, kind, quick.harm(ONE_KERNEL, one_kernel, [name], kind)) == (name, kind, "")


@pytest.mark.harmless
@pytest.mark.parametrize("part", range(SLICES))
def test_each_function(part: int, spoiled: SpoiledPlace, everywhere: Outcome) -> None:
    """The exceptions in turn: a function has the same one each time."""
    names = sorted(spoiled.reached(EVERYWHERE))
    assert len(names) > 800
    for number in range(part, len(names), SLICES):
        name, kind = names[number], KINDS[(number // SLICES + part) % len(KINDS)]
        assert (name, kind, spoiled.harm(EVERYWHERE, everywhere, [name], kind)) == (name, kind, "")


def _harms(place: SpoiledPlace, other: Other) -> None:
    """Each function that EVERYWHERE does not reach raises."""
    plain = _plain(place, other.case)
    names = place.reached(other.case, options=other.options) - place.reached(EVERYWHERE)
    for number, name in enumerate(sorted(names)):
        kind = KINDS[number % len(KINDS)]
        assert (name, kind, place.harm(other.case, plain, [name], kind, other.options)) == (name, kind, "")


@pytest.mark.harmless
@pytest.mark.parametrize("program", [pytest.param(name, marks=CRASHES.get(name, ())) for name in OTHERS])
def test_each_function_that_only_another_program_reaches(program: str, spoiled: SpoiledPlace) -> None:
    _harms(spoiled, OTHERS[program])


@pytest.mark.harmless
@pytest.mark.parametrize("program", TWICE)
def test_each_function_that_only_a_second_compile_reaches(program: str, uncached: SpoiledPlace) -> None:
    _harms(uncached, TWICE[program])


@pytest.mark.harmless
def test_each_function_of_the_report(spoiled: SpoiledPlace, everywhere: Outcome) -> None:
    names = spoiled.reached(EVERYWHERE, [FAILS]) - spoiled.reached(EVERYWHERE)
    assert {"interrupts:of_program", "probe.harmless:Guard._report"} <= names
    for number, name in enumerate(sorted(names)):
        kind = KINDS[number % len(KINDS)]
        assert (name, kind, spoiled.harm(EVERYWHERE, everywhere, [FAILS, name], kind)) == (name, kind, "")
