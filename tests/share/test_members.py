"""Which files go along."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from inspect_compile.commands.drawing.files import FORMATS, Output
from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.dump import open_dump, paths
from inspect_compile.share.members import LINKS, OTHERS, members
from tests.conftest import TESTS
from tests.diagrams.pictures import FOLDERS, one_of_each
from tests.handmade import GRAPH, graph, made


def test_what_a_kernel_was_compiled_to_goes_along(tmp_path: Path) -> None:
    dump = made(tmp_path, graph())
    kernel = dump.folder(GRAPH) / "kernels" / "k"
    deeper = kernel / "XBLOCK8-w4-s1" / "deeper"
    deeper.mkdir(parents=True)
    for path in (kernel / "source.py", *(deeper.parent / f"k.{stage}" for stage in ("ttir", "cubin", "sass"))):
        path.write_bytes(b"x")
    (deeper / "other").write_bytes(b"x")
    (deeper.parent / "bad name").write_bytes(b"x")
    (deeper.parent / "link").symlink_to("/")
    left_out: Counter[str] = Counter()

    found = [member.place[3:] for member in members(tmp_path, left_out) if "kernels" in member.place]

    folder = "XBLOCK8-w4-s1"
    assert found == [("k", folder, "k.cubin"), ("k", folder, "k.sass"), ("k", folder, "k.ttir"), ("k", "source.py")]
    assert left_out == {OTHERS: 2, LINKS: 1}


def test_the_targets_of_a_rank_go_along(tmp_path: Path) -> None:
    made(tmp_path)
    made(tmp_path / "rank_0")
    part = made(tmp_path / "rank_0" / "target_sm_90", graph()).root
    made(part / "rank_9")
    (part / "compiler.log").touch()
    left_out: Counter[str] = Counter()

    found = {member.place for member in members(tmp_path, left_out)}

    assert ("rank_0", "target_sm_90", "graphs.jsonl") in found
    assert ("rank_0", "target_sm_90", "compiler.log") in found
    assert not [place for place in found if "rank_9" in place]
    assert not left_out


def test_kept_inputs_are_known(tmp_path: Path) -> None:
    dump = made(tmp_path, graph())
    kept = tmp_path / paths.inputs_file(GRAPH, 1, 127)
    kept.parent.mkdir(parents=True)
    for name in (kept.name, "other.py", "bad name.pt"):
        (dump.folder(GRAPH) / paths.INPUTS / name).write_bytes(b"x")
    left_out: Counter[str] = Counter()

    found = [member for member in members(tmp_path, left_out) if member.is_inputs]

    assert ["/".join(member.place) for member in found] == [paths.inputs_file(GRAPH, 1, 127)]
    assert left_out == {OTHERS: 2}


@pytest.mark.parametrize("name", FOLDERS)
def test_drawings_of_every_kind_go_along(name: str, tmp_path: Path) -> None:
    root = tmp_path / "dump"
    shutil.copytree(TESTS / "data" / name, root)
    dump = open_dump(root)
    before = Counter[str]()
    members(root, before)
    output = Output(None, is_file=False, form="svg", timeout=None)
    files = set()
    for drawn in one_of_each(dump):
        stem = output.stem(dump, drawn.graph, drawn.name)
        files |= {stem.with_name(f"{stem.name}.{form}") for form in FORMATS}
    for path in (*files, root / "ranks.svg", root / "notes.svg", root / "dynamo.txt"):
        path.touch()
    left_out = Counter[str]()

    found = {member.path for member in members(root, left_out)}

    assert files | {root / "ranks.svg"} <= found
    assert root / "notes.svg" not in found
    assert left_out - before == {OTHERS: 2}


def test_every_kind_of_drawing_is_known() -> None:
    assert set(KINDS) == set(paths.DRAWINGS)
