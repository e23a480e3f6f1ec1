"""The derived files of a dump."""

import json
import os
from pathlib import Path

import pytest

from inspect_compile.dump import Dump, open_dump, paths
from inspect_compile.facts import Run
from inspect_compile.finish import ARTIFACTS, ensure_finished, finish, is_finished
from inspect_compile.graph import CompiledGraph
from tests.conftest import DumpOf, Golden
from tests.handmade import GRAPH, graph, lowered, made, node
from tests.normalised import normalised, of_golden_code

NAMES = list(ARTIFACTS)


def files(dump: Dump) -> dict[str, bytes]:
    """Everything in a dump."""
    return {
        str(path.relative_to(dump.root)): path.read_bytes() for path in sorted(dump.root.rglob("*")) if path.is_file()
    }


def test_a_run_leaves_them(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("conditional").dump)

    assert is_finished(dump)
    assert (dump.root / paths.FINISHED).read_text() == ""
    for found in dump.graphs():
        assert [name for name in NAMES if not (dump.folder(found.graph) / name).read_text()] == []


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith(".dot")])
@of_golden_code
def test_the_convolution(dump_of: DumpOf, tmp_path: Path, golden: Golden, name: str) -> None:
    dump = normalised(dump_of("conv_bias").dump, tmp_path / "dump")

    finish(dump)

    (only,) = dump.graphs()
    golden.check((dump.folder(only.graph) / name).read_text(encoding="utf-8"), suffix="")


def test_the_same_again(dump_of: DumpOf, tmp_path: Path) -> None:
    dump = normalised(dump_of("conv_bias").dump, tmp_path / "dump")
    finish(dump)
    first = files(dump)

    finish(Dump(dump.root))

    assert files(dump) == first


def test_kernel_map(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("conv_bias").dump)
    (only,) = dump.graphs()

    found = json.loads((dump.folder(only.graph) / paths.KERNEL_MAP).read_text())

    code = (dump.text(only.graph, "output_code.py") or "").splitlines()
    assert (found["version"], found["graph"]) == (1, only.graph)
    assert len(found["kernels"]) == 3
    for name, kernel in found["kernels"].items():
        (call,) = kernel["calls"]
        assert name.rpartition(".")[2] in code[call["line"] - 1]
        assert call["lines"][0]["code"] == "return self.conv(image)"
        if kernel["kind"] == "cpp":
            assert code[kernel["defined"][0] - 1].startswith(f"{name} = ")
            assert (dump.folder(only.graph) / kernel["source"]).exists()


def failing(graph: CompiledGraph) -> object:
    raise ValueError("bad facts")


def test_one_that_fails_does_not_hold_up_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The analysis that two of them need raises."""
    monkeypatch.setattr("inspect_compile.finish.table_texts.flops_table", failing)
    monkeypatch.setattr("inspect_compile.analysis.kernels.kernel_map.kernel_map", failing)
    dump = made(tmp_path, graph(), node("x"), lowered("x"))

    finish(dump)

    folder = dump.folder(GRAPH)
    assert (folder / paths.FLOPS).read_text() == "flops.txt could not be made: ValueError: bad facts\n"
    assert "x   placeholder" in (folder / paths.LOWERING).read_text()
    assert (dump.root / paths.FINISHED).read_text().splitlines() == [
        f"{GRAPH}/{name}: ValueError: bad facts" for name in (paths.FLOPS, paths.KERNEL_MAP)
    ]


def test_the_first_reader_of_a_torn_dump_finishes_it(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), node("x"), lowered("x"), run=Run(status="running", pid=0))
    with open(tmp_path / paths.table("nodes", GRAPH), "a") as file:
        file.write('{"fact":"node","graph":"model__0_for')

    assert ensure_finished(dump)

    assert (dump.folder(GRAPH) / paths.LOWERING).exists()


def test_a_growing_dump_is_left_alone(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), node("x"), run=Run(status="running", pid=os.getpid()))

    assert not ensure_finished(dump)

    assert not is_finished(dump)
    assert not (dump.folder(GRAPH) / paths.LOWERING).exists()


def test_a_dump_that_cannot_be_written_is_no_error_for_a_reader(tmp_path: Path) -> None:
    dump = made(tmp_path, graph())
    dump.folder(GRAPH).parent.mkdir()
    dump.folder(GRAPH).write_text("a file in the folder's place")

    assert not ensure_finished(dump)

    with pytest.raises(OSError, match="exists"):
        finish(dump)


def test_nothing_is_written_through_a_link_out_of_the_dump(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    dump = made(tmp_path / "dump", graph())
    dump.folder(GRAPH).parent.mkdir()
    dump.folder(GRAPH).symlink_to(outside)

    finish(dump)

    assert list(outside.iterdir()) == []
    assert "link out of the dump" in (dump.root / paths.FINISHED).read_text()


def test_a_run_that_compiled_nothing_is_finished_too(tmp_path: Path) -> None:
    assert ensure_finished(made(tmp_path))


def test_no_file_of_ours_is_left_half_written(dump_of: DumpOf) -> None:
    assert [name for name in files(open_dump(dump_of("conv_bias").dump)) if name.endswith(".tmp")] == []
