"""A folder with several origins is a dump with a part for each."""

import ast
import shutil
import warnings
from pathlib import Path

from inspect_compile.dump import Dump
from inspect_compile.origins.importing import is_readable, read_into

LOG = b'V1 x] {"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}\n'


def test_what_lies_below_each_other(tmp_path: Path) -> None:
    attached = tmp_path / "attached"
    (attached / "deeper" / "still").mkdir(parents=True)
    (attached / "one.log").write_bytes(LOG)
    (attached / "deeper" / "still" / "two.log").write_bytes(LOG)
    (attached / "deeper" / "notes.txt").write_text("nothing of the kind")
    root = read_into(attached, tmp_path / "dump").root

    parts = [Dump(root / f"process_{number}").run for number in (1, 2)]
    assert [(part.origin, part.argv) for part in parts] == [
        ("TORCH_TRACE log", ("one.log",)),
        ("TORCH_TRACE log", ("two.log",)),
    ]
    assert not (root / "process_3").exists()

    shutil.rmtree(attached / "deeper")
    assert read_into(attached, tmp_path / "alone").run.argv == ("one.log",)
    (attached / "one.log").unlink()
    assert not is_readable(attached)


def test_what_python_would_warn_of_in_a_text_is_not_told(tmp_path: Path) -> None:
    text = b"\tclass G(torch.nn.Module):\n\t    def forward(self, x):\n\t        y = torch.relu(1if x else 2)\n"
    record = b'V1 x] {"artifact": {"name": "after_post_grad_graph"}, "frame_id": 0, "frame_compile_id": 0}\n'
    (tmp_path / "one.log").write_bytes(LOG + record + text)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ast.parse("1if x else 2")
        assert [one.category for one in told] == [SyntaxWarning]
        told.clear()
        assert read_into(tmp_path / "one.log", tmp_path / "dump").graphs()
    assert not told
