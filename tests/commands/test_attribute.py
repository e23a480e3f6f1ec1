"""`attribute` on the command line."""

import json
from pathlib import Path

import pytest

from inspect_compile.commands import main
from tests.profiles import recordings


@pytest.fixture
def dump(tmp_path: Path) -> str:
    return str(recordings.dump_of(recordings.GIVEN, tmp_path / "dump").root.parent)


TRACE = str(recordings.trace_of(recordings.GIVEN))


def test_tables_by_line_module_kernel_and_operators(
    dump: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")

    assert main(["attribute", dump, TRACE]) == 0

    told = capsys.readouterr().out
    assert "24 of 24 runs attributed, 100.0 % of 68.6 µs" in told
    assert "Roof: H200, 4,800 GB/s" in told
    rows = {line.split("  ")[0].strip(): line.split() for line in told.splitlines()}
    assert rows["net.py:13"][1:6] == ["39.8", "µs", "58.0", "%", "12"]
    assert rows["linear"][1:6] == ["13", "µs", "18.9", "%", "3"]
    # 1760 × 78 × 64 × 2 FLOP in 12.96 µs of three calls; 67 TFLOP/s of the vector units, torch's default for float32
    assert rows["extern_kernels.addmm"][-7:] == ["236", "5", "%", "4.07", "T", "6", "%"]
    assert rows["convolution relu"][1:3] == ["relu", "4.54"]


def test_json_has_a_row_for_each_run_or_for_each_sum(dump: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attribute", "--json", dump, TRACE]) == 0
    runs = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(runs) == 24
    gemm = next(row for row in runs if "gemm" in row["name"])
    assert (gemm["kernel"], gemm["nodes"], gemm["modules"]) == ("extern_kernels.addmm", ["addmm"], ["linear"])
    assert [(where["line"], where["code"]) for where in gemm["lines"]] == [
        (14, "z = torch.softmax(self.linear(y), -1)")
    ]

    assert main(["attribute", "--json", "--by", "line", dump, TRACE]) == 0
    sums = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["runs"] for row in sums] == [12, 3, 6, 3]
    assert sum(row["share"] for row in sums) == pytest.approx(1)


def test_the_trace_is_written_again_with_notes(dump: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "noted.json"

    assert main(["attribute", dump, TRACE, "-o", str(out)]) == 0

    capsys.readouterr()
    kernels = [event for event in json.loads(out.read_text())["traceEvents"] if event.get("cat") == "kernel"]
    conv = next(event["args"] for event in kernels if "convolve" in event["name"])
    assert conv["user line"].endswith("net.py:13")
    assert conv["user code"] == "y = self.conv(x).relu()"
    assert conv["launched at"] == "output_code.py:400"
    assert conv["attributed by"] == "compile id, call order, correlation (certain)"


def test_names_of_another_release_are_likely_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """torch 2.13 names the softmax kernels otherwise; their kind, number and place are the same."""

    def renamed(event: dict[str, object]) -> dict[str, object]:
        return {**event, "name": str(event["name"]).replace("_exp_mean", "_mean")}

    trace = recordings.changed(recordings.GIVEN, tmp_path / "t.json", renamed)
    root = recordings.dump_of(recordings.GIVEN, tmp_path / "dump").root

    assert main(["attribute", str(root), str(trace), "--by", "kernel"]) == 0

    told = " ".join(capsys.readouterr().out.split())
    assert "24 of 24 runs attributed" in told
    assert "6 of them by their order alone, or by differing names" in told
    assert "another release of torch" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nowhere.json",), "nowhere.json: no such file"),
        (("text",), "text: no profile that can be read (it has no rows of cuda_gpu_trace"),
        (
            ("cpu.json",),
            "nothing in it ran on a GPU, and no compiled graph on the CPU (1 events, 0 calls",
        ),
        ((TRACE, "-o", TRACE), "that is the profile itself"),
        (("a", "b", "c"), "one dump and one profile"),
    ],
)
def test_errors_are_one_line(
    words: tuple[str, ...],
    told: str,
    dump: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("hello\n")
    (tmp_path / "cpu.json").write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 1}]}')

    assert main(["attribute", dump, *words]) == 2

    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_it_begins_with_where_a_step_goes(
    dump: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")

    assert main(["attribute", dump, TRACE]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Bound by launch overhead: the GPU is idle ")
    assert lines[1].startswith(" 2 steps of ")
    assert "each a call of the compiled function 0/0" in lines[1]

    assert main(["attribute", "--json", "--by", "step", dump, TRACE]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (step,) = (row for row in rows if row["fact"] == "step_account")
    assert sum(row["seconds"] for row in rows if row["fact"] == "step_time") == pytest.approx(step["seconds"])
    assert sum(row["share"] for row in rows if row["fact"] == "step_bound") == pytest.approx(1)


def test_a_step_that_is_not_in_the_profile_is_said(dump: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attribute", dump, TRACE, "--step", "net.py:12"]) == 2
    assert "the profile has no functions" in capsys.readouterr().err
