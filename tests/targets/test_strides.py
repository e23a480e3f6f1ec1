"""A backward graph is compiled with the strides that its forward returns."""

import re
from pathlib import Path

from inspect_compile.analysis.lookup.graphs import find_graph
from inspect_compile.dump import Dump, paths
from inspect_compile.tables.lookup_text import only
from tests.running import inspected


def test_what_is_saved_with_its_channels_last(tmp_path: Path) -> None:
    program = Path(__file__).parent / "programs" / "channels_last.py"

    done = inspected([program], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    text = dump.text(only(find_graph(dump, "backward")).graph, paths.FX_RUNNABLE) or ""
    inputs = {
        name: stride for stride, name in re.findall(r"reader\.tensor\(buf\d+, \([\d, ]+\)(.*?), is_leaf.*# (\w+)", text)
    }
    assert inputs["primals_4"] == ", (1152, 1, 384, 128)"  # a weight that the forward lays out anew
    assert inputs["mul_2"] == ", (4608, 1, 768, 128)"
    assert inputs["tangents_1"] == ""  # contiguous
