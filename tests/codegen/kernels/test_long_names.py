"""Each kernel has its own source, whatever its name is, and whichever graph defined it."""

from pathlib import Path

from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from tests.running import inspected
from tests.statements import statements_missing

PROGRAMS = Path(__file__).parents[1] / "programs"


def test_each_kernel_has_the_source_that_the_output_code_has(tmp_path: Path, inductor_cache: Path) -> None:
    done = inspected(
        [PROGRAMS / "long_names.py"], tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    )
    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump")
    kernels = {row.name: row for row in dump.rows(Kernel) if row.kind == "cpp"}
    assert len({name[:150] for name in kernels}) < len({row.source for row in kernels.values()}) == len(kernels)
    code = (dump.text(dump.graphs()[0].graph, "output_code.py") or "").splitlines()
    for row in kernels.values():
        assert row.defined_at is not None
        defined = "\n".join(code[row.defined_at - 1 : row.defined_to])
        source = dump.text(row.graph, row.source) or ""
        assert source.strip() in defined, row.name


def test_a_source_that_two_branches_share_is_known_in_both(tmp_path: Path, inductor_cache: Path) -> None:
    done = inspected(
        [PROGRAMS / "same_branches.py"], tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    )
    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump")
    shared = [row for row in dump.rows(Kernel) if "/" in row.graph and row.kind == "cpp"]
    # Which branch is generated first depends on the torch.
    assert sorted(row.graph.rpartition("/")[2] for row in shared) == ["false_graph_0", "true_graph_0"]
    assert len({(row.name, row.source) for row in shared}) == 1
    assert statements_missing(dump) == []
