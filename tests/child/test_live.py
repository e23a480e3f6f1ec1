"""--live and INSPECT_COMPILE=live: what is told while a program runs, and that nothing else changes."""

import io
import json
import os
import sys
from pathlib import Path

import msgspec
import pytest

from inspect_compile.child.live import live
from inspect_compile.child.live.events import Event, Watched
from inspect_compile.child.live.live import AT_ONCE, Live
from inspect_compile.child.live.metrics import Metrics
from inspect_compile.child.live.words import MOST, line_of
from inspect_compile.child.stderr import Stderr
from inspect_compile.facts import (
    CacheLookup,
    CudaGraph,
    Fact,
    FailedGuard,
    FirstCall,
    Frame,
    KernelLookup,
    KeyMember,
    KeyPart,
    Location,
    Recompile,
    Recording,
    Timed,
)
from tests.running import inspected, plain, run

AGAIN = """
import sys, torch
@torch.compile(backend="eager", dynamic=False)
def f(x, n):
    return x + n
for n in range(10):
    f(torch.ones(2), n)
print("printed")
print("warned", file=sys.stderr)
"""


def events(*facts: Fact) -> list[Event]:
    watched = Watched()
    return [event for fact in facts for event in watched.saw(fact)]


def lines(*facts: Fact) -> list[str]:
    return [line_of(event) for event in events(*facts)]


def frame(graph: str, seconds: float = 0.1) -> Frame:
    return Frame(graph=graph, function="f", file="/a/net.py", line=3, seconds=seconds, status="compiled")


def timed(name: str, start: float, seconds: float) -> Timed:
    return Timed(graph="0/0", name=name, start=start, seconds=seconds)


def recompile(number: int) -> Recompile:
    guard = FailedGuard(
        compile_id="0/0", condition="n == 4", what="n", before="4", after="5", where=Location("/a/net.py", 7)
    )
    return Recompile(
        graph=f"0/{number}", function="f", file="/a/net.py", line=3, reasons=("0/0: n == 4",), failed=(guard,)
    )


def lookup(graph: str, outcome: str, cache: str = "fx_graph", **components: str) -> CacheLookup:
    return CacheLookup(graph=graph, cache=cache, outcome=outcome, key=str(components), components=components)


def test_a_slow_compile_says_what_took_longest() -> None:
    inside = timed("async_compile.wait", 11.0, 2.0), timed("GraphLowering.compile_to_fn", 10.5, 3.0)
    told = lines(*inside, timed("entire_frame_compile", 10.0, 5.0), frame("0/0", 5.0), frame("1/0", 0.9))
    stages = "building kernels 2.0 s; Dynamo 2.0 s; code generation 1.0 s"
    assert told == [f"inspect-compile: compiled 0/0 of f (net.py:3) in 5.0 s: {stages}"]


def test_a_backward_that_is_compiled_later() -> None:
    (told,) = lines(frame("0/0"), timed("entire_backward_compile", 20.0, 1.5))
    assert told == "inspect-compile: compiled 0/0 of f (backward) (net.py:3) in 1.5 s: AOTAutograd 1.5 s"


def test_a_compile_ahead_of_time_has_no_frame() -> None:
    """As vLLM has it: its timers name no compile, and those of earlier work and other threads do not count."""
    rows = [
        timed("async_compile.wait", 1.0, 9.0),
        timed("async_compile.wait", 22.0, 3.0),
        timed("compile_file", 22.0, 3.0),
        timed("create_aot_dispatcher_function", 21.0, 8.0),
        timed("fullgraph_capture", 20.0, 9.5),
    ]
    rows = [msgspec.structs.replace(row, graph="", thread=int(row.name == "compile_file")) for row in rows]
    (told,) = lines(*rows)
    assert told == (
        "inspect-compile: compiled ahead of time in 9.5 s: AOTAutograd 5.0 s; building kernels 3.0 s; Dynamo 1.5 s"
    )


def test_a_recompile_and_the_limit_which_is_told_once() -> None:
    beyond = msgspec.structs.replace(
        frame("0/8"), status="skipped", limit="recompile_limit", reason="compiled too often"
    )
    assert lines(recompile(1), *[beyond] * 3) == [
        "inspect-compile: recompile 0/1 of f (net.py:3): n: 4 → 5, needed at net.py:7",
        "inspect-compile: limit reached, 0/8 of f (net.py:3): compiled too often",
    ]


def test_a_cache_miss_names_the_factor() -> None:
    """Not at a first start, where every cache is empty, nor where another graph is compiled because of a guard."""
    parts = [
        KeyPart(name="inductor_config", checksum=one, members={"max_autotune": KeyMember(one, value)})
        for one, value in (("a", "False"), ("b", "True"))
    ]
    first = lookup("0/0", "miss", gm="1", inductor_config="a")
    ran = FirstCall(graph="0/0", part="forward", start=0.0, seconds=0.1)
    other = lookup("0/1", "miss", gm="2", inductor_config="a")
    changed = lookup("1/0", "miss", gm="1", inductor_config="b")
    ours = CacheLookup(graph="2/0", cache="fx_graph", outcome="passed over", stored=True)
    told = lines(*parts, first, ran, recompile(1), other, changed, ours)
    assert told[1:] == [
        "inspect-compile: cache miss, 1/0 of fx_graph: torch._inductor.config.max_autotune: False → True"
    ]
    assert events(first) == []


def test_both_caches_of_a_graph_miss_as_one() -> None:
    ran = FirstCall(graph="0/0", part="forward", start=0.0, seconds=0.1)
    both = lookup("1/0", "miss", "aot_autograd"), lookup("1/0", "miss")
    assert [event.event for event in events(ran, *both, frame("1/0"))] == ["cache miss"]
    only = lookup("1/0", "miss", "aot_autograd"), lookup("1/0", "hit")
    assert [event.name for event in events(ran, *only, frame("1/0"))] == ["aot_autograd"]
    alone = events(ran, lookup("1/0", "miss", "aot_autograd"), frame("1/0"))
    assert [line_of(one) for one in alone] == [
        "inspect-compile: cache miss, 1/0 of aot_autograd: what differs from earlier keys is not known"
    ]


def test_a_stored_model_that_could_not_be_loaded() -> None:
    failed = CacheLookup(graph="", cache="vllm", outcome="failed", reason="Compile cache file corrupted.", key="cafe")
    assert lines(failed) == [
        "inspect-compile: cache miss, vllm: the entry could not be loaded: Compile cache file corrupted."
    ]


def test_a_kernel_of_the_program_that_is_built_in_a_call() -> None:
    def build(arguments: str, graph: str = "") -> KernelLookup:
        return KernelLookup(
            graph=graph,
            cache="triton",
            kernel="add",
            outcome="miss",
            key=arguments,
            components={"arguments": arguments},
        )

    parts = [
        KeyPart(name="arguments", checksum=one, members={"n": KeyMember(one, value)})
        for one, value in (("a", "i32"), ("b", "constexpr 1"))
    ]
    why = "types and values of the kernel's arguments n: i32 → constexpr 1"
    told = lines(*parts, build("a"), build("b"), build("c", graph="0/0"))
    assert told == [f"inspect-compile: Triton kernel add built in a call: {why}"]


def test_a_cuda_graph_that_is_recorded_again() -> None:
    def row(*why: str) -> CudaGraph:
        made = tuple(Recording(node=at, why=one, inputs=("x",), where="net.py:9") for at, one in enumerate(why))
        return CudaGraph(graph="model__0", number=1, compile_id="0/0", recorded=len(why), recordings=made)

    told = events(row("first"), row("first"), row("first", "another path"), row("first", "another path", "new address"))
    assert [line_of(one) for one in told] == [
        "inspect-compile: CUDA graph recorded again, 0/0 of model__0: new address; x at net.py:9"
    ]


def test_a_line_is_one_line_without_escape_codes() -> None:
    line = line_of(Event(event="recompile", compile_id="0/1", name="f\x1b[31m\n", why=("x" * 5000,)))
    assert line.isprintable()
    assert len(line) < MOST + 50
    assert line.endswith("…")


def test_too_many_lines_are_counted() -> None:
    now, said = [0.0], []

    def say(line: str) -> bool:
        said.append(line)
        return True

    told = Live(say, leader=os.getpid(), clock=lambda: now[0])
    for number in range(100):
        told.saw(recompile(number))
    assert len(said) == AT_ONCE
    now[0] = 0.5
    told.saw(recompile(100))
    assert [line.split(": ", 1)[1] for line in said[AT_ONCE:]] == [
        "80 lines left out: too many at once\n",
        "recompile 0/100 of f (net.py:3): n: 4 → 5, needed at net.py:7\n",
    ]
    told.saw(recompile(101))
    told.close()
    assert said[-1] == "inspect-compile: 1 lines left out: too many at once\n"


def test_what_fails_ends_the_lines_and_nothing_else() -> None:
    def say(line: str) -> bool:
        raise RuntimeError("no")

    told = Live(say)
    told.saw(recompile(1))
    told.saw(recompile(2))
    told.close()
    assert told.trouble == "--live ended early: RuntimeError: no"


def test_nothing_is_made_where_nothing_is_asked_for() -> None:
    assert live.of("", "", stderr=None, leader=None) is None


def test_the_figures(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "new")
    for fact in (frame("0/0", 1.5), frame("0/1", 0.5), recompile(1), lookup("0/0", "miss")):
        metrics.saw(fact)
    metrics.write(3)
    (path,) = (tmp_path / "new").iterdir()
    assert path.name == f"inspect_compile_{os.getpid()}.prom"
    labels = f'pid="{os.getpid()}",rank="3"'
    text = path.read_text()
    assert f"inspect_compile_compile_seconds_total{{{labels}}} 2\n" in text
    assert f"inspect_compile_recompiles_total{{{labels}}} 1\n" in text
    assert f'inspect_compile_graph_cache_total{{{labels},cache="fx_graph",outcome="miss"}} 1\n' in text
    assert [line for line in text.splitlines() if not line.startswith(("# HELP ", "# TYPE ", "inspect_compile_"))] == []


def test_a_pipe_that_another_program_reads_gets_no_line() -> None:
    before, (reads, writes) = os.dup(2), os.pipe()
    try:
        os.dup2(writes, 2)
        own = os.fstat(2)
        told = [Stderr(heard).say(f"{heard}\n") for heard in ((0, 0), (own.st_dev, own.st_ino))]
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(writes)
    assert told == [False, True]
    with os.fdopen(reads) as found:
        assert found.readline() == f"{(own.st_dev, own.st_ino)}\n"


def test_in_a_notebook_lines_are_a_part_of_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descriptor 2 is the terminal of the server there."""

    class OutStream(io.StringIO):
        __module__ = "ipykernel.iostream"

    cell = OutStream()
    monkeypatch.setattr(sys, "stderr", cell)
    assert Stderr((0, 0)).say("line\n")
    assert cell.getvalue() == "line\n"


def told_by(stderr: str) -> list[str]:
    return [
        line
        for line in stderr.splitlines()
        if line.startswith(("inspect-compile: recompile", "inspect-compile: limit"))
    ]


def test_a_program_is_as_alone_but_for_the_lines(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(f"{AGAIN}sys.exit(3)\n")
    alone = plain(["script.py"], tmp_path)
    watched = inspected(["script.py"], tmp_path, options=["--live", "--live-metrics", "figures"])
    assert (alone.returncode, alone.stdout) == (watched.returncode, watched.stdout) == (3, "printed\n")
    told = told_by(watched.stderr)
    assert told[0] == "inspect-compile: recompile 0/1 of f (script.py:3): n: 0 → 1, needed at script.py:5"
    assert len(told) == 9
    assert told[-1].startswith("inspect-compile: limit reached, 0/8 of f (script.py:3): recompile limit:")
    rest = [line for line in watched.stderr.splitlines() if not line.startswith("inspect-compile: ")]
    assert "warned" in rest
    (figures,) = (tmp_path / "figures").iterdir()
    assert "inspect_compile_recompiles_total{" in figures.read_text()


def test_objects(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(AGAIN)
    done = inspected(["script.py"], tmp_path, options=["--live=json"])
    rows = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert [row["event"] for row in rows if row["event"] != "compile"] == ["recompile"] * 8 + ["limit"]
    assert {row["pid"] for row in rows} == {rows[0]["pid"]}


def test_the_variable_and_a_child_whose_stderr_is_read(tmp_path: Path) -> None:
    """What a program reads of its child is what the child wrote."""
    (tmp_path / "child.py").write_text(AGAIN)
    (tmp_path / "script.py").write_text(
        "import subprocess, sys\n"
        "words = [sys.executable, 'child.py']\n"
        "done = subprocess.run(words, capture_output=True, text=True, check=True)\n"
        "print('inspect-compile: recompile' in done.stderr)\n"
        "subprocess.run(words, check=True)\n"
    )
    done = plain(["script.py"], tmp_path, environment={"INSPECT_COMPILE": "live", "INSPECT_COMPILE_DUMPS": "dumps"})
    assert done.stdout == "False\nprinted\n"
    told = [line for line in done.stderr.splitlines() if "recompile 0/1" in line]
    assert len(told) == 1
    assert told[0].startswith("inspect-compile [process ")


def test_what_comes_after_a_fork(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        f"import os\npid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\n    os._exit(0)\n{AGAIN}"
    )
    done = plain(["script.py"], tmp_path, environment={"INSPECT_COMPILE": "live"})
    assert len([line for line in done.stderr.splitlines() if "recompile 0/" in line]) == 8


def test_under_pytest_lines_are_seen_at_once_and_captured_by_no_test(tmp_path: Path) -> None:
    body = AGAIN.strip().replace("\n", "\n    ")
    (tmp_path / "test_it.py").write_text(
        f"def test_it(capfd):\n    {body}\n    assert 'inspect-compile' not in capfd.readouterr().err\n"
    )
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        ".",
        "test_it.py",
    ]
    done = run(words, tmp_path, environment={"INSPECT_COMPILE": "live"})
    assert done.returncode == 0, done.stdout
    assert len(told_by(done.stderr)) == 9
    assert "\x1b" not in done.stderr
