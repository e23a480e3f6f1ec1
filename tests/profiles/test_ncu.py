"""What Nsight Compute wrote on an H200 (tests/data/ncu)."""

import csv
import gzip
import zipfile
from pathlib import Path

import pytest

from inspect_compile.analysis.cost.roofs import gpu_of
from inspect_compile.analysis.runtime.attribution import attribute
from inspect_compile.analysis.runtime.launch_plan import plans
from inspect_compile.dump import Dump, open_dump
from inspect_compile.profiles.read import read

DATA = Path(__file__).resolve().parents[1] / "data" / "ncu"
CALLS = 2


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    """That of the same program."""
    with zipfile.ZipFile(DATA / "dump.zip") as archive:
        archive.extractall(tmp_path / "dump")
    return open_dump(tmp_path / "dump")


def page(name: str, folder: Path, between: str = "") -> Path:
    """A page of the report; `between` its rows."""
    lines = gzip.decompress((DATA / f"{name}.csv.gz").read_bytes()).decode().splitlines(keepends=True)
    path = folder / f"{name}.csv"
    path.write_text("".join(line + between for line in lines))
    return path


@pytest.mark.parametrize("name", ["raw", "details"])
def test_every_kernel_is_of_its_launch(name: str, dump: Dump, tmp_path: Path) -> None:
    """Two calls, each with the launches of the wrapper in its order."""
    found = attribute(dump, read(page(name, tmp_path)))

    (plan,) = plans(dump)
    lines = [joined.launch.line for joined in found.joined if joined.launch is not None]
    assert lines == CALLS * [step.launch.line for step in plan.steps]
    assert len(lines) == len(found.runs)


def test_times_are_those_of_the_report(tmp_path: Path) -> None:
    """Both pages tell a time of each kernel; those of the long one are found without our reader."""
    with page("details", tmp_path).open(newline="") as file:
        wanted = [row[14] for row in csv.reader(file) if len(row) > 14 and row[12] == "Duration"]

    profile = read(page("details", tmp_path))
    assert [f"{run.duration * 1000:,.0f}" for run in profile.runs] == wanted
    raw = read(page("raw", tmp_path))
    assert all(run.duration > 0 for run in raw.runs)
    assert [(run.name, run.grid, run.block) for run in raw.runs] == [
        (run.name, run.grid, run.block) for run in profile.runs
    ]
    assert raw.device == "NVIDIA H200"


@pytest.mark.parametrize("name", ["raw", "details"])
def test_what_the_program_prints_is_no_kernel(name: str, tmp_path: Path) -> None:
    """It stands between the rows of a report that is read from stdout."""
    plain = read(page(name, tmp_path))
    mixed = read(page(name, tmp_path, between="step 1, loss 0.3, a, b, c, d, e\n\n"))
    assert mixed.runs == plain.runs


def test_the_roof_is_of_the_gpu_that_the_dump_names(dump: Dump, tmp_path: Path) -> None:
    """The long page does not name one."""
    assert not read(page("details", tmp_path)).device
    assert (found := gpu_of(dump)) is not None
    assert found.gpu == "H200"
