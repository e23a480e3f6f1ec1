"""Programs that really compile: one process and several, and what each leaves."""

import os
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from inspect_compile.analysis.overview.summary import summarize_run
from inspect_compile.child.limits.first import COMPILES
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import (
    CacheLookup,
    Fact,
    Frame,
    GraphBreak,
    GraphEnd,
    Guard,
    Hook,
    Imported,
    Kernel,
    Lowering,
    Node,
    Operation,
    Realize,
    Recompile,
    TimerBegan,
    WrapperLine,
)
from inspect_compile.finish import ARTIFACTS, ensure_finished
from tests.running import inspected, last_words, plain, without_clock, without_last_words

DERIVED = {paths.RUN, paths.FINISHED, paths.OVERVIEW, *ARTIFACTS}
"""Files that do not count for --max-dump."""

COMPILED = """
import torch
@torch.compile(backend="{backend}")
def double(x):
    return x * 2 + 1
"""


@pytest.fixture
def variables(inductor_cache: Path) -> dict[str, str]:
    return {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}


def write(folder: Path, code: str, backend: str = "eager") -> None:
    (folder / "script.py").write_text(COMPILED.format(backend=backend) + code)


def test_a_program_that_compiles(tmp_path: Path, variables: dict[str, str]) -> None:
    """And the same with --level facts, which leaves the tables and the code whole."""
    write(tmp_path, "print(double(torch.ones(3)))\nraise SystemExit(3)", "inductor")
    alone = plain(["script.py"], tmp_path, environment=variables)
    watched = inspected(["script.py"], tmp_path, environment=variables)
    bare = inspected(["script.py"], tmp_path, options=["--level", "facts", "--dump", "bare"], environment=variables)
    assert (bare.stdout, bare.returncode) == (alone.stdout, 3)
    check_without_texts(Dump(tmp_path / "dump"), Dump(tmp_path / "bare"), bare.stderr)
    assert (watched.stdout, watched.returncode) == (alone.stdout, 3)
    assert without_last_words(watched.stderr) == without_clock(alone.stderr)
    assert last_words(watched.stderr) == ["inspect-compile: 1 graph, 1 kernel in dump; see: inspect-compile show dump"]
    dump = Dump(tmp_path / "dump")
    assert (dump.run.status, dump.run.exit_code, dump.run.device) == ("finished", None, "cpu")
    assert {"python", "torch", "triton", "inspect_compile"} == set(dump.run.versions)
    hooks = dump.rows(Hook)
    assert {hook.state for hook in hooks} <= {"closed", "missing"}
    assert any(hook.calls and hook.seconds for hook in hooks)
    assert dump.other_processes == ()


def test_torch_that_compiles_nothing(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import torch, sys\nprint(torch.ones(2))\nprint('torch._dynamo' in sys.modules)"
    )
    alone, watched = plain(["script.py"], tmp_path), inspected(["script.py"], tmp_path)
    assert watched.stdout == alone.stdout
    assert "torch.compile was never called" in last_words(watched.stderr)[0]
    assert Dump(tmp_path / "dump").run.versions["torch"]


def test_another_backend_is_told(tmp_path: Path) -> None:
    write(tmp_path, "double(torch.ones(3))")
    result = inspected(["script.py"], tmp_path)
    assert "Dynamo compiled 1 frame, and no graph reached Inductor" in last_words(result.stderr)[0]
    assert len(Dump(tmp_path / "dump").rows(Frame)) == 1


def test_a_compile_that_fails_ends_as_it_would_alone(tmp_path: Path, variables: dict[str, str]) -> None:
    """No C++ compiler: the traceback is torch's, the last words say what to install."""
    write(tmp_path, "double(torch.ones(3) - 7)", "inductor")
    environment = {**variables, "CXX": "/no/compiler"}
    alone = plain(["script.py"], tmp_path, environment=environment)
    watched = inspected(["script.py"], tmp_path, environment=environment)
    assert (watched.stdout, watched.returncode) == (alone.stdout, 1)
    assert without_last_words(watched.stderr) == without_clock(alone.stderr)
    first = "\n".join(last_words(watched.stderr))
    assert "InvalidCxxCompiler: No working C++ compiler found" in first
    assert "apt-get install g++" in first
    run = Dump(tmp_path / "dump").run
    assert run.status == "raised"
    assert run.exit_code == 1


@pytest.mark.harmless
def test_graphs_beyond_the_limit_are_told(tmp_path: Path, variables: dict[str, str]) -> None:
    write(tmp_path, "double(torch.ones(3))\ntorch.compile(torch.cos)(torch.ones(4))", "inductor")
    result = inspected(["script.py"], tmp_path, options=["--graphs", "1"], environment=variables)
    assert last_words(result.stderr)[0].startswith("inspect-compile: 1 graph, 1 kernel in dump;")
    dump = Dump(tmp_path / "dump")
    assert len(dump.graphs()) == 1
    (left,) = dump.run.omitted
    assert (left.what, left.limit, left.count) == ("graphs", "--graphs 1", 1)
    assert last_words(result.stderr)[1] == f"inspect-compile: {left.message}"
    assert len(dump.rows(Frame)) == 2


def test_a_dump_stops_at_its_size_and_says_so(tmp_path: Path, variables: dict[str, str]) -> None:
    write(tmp_path, "double(torch.ones(3))", "inductor")
    result = inspected(["script.py"], tmp_path, options=["--max-dump", "16kB"], environment=variables)
    assert (result.stdout, result.returncode) == ("", 0)
    assert "the dump reached its limit of 16kB (--max-dump)" in last_words(result.stderr)[1]
    dump = Dump(tmp_path / "dump")
    assert [left.limit for left in dump.run.omitted] == ["--max-dump 16kB"]
    assert [end.status for end in dump.rows(GraphEnd)] == ["stopped"] * len(dump.graphs())
    written = [path for path in dump.root.rglob("*") if path.is_file() and path.name not in DERIVED]
    assert 0 < sum(path.stat().st_size for path in written) <= 16 << 10


def check_without_texts(whole: Dump, dump: Dump, stderr: str) -> None:
    """All but the texts; those for people are made by the first reader."""
    assert not (dump.root / paths.FINISHED).exists()
    assert ensure_finished(dump)
    (graph,) = dump.graphs()
    missing = {path.name for path in (whole.root / paths.graph_folder(graph.graph)).iterdir()} - {
        path.name for path in (dump.root / paths.graph_folder(graph.graph)).iterdir()
    }
    assert missing == {
        paths.FX_READABLE,
        paths.FX_RUNNABLE,
        paths.FX_TRANSFORMED,
        paths.IR_PRE_FUSION,
        paths.IR_POST_FUSION,
    }
    for table in (Node, Operation, Kernel, WrapperLine):
        assert dump.rows(table) == whole.rows(table)
    rows = [msgspec.structs.replace(row, result="", seconds=0.0) for row in whole.rows(Lowering)]
    assert [msgspec.structs.replace(row, seconds=0.0) for row in dump.rows(Lowering)] == rows
    (omission,) = dump.run.omitted
    assert (omission.what, omission.message) == (
        "texts",
        "--level facts: FX graphs and IR are in the tables only, and no graph can be replayed",
    )
    assert f"inspect-compile: {omission.message}" in last_words(stderr)


def test_a_frame_that_is_compiled_over_and_over_is_told_not_stored(tmp_path: Path) -> None:
    settings = "torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 100\n"
    settings += "torch._dynamo.config.automatic_dynamic_shapes = False\n"
    write(tmp_path, f"import torch._dynamo\n{settings}for n in range(2, 22): double(torch.ones(n))")
    result = inspected(["script.py"], tmp_path)
    dump = Dump(tmp_path / "dump")
    (left,) = dump.run.omitted
    assert (left.what, left.graph, left.count) == ("compiles", "0", 20 - COMPILES)
    assert left.message == f"double script.py:3 was compiled 20 times: the first {COMPILES} are recorded"
    assert f"inspect-compile: {left.message}" in last_words(result.stderr)
    assert [frame.graph for frame in dump.rows(Frame)] == [f"0/{index}" for index in range(COMPILES)]
    assert len(dump.rows(Recompile)) == COMPILES - 1
    assert {guard.graph for guard in dump.rows(Guard)} == {frame.graph for frame in dump.rows(Frame)}
    assert summarize_run(dump).recompiles == 19


def test_with_warm_caches_kept_the_dump_says_what_could_not_be_seen(tmp_path: Path, variables: dict[str, str]) -> None:
    write(tmp_path, "double(torch.ones(3))", "inductor")
    passed = inspected(["script.py"], tmp_path, options=["--dump", "again"], environment=variables)
    kept = inspected(["script.py"], tmp_path, options=["--cache", "keep"], environment=variables)
    assert "run without --cache keep" in last_words(kept.stderr)[0]
    dump = Dump(tmp_path / "dump")
    assert dump.run.cache == "keep"
    assert "hit" in {lookup.outcome for lookup in dump.rows(CacheLookup)}
    assert last_words(passed.stderr)[0].startswith("inspect-compile: 1 graph, 1 kernel in again;")
    assert len(Dump(tmp_path / "again").rows(Kernel)) == 1


FORKS = """
import os, sys
double(torch.ones(3))
for way in ("compiles and exits", "compiles and leaves", "compiles nothing"):
    pid = os.fork()
    if pid == 0:
        if way != "compiles nothing":
            torch._dynamo.reset()
            double(torch.ones(4))
        if way == "compiles and leaves":
            os._exit(0)
        sys.exit(0)
    print(os.waitpid(pid, 0)[1])
"""


def test_forks_that_compile_have_parts_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, FORKS)
    result = inspected(["script.py"], tmp_path)
    assert (result.stdout, result.returncode) == ("0\n0\n0\n", 0)
    assert len(last_words(result.stderr)) == 1 == result.stderr.count("inspect-compile: ")
    dump = Dump(tmp_path / "dump")
    assert len(dump.rows(Frame)) == 1
    parts = [Dump(path) for path in dump.other_processes]
    assert sorted(part.run.status for part in parts) == ["finished", "running"]
    assert all(part.run.parent_pid == dump.run.pid for part in parts)
    assert [len(part.rows(Frame)) for part in parts] == [1, 1]


WORKERS = """
import multiprocessing, sys
def work(number):
    double(torch.ones(number))
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        pool.map(work, [3])
        pool.close()
        pool.join()
    print("done")
"""


@pytest.mark.harmless
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_that_compile_have_parts_of_their_own(method: str, tmp_path: Path) -> None:
    write(tmp_path, WORKERS)
    result = inspected(["script.py", method], tmp_path)
    assert (result.stdout, result.returncode) == ("done\n", 0)
    assert last_words(result.stderr) == [
        "inspect-compile: 1 process that compiled in dump; see: inspect-compile show dump"
    ]
    (part,) = [Dump(path) for path in Dump(tmp_path / "dump").other_processes]
    assert (part.run.status, len(part.rows(Frame))) == ("finished", 1)


def test_a_shell_that_starts_python_leaves_the_top_to_it(tmp_path: Path) -> None:
    write(tmp_path, "double(torch.ones(3))\nprint('x')")
    result = inspected(["--", "bash", "-c", f"{sys.executable} script.py; exit 4"], tmp_path)
    assert (result.stdout, result.returncode) == ("x\n", 4)
    dump = Dump(tmp_path / "dump")
    assert dump.run.argv == (sys.executable, "script.py")
    assert (len(dump.rows(Frame)), dump.other_processes) == (1, ())
    assert last_words(result.stderr)[1] == "inspect-compile: recorded in dump"


@pytest.mark.harmless
def test_ranks_have_parts_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, "double(torch.ones(3))\ntorch._dynamo.graph_break()")
    code = f"RANK=0 {sys.executable} script.py & RANK=1 {sys.executable} script.py & wait"
    inspected(["--", sys.executable, "-c", f"import subprocess; subprocess.run({code!r}, shell=True)"], tmp_path)
    parts = [Dump(path) for path in Dump(tmp_path / "dump").other_processes]
    assert [(part.root.name, part.run.rank) for part in parts] == [("rank_0", 0), ("rank_1", 1)]


RANK_THAT_STARTS_ANOTHER = """
import subprocess, sys
double(torch.ones(3))
if len(sys.argv) == 1:
    subprocess.run([sys.executable, "script.py", "again"], check=True)
"""


@pytest.mark.harmless
def test_what_a_rank_starts_stands_beside_it(tmp_path: Path) -> None:
    write(tmp_path, RANK_THAT_STARTS_ANOTHER)
    inspected(["--", "bash", "-c", f"RANK=3 {sys.executable} script.py; exit 0"], tmp_path)
    own, other = Dump(tmp_path / "dump").other_processes
    assert (own.name, Dump(own).run.argv[1:]) == ("rank_3", ("script.py",))
    assert other.name == f"rank_3-pid_{Dump(other).run.pid}"
    assert Dump(other).run.argv[1:] == ("script.py", "again")


PYTEST = """
import torch
@torch.compile(backend="eager")
def double(x):
    return x * 2
def test_double():
    assert double(torch.ones(3)).sum() == 6
def test_that_fails():
    assert double(torch.ones(3)).sum() == 7
"""


@pytest.mark.harmless
def test_pytest_is_one_process_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(PYTEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    result = inspected(["--", *command], tmp_path)
    assert result.returncode == 1
    assert "1 failed, 1 passed" in result.stdout
    dump = Dump(tmp_path / "dump")
    assert (dump.run.argv[1:3], dump.run.status) == (("-m", "pytest"), "finished")
    assert [frame.function for frame in dump.rows(Frame)] == ["double"]


SERVER = """
import multiprocessing
def serve(requests, answers):
    while True:
        answers.put(double(torch.ones(requests.get())).sum().item())
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    requests, answers = context.Queue(), context.Queue()
    server = context.Process(target=serve, args=(requests, answers))
    server.start()
    requests.put(5)
    print(answers.get())
    server.terminate()
    server.join()
    print(server.exitcode)
"""


@pytest.mark.harmless
def test_a_server_that_is_ended_by_a_signal_leaves_what_it_compiled(tmp_path: Path) -> None:
    write(tmp_path, SERVER)
    result = inspected(["script.py"], tmp_path)
    assert (result.stdout, result.returncode) == ("15.0\n-15\n", 0)
    (part,) = [Dump(path) for path in Dump(tmp_path / "dump").other_processes]
    assert (part.run.status, len(part.rows(Frame))) == ("running", 1)
    assert last_words(result.stderr) == [
        "inspect-compile: 1 process that compiled in dump; see: inspect-compile show dump"
    ]


@pytest.mark.harmless
@pytest.mark.parametrize("start", ["fork", "spawn", "subprocess"])
def test_workers_that_build_kernels_take_nothing_away(start: str, tmp_path: Path, variables: dict[str, str]) -> None:
    write(tmp_path, "if __name__ == '__main__':\n    print(double(torch.ones(3)))", "inductor")
    environment = {**variables, "TORCHINDUCTOR_WORKER_START": start, "TORCHINDUCTOR_COMPILE_THREADS": "2"}
    alone = plain(["script.py"], tmp_path, environment=environment)
    result = inspected(["script.py"], tmp_path, environment=environment)
    assert (result.stdout, result.returncode) == (alone.stdout, 0)
    dump = Dump(tmp_path / "dump")
    assert (len(dump.graphs()), len(dump.rows(Kernel)), dump.other_processes) == (1, 1, ())


@pytest.mark.harmless
def test_a_process_that_compiles_graphs_for_another_is_watched(tmp_path: Path, variables: dict[str, str]) -> None:
    write(tmp_path, "if __name__ == '__main__':\n    print(double(torch.ones(3)))", "inductor")
    here = inspected(["script.py"], tmp_path, options=["--dump", "here"], environment=variables)
    environment = {
        **variables,
        "TORCHINDUCTOR_FX_COMPILE_MODE": "SUBPROCESS",
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",  # what `alone` would be served from, after the first run
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
    }
    alone = plain(["script.py"], tmp_path, environment=environment)
    away = inspected(["script.py"], tmp_path, environment=environment)
    assert (away.stdout, away.returncode) == (here.stdout, 0)
    assert without_last_words(away.stderr) == without_clock(alone.stderr)
    expected = Dump(tmp_path / "here")
    (part,) = [Dump(path) for path in Dump(tmp_path / "dump").other_processes]
    ((graph, other),) = zip(expected.graphs(), part.graphs(), strict=True)
    kinds: tuple[type[Fact], ...] = (Node, Lowering, Realize, Operation, Kernel, WrapperLine)
    for kind in kinds:
        assert len(part.rows(kind, other.graph)) == len(expected.rows(kind, graph.graph)) > 0
    assert part.text(other.graph, "output_code.py") == expected.text(graph.graph, "output_code.py")
    assert f"compiled graphs for process {Dump(tmp_path / 'dump').run.pid}" in part.run.notes[0]


def test_a_killed_program_leaves_what_it_had_seen(tmp_path: Path) -> None:
    write(tmp_path, "double(torch.ones(3))\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    result = inspected(["script.py"], tmp_path)
    assert (result.returncode, result.stderr) == (-9, "")
    dump = Dump(tmp_path / "dump")
    assert dump.run.status == "running"
    assert len(dump.rows(Frame)) == 1
    assert dump.rows(GraphBreak) == []


def test_what_began_before_a_program_was_killed_is_there(tmp_path: Path, variables: dict[str, str]) -> None:
    """While a compiler runs, or before the first compile, nothing else is recorded, so that nothing else is written."""
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(0.05)\n")
    (tmp_path / "early.py").write_text("import slow, os, torch\nos.kill(os.getpid(), 9)\n")
    assert inspected(["early.py"], tmp_path, options=["--dump", "early"]).returncode == -9
    assert [row.module for row in Dump(tmp_path / "early").rows(Imported)] == ["slow", "torch"]

    seldom = "from inspect_compile.dump import writer\nwriter.FLUSH_SECONDS = 60"  # also where the machine is slow
    uncached = f"torch.compile(lambda x: x * {os.getpid()})(torch.ones(3))"
    write(tmp_path, f"{seldom}\nimport slow\n{uncached}")
    compiler = tmp_path / "bin" / "g++"
    compiler.parent.mkdir()
    kills = 'case "$word" in *.cpp) if grep -q PyInit_kernel "$word"; then kill -9 $PPID; fi;; esac'
    compiler.write_text(f'#!/bin/sh\nfor word; do {kills}; done\nexec {shutil.which("g++")} "$@"\n')
    compiler.chmod(0o755)
    variables |= {"PATH": f"{compiler.parent}:{os.environ['PATH']}", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    assert inspected(["script.py"], tmp_path, environment=variables).returncode == -9
    dump = Dump(tmp_path / "dump")
    assert dump.rows(TimerBegan)[-1].name == "compile_file"
    assert {"torch", "slow"} < {row.module for row in dump.rows(Imported)}
