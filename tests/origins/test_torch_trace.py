"""A TORCH_TRACE log beside a recording of the same process: what the log holds is what was recorded."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from inspect_compile.analysis.frontend.call_tree import compile_rows
from inspect_compile.dump import Dump
from inspect_compile.facts import (
    Artifact,
    Fact,
    Frame,
    Graph,
    GraphBreak,
    Kernel,
    Metrics,
    Operation,
    OriginRecords,
    Recompile,
    ShapeGuard,
    Symbol,
    Timed,
)
from inspect_compile.graph import Graphs
from inspect_compile.origins.torch_trace.reader import Trace
from tests.running import COMMAND, inspected, run

PROGRAM = Path(__file__).parent / "programs" / "traced.py"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, inductor_cache: Path) -> tuple[Dump, Dump]:
    """The recorded dump, and the one that is read from the log of the same process."""
    folder = tmp_path_factory.mktemp("traced")
    environment = {"TORCH_TRACE": str(folder / "log"), "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = inspected([PROGRAM], folder, environment=environment)
    assert done.returncode == 0, done.stderr
    read = run([*COMMAND, "import", "log", "-o", "read"], folder)
    assert read.returncode == 0, read.stderr
    return Dump(folder / "dump"), Dump(folder / "read")


def values(dump: Dump, kind: type[Fact], *names: str) -> list[Any]:
    return [tuple(getattr(row, name) for name in names) for row in dump.rows(kind)]


def test_frames_breaks_and_recompiles(both: tuple[Dump, Dump]) -> None:
    recorded, read = both
    for kind, names in (
        (Frame, ("graph", "file", "line", "status", "restarts", "graphs", "nodes", "reason")),
        (GraphBreak, ("graph", "reason", "explanation", "hints")),
        (Recompile, ("graph", "file", "line", "reasons")),
        (ShapeGuard, ("graph", "what", "expression", "reason")),
        (Graph, ("graph", "kind", "compile_id", "inputs", "device")),
    ):
        assert values(read, kind, *names) == values(recorded, kind, *names)
    # The log has names of functions without the class that they are in.
    for ours, theirs in zip(recorded.rows(Frame), read.rows(Frame), strict=True):
        assert ours.function.endswith(theirs.function)


def test_who_called_a_frame_is_known_where_torch_tells() -> None:
    """It leaves out frames next to the one that it compiles; where its own is there, the caller is the next."""

    def callers(*stack: tuple[int, int]) -> list[tuple[tuple[str, int] | None, tuple[str, int] | None]]:
        entries = [{"line": line, "name": "f", "filename": file} for file, line in stack]
        start = {"dynamo_start": {"stack": entries}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
        names = [{"str": ["net.py", 0]}, {"str": ["/x/torch/_dynamo/eval_frame.py", 1]}]
        rows = Trace().facts([b"V1 x] " + msgspec.json.encode(one) + b"\n" for one in (*names, start)])
        told = [(row.caller, row.within) for row in rows if isinstance(row, Frame)]
        return [tuple(one and (one.file, one.line) for one in both) for both in told]  # type: ignore[misc]

    assert callers((0, 30), (0, 20), (1, 736), (0, 5)) == [(("net.py", 20), None)]
    assert callers((0, 30), (0, 5)) == [(None, ("net.py", 30))]
    assert callers((0, 5)) == [(None, None)]
    [(_, within)] = callers(*[(0, line) for line in range(100_000)])
    assert within == ("net.py", 99_998)


def test_graphs_are_numbered_in_the_order_of_their_compiles() -> None:
    """One of which no other record comes before the log's end is not the last for that."""

    def record(frame: int, kind: str, what: object, text: str = "") -> bytes:
        head = {kind: what, "frame_id": frame, "frame_compile_id": 0, "attempt": 0}
        return b"V1 x] " + msgspec.json.encode(head | ({"has_payload": "0"} if text else {})) + f"\n\t{text}\n".encode()

    def compiled(frame: int, kind: str) -> list[bytes]:
        runnable = record(frame, "artifact", {"name": "fx_graph_runnable"}, "import torch")
        return [runnable, record(frame, "inductor_output_code", {}, f"# AOT ID: ['{frame}_{kind}']")]

    first = [*compiled(0, "inference"), record(0, "compilation_metrics", {})]
    second = [*compiled(1, "forward"), record(1, "compilation_metrics", {}), *compiled(1, "backward")]
    lines = b"".join([*first, *second]).splitlines(keepends=True)

    rows = [row.graph for row in Trace().facts(lines) if isinstance(row, Graph)]

    assert rows == ["model__0_inference_0.0", "model__1_forward_2.1", "model__1_backward_4.2"]


def test_symbols(both: tuple[Dump, Dump]) -> None:
    def told(dump: Dump, graph: str) -> list[Any]:
        rows = sorted(dump.rows(Symbol, graph), key=lambda row: row.name)
        assert all(row.where is not None for row in rows)
        places = [(row.where.file, row.where.line, row.where.code) for row in rows if row.where is not None]
        return [places, [(row.name, row.hint, row.lower, row.upper, row.source) for row in rows]]

    recorded, read = both
    assert read.rows(Symbol)
    for graph in recorded.outermost():
        assert told(read, graph.graph) == told(recorded, graph.graph)


def test_compiles(both: tuple[Dump, Dump]) -> None:
    names = ("graph", "file", "line", "status", "reason", "again", "restarts", "graphs", "nodes", "breaks")
    recorded, read = (
        [tuple(getattr(row, name) for name in names) for row in compile_rows(Graphs(one))] for one in both
    )

    assert sorted(read) == sorted(recorded)
    assert len(read) > 2


def test_places_of_breaks(both: tuple[Dump, Dump]) -> None:
    recorded, read = both

    def places(dump: Dump) -> list[tuple[str, int] | None]:
        return [None if row.where is None else (row.where.file, row.where.line) for row in dump.rows(GraphBreak)]

    assert places(read) == places(recorded)


def test_times(both: tuple[Dump, Dump]) -> None:
    recorded, read = both
    ours, theirs = ({(row.graph, row.name, round(row.start, 3)) for row in dump.rows(Timed)} for dump in both)

    assert len(read.rows(Timed)) == len(recorded.rows(Timed)) > 10
    assert len(ours ^ theirs) <= len(ours) // 10  # a start at the edge of a millisecond is rounded either way


def test_metrics(both: tuple[Dump, Dump]) -> None:
    recorded, read = both
    for ours, theirs in zip(recorded.rows(Metrics), read.rows(Metrics), strict=True):
        assert (ours.graph, ours.of) == (theirs.graph, theirs.of)
        numbers = {key: value for key, value in ours.values.items() if not isinstance(value, str)}
        assert numbers
        assert {key: theirs.values.get(key) for key in numbers} == numbers


def test_lines_of_library_calls(both: tuple[Dump, Dump]) -> None:
    """Without provenance tracking the comment above a call names the nodes of Dynamo's graph that it is from."""

    def lines(dump: Dump) -> dict[str, list[tuple[str, int]]]:
        calls = [row for row in dump.rows(Kernel) if row.kind == "extern"]
        return {row.graph: [(where.file, where.line) for where in row.lines] for row in calls}

    recorded, read = both
    assert lines(read) == lines(recorded)
    assert all(lines(read).values())
    assert lines(read)


def test_files(both: tuple[Dump, Dump]) -> None:
    recorded, read = both
    for graph in recorded.outermost():
        for name in ("output_code.py", "fx_graph_runnable.py"):
            assert read.text(graph.graph, name) == recorded.text(graph.graph, name) != ""


def test_every_record_is_accounted_for(both: tuple[Dump, Dump]) -> None:
    read = both[1]
    log = next((read.root.parent / "log").iterdir())
    lines = sum(not line.startswith(b"\t") for line in log.read_bytes().splitlines())

    assert sum(row.count for row in read.rows(OriginRecords)) == lines
    assert not [row for row in read.rows(OriginRecords) if row.became == "not read"]
    described = next(row.count for row in read.rows(OriginRecords) if row.what == "describe_tensor")
    texts = [row.text for row in read.rows(Artifact) if row.name == "describe_tensor"]
    assert sum(len(text.splitlines()) for text in texts) == described > 0


def test_what_a_log_lacks_is_not_known(both: tuple[Dump, Dump]) -> None:
    root = both[1].root
    shown = run([*COMMAND, "show", root, "fusion"], root.parent)
    assert shown.returncode == 0
    assert "fusion: not known" in shown.stdout
    assert "not known" in run([*COMMAND, "show", root, "flops"], root.parent).stdout
    as_json = run([*COMMAND, "show", root, "fusion", "--json"], root.parent)
    assert (as_json.returncode, as_json.stdout) == (2, "")
    overview = run([*COMMAND, "show", root], root.parent).stdout
    assert "TORCH_TRACE log" in overview
    assert " 0 B" not in overview


def test_a_log_in_the_place_of_a_dump(both: tuple[Dump, Dump], tmp_path: Path) -> None:
    log = both[1].root.parent / "log"
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    first = run([*COMMAND, "show", log, "dynamo"], tmp_path, environment=environment)
    kept = list((tmp_path / "cache" / "inspect-compile" / "origins").iterdir())
    again = run([*COMMAND, "show", log, "dynamo"], tmp_path, environment=environment)

    assert first.returncode == 0, first.stderr
    assert again.stdout == first.stdout
    assert len(kept) == 1
    assert list((tmp_path / "cache" / "inspect-compile" / "origins").iterdir()) == kept


def test_compiled_again(both: tuple[Dump, Dump], tmp_path: Path) -> None:
    """Without the program: the log alone tells of fusion then."""
    folder = both[1].root.parent
    done = run([*COMMAND, "import", folder / "log", "-o", tmp_path / "again", "--recompile"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "compiled again, " in done.stdout
    lines = [line for line in done.stdout.splitlines() if "compiled again, " in line]
    equal = re.compile(r" calls?, as in the log(; (\d+) of \2 kernels? equal after renaming)?: ")
    assert all(map(equal.search, lines))
    assert sum("equal after renaming" in line for line in lines) == 2  # the others only call a library
    again = Dump(tmp_path / "again")
    parts = [Dump(part) for part in again.other_processes]
    assert [part.run.replay_of for part in parts] == [graph.graph for graph in again.outermost()]
    for part in parts:
        name = part.run.replay_of
        # Names are of the operators that a node was decomposed from, which a log does not tell.
        assert [row.kind for row in part.rows(Kernel, name)] == [row.kind for row in both[0].rows(Kernel, name)]
        assert len(part.rows(Operation, name)) == len(both[0].rows(Operation, name)) > 0


def test_of_a_strangers_log_nothing_runs(both: tuple[Dump, Dump], tmp_path: Path) -> None:
    log = tmp_path / "log"
    shutil.copytree(both[1].root.parent / "log", log)
    file = next(log.iterdir())
    evil = f"open({str(tmp_path / 'written')!r}, 'w').close()"
    text = file.read_text()
    assert "\tload_args._version = 0" in text
    file.write_text(text.replace("\tload_args._version = 0", f"\tload_args._version = {evil}"))

    done = run([*COMMAND, "import", log, "-o", tmp_path / "again", "--recompile"], tmp_path)

    assert done.returncode == 1
    assert "is not one that torch writes: load_args._version = open(" in done.stderr
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize(
    ("lines", "unread"),
    [
        ([b"nothing of the kind\n"], {"not in this format": 1}),
        ([b'V1 x] {"str": ["a", 0]\n', b"\ttext\n"], {"truncated JSON": 1}),
        ([b'V1 x] {"frame_id": 0}\n'], {"no record in it": 1}),
        ([b"V1 x] " + b"[" * 100_000 + b"{" + b"[" * 100_000 + b"\n"], {"truncated JSON": 1}),
        (
            [b'V1 x] {"compilation_metrics": 5}\n', b'V1 x] {"dynamo_start": []}\n', b"\xff\xfe\n"],
            {"not in this format": 1},
        ),
        ([b'V1 x] {"artifact": {"name": "recompile_reasons"}, "frame_id": 0, "frame_compile_id": 0}\n'], {}),
        (
            [b'V1 x] {"chromium_event": {}, "has_payload": "0"}\n', b"\t{\n"],
            {"truncated text of chromium_event": 1},
        ),
        (
            [b'V1 x] {"chromium_event": {}, "has_payload": "0"}\n', b'\t{"name": "\xed\xa0\x80"}\n'],
            {"truncated text of chromium_event": 1},
        ),
        ([b'V1 x] {"inductor_output_code": {}, "frame_id": 0, "frame_compile_id": 0}\n', b"\t((((\n"], {}),
    ],
)
def test_a_torn_log(lines: list[bytes], unread: dict[str, int]) -> None:
    """What cannot be read is counted, and the rest is."""
    trace = Trace()
    facts = list(trace.facts(lines))

    assert dict(trace.unread.lines) == unread
    assert all(isinstance(row, OriginRecords) for row in facts[-len(unread) :] if unread)


def test_ranks(tmp_path: Path) -> None:
    """A folder with a log for each rank is a dump with a part for each; other files in it are left alone."""
    line = (
        'V1 x] {{"dynamo_start": {{"stack": []}}, "rank": {0}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}}\n'
    )
    logs = tmp_path / "logs"
    logs.mkdir()
    for rank in range(3):
        (logs / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_text(line.format(rank))
    (logs / "notes.txt").write_text("not a log")
    (logs / "empty.log").write_text("")
    os.symlink("/etc/passwd", logs / "link.log")

    done = run([*COMMAND, "import", "logs", "-o", "read"], tmp_path)

    assert done.returncode == 0, done.stderr
    read = Dump(tmp_path / "read")
    assert [path.name for path in read.other_processes] == ["rank_0", "rank_1", "rank_2"]
    assert [Dump(path).run.rank for path in read.other_processes] == [0, 1, 2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing", "-o", "d"], "missing: no such file or folder"),
        (["notes.txt", "-o", "d"], "notes.txt: no output of torch.compile that can be read"),
        (["notes.txt", "-o", "there"], "there: already exists"),
        (["notes.txt", "-o", "d", "--target", "sm_90"], "--target needs --recompile"),
    ],
)
def test_bad_input(words: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a note\n")
    (tmp_path / "there").mkdir()
    done: subprocess.CompletedProcess[str] = run([*COMMAND, "import", *words], tmp_path)

    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
