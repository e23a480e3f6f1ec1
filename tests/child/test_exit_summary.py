"""The sentences at the end of a run."""

import pytest

from inspect_compile.child import exit_summary
from inspect_compile.child.recorder import Tally
from inspect_compile.facts import CacheLookup, Frame, Graph, GraphEnd, Kernel

FRAME = Frame(function="f", file="f.py", line=1, status="compiled")
NO_COMPILER = (
    "BackendCompilerFailed: backend='inductor' raised:\n"
    "InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')\n\n"
    "Set TORCHDYNAMO_VERBOSE=1"
)


def tally(*facts: CacheLookup | Frame | Graph | GraphEnd | Kernel) -> Tally:
    made = Tally()
    for fact in facts:
        made.add(fact)
    return made


def graph(name: str) -> Graph:
    return Graph(graph=name, kind="forward")


def kernel(name: str) -> Kernel:
    return Kernel(graph="g.0", name=name, kind="cpp", device="cpu")


def test_what_was_seen_and_how_to_look() -> None:
    seen = tally(graph("g.0"), graph("g.0/true_graph_0"), kernel("a"), kernel("b"))
    (line,) = exit_summary.compose(seen, "my dump", saw_torch=True, others=2)
    assert line == (
        "inspect-compile: 1 graph, 2 kernels, 2 other processes that compiled in my dump;"
        " see: inspect-compile show 'my dump'"
    )


def test_only_other_processes_compiled() -> None:
    assert exit_summary.compose(tally(), "d", saw_torch=True, others=1) == [
        "inspect-compile: 1 process that compiled in d; see: inspect-compile show d"
    ]


@pytest.mark.parametrize(
    ("seen", "saw_torch", "reason"),
    [
        (tally(), False, "the program never imported torch"),
        (tally(), True, "torch.compile was never called"),
        (tally(FRAME), True, "Dynamo compiled 1 frame, and no graph reached Inductor"),
        (tally(FRAME, CacheLookup(cache="fx_graph", outcome="hit")), True, "run without --cache keep"),
        (tally(FRAME, CacheLookup(cache="fx_graph", outcome="passed over")), True, "and no graph reached Inductor"),
        (tally(GraphEnd(status="failed", seconds=0.0, exception=NO_COMPILER)), True, "apt-get install g++"),
    ],
)
def test_why_there_is_nothing(seen: Tally, saw_torch: bool, reason: str) -> None:
    first, second = exit_summary.compose(seen, "d", saw_torch=saw_torch)
    assert reason in first
    assert second == "inspect-compile: recorded in d"


def test_a_program_without_torch_is_told_what_to_install() -> None:
    first = exit_summary.compose(tally(), "d", saw_torch=False, lacks_torch=True)[0]
    assert "torch is not installed in the environment of the program" in first
    assert first.endswith("pip install 'inspect-compile[record]'")


def test_a_failure_beside_graphs_is_told() -> None:
    seen = tally(graph("g.0"), GraphEnd(status="failed", seconds=0.0, exception=NO_COMPILER))
    assert exit_summary.compose(seen, "d", saw_torch=True)[1].startswith(
        "inspect-compile: a compile failed: InvalidCxxCompiler: No working C++ compiler found"
    )


def test_a_disk_that_refused_is_told() -> None:
    assert exit_summary.compose(tally(graph("g.0")), "d", saw_torch=True, trouble="could not write")[1] == (
        "inspect-compile: could not write"
    )


def test_caches_that_the_program_looks_at_are_explained_last() -> None:
    seen = tally(graph("g.0"), *[CacheLookup(cache="fx_graph", outcome="passed over", stored=True)] * 2)
    looks = exit_summary.looked(seen, "looks at torch's counters")
    assert exit_summary.compose(seen, "d", saw_torch=True, looks=looks)[-1] == (
        "inspect-compile: the program looks at torch's counters: 2 cache lookups found nothing because of the "
        "recording; with --cache keep they are as without it"
    )
    assert exit_summary.looked(seen, None) is None


@pytest.mark.parametrize(
    ("lookup", "counts"),
    [
        (CacheLookup(cache="fx_graph", outcome="passed over"), True),
        (CacheLookup(cache="fx_graph", outcome="passed over", stored=False), False),
        (CacheLookup(cache="fx_graph", outcome="hit"), False),
    ],
)
def test_what_had_nothing_to_find_is_not_explained(lookup: CacheLookup, counts: bool) -> None:
    assert (exit_summary.looked(tally(graph("g.0"), lookup), "looks at torch's counters") is not None) == counts
