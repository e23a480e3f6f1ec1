"""What a program that still runs compiles at the moment."""

from pathlib import Path

from inspect_compile.analysis.frontend.progress import progress
from inspect_compile.facts import Pass, Timed, TimerBegan
from inspect_compile.tables.frontend.progress import progress_text, short_progress_text
from tests.handmade import GRAPH, graph, kernel, made


def began(name: str, start: float, compile_id: str = "0/0") -> TimerBegan:
    return TimerBegan(graph=compile_id, name=name, start=start)


def timed(name: str, start: float, seconds: float) -> Timed:
    return Timed(graph="0/0", name=name, start=start, seconds=seconds)


def test_nothing_is_compiled_before_the_first_timer_and_after_the_last(tmp_path: Path) -> None:
    assert progress(made(tmp_path / "none"), 1.0) is None
    assert progress(made(tmp_path / "ended", began("dynamo", 1.0), timed("dynamo", 1.0, 2.0)), 9.0) is None


def test_kernels_are_built(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        *(began("dynamo", 1.0), began("entire_frame_compile", 1.0), graph(), kernel("k0"), kernel("k1")),
        *(kernel("extern_kernels.mm", kind="extern"), began("async_compile.wait", 8.0)),
        *(began("compile_file", 8.0), timed("compile_file", 8.0, 3.0), began("compile_file", 11.0, "")),
    )

    found = progress(dump, 20.0)

    assert found is not None
    assert (found.compile_id, found.graph, found.kind, found.stage) == ("0/0", GRAPH, "forward", "building kernels")
    assert (found.seconds, found.stage_seconds) == (19.0, 12.0)
    assert (found.kernels, found.building, found.built) == (3, 1, 1)
    assert short_progress_text(found) == "building kernels for 12 s"
    assert progress_text(found) == (
        "compiling 0/0 forward: building kernels for 12 s, 19 s in all; 3 kernels; 1 kernel build running, 1 done"
    )


def test_the_last_pass_is_named(tmp_path: Path) -> None:
    done = Pass(graph=GRAPH, index=0, parent=None, stage="post_grad", kind="pass", name="remove_noop_ops")
    dump = made(tmp_path, began("dynamo", 1.0), graph(), began("_recursive_post_grad_passes", 2.0), done)

    found = progress(dump, 3.0)

    assert found is not None
    assert progress_text(found) == ("compiling 0/0 forward: graph passes for 1 s, 2 s in all; after remove_noop_ops")
