"""Inductor's cache beside a recording of the same process: its kernels and wrappers are those that were recorded."""

import importlib.util
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump, open_dump, paths
from inspect_compile.facts import Artifact, Binary, Fact, Graph, Kernel, MemoryPlan, OriginRecords, WrapperLine
from inspect_compile.knowledge.origins import INDUCTOR_CACHE, note
from inspect_compile.origins.inductor_cache import is_inductor_cache, read_inductor_cache
from inspect_compile.tables import TABLES
from tests.conftest import run_once
from tests.running import inspected

PROGRAMS = Path(__file__).parent / "programs"
SMALL = Path(__file__).parents[1] / "codegen" / "programs" / "small.py"
KEY = 52
"""Characters of a key of torch's, with the letter in front."""
_OF_KERNEL = ("name", "kind", "form", "device", "defined_at", "defined_to", "launches", "numel", "metadata")
_OF_LINE = ("line", "end", "what", "buffer", "becomes", "bytes", "kernel", "arguments", "is_planned", "device", "text")


@pytest.fixture(scope="session")
def both(shared_folder: Path) -> tuple[Dump, Path]:
    """The recorded dump, and the cache that the same process filled."""
    folder = shared_folder / "inductor_cache"
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    options = ["--cache", "keep"]
    done = run_once(
        folder, lambda folder: inspected([PROGRAMS / "cached.py"], folder, options=options, environment=environment)
    )
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump"), folder / "cache"


def read(cache: Path, root: Path) -> Dump:
    assert is_inductor_cache(cache)
    read_inductor_cache(cache, root)
    return open_dump(root)


def values(dump: Dump, kind: type[Fact], graph: str, *names: str) -> list[Any]:
    return [tuple(getattr(row, name) for name in names) for row in dump.rows(kind, graph)]


def test_its_rows_are_those_that_were_recorded(both: tuple[Dump, Path], tmp_path: Path) -> None:
    recorded, cache = both
    dump = read(cache, tmp_path / "dump")
    assert (dump.run.origin, dump.run.device, dump.run.notes) == (INDUCTOR_CACHE, "cpu", (note(INDUCTOR_CACHE),))
    of_kind = {graph.kind: graph for graph in dump.rows(Graph)}
    assert sorted(of_kind) == ["backward", "forward", "inference"]
    for theirs in recorded.rows(Graph):
        ours = of_kind[theirs.kind]
        assert (ours.inputs, ours.device) == (theirs.inputs, theirs.device)
        assert values(dump, Kernel, ours.graph, *_OF_KERNEL) == values(recorded, Kernel, theirs.graph, *_OF_KERNEL)
        lines = [
            [row for row in values(one, WrapperLine, graph, *_OF_LINE) if row[0] is not None and row[2] != "assert"]
            for one, graph in ((dump, ours.graph), (recorded, theirs.graph))
        ]
        assert any(row[2] == "launch" for row in lines[0])
        assert lines[0] == lines[1]  # torch 2.11 has its assertions not among the lines of the wrapper
        assert values(dump, MemoryPlan, ours.graph, "inputs", "outputs") == values(
            recorded, MemoryPlan, theirs.graph, "inputs", "outputs"
        )
        code = dump.folder(ours.graph) / "output_code.py"
        assert code.read_text() == (recorded.folder(theirs.graph) / "output_code.py").read_text()


def test_of_whole_graphs_it_has_the_keys(both: tuple[Dump, Path], tmp_path: Path) -> None:
    _, cache = both
    dump = read(cache, tmp_path / "dump")
    keys = {row.name: row.text.split("\n") for row in dump.rows(Artifact)}
    for name in ("fxgraph", "aotautograd"):
        written = sorted(path.name for path in (cache / name).rglob(f"{name[0]}*") if len(path.name) == KEY)
        assert written
        assert sorted(keys[f"keys of {name}"]) == written
    counts = {row.what: row.count for row in dump.rows(OriginRecords)}
    assert counts["generated code of a graph"] == 3
    assert counts["entry of fxgraph"] == len(keys["keys of fxgraph"])


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_table_of_it(
    table: str, both: tuple[Dump, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read_inductor_cache(both[1], tmp_path / "dump")
    assert main(["show", str(tmp_path / "dump"), table]) in (0, 1, 2)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    if table in ("nodes", "lowering", "fusion", "schedule", "guards", "findings"):
        assert f"{table}: not known, since a cache of Inductor does not hold it" in shown.out + shown.err


def test_show_takes_it(
    both: tuple[Dump, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["show", str(both[1]), "kernels"]) == 0
    assert "cpp_fused_" in capsys.readouterr().out


def entry(shard: Path, letter: str, ending: str) -> Path:
    shard.mkdir(parents=True, exist_ok=True)
    return shard / f"c{letter * 51}.{ending}"


AOTI = """
void AOTInductorModel::run_impl(
    AtenTensorHandle* input_handles
) {
    auto arg0_1 = std::move(inputs[0]);
    cpp_fused_0((float*)(arg0_1.data_ptr()), s77);
    output_handles[0] = arg0_1.release();
} // AOTInductorModel::run_impl
"""
KERNELS = """
extern "C"  void  cpp_fused_0(float* in_out_ptr0,
                       const int64_t ks0)
{
}
"""


def test_models_of_aotinductor_are_in_folders_of_their_own(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / f"c{'a' * 51}"
    folder.mkdir(parents=True)
    (folder / f"c{'b' * 51}.wrapper.cpp").write_text(AOTI)
    (folder / f"c{'c' * 51}.kernel.cpp").write_text(KERNELS)
    (folder / f"c{'b' * 51}.wrapper.so").write_bytes(b"x")
    dump = read(tmp_path / "cache", tmp_path / "dump")
    [graph], [kernel] = dump.rows(Graph), dump.rows(Kernel)
    assert (graph.graph, graph.inputs, graph.is_cpp_wrapper) == ("model___inference.cbbbbbbbb", 1, True)
    assert (kernel.name, len(kernel.launches)) == ("cpp_fused_0", 1)
    assert (dump.folder(graph.graph) / kernel.source).read_text().endswith(KERNELS)
    counts = {row.what: row.count for row in dump.rows(OriginRecords)}
    assert counts == {"C++ code of AOTInductor": 2, "other file of AOTInductor": 1}


def test_nothing_in_it_is_run(tmp_path: Path) -> None:
    cache, made = tmp_path / "cache", tmp_path / "made"
    write = f"open({str(made)!r}, 'w').write('x')"
    entry(cache / "aa", "a", "py").write_text(f"# AOT ID: ['0_inference']\n{write}\ndef call(args):\n    {write}\n")
    entry(cache / "aa", "b", "py").write_text(f"# AOT ID: ['0_inference']\n{write}\n")
    entry(cache / "bb", "b", "py").write_text("# AOT ID: ['999999999999_x']\n" + "(" * 100_000)
    entry(cache / "bb", "c", "best_config").write_bytes(b"[" * 100_000)
    entry(cache / "bb", "d", "best_config").write_text('{"triton_cache_hash": "A", "XBLOCK": 1e400}')
    folder = cache / "fxgraph" / "aa" / "faaa"
    folder.mkdir(parents=True)
    (folder / "x").write_bytes(pickle.dumps(Evil(str(made))))
    entry(cache / "cc", "e", "py").symlink_to("/etc/passwd")
    (cache / "dd").symlink_to(tmp_path)
    dump = read(cache, tmp_path / "dump")
    assert sorted(graph.graph for graph in dump.rows(Graph)) == [
        "model__0_inference.caaaaaaaa",
        "model__0_inference.cbbbbbbbb",
    ]
    assert [note for note in dump.run.notes if "has no function that is known" in note]
    assert not made.exists()


class Evil:
    """Writes a file where it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (self.path, "w")


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton")
@pytest.mark.targets
def test_kernels_of_a_gpu_have_what_triton_made_of_them(tmp_path: Path) -> None:
    """The code of a GPU that is not here, with Triton's kernels where torch itself puts them."""
    cache = tmp_path / "cache"
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(cache), "TRITON_CACHE_DIR": str(cache / "triton" / "0")}
    done = inspected([SMALL], tmp_path, options=["--target", "sm_90"], environment=environment)
    assert done.returncode == 0, done.stderr
    recorded, dump = Dump(tmp_path / "dump" / paths.target_folder("sm_90")), read(cache, tmp_path / "read")
    names = ("kernel", "num_warps", "num_stages", "registers", "spills", "shared", "target")

    def binaries(dump: Dump) -> list[Any]:
        return sorted(tuple(getattr(row, name) for name in names) for row in dump.rows(Binary))

    assert binaries(recorded)
    assert set(binaries(dump)) == set(binaries(recorded))
    assert {row.name for row in dump.rows(Kernel)} == {row.name for row in recorded.rows(Kernel)}

    compiled = dump.rows(Binary)[0]
    key = next(
        folder.name
        for folder in (cache / "triton" / "0").iterdir()
        if folder.name.startswith(str(compiled.config["key"]))
    )
    best = {"XBLOCK": 8, "num_warps": 1, "triton_cache_hash": key, "time_taken_ms": 3}
    entry(cache / "zz", "z", "best_config").write_text(json.dumps(best))
    shutil.rmtree(tmp_path / "read")
    [chosen] = [row for row in read(cache, tmp_path / "read").rows(Binary) if row.is_remembered]
    assert (chosen.kernel, chosen.config) == (compiled.kernel, {"XBLOCK": 8})
