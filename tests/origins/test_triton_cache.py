"""Triton's cache of kernels, for a GPU that is not here: its kernels, their stages and what they need."""

import importlib.util
import json
import os
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Binary, Graph, Kernel, OriginRecords
from inspect_compile.knowledge.kernels.resources import of_cubin
from inspect_compile.knowledge.origins import TRITON_CACHE, note
from inspect_compile.origins.triton_cache import GRAPH, is_triton_cache, read_triton_cache
from inspect_compile.tables import TABLES

pytestmark = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton")

PROGRAM = Path(__file__).parent / "programs" / "triton_kernels.py"
STAGES = ["ttir", "ttgir", "llir", "ptx", "cubin"]


def read(cache: Path, root: Path) -> Dump:
    assert is_triton_cache(cache)
    read_triton_cache(cache, root)
    return open_dump(root)


def test_kernels_with_their_lines_and_configurations(triton_cache: Path, tmp_path: Path) -> None:
    dump = read(triton_cache, tmp_path / "dump")
    assert (dump.run.origin, dump.run.device, dump.run.notes) == (TRITON_CACHE, "cuda", (note(TRITON_CACHE),))
    [graph] = dump.rows(Graph)
    assert (graph.graph, graph.kind) == (GRAPH, "kernels")
    lines = PROGRAM.read_text().split("\n")
    kernels = {kernel.name: kernel for kernel in dump.rows(Kernel)}
    assert set(kernels) == {"add_kernel", "sum_kernel"}
    for name, kernel in kernels.items():
        assert (kernel.kind, kernel.form, kernel.launches) == ("user_triton", "user-written", ())
        [where] = kernel.lines
        assert where.file == str(PROGRAM)
        assert f"def {name}(" in lines[where.line - 1]
    of_kernel = sorted((row.kernel, row.num_warps, row.target) for row in dump.rows(Binary))
    assert of_kernel == [("add_kernel", 4, "sm_90"), ("add_kernel", 8, "sm_90"), ("sum_kernel", 4, "sm_90")]


def test_stages_are_those_files_and_resources_those_of_the_machine_code(triton_cache: Path, tmp_path: Path) -> None:
    dump = read(triton_cache, tmp_path / "dump")
    rows = dump.rows(Binary)
    assert len(rows) == 3
    for row in rows:
        folder = next(triton_cache.glob(f"{row.config['key']}*"))
        metadata = json.loads((folder / f"{row.kernel}.json").read_text())
        assert [stage.name for stage in row.stages] == STAGES
        for stage in row.stages:
            written = (folder / f"{row.kernel}.{stage.name}").read_bytes()
            assert (dump.folder(GRAPH) / stage.path).read_bytes() == written
            assert stage.bytes == len(written)
        known = of_cubin((folder / f"{row.kernel}.cubin").read_bytes())
        assert known.registers
        assert (row.registers, row.spills, row.shared) == (known.registers, known.stack, metadata["shared"])
        assert (row.num_warps, row.num_stages) == (metadata["num_warps"], metadata["num_stages"])


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_table_of_it(table: str, triton_cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_triton_cache(triton_cache, tmp_path / "dump")
    assert main(["show", str(tmp_path / "dump"), table]) in (0, 1, 2)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert " 0 calls" not in shown.out
    if table in ("nodes", "wrapper", "fusion", "memory", "time"):
        assert f"{table}: not known, since a cache of Triton does not hold it" in shown.out + shown.err


def test_the_folder_of_a_device_and_of_one_kernel_will_do(triton_cache: Path, tmp_path: Path) -> None:
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "0").symlink_to(triton_cache)
    assert not is_triton_cache(tmp_path / "triton")  # what links lead to is not in it
    one = next(triton_cache.glob("*/sum_kernel.json")).parent
    assert [row.kernel for row in read(one, tmp_path / "dump").rows(Binary)] == ["sum_kernel"]
    assert not is_triton_cache(tmp_path)


def test_what_cannot_be_read_is_counted(triton_cache: Path, tmp_path: Path) -> None:
    whole = next(triton_cache.glob("*/sum_kernel.json")).parent
    secret = tmp_path / "secret"
    secret.write_text("x")
    wrong = {"target": [1], "num_warps": "4", "num_stages": -1, "num_ctas": 1 << 70, "shared": 1.5, "triton_version": 3}
    metadata = (b"{", b"[1]", b"[" * 100_000, json.dumps(wrong).encode(), b"", b"{}")
    for number, text in enumerate(metadata):
        folder = tmp_path / "cache" / ("A" * 51 + "ABCDEF"[number])
        folder.mkdir(parents=True)
        for stage in STAGES:
            data = (whole / f"sum_kernel.{stage}").read_bytes()
            (folder / f"sum_kernel.{stage}").write_bytes(data[: number * 1000])
        (folder / "sum_kernel.json").write_bytes(text)
        (folder / "sum_kernel.amdgcn").symlink_to(secret)
    (tmp_path / "cache" / ("B" * 52)).mkdir()
    os.mkfifo(tmp_path / "cache" / ("B" * 52) / "sum_kernel.json")
    dump = read(tmp_path / "cache", tmp_path / "dump")
    rows = dump.rows(Binary)
    assert len(rows) == 2
    assert {(row.num_warps, row.num_stages, row.num_ctas, row.target, row.shared) for row in rows} == {
        (None, None, None, "", None)
    }
    assert not any(stage.name == "amdgcn" for row in rows for stage in row.stages)
    assert [(row.what, row.count) for row in dump.rows(OriginRecords) if row.became == "not read"] == [
        ("files: file that is not the metadata of a Triton kernel", 4)
    ]


def test_machine_code_of_strangers_takes_no_time(tmp_path: Path) -> None:
    """A section table of 65,535 entries, whose names end nowhere."""
    data = bytearray(b"\x7fELF\x02\x01" + b"\x01" * (8 << 20))
    data[0x28:0x30] = (0x40).to_bytes(8, "little")
    data[0x3A:0x40] = (0x40).to_bytes(2, "little") + b"\xff\xff" + b"\x00\x00"
    assert of_cubin(bytes(data)) == (None, None, None, None, 0)
