"""Several dumps and all ranks of one in a page, and a page without what identifies its author."""

import re
import shutil
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.facts import Run
from inspect_compile.report.packing import unpacked
from tests.handmade import GRAPH, at, ended, graph, kernel, made, node, operation
from tests.report.pages import recorded, seen, written


def test_two_dumps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = made(
        tmp_path / "one", graph(), operation("op0", reads={}, writes={"buf0": 4}), kernel("fast", "op0"), ended()
    )
    two = made(
        tmp_path / "two", graph(), operation("op0", reads={}, writes={"buf0": 4}), kernel("slow", "op0"), ended()
    )
    found = seen(written(tmp_path, one.root, two.root))
    text = found.text()
    assert "compared with two" in text
    capsys.readouterr()
    assert main(["diff", str(one.root), str(two.root)]) == 1
    head, *_ = capsys.readouterr().out.splitlines()
    assert head.split(" between ")[0] in text, "the page says what `diff` says"
    assert "only one" in text
    assert "only two" in text


def test_causes_are_open_and_a_long_list_of_differences_is_folded(tmp_path: Path) -> None:
    for name, target, called in (("one", "aten.mul.Tensor", "mm"), ("two", "aten.add.Tensor", "other_mm")):
        nodes = [node(f"n{place}", target) for place in range(150)]
        mm = node("mm", "aten.mm.default", index=150)
        runs = operation("op0", kind="extern", nodes=("mm",), reads={}, writes={"buf0": 16})
        made(tmp_path / name, graph(), *nodes, mm, runs, kernel(called, "op0", kind="extern", nodes=("mm",)), ended())

    page = unpacked(written(tmp_path, tmp_path / "one", tmp_path / "two"))

    folds = re.findall(r'<details( open)? class="table" id="table-one and two(: every difference)?">', page)
    assert folds == [(" open", ""), ("", ": every difference")]
    assert "cause of differences between one and two" in page
    assert "×150" in page, "equal lines once, with their count"
    assert page.count("only two") == 2


def test_kernels_that_differ_stand_side_by_side(tmp_path: Path) -> None:
    """Each side with its source, and marked what another side does not have; the kernel's own name is no difference."""
    codes = {"one": "load x\n  store fast\nreturn fast", "two": "load x\n  store slow\nreturn slow\nmore"}
    for name, code in codes.items():
        kernels = [
            kernel({"one": "fast", "two": "slow"}[name], "op0", source="kernels/k.py", nodes=("mul",), launches=(9,)),
            kernel("same", "op1", source="kernels/same.py"),
        ]
        operations = [operation(f"op{place}", reads={}, writes={f"buf{place}": 4}) for place in (0, 1)]
        facts = (graph(), node("mul", "aten.mul.Tensor"), *operations, *kernels, ended())
        root = made(tmp_path / name, *facts).folder(GRAPH)
        (root / "kernels").mkdir(parents=True, exist_ok=True)
        (root / "kernels" / "k.py").write_text(code.replace("fast\n", "fast  # 1\n") if name == "one" else code)
        (root / "kernels" / "same.py").write_text("the same")

    page = unpacked(written(tmp_path, tmp_path / "one", tmp_path / "two"))

    start = page.index('id="compared"')
    compared = page[start : page.index("</section>", start)]
    panes = re.findall(r'<div class="pane" tabindex="0">(.*?)</div>\n</div>', compared, re.DOTALL)
    assert len(panes) == 2, "the kernel that is the same is left out"
    marked = [re.findall(r'<div class="own"><u>\d+</u><code>([^<]*)', pane) for pane in panes]
    assert marked == [["  store fast  # 1"], ["  store slow", "more"]]
    assert compared.count("<figcaption>the schedule after fusion, folded") == 2


def test_all_ranks(tmp_path: Path) -> None:
    root = tmp_path / "dump"
    made(root, run=Run(status="ranks", argv=("net.py",)))
    for rank in (0, 1):
        run = Run(status="finished", argv=("net.py",), device="cpu", rank=rank)
        made(
            root / f"rank_{rank}",
            graph(),
            node(f"only_{rank}", "aten.mul.Tensor"),
            node("other", ("aten.sin.default", "aten.cos.default")[rank], index=1),
            kernel("k", "op0"),
            ended(),
            run=run,
        )
    found = seen(written(tmp_path, root))
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    text = found.text()
    assert "2 ranks; code, pictures and tables are those of rank 0" in text
    assert "only_0 = aten.mul.Tensor()" in text
    assert "kernels beside each other" in text
    assert "show dump --rank 1 nodes --graph" in text, "a command that can be run"
    other = seen(written(tmp_path, root, "--rank", "1")).text()
    assert "only_1 = aten.mul.Tensor()" in other
    assert "only_0" not in other


def test_redacted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(
        status="finished",
        argv=("/home/zaphod/work/net.py", "--token", "hf_abcdefghijklmnopqrstuvwxyz012345"),
        cwd="/home/zaphod/work",
    )
    facts = (graph(), node("mul", "aten.mul.Tensor", where=at(3, "y = x * 2  # zaphod was here")), ended())
    root = made(tmp_path / "zaphods_dump", *facts, run=run).root
    (root / "torchinductor" / GRAPH / "output_code.py").write_text("# /home/zaphod/work/net.py\n")
    plain = unpacked(written(tmp_path, root))
    assert "/home/zaphod/work" in plain
    page = unpacked(written(tmp_path, root, "--redact"))
    told = capsys.readouterr().out
    assert "zaphod" not in page.lower().replace("zaphods_dump", "")
    assert "hf_abc" not in page
    assert "y = x * 2" in page
    assert "shapes, times, versions and the device stay" in told
    bare = unpacked(written(tmp_path, root, "--redact", "--no-source"))
    assert "y = x * 2" not in bare


def test_without_graphviz_the_rest_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("dot") is None
    text = seen(written(tmp_path, recorded(tmp_path))).text()
    assert "dot is not installed; install Graphviz" in text
    assert "Kernels" in text
