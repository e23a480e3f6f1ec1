"""Hostile programs and samples: the same output, end, files and generated code, plain and inspected."""

from dataclasses import replace

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Frame
from tests.conftest import SAMPLES
from tests.harmless.harness import Case, Place, unharmed

CACHES_OFF = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
"""For a program that compiles one graph twice: alone it would take the second one from the cache."""


def case(program: str, *arguments: str, **environment: str) -> Case:
    """`python PROGRAM.py ARGUMENTS…` with environment variables."""
    return Case(f"{program}.py", (f"{program}.py", *arguments), environment)


TIMES = (
    r"\d+\.\d+ ?[mu]?s\b",
    r"(?<=utils\.py:\d{3}\] ).*, \d+\.\d+",
    r"(?<=Writing AOTAutograd cache entry to ).*",
)
"""Where torch logs how long something took, or the hash of something that holds it."""

TRACE = (
    r"(?<=dedicated_log_torch_trace_)\w+",
    r'(?<="has_payload": ")\w+',
    r'"(ts|\w*(time|latency|duration)\w*|\w+_(s|ms|us|ns))": [\d.]+',
)
"""Times in the trace that torch writes, and hashes of what holds them."""

COMPILES_COSINE = "import torch\nprint(torch.compile(torch.cos)(torch.ones(2)), __name__, __file__)"

SHORT = {
    "exits in a thread": case("exits_in_thread"),
    "backend raises, verbose": case("backend_raises", TORCHDYNAMO_VERBOSE="1"),
    "lowering raises": case("lowering_raises"),
    "leaves at once": case("leaves_at_once"),
    "SIGTERM": case("signalled", "SIGTERM", "default"),
    "SIGINT": case("signalled", "SIGINT", "default"),
    "replaces stdout": case("replaces_stdout"),
    "a watchdog": case("watchdog", "2.0"),
    "a ticker": replace(case("ticker", "1.0"), by_chance=(r"\A(?:tick\n)+",)),
    "becomes itself": case("becomes_itself", "1"),
    "files are limited": case("limits_files", "1000"),
    "other files take the place of its streams": case("closes_streams", "reused"),
    "replaces a clock": case("replaces_clocks", "perf_counter"),
    "replaces a clock, later": case("replaces_clocks", "monotonic", "later"),
    "replaces functions": case("replaces_functions"),
    "local modules": Case("local_modules", ("local_modules/script.py",)),
}

LONG = {
    **{f"replaces {name}": case("replaces_clocks", name) for name in ("time", "monotonic", "get_count", "get_stats")},
    "replaces get_count, later": case("replaces_clocks", "get_count", "later"),
    "replaces perf_counter, later": case("replaces_clocks", "perf_counter", "later"),
    "looks around": case("looks_around"),
    "torch logs": replace(case("sets_torch_logs"), by_chance=TIMES),
    "raises when run": case("raises_when_run"),
    "raises when run, verbose": case("raises_when_run", TORCHDYNAMO_VERBOSE="1"),
    "raises when traced": case("raises_when_traced"),
    "raises when traced, verbose": case("raises_when_traced", TORCHDYNAMO_VERBOSE="1"),
    "backend raises": case("backend_raises"),
    "lowering raises, verbose": case("lowering_raises", TORCHDYNAMO_VERBOSE="1"),
    "no C++ compiler": case("forks", CXX="/nonexistent"),
    "SIGINT is heard": case("signalled", "SIGINT", "notes"),
    "SIGTERM is heard": case("signalled", "SIGTERM", "notes"),
    "SIGALRM raises": case("signalled", "SIGALRM", "raises"),
    "SIGSEGV": case("signalled", "SIGSEGV", "default"),
    "workers are forked": case("loads_data", "fork"),
    "workers are spawned": case("loads_data", "spawn"),
    "threads": replace(case("compiles_in_threads"), by_chance=(r"AOT ID: \['\d+_",)),
    "writes at exit": case("writes_at_exit"),
    "forks": case("forks"),
    "reads stdin": Case("reads_stdin.py", ("reads_stdin.py",), stdin="one\n2\n3\n"),
    "stdin is the script": Case("reads_stdin.py", ("-", "a"), stdin=COMPILES_COSINE),
    "changes directory": case("changes_directory"),
    "run with -m": Case("package", ("-m", "package", "-m", "--dump")),
    "no ASCII": Case("writes_at_exit.py", ("größe/模型 ⚙.py", "é"), path="größe/模型 ⚙.py"),
    "warnings are errors": case("warnings_are_errors"),
    "looks at its stack": case("looks_at_its_stack"),
    "pickles its class": case("pickles_its_class"),
    "lets go": case("lets_go"),
    "becomes itself twice": case("becomes_itself", "2"),
    "finds all modules": case("finds_modules", "delegates"),
    "finds and loads all modules": case("finds_modules", "makes"),
    "pickles torch": case("pickles_torch"),
    "resets": case("resets", **CACHES_OFF),
    "compile debug": replace(case("sets_compile_debug"), by_chance=(*TIMES, *TRACE)),
    "fullgraph": case("fullgraph", **CACHES_OFF),
    "dynamic": case("dynamic", **CACHES_OFF),
    "reduce-overhead": case("modes", "reduce-overhead"),
    "max-autotune": case("modes", "max-autotune"),
    "export": case("exports", **CACHES_OFF),
    "asks where": replace(case("asks_where", TORCH_LOGS="dynamic,guards,recompiles"), by_chance=TIMES),
    "goes on after breaks": case("goes_on_after_breaks"),
    "tasks": case("runs_tasks"),
    "traces its lines": case("traces_lines"),
    "imports fail": case("fails_to_import"),
    **{f"closes its {how}": case("closes_streams", how) for how in ("streams", "descriptors")},
    "has no streams": case("closes_streams", "none"),
    "closes all else": case("closes_streams", "rest"),
    "outlives its main thread": case("outlives_main"),
    "runs other programs": case("runs_others"),
    **{f"is short of {what}": case("is_short_of_all", what) for what in ("recursion", "exhausted")},
    "AOTInductor": case("ahead_of_time", "package"),
    "C++ wrapper": case("ahead_of_time", "wrapper"),
}

WAYS = {
    "uses_the_library": (
        *("asyncio", "contextvars", "code", "doctest", "unittest", "cprofile", "runpy", "threads", "processes"),
        *("excepthooks", "atexit", "atexit_at_once", "mock", "inspect", "copies", "alone", "sqlite", "ctypes"),
        *("sorting", "generators", "finalizers", "warnings", "contexts", "logging", "logging_off"),
    ),
    "hears_signals": (
        *("blocked", "wakes_up", "profiled", "itself", "children", "no_children", "pipe", "computes_long", "faults"),
        *("collected", "callback_raises", "frozen", "often", "never", "references", "counts", "descriptors"),
        *("profile_of_calls", "monitoring", "audits"),
    ),
    "replaces_more": (
        *("time_goes_back", "time_stands_still", "time_jumps", "no_clocks", "another_year", "no_sleep", "sorted_"),
        *("json_", "hashes", "threads", "numbers", "language", "environment", "path", "modules", "streams", "argv"),
        *("umask", "directory", "digits", "import_"),
    ),
    "compiles_otherwise": (
        *("many_recompiles", "the_limit", "the_limit_raises", "inner_compile", "another_backend", "reloads", "deep"),
        *("conditional", "own_operator", "own_gradient", "hooks_of_tensors", "subclass", "vmap", "compiled_autograd"),
        *("optimizer", "checkpoint", "disabled", "inference", "scripted", "sizes", "runs_us", "explains"),
    ),
}
"""Programs of which each argument is one of its own."""

ENVIRONMENTS: dict[str, dict[str, str]] = {
    "development mode": {"PYTHONDEVMODE": "1"},
    "no docstrings": {"PYTHONOPTIMIZE": "2"},
    "memory is checked": {"PYTHONMALLOC": "debug"},
    "faults are told": {"PYTHONFAULTHANDLER": "1"},
    "ASCII": {"PYTHONIOENCODING": "ascii"},
    "nothing is buffered": {"PYTHONUNBUFFERED": "1"},
    "all warnings are shown": {"PYTHONWARNINGS": "default"},
    "no folder on the path": {"PYTHONSAFEPATH": "1", "PYTHONNOUSERSITE": "1"},
    "other hashes": {"PYTHONHASHSEED": "7"},
    "one thread": {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
    "no workers": {"TORCHINDUCTOR_COMPILE_THREADS": "1"},
    "workers": {"TORCHINDUCTOR_COMPILE_THREADS": "4"},
    "no caches": {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"},
    "freezing": {"TORCHINDUCTOR_FREEZING": "1"},
    "a wrapper in C++": {"TORCHINDUCTOR_CPP_WRAPPER": "1"},
    "autotuning": {"TORCHINDUCTOR_MAX_AUTOTUNE": "1"},
    "other names of kernels": {"TORCHINDUCTOR_UNIQUE_KERNEL_NAMES": "0"},
    "no home": {"HOME": "/nonexistent"},
    "all logs": {"TORCH_LOGS": "+dynamo,+aot,+inductor"},
    "logs and a trace": {"TORCH_LOGS": "+dynamo,output_code", "TORCH_TRACE": "trace"},
}

WAY_CASES = {f"{program}, {way}": case(program, way, **CACHES_OFF) for program, ways in WAYS.items() for way in ways}
WAY_CASES["hears_signals, faults"] = replace(WAY_CASES["hears_signals, faults"], by_chance=(r"Extension modules: .*",))
ENVIRONMENT_CASES = {
    name: replace(case("one_kernel", **environment), by_chance=(*TIMES, *TRACE))
    for name, environment in ENVIRONMENTS.items()
}

UNSEEN = {
    "no UTF-8": Case("writes_at_exit.py", ("gr\udcfc/m\udcffdel.py", "\udcfe"), path="gr\udcfc/m\udcffdel.py"),
}
"""torch itself fails at such a path, before there is anything to record."""

SAMPLE_CASES = {path.stem: Case(path.name, (path.name,)) for path in sorted(SAMPLES.glob("*.py"))}

NEEDS_GPU = {"user_triton_kernel"}
"""Samples that elsewhere only say so."""


def recorded(parts: list[Dump]) -> bool:
    """Was anything that the compiler did recorded?"""
    return any(part.rows(Frame) or part.rows(DynamoNode) or part.graphs() for part in parts)


@pytest.mark.parametrize("case", SHORT.values(), ids=SHORT.keys())
def test_hostile_program(case: Case, place: Place) -> None:
    assert recorded(unharmed(place, case))


@pytest.mark.harmless
@pytest.mark.parametrize("case", LONG.values(), ids=LONG.keys())
def test_other_hostile_program(case: Case, place: Place) -> None:
    assert recorded(unharmed(place, case))


@pytest.mark.harmless
@pytest.mark.parametrize("case", WAY_CASES.values(), ids=WAY_CASES.keys())
def test_way(case: Case, place: Place) -> None:
    assert recorded(unharmed(place, case))


@pytest.mark.harmless
@pytest.mark.parametrize("case", ENVIRONMENT_CASES.values(), ids=ENVIRONMENT_CASES.keys())
def test_environment(case: Case, place: Place) -> None:
    assert recorded(unharmed(place, case))


@pytest.mark.harmless
@pytest.mark.parametrize("case", UNSEEN.values(), ids=UNSEEN.keys())
def test_where_torch_fails(case: Case, place: Place) -> None:
    parts = unharmed(place, case)
    assert not recorded(parts)
    assert parts[0].run.exception is not None


@pytest.mark.harmless
@pytest.mark.parametrize("name", SAMPLE_CASES)
def test_sample(name: str, samples_place: Place) -> None:
    assert recorded(unharmed(samples_place, SAMPLE_CASES[name])) == (name not in NEEDS_GPU)
