"""Dumps that fill a disk, or would fill the memory, in a process that may not have more than a gigabyte and a half."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile import dumps
from tests.running import plain

GRAPH = "torchinductor/model__0_inference_0.0"

_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))
from pathlib import Path
from inspect_compile.commands import main
if sys.argv[1] == "output":
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph
    from inspect_compile.tui.models.chain import Chain
    from inspect_compile.tui.models.wrapper import output
    dump = Dump(Path(sys.argv[2]))
    found = output(dump, Chain(CompiledGraph(dump, "model__0_inference_0.0")), "generated")
    print(found.plain(len(found) - 1)[:200])
else:
    sys.exit(main(sys.argv[1:]))
"""


def _sparse(path: Path, size: int) -> None:
    with open(path, "ab") as file:
        file.truncate(size)


def _long_line(path: Path) -> None:
    whole = path.read_bytes()
    _sparse(path, len(whole) + (1 << 30))
    with open(path, "ab") as file:
        file.write(b"\n")


def _many_rows(path: Path) -> None:
    with open(path, "ab") as file:
        file.write(b"{}\n" * 10_000_000)


HUGE: dict[str, Callable[[Path], None]] = {
    "a line of a gigabyte": _long_line,
    "forty gigabytes of nothing": lambda path: _sparse(path, 40 << 30),
    "ten million rows": _many_rows,
}


@pytest.mark.skipif(sys.platform != "linux", reason="no such limit")
@pytest.mark.parametrize("kind", HUGE)
def test_a_huge_table_is_read_as_far_as_it_fits(tmp_path: Path, kind: str) -> None:
    root = dumps.write(tmp_path / "dump", dumps.recorded("draw/conditional"))
    (root / ".finished").touch()
    HUGE[kind](root / GRAPH / "nodes.jsonl")

    nodes = plain(["-c", _LIMITED, "show", root, "nodes"], tmp_path)
    summary = plain(["-c", _LIMITED, "show", root], tmp_path)

    assert (nodes.returncode, summary.returncode, summary.stderr) == (0, 0, "")
    assert "placeholder" in nodes.stdout, "what stands before it is shown"
    assert len(nodes.stderr.splitlines()) == 1
    for told in (nodes.stderr, summary.stdout):
        assert "hold more than is read from one dump" in " ".join(told.split())


@pytest.mark.skipif(sys.platform != "linux", reason="no such limit")
def test_a_huge_text_is_cut_and_says_so(tmp_path: Path) -> None:
    root = dumps.write(tmp_path / "dump", dumps.recorded("draw/conditional"))
    for content in (b"x\n" * 3_000_000, b""):
        (root / GRAPH / "output_code.py").write_bytes(content)
        _sparse(root / GRAPH / "output_code.py", 20 << 30)
        done = plain(["-c", _LIMITED, "output", root], tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("… output_code.py is longer: only its beginning is read")


@pytest.mark.skipif(sys.platform != "linux", reason="no such limit")
def test_a_huge_run_json_is_no_run_json(tmp_path: Path) -> None:
    root = dumps.write(tmp_path / "dump", dumps.recorded("draw/conditional"))
    _sparse(root / "run.json", 40 << 30)

    done = plain(["-c", _LIMITED, "show", root], tmp_path)

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "it has more than 16,777,216 bytes" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="no such limit")
def test_files_larger_than_any_disk_are_not_shared(tmp_path: Path) -> None:
    root = dumps.write(tmp_path / "dump", dumps.recorded("draw/conditional"))
    _sparse(root / GRAPH / "output_code.py", 1 << 40)
    _sparse(root / GRAPH / "nodes.jsonl", 1 << 40)

    for options in ((), ("--redact",), ("--no-source",)):
        done = plain(
            ["-c", _LIMITED, "share", root, "-o", tmp_path / f"{len(options)}{options}.zip", *options], tmp_path
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "files of more than 8 GiB, or beyond 64 GiB in all  2" in done.stdout
