"""A hook that raises, returns nonsense or sleeps costs what it feeds, and nothing else; the program notices nothing.

The faults come from outside, from a `sitecustomize` of the test's own (faulty/).
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import pytest
import torch

from inspect_compile import facts
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import FACTS, Fact, Hook
from inspect_compile.torch_compat import (
    Name,
    autotuning,
    call_path,
    codegen,
    compilers,
    dynamo,
    inductor,
    passes,
    runtime,
    targets,
    traced,
)
from inspect_compile.tui.models.run.pages import run_page
from tests.conftest import DumpOf
from tests.harmless.harness import EVERYWHERE, Outcome, Place, WarmPlace, difference
from tests.private_names import covers, version
from tests.running import COMMAND, run
from tests.warm import HAS_CUDA

PROGRAMS, FAULTY = (Path(__file__).parent / name for name in ("programs", "faulty"))
AT_START = {"PYTHONPATH": str(FAULTY), "HARMLESS_FAULTS": "{}", "HARMLESS_LACKS": ""}
"""Variables with which an interpreter can be made faulty later."""

RAISES, NONSENSE, SLEEPS, MISSING = "raise", "nonsense", "sleep", "missing"
EVERY_HOOK = "*"


@dataclass(frozen=True)
class Feeds:
    """What a hook has a part in: with it gone, rows of these kinds and these files may differ."""

    kinds: tuple[type[Fact], ...] = ()
    """With CallSite among them, lines of other rows may lack what called the compiled frame."""
    files: tuple[str, ...] = ()
    """Ends of paths in a graph's folder."""
    called: bool = True
    """Does the program call it? Not Triton's on a CPU."""


def _debug(method: str) -> str:
    return f"{inductor.DEBUG_CONTEXT}.{method}"


CODE = f"{paths.OUTPUT_CODE}.py"
GRAPH_FILES = (paths.FX_READABLE, paths.FX_TRANSFORMED, paths.FX_RUNNABLE, CODE)
SOURCES = ("source.cpp", "source.py")
OF_FUSION = Feeds((facts.FusionRound, facts.FusionLooks, facts.FusionOrder, facts.FusionCombo))
OF_IR_TEXT = Feeds((facts.Lowering, facts.Realize))
OF_STATEMENTS = Feeds((facts.KernelBody, facts.Kernel))
OF_WRAPPER = Feeds((facts.Kernel, facts.MemoryPlan, facts.WrapperLine))

DYNAMO: dict[str, Feeds] = {
    str(dynamo.CACHE_SIZE): Feeds((facts.Frame, facts.GuardedCalls)),
    str(dynamo.COMPILE_METRICS): Feeds((facts.Frame, facts.GuardedCalls, facts.Artifact, facts.CallSite)),
    str(dynamo.COUNTS_COMPILE): Feeds(),
    str(dynamo.COUNTS_ANEW): Feeds(called=False),
    str(dynamo.AFTER_GUARDS): Feeds((facts.GuardedCalls,), called=False),
    str(dynamo.COMPILES): Feeds((facts.GuardedCalls,)),
    str(dynamo.DISABLED): Feeds((facts.GuardedCalls,)),
    str(dynamo.DISABLED_ALONE): Feeds((facts.GuardedCalls,), called=False),
    str(dynamo.STACK_SUMMARY): Feeds(),
    str(dynamo.UNINTERESTING): Feeds(),
    str(dynamo.RECOMPILE_LIMIT): Feeds((facts.Frame, facts.Remark, facts.GuardedCalls)),
    str(dynamo.RECOMPILE_REASONS): Feeds((facts.Recompile, facts.Remark)),
    str(dynamo.GRAPH_BREAK): Feeds((facts.GraphBreak, facts.Remark, facts.Artifact)),
    str(dynamo.CHECK_FUNCTION): Feeds((facts.Guard, facts.Artifact)),
    str(dynamo.GUARD_LATENCY): Feeds((facts.Frame,)),
    str(dynamo.SKIP_REASON): Feeds((facts.Skip,), called=covers(dynamo.SKIP_REASON, torch.__version__)),
    str(dynamo.USER_COMPILER): Feeds((facts.DynamoNode, facts.Frame, facts.Call)),
    str(dynamo.TIME_BEGINS): Feeds((facts.Timed, facts.TimerBegan)),
    str(dynamo.TIME_ENDS): Feeds((facts.Timed,)),
    str(inductor.CACHE_CANDIDATES): Feeds((facts.CacheLookup,)),
    str(inductor.FX_KEY): Feeds((facts.CacheLookup, facts.KeyPart)),
    str(inductor.AOT_KEY): Feeds((facts.CacheLookup, facts.KeyPart)),
    str(inductor.FX_LOAD): Feeds(),
    str(inductor.AOT_LOOKUP): Feeds(),
    str(inductor.AOT_TRY_LOAD): Feeds(),
    str(inductor.AOT_STORED): Feeds((facts.AotMetadata,)),
}
TRACED: dict[str, Feeds] = {
    str(traced.AOT_COMPILE): Feeds((facts.AotMetadata,)),
    str(traced.AOT_CACHED): Feeds((facts.AotMetadata,), called=False),
    # One of them, by the release of torch; before 2.13 for subclasses alone.
    str(traced.WRAPPER_SOURCE): Feeds(
        (facts.Artifact,),
        called=version(torch.__version__) >= (2, 13)
        and not covers(traced.WRAPPER_SOURCE_OF_CODEGEN, torch.__version__),
    ),
    str(traced.WRAPPER_SOURCE_OF_CODEGEN): Feeds(
        (facts.Artifact,), called=covers(traced.WRAPPER_SOURCE_OF_CODEGEN, torch.__version__)
    ),
    str(traced.GUARDED_CODE): Feeds((facts.Artifact,)),
    str(traced.SIDE_EFFECT): Feeds((facts.SideEffect,), called=False),
    str(traced.SHAPE_GUARD): Feeds((facts.ShapeGuard,)),
    str(traced.REPLACEMENT): Feeds((facts.ShapeGuard,)),
    str(traced.METRICS): Feeds((facts.Metrics, facts.Settings)),
}
CALLS: dict[str, Feeds] = {
    **{
        str(name): Feeds((facts.Call,))
        for name in (
            *(targets.COMPILE_FX, call_path.AOT_AUTOGRAD, call_path.AOT_TRACE, call_path.PARTITION),
            *(call_path.FORWARD, call_path.BACKWARD, call_path.INNER, call_path.LOAD, call_path.CODEGEN),
            call_path.SCHEDULE,
        )
    },
    str(call_path.POST_COMPILE): Feeds((facts.Call, facts.FirstCall)),
    str(call_path.FREEZING): Feeds(called=False),
    str(call_path.CUDAGRAPHIFY): Feeds(called=False),
}
DEBUG_DOOR: dict[str, Feeds] = {
    str(inductor.DEBUG_ENTER): Feeds((facts.Graph, facts.GraphEnd, facts.Node, facts.Pass, facts.Call), GRAPH_FILES),
    str(inductor.DEBUG_EXIT): Feeds((facts.GraphEnd,)),
    str(inductor.SAVE_REPRO): Feeds((), (paths.FX_RUNNABLE,)),
    # From torch 2.14 on it is the first to see a graph, and has the runnable one rendered.
    _debug("fx_graph"): Feeds((facts.Graph, facts.Node), (paths.FX_READABLE, paths.FX_RUNNABLE)),
    _debug("fx_graph_transformed"): Feeds((), (paths.FX_TRANSFORMED,)),
    _debug("ir_pre_fusion"): Feeds((), (paths.IR_PRE_FUSION,)),
    _debug("ir_post_fusion"): Feeds((), (paths.IR_POST_FUSION,)),
    _debug("output_code"): Feeds((), (CODE,)),
}
OF_PASSES = Feeds((facts.Pass, facts.Artifact))
PASSES: dict[str, Feeds] = {
    str(passes.JOINT): Feeds((facts.Pass, facts.JointNode, facts.Artifact)),
    str(passes.PARTITIONED): Feeds((facts.Partition, facts.Saved)),
    **{
        str(name): Feeds((facts.Partition, facts.Saved))
        for name in (passes.CHOOSE_SAVED, passes.SOLVE_MIN_CUT, passes.CUT_IS_KNOWN)
    },
    **{
        str(name): OF_PASSES
        for name in (
            *(passes.PRE_GRAD, passes.POST_GRAD, passes.VIEW_TO_RESHAPE, passes.DEAD_CODE),
            *(passes.OBSERVER_ENTER, passes.OBSERVER_EXIT, *passes.OBSERVER_APPLIES, passes.MATCHER),
            *(passes.LOWERING_PATTERN, passes.GRAPH_PATTERN, passes.REPLACEMENT_PATTERN),
            *(*passes.PRE_GRAD_FUNCTIONS, *passes.JOINT_FUNCTIONS, passes.QUANT_LIFT_UP, passes.CONCAT_LINEAR),
        )
    },
}
LOWERING: dict[str, Feeds] = {
    str(inductor.GRAPH_INIT): Feeds(
        (
            *(facts.Graph, facts.Node, facts.Kernel, facts.KernelBody, facts.LoopNest, facts.Remark),
            *(facts.Symbol, facts.Call),
        )
    ),
    str(inductor.RUN_NODE): Feeds((facts.Lowering, facts.Realize, facts.Remark, facts.Operation, facts.Kernel)),
    str(inductor.GRAPH_RUN): Feeds((facts.Call,)),
    str(inductor.GRAPH_FINALIZE): Feeds((facts.Remark, facts.Symbol)),
    str(inductor.SHOULD_PAD): Feeds(),
    str(inductor.PADDED_IS_FASTER): Feeds(called=False),
    str(inductor.COMPILED_GRAPH): Feeds((facts.Remark,)),
    str(inductor.CUDAGRAPH_SKIPPED): Feeds(called=False),
    **{
        str(name): Feeds(called=False)
        for name in (
            *(runtime.CAPTURE_BEGIN, runtime.CAPTURE_END, runtime.REPLAY),
            *(runtime.WARM_UP, runtime.RECORD, runtime.SIZES),
        )
    },
    str(inductor.REALIZE): Feeds((facts.Realize,)),
    **{str(name): OF_IR_TEXT for name in inductor.BUFFER_TEXTS},
    str(inductor.STACK_TRACES): OF_IR_TEXT,
    str(inductor.BODY_TEXT): Feeds(),
    str(inductor.LOOPS_BORN): OF_STATEMENTS,
    str(inductor.BODY_OPERATION): OF_STATEMENTS,
    str(inductor.REDUCTION_OF_ROWS): Feeds(called=False),
    str(inductor.SPLIT_CANCELLED): Feeds(called=False),
    str(inductor.PRETTY): Feeds(),
}
SCHEDULE: dict[str, Feeds] = {
    str(inductor.LOG_PRE_FUSION): Feeds((facts.Operation,)),
    str(inductor.SCHEDULER_INIT): Feeds((facts.Operation,)),
    str(inductor.FUSE_ONCE): OF_FUSION,
    str(inductor.CAN_FUSE): OF_FUSION,
    str(inductor.WHY_NO_FUSE): OF_FUSION,
    str(inductor.FUSE_TWO): OF_FUSION,
    str(inductor.MAY_FUSE): OF_FUSION,
    str(inductor.POSSIBLE_FUSIONS): OF_FUSION,
    str(inductor.HIGHEST_PRIORITY): OF_FUSION,
    str(inductor.BENCHMARK): Feeds(called=False),
    str(inductor.COMBO_KERNELS): Feeds(called=False),
    str(inductor.SCORE): OF_FUSION,
}
CODEGEN: dict[str, Feeds] = {
    str(codegen.CSE_GENERATE): OF_STATEMENTS,
    str(codegen.WRITE_LINE): OF_STATEMENTS,
    str(codegen.CSE_NEW): OF_STATEMENTS,
    str(codegen.CPP_BODIES): OF_STATEMENTS,
    str(codegen.CPP_BODY): OF_STATEMENTS,
    str(inductor.EXTERN_CALL): OF_WRAPPER,
    str(codegen.CPP_DEFINE): Feeds((facts.KernelBody, facts.Kernel, facts.LoopNest)),
    str(codegen.TRITON_DEFINE): Feeds((facts.Kernel,), called=False),
    str(codegen.WRAPPER_DEFINE): Feeds((facts.Kernel, facts.KernelBody, facts.KernelLookup, facts.KeyPart), SOURCES),
    str(codegen.CODE_WRITTEN): Feeds((facts.KernelLookup, facts.KeyPart)),
    str(codegen.TRITON_KEY): Feeds(called=False),
    str(codegen.AUTOTUNER_PRECOMPILE): Feeds(called=False),
    str(codegen.AUTOTUNER_COMPILE): Feeds(called=False),
    **{str(name): Feeds((facts.LoopNest,)) for name in (codegen.CPP_FUNCTIONS, codegen.CPP_VECTORIZED)},
    str(codegen.CPP_LOOPS): Feeds((facts.LoopNest, facts.KernelBody)),
    # Nothing is measured: Triton's kernels, templates, and what the scheduler does with those.
    **{
        str(name): Feeds(called=False)
        for name in (
            *(autotuning.BENCH, autotuning.TUNE_KERNEL, autotuning.DESCEND, autotuning.TUNE, autotuning.MEASURE),
            *(autotuning.MEASURE_ONE, autotuning.NOT_COMPILED, autotuning.WORKER_ANSWER, autotuning.WORKER_MEASURE),
            *(autotuning.SWAP, autotuning.FINISH, autotuning.FINISH_ALL, autotuning.REPLACE),
            *(autotuning.COMBO, autotuning.PIPELINE_START, autotuning.PIPELINE_RESULTS),
        )
    },
    str(autotuning.SELECT): Feeds(),
    str(autotuning.EXTERN_NODE): Feeds(),
    str(autotuning.FINISH_REST): Feeds(),
    str(codegen.WRAPPER_PASSES): OF_WRAPPER,
    str(codegen.WRAPPER_GENERATE): OF_WRAPPER,
}
WORKERS: dict[str, Feeds] = {
    str(inductor.WORKER_POOL): Feeds(called=False),
    str(inductor.WORKER_ENVIRONMENT): Feeds(called=False),
}
STAGES = {
    "dynamo and the call path": DYNAMO | TRACED | CALLS,
    "debug door": DEBUG_DOOR,
    "passes": PASSES,
    "lowering": LOWERING,
    "schedule": SCHEDULE,
    "codegen": CODEGEN,
}
HOOKS = DYNAMO | TRACED | CALLS | DEBUG_DOOR | PASSES | LOWERING | SCHEDULE | CODEGEN | WORKERS
"""Every hook of a training step on a CPU, by the stage that it watches. A new one has its line here."""

UNCALLED = {
    str(name)
    for name in (*inductor.BUFFER_TEXTS, passes.LOWERING_PATTERN, passes.REPLACEMENT_PATTERN, passes.CONCAT_LINEAR)
}
"""Those that this program has no reason to call."""

NOTED = {str(name) for name in (inductor.CAN_FUSE, inductor.WHY_NO_FUSE, inductor.MAY_FUSE)}
"""Those whose calls are written down: the one with which enough of them wait is guarded, the others have no fault."""

LOOKED_UP: dict[Name, tuple[type[Fact], ...]] = {
    inductor.AOT_GRAPH_NAME: (facts.JointNode,),
    call_path.CUDAGRAPHS_SETTING: (),
    passes.CUSTOM_PARTITIONER: (),
    dynamo.CONFIG: (),
    compilers.FUNCTORCH_CONFIG: (),
    compilers.TRACING_CONTEXT: (),
    traced.COMPILER_CONFIG: (),
    dynamo.NO_TORCH_FUNCTION: (),
    inductor.LOWERINGS: (facts.Remark,),
    inductor.LAYOUT_CONSTRAINTS: (facts.Remark,),
    inductor.CONFIG: (),
    inductor.DECIDE_LAYOUT: (),
    inductor.IS_MKLDNN_CONVOLUTION: (),
    inductor.MKLDNN: (),
    inductor.MKLDNN_DEVICES: (),
    inductor.FALLBACK_BY_TYPE: (),
    inductor.FALLBACK_BY_DEFAULT: (),
    inductor.DECOMPOSITIONS: (facts.Remark,),
    inductor.PADDED_LENGTHS: (),
    inductor.PADDED_TO: (),
    inductor.FLOP_REGISTRY: (),
    inductor.SAVE_REPRO: (),
    inductor.SYMBOL_LOG: (),
    inductor.SCHEDULER_LOG: (),
    inductor.FORMATTER: (),
    inductor.OPERATION_TEXTS: (),
    inductor.INDEX_TEXT: (),
    inductor.FLEXIBLE_LAYOUT: (),
    codegen.CPP_THREADS: (),
    codegen.LINE_CONTEXT: (facts.Kernel, facts.MemoryPlan, facts.WrapperLine),
    dynamo.COMPILE_CONTEXT: (facts.Guard, facts.CacheLookup, facts.Pass, facts.Call, facts.Timed, facts.TimerBegan),
}
"""What hooks look up in torch → kinds of facts of which rows are missing without it."""

OF_OTHERS = {Hook, facts.Imported, facts.CallSite}
"""Rows that are not about the compile: of the hooks and the process, and what called the lines of other rows."""

_CLOCKS = ("seconds", "guard_seconds")
_OF_TIMED = (*_CLOCKS, "start", "probes")
_IS_TIME = re.compile(r"(time|_s|_ms|_us|_ns)$")
"""Names of times among torch's metrics."""
_UUID = r"[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}"
_BY_CHANCE = re.compile(rf"{_UUID}|\d{{8,}}|0x[0-9a-f]+|(?<=\"site\": )\d+")


@dataclass(frozen=True)
class Record:
    """A run of the program, and what was recorded of it."""

    outcome: Outcome
    rows: dict[type[Fact], list[str]]
    without_callers: dict[type[Fact], list[str]]
    files: dict[str, str]
    hooks: list[Hook]


def _text(row: Fact) -> str:
    clocks = _OF_TIMED if isinstance(row, (facts.Timed, facts.TimerBegan, facts.FirstCall)) else _CLOCKS
    told = {name: value for name, value in msgspec.to_builtins(row).items() if name not in clocks}
    if isinstance(row, facts.Metrics):
        # Dynamo of 2.11 counts the frames of a fault, too
        values = {name: value for name, value in row.values.items() if not _IS_TIME.search(name)}
        told["values"] = {name: value for name, value in values.items() if name != "frame_key"}
    return _BY_CHANCE.sub("ID", json.dumps(told))


def record(place: Place, faults: dict[str, str], *, lacking: str = "") -> Record:
    """The program with `faults`, torch name that a hook watches → what it does; or `lacking` an object of torch."""
    environment = {**AT_START, "HARMLESS_FAULTS": json.dumps(faults), "HARMLESS_LACKS": lacking}
    outcome = place.inspected(replace(EVERYWHERE, environment=environment))
    dump = Dump(place.dump)
    rows, without_callers = (
        {kind: [_text(row) for row in read.rows(kind)] for kind in set(FACTS) - OF_OTHERS}
        for read in (dump, dump.as_recorded())
    )
    wanted = (*GRAPH_FILES, paths.IR_PRE_FUSION, paths.IR_POST_FUSION, *SOURCES)
    files = {
        str(path.relative_to(place.dump)): _BY_CHANCE.sub("ID", path.read_text())
        for path in sorted((place.dump / paths.GRAPHS).rglob("*"))
        if path.name in wanted
    }
    return Record(outcome, rows, without_callers, files, dump.rows(Hook))


@pytest.fixture(scope="module")
def warm(caches: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Where hundreds of runs differ in their faults alone: torch is loaded once for all of them."""
    root = tmp_path_factory.mktemp("warm")
    if HAS_CUDA:
        yield Place(root, caches, PROGRAMS)
        return
    place = WarmPlace(root, caches, PROGRAMS, AT_START)
    yield place
    place.close()


@pytest.fixture(scope="module")
def alone(warm: Place) -> Outcome:
    """What the program is without us."""
    return warm.plain(replace(EVERYWHERE, environment=AT_START))


@pytest.fixture(scope="module")
def healthy(warm: Place, alone: Outcome) -> Record:
    found = record(warm, {})
    assert difference(alone, found.outcome) == ""
    return found


def check(faulty: Record, healthy: Record, alone: Outcome, targets: list[str]) -> None:
    """The program is what it is alone; in the dump nothing differs that these hooks do not feed."""
    assert difference(alone, faulty.outcome) == ""
    feeds = [HOOKS[target] for target in targets]
    fed = {kind for part in feeds for kind in part.kinds}
    has_callers = facts.CallSite not in fed
    for kind in set(FACTS) - OF_OTHERS - fed:
        rows, expected = (
            (record.rows if has_callers else record.without_callers)[kind] for record in (faulty, healthy)
        )
        assert len(rows) == len(expected), kind.__name__
        assert [pair for pair in zip(rows, expected, strict=True) if pair[0] != pair[1]][:1] == [], kind.__name__
    ends = tuple(end for part in feeds for end in part.files)
    whole = {name: text for name, text in healthy.files.items() if not name.endswith(ends)}
    assert {name: text for name, text in faulty.files.items() if not name.endswith(ends)} == whole


def shown(place: Place, table: str) -> str:
    """A table of the dump, on a wide terminal."""
    done = run([*COMMAND, "show", place.dump, table], place.root, environment={"COLUMNS": "300"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def failed(record: Record) -> dict[str, str]:
    """Hooks that the dump says failed, and why."""
    return {hook.target: hook.reason for hook in record.hooks if hook.state == "failed"}


def called(targets: dict[str, Feeds]) -> set[str]:
    return {target for target, feeds in targets.items() if feeds.called and target not in UNCALLED}


def test_every_hook_is_in_the_list(dump_of: DumpOf) -> None:
    hooks = Dump(dump_of("conv_bias").dump).rows(Hook)
    assert len(hooks) > 100
    assert {hook.target for hook in hooks} - HOOKS.keys() == set()


@pytest.mark.harmless
def test_the_program_calls_every_hook(healthy: Record) -> None:
    assert {hook.state for hook in healthy.hooks} <= {"closed", "missing"}
    assert {hook.target for hook in healthy.hooks} - HOOKS.keys() == set()
    missing = {hook.target for hook in healthy.hooks if hook.state == "missing"}
    assert {hook.target for hook in healthy.hooks if hook.calls} ^ called(HOOKS) == missing & called(HOOKS)


@pytest.mark.harmless
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_whose_hooks_raise_leaves_the_others_whole(
    stage: str, warm: Place, alone: Outcome, healthy: Record
) -> None:
    faulty = record(warm, dict.fromkeys(STAGES[stage], RAISES))
    check(faulty, healthy, alone, list(STAGES[stage]))
    assert failed(faulty).keys() <= STAGES[stage].keys()
    assert all("RuntimeError: a fault from outside" in reason for reason in failed(faulty).values())


@pytest.mark.harmless
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_that_this_torch_lacks_leaves_the_others_whole(
    stage: str, warm: Place, alone: Outcome, healthy: Record
) -> None:
    faulty = record(warm, dict.fromkeys(STAGES[stage], MISSING))
    check(faulty, healthy, alone, list(STAGES[stage]))
    assert failed(faulty) == {}
    missing = {hook.target: hook.reason for hook in faulty.hooks if hook.state == "missing"}
    lacking = {hook.target for hook in healthy.hooks if hook.state == "missing"}
    assert missing.keys() == STAGES[stage].keys() & {hook.target for hook in healthy.hooks} | lacking
    assert all("AttributeError" in reason and "(seen in torch " in reason for reason in missing.values())


@pytest.mark.harmless
@pytest.mark.parametrize("lacking", LOOKED_UP, ids=str)
def test_an_object_that_this_torch_lacks_costs_what_it_feeds(
    lacking: Name, warm: Place, alone: Outcome, healthy: Record
) -> None:
    faulty = record(warm, {}, lacking=str(lacking))
    assert difference(alone, faulty.outcome) == ""
    assert failed(faulty) == {}
    kinds = set(FACTS) - OF_OTHERS - set(LOOKED_UP[lacking])
    assert {kind: len(faulty.rows[kind]) for kind in kinds} == {kind: len(healthy.rows[kind]) for kind in kinds}


@pytest.mark.parametrize("fault", [RAISES, pytest.param(NONSENSE, marks=pytest.mark.harmless)])
def test_all_at_once(fault: str, place: Place, plain: Outcome) -> None:
    faulty = record(place, {EVERY_HOOK: fault})
    assert difference(plain, faulty.outcome) == ""
    if fault == RAISES:
        assert len(failed(faulty)) > 10


@pytest.mark.harmless
def test_a_slow_hook_stands_aside_and_every_view_says_so(warm: Place, alone: Outcome, healthy: Record) -> None:
    target = str(inductor.REALIZE)
    faulty = record(warm, {target: SLEEPS})
    check(faulty, healthy, alone, [target])
    assert failed(faulty).keys() == {target}
    reason = failed(faulty)[target]
    assert "it cost" in reason
    said = f"The probe of {target.removeprefix('torch.')} was turned off: {reason}"
    assert said in " ".join(shown(warm, "summary").split())
    table = shown(warm, "overhead").splitlines()
    assert [reason in line for line in table if target.removeprefix("torch.") in line] == [True]
    page = run_page(Dump(warm.dump), has_program=False)
    assert f"✗ {target}  failed {reason}" in [line.plain for line in page]


@pytest.mark.harmless
@pytest.mark.parametrize("fault", [RAISES, NONSENSE, SLEEPS])
@pytest.mark.parametrize("target", sorted(called(HOOKS)))
def test_each_in_turn(target: str, fault: str, warm: Place, alone: Outcome, healthy: Record) -> None:
    faulty = record(warm, {target: fault})
    check(faulty, healthy, alone, [target])
    assert failed(faulty).keys() <= {target}
    if fault == RAISES and (target not in NOTED or failed(faulty)):
        assert "RuntimeError: a fault from outside" in failed(faulty)[target]
    elif fault == SLEEPS:
        assert all(reason.startswith("it cost ") for reason in failed(faulty).values())
