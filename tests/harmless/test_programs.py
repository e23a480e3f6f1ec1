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
    **{f"closes its {how}": case("closes_streams", how) for how in ("streams", "descriptors")},
    "has no streams": case("closes_streams", "none"),
    "closes all else": case("closes_streams", "rest"),
    "outlives its main thread": case("outlives_main"),
    "runs other programs": case("runs_others"),
    **{f"is short of {what}": case("is_short_of_all", what) for what in ("recursion", "exhausted")},
    "AOTInductor": case("ahead_of_time", "package"),
    "C++ wrapper": case("ahead_of_time", "wrapper"),
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
@pytest.mark.parametrize("case", UNSEEN.values(), ids=UNSEEN.keys())
def test_where_torch_fails(case: Case, place: Place) -> None:
    parts = unharmed(place, case)
    assert not recorded(parts)
    assert parts[0].run.exception is not None


@pytest.mark.harmless
@pytest.mark.parametrize("name", SAMPLE_CASES)
def test_sample(name: str, samples_place: Place) -> None:
    assert recorded(unharmed(samples_place, SAMPLE_CASES[name])) == (name not in NEEDS_GPU)
