"""What a program for a GPU leaves on the CPU is on the CPU for the target, too."""

from pathlib import Path

from inspect_compile.analysis.lookup.graphs import find_graph
from inspect_compile.dump import Dump, paths
from inspect_compile.tables.lookup_text import only
from tests.running import inspected


def test_constants_and_random_numbers(tmp_path: Path) -> None:
    program = Path(__file__).parent / "programs" / "stays_on_cpu.py"

    done = inspected([program], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    text = dump.text(only(find_graph(dump, "inference")).graph, f"{paths.OUTPUT_CODE}.py") or ""
    assert "cpp_fused" in text  # random numbers are made where the program asked for no GPU
    assert "_to_copy" in text
    assert "lift_fresh" in text
