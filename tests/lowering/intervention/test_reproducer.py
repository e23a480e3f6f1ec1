"""`numerics DUMP -o`: the script makes the wrong launch again, alone; what is kept, and what is said otherwise.
The page of a node whose statement is wrong.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.numerics.kept import kept_calls, kept_launches
from inspect_compile.analysis.numerics.statements import kernel_statements
from inspect_compile.dump import Dump
from inspect_compile.facts import KeptInputs
from inspect_compile.graph import Graphs
from tests.handmade import graph, made
from tests.running import COMMAND, run

PROGRAMS = Path(__file__).parent / "programs"
NAMES = ("summed", "in_place", "viewed", "several", "dropped", "counted")


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory, inductor_cache: Path) -> Path:
    """A dump of the check of all programs."""
    here = tmp_path_factory.mktemp("checked")
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = run([*COMMAND, "numerics", "--dump", "dump", PROGRAMS / "kept.py"], here, environment=environment)
    assert (done.returncode, done.stdout) == (1, "done\n"), done.stderr
    return here / "dump"


def alone(script: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """The script run in its folder, without this project."""
    return subprocess.run(
        [sys.executable, "-E", script.name],
        cwd=script.parent,
        env={"PATH": "/usr/bin:/bin", "HOME": str(script.parent), "TORCHINDUCTOR_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_the_page_of_a_node_has_its_wrong_statement(checked: Path, tmp_path: Path) -> None:
    found = next(row for row in kernel_statements(Graphs(Dump(checked))) if row.blamed is not None and row.blamed.node)
    blamed = found.blamed
    assert blamed is not None
    words: list[str | Path] = [*COMMAND, "show", checked, "node", blamed.node, "--graph", found.graph]

    page = " ".join(run(words, tmp_path).stdout.split())
    rows = [json.loads(line) for line in run([*words, "--json"], tmp_path).stdout.splitlines()]

    assert f"the statement, line {blamed.line} of {found.kernel}: {' '.join(blamed.text.split())}" in page
    assert [row["blamed"]["line"] for row in rows if row["fact"] == "kernel_statements"] == [blamed.line]


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(at, marks=() if name == "several" else pytest.mark.harmless, id=name)
        for at, name in enumerate(NAMES)
    ],
)
def test_the_script_makes_the_wrong_launch_again(
    number: int, checked: Path, tmp_path: Path, inductor_cache: Path
) -> None:
    words: list[str | Path] = [*COMMAND, "numerics", checked, "--graph", f"model__{number}", "-o", "repro.py"]

    done = run(words, tmp_path)

    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repro.pt", "repro.py"]
    text = (tmp_path / "repro.py").read_text("utf-8")
    assert "inspect_compile" not in text
    again = alone(tmp_path / "repro.py", inductor_cache)
    assert again.returncode == 1, again.stderr
    found = next(one for one in kept_launches(Dump(checked)) if f"model__{number}" in one.inputs.graph).found
    values = {line.split()[0]: float(line.rpartition("=")[2]) for line in again.stdout.splitlines() if " = " in line}
    assert f"{found.node}[" in again.stdout
    measured = found.measured
    if measured.dtype == "float32":  # of integers another element may be named
        assert values == {
            "compiled": measured.compiled,
            "eager": pytest.approx(measured.eager, rel=1e-6),
            "exact": pytest.approx(measured.exact, rel=1e-9),
        }
        assert f"{found.node}{list(measured.worst)}" in again.stdout


def mended(script: str) -> str:
    """The script with the kernel's `relu` as it should be."""
    relu = re.sub(r"(tmp\d+) \+ decltype\(\1\)\(1\)", r"at::vec::clamp_min(\1, decltype(\1)(0))", script)
    assert relu != script
    return relu


def test_it_is_not_wrong_once_the_kernel_is_mended(checked: Path, tmp_path: Path, inductor_cache: Path) -> None:
    run([*COMMAND, "numerics", checked, "--kernel", "cpp_fused_mul_relu_sum_0", "-o", "repro.py"], tmp_path)
    script = tmp_path / "repro.py"
    wrong = script.read_text("utf-8")
    script.write_text(mended(wrong), "utf-8")

    again = alone(script, inductor_cache)

    assert again.returncode == 0, again.stderr
    assert again.stdout.endswith("not wrong\n")


def test_torch_knows_the_vectors_that_the_script_asks_for(tmp_path: Path, inductor_cache: Path) -> None:
    # As wide as this machine's: other tests have the same vectors everywhere.
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), "ATEN_CPU_CAPABILITY": None}
    words: list[str | Path] = [*COMMAND, "numerics", "--dump", "dump", PROGRAMS / "kept.py", "summed"]
    run(words, tmp_path, environment=environment)
    run([*COMMAND, "numerics", "dump", "-o", "repro.py"], tmp_path)

    again = alone(tmp_path / "repro.py", inductor_cache)

    assert again.returncode == 1, again.stderr
    assert again.stderr == ""


def test_memory_is_kept_as_it_was(checked: Path) -> None:
    dump = Dump(checked)
    calls = kept_calls(dump)
    assert len(calls) == len(NAMES)
    kept = torch.load(checked / next(iter(calls.values())).file, weights_only=True)
    assert [tuple(one.shape) for one in kept["arguments"]] == [(16, 24), (16, 24)]
    assert set(kept["random"]) == {"cpu"}
    for launch in kept_launches(dump):
        content = torch.load(checked / launch.inputs.file, weights_only=True)
        assert set(launch.inputs.variables) == {*content["variables"], *content["empty"]}
        variables = {one.untyped_storage().data_ptr() for one in content["variables"].values() if torch.is_tensor(one)}
        given = [one for one in content["arguments"] if torch.is_tensor(one)]
        if "inductor_random_default" in launch.inputs.reference:  # the launch draws these itself
            given = given[:-1]
        assert {one.untyped_storage().data_ptr() for one in given} <= variables  # nothing is kept twice


@pytest.mark.parametrize("keep", ["0", "4kB"])
def test_what_is_kept_is_limited(keep: str, tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    options = ("--keep", keep, "--dump", "dump")

    run([*COMMAND, "numerics", *options, PROGRAMS / "kept.py", "summed"], tmp_path, environment=environment)

    rows = {row.index: row for row in Dump(tmp_path / "dump").rows(KeptInputs)}
    asked: list[str | Path] = [*COMMAND, "numerics", "dump"]
    if keep == "0":
        assert not rows
        assert not list(tmp_path.rglob("*.pt"))
        assert "check again with --keep SIZE" in run([*asked, "-o", "repro.py"], tmp_path).stderr
        assert "check again with --keep SIZE" in run([*asked, "--causes"], tmp_path).stderr
    else:
        assert (rows[0].bytes, rows[0].reason) == (3072, "")
        assert rows[-1].file == ""
        assert "larger than --keep allows: 4,096 bytes in all, of which 1,024 are left" in rows[-1].reason
        assert "8,128 bytes, are not kept: larger than --keep allows" in run([*asked, "--causes"], tmp_path).stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "-o FILE.py writes a reproducer, --causes"),
        (("-o", "repro"), "name it FILE.py"),
        (("-o", "there.py"), "there.py: exists already"),
        (("-o", "link.py"), "link.py: exists already"),
        (("-o", "beside.py"), "beside.pt: exists already"),
        (("-o", "missing/repro.py"), "missing/repro.pt: cannot be written (No such file or directory)"),
        (("--kernel", "nope", "-o", "repro.py"), "nope: no kernel of this name"),
        (
            ("--kernel", "mm", "-o", "repro.py"),
            "mm: nothing wrong is recorded of it; the kept launches are of cpp_fused",
        ),
        (("--graph", "model__9", "-o", "repro.py"), "no wrong launch is in such a graph"),
        (("--graph", "model__9", "--causes"), "nothing wrong is recorded of such a graph; there is of model__0"),
        (("--kernel", "cpp", "--causes"), "--causes: of a graph"),
        (("--calls", "2", "-o", "repro.py"), "--calls: that is for a program"),
    ],
)
def test_bad_input_of_a_dump(words: tuple[str, ...], said: str, checked: Path, tmp_path: Path) -> None:
    (tmp_path / "there.py").touch()
    (tmp_path / "beside.pt").touch()
    (tmp_path / "link.py").symlink_to(tmp_path / "elsewhere.py")
    before = sorted(path.name for path in tmp_path.iterdir())

    done = run([*COMMAND, "numerics", checked, *words], tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_directory_is_a_dump_unless_python_can_run_it(tmp_path: Path) -> None:
    made(tmp_path / "empty", graph())
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text("print('ran')")
    (tmp_path / "package" / "run.json").write_text("{}")
    (tmp_path / "folder").mkdir()
    (tmp_path / "script.py").write_text("print('ran')")

    def done(*words: str) -> tuple[int, str, str]:
        found = run([*COMMAND, "numerics", *words], tmp_path)
        return found.returncode, found.stdout, found.stderr

    status, out, said = done("empty", "-o", "repro.py")
    assert (status, out) == (2, "")
    assert "nothing was checked in it" in said
    assert "nothing wrong is recorded" in done("empty", "--causes")[2]
    assert "folder: not a dump, it holds no run.json" in done("folder", "-o", "repro.py")[2]
    assert done("--dump", "dump1", "package", "-o", "repro.py")[:2] == (3, "ran\n")
    assert done("--dump", "dump2", "script.py", "--causes")[:2] == (3, "ran\n")
    assert "--causes: that is for the dump of a check" in done("--causes", "script.py")[2]
    assert "-o: that is for the dump of a check" in done("-o", "repro.py", "-m", "empty")[2]
    assert not (tmp_path / "repro.py").exists()


def test_scripts_are_python(checked: Path, tmp_path: Path) -> None:
    """Words of the dump that stand in a text can't end it."""
    root = tmp_path / "dump"
    for path in checked.rglob("*"):
        if path.is_file():
            copy = root / path.relative_to(checked)
            copy.parent.mkdir(parents=True, exist_ok=True)
            data = path.read_bytes()
            copy.write_bytes(data.replace(b'"/', b'"\\"\\"\\"\\\\/') if path.suffix in (".jsonl", ".json") else data)

    done = run([*COMMAND, "numerics", root, "-o", "repro.py"], tmp_path)

    assert done.returncode == 0, done.stderr
    ast.parse((tmp_path / "repro.py").read_text("utf-8"))


def test_inputs_come_from_a_seed_where_the_result_is_wrong_with_these_too(
    checked: Path, tmp_path: Path, inductor_cache: Path
) -> None:
    words: list[str | Path] = [*COMMAND, "numerics", checked, "--graph", "model__0", "-o", "repro.py", "--seed"]

    done = run(words, tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)})

    assert done.returncode == 0, done.stderr
    assert "this runs code from the dump" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["repro.py"]
    again = alone(tmp_path / "repro.py", inductor_cache)
    assert (again.returncode, again.stdout.splitlines()[-1]) == (1, "wrong"), again.stderr
    script = tmp_path / "repro.py"
    script.write_text(mended(script.read_text("utf-8")), "utf-8")
    assert alone(script, inductor_cache).returncode == 0


def test_inputs_that_cannot_be_drawn_stay_tensors(checked: Path, tmp_path: Path) -> None:
    done = run([*COMMAND, "numerics", checked, "--graph", "model__4", "-o", "repro.py", "--seed"], tmp_path)

    assert done.returncode == 0, done.stderr
    assert "the reference is computed from values that the launch does not read" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repro.pt", "repro.py"]
