"""`upgrade` on handmade times: what is assigned to what, and what is noise; which settings are swapped back."""

from pathlib import Path

import pytest

from inspect_compile.analysis.compare.proof import old_settings
from inspect_compile.analysis.compare.upgrade import upgrade
from inspect_compile.dump import Dump
from inspect_compile.facts import Fact, Launched, Measuring
from tests.handmade import GRAPH
from tests.stages import KERNEL, LABELS, LAUNCHER, staged_dump


def timed_dump(folder: Path, milliseconds: dict[str, float]) -> Dump:
    """A dump with the times of one call: of its launches, of memory and checks, and of all of it."""
    places = {KERNEL: ("launch", 7), "extern_kernels.mm": ("launch", 9), LAUNCHER: ("launch", 8)}
    rows: list[Fact] = [Measuring(device="cpu", how="clock", overhead=0.0)]
    for name, took in milliseconds.items():
        what, line = places.get(name, (name, None))
        rows.append(
            Launched(
                graph=GRAPH,
                what=what,
                kernel=name if name in places else "",
                line=line,
                device="cpu",
                calls=9,
                timed=8,
                first=9 * took,
                least=took,
                milliseconds=took,
                least_in_call=took,
                times_in_call=1,
            )
        )
    return staged_dump(folder, *rows)


OLD_TIMES = {
    KERNEL: 0.02,
    "extern_kernels.mm": 0.05,
    LAUNCHER: 0.01,
    "memory": 0.006,
    "checks": 0.004,
    "rest": 0.01,
    "before": 0.04,
    "call": 0.1,
}
NEW_TIMES = {
    KERNEL: 0.07,
    "extern_kernels.mm": 0.07,
    LAUNCHER: 0.01,
    "memory": 0.009,
    "checks": 0.004,
    "rest": 0.017,
    "before": 0.05,
    "call": 0.18,
}


def test_measured_time_is_assigned_by_what_differs(tmp_path: Path) -> None:
    """140 µs → 230 µs: a kernel that is compiled to something else adds 50, the same call of a library 20."""
    one, other = timed_dump(tmp_path / "one", OLD_TIMES), timed_dump(tmp_path / "other", NEW_TIMES)
    (path,) = other.root.rglob(f"{LABELS[0]}/{KERNEL}.ptx")
    path.write_text(path.read_text().replace("\tret;", "\ttrap;\n\tret;"))
    found = upgrade([one], [other], ("old", "new"))
    assert [round((one or 0) * 1e6) for one in found.whole.seconds] == [140, 230]
    assert (found.whole.runs, found.whole.is_noise) == (1, None)
    shares = {row.kind: round((row.seconds or 0) * 1e6) for row in found.shares}
    assert shares == {
        "same code, compiled differently": 50,
        "library functions": 20,
        "same code, different time": 0,
        "allocations and frees": 3,
        "checks of sizes": 0,
        "Python between launches": 7,
        "guards, Dynamo and wrappers": 10,
    }
    assert found.shares[0].share == pytest.approx(50 / 90)
    assert [part.names[0] for part in found.parts[:2]] == [KERNEL, "extern_kernels.mm"]
    (cause,) = found.causes
    assert cause.level == "ptx"


def test_noise_is_told_from_a_difference(tmp_path: Path) -> None:
    """Of runs that overlap nothing is said; of others, which parts of the difference are more than noise."""

    def run(name: str, times: dict[str, float], **other: float) -> Dump:
        return timed_dump(tmp_path / name, times | other)

    old = [run("1", OLD_TIMES), run("2", OLD_TIMES, rest=0.03), run("3", OLD_TIMES, rest=0.016, memory=0.01)]
    new = [run("4", NEW_TIMES, rest=0.037), run("5", NEW_TIMES), run("6", NEW_TIMES, rest=0.027)]
    found = upgrade(old, new, ("old", "new"))
    assert found.places == (0, 1)
    assert (found.whole.runs, found.whole.is_noise) == (3, False)
    assert [round((one or 0) * 1e6) for one in found.whole.spread] == [20, 20]
    noise = {row.kind: row.is_noise for row in found.shares}
    assert (noise["library functions"], noise["allocations and frees"]) == (False, True)
    overlapping = upgrade(old, [run("7", OLD_TIMES, rest=0.025), run("8", OLD_TIMES, rest=0.005)], ("old", "new"))
    assert overlapping.whole.is_noise is True


def test_settings_of_the_old_one_that_can_decide_over_code() -> None:
    old = {
        "_inductor.cpp.simdlen": 4,
        "_inductor.max_fusion_size": 64,
        "_inductor.fx_graph_cache": True,
        "_inductor.a": 1,
    }
    new = {
        "_inductor.cpp.simdlen": 8,
        "_inductor.max_fusion_size": 64,
        "_inductor.fx_graph_cache": False,
        "_inductor.b": 2,
    }
    assert old_settings(old, new) == {"_inductor.cpp.simdlen": 4}
