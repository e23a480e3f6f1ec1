"""Which files go along."""

from collections import Counter
from pathlib import Path

from inspect_compile.dump import paths
from inspect_compile.share.members import LINKS, OTHERS, members
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
