"""A failed compile is the first finding: its stage, its node, the program's line and the error itself."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, GraphEnd
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.overview.compiler_errors import brief, errors_in
from tests.running import inspected

PROGRAM = Path(__file__).parents[1] / "programs" / "failing.py"


class Ended(NamedTuple):
    """The program at its end."""

    dump: Dump
    failed: list[str]
    """The functions that did not compile, as it says itself: a newer torch compiles more of them."""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    folder = tmp_path_factory.mktemp("failing")
    done = inspected([PROGRAM], folder)
    assert done.returncode == 0, done.stderr
    assert "UserWarning" not in done.stderr
    assert " -std=c++" not in done.stderr.rpartition("inspect-compile: ")[2]
    return Ended(Dump(folder / "dump"), [line.split()[0] for line in done.stdout.splitlines()])


@pytest.fixture(scope="module")
def dump(ended: Ended) -> Dump:
    return ended.dump


def line_of(code: str) -> int:
    (number,) = (n for n, line in enumerate(PROGRAM.read_text().splitlines(), 1) if line.strip() == code)
    return number


def lines(row: Finding) -> Iterator[int]:
    return (part.where.line for part in row.parts if part.where is not None)


def test_each_failed_compile_stands_before_all_else(ended: Ended) -> None:
    rows = findings(Graphs(ended.dump))
    failed = [row for row in rows if row.kind == "failed-compile"]
    assert rows[: len(failed)] == failed
    assert "incomplete" not in {row.kind for row in rows}
    known = {next(iter(lines(row))): row for row in failed}
    assert len(known) == len(failed) == len(ended.failed) >= 5

    error = known[line_of("b = torch.asinh(a)")]
    assert error.what == "a compile failed: compiling the generated code"
    assert error.why.startswith("error: conflicting declaration")
    assert "auto tmp0 = 1;` in cpp_fused" in error.why
    assert [part.node for part in error.parts] == ["asinh"]
    branch = known[line_of("return torch.asinh(x).cos()")]
    assert [part.node for part in branch.parts] == ["asinh"]

    if "not_comparable" in ended.failed:
        folded = known[line_of("return torch.softmax(torch.arccosh(torch.log2(torch.atan2(a, a))), -1)")]
        assert "The argument 'nan' is not comparable." in folded.why
        assert "amax" in folded.why
    if "of_a_pass" in ended.failed:
        passes = known[line_of("return x + torch.tensor(5.0).cumsum(0)")]
        assert (passes.what, passes.parts[0].node) == ("a compile failed: passes over the graph", "cumsum")
    if "of_a_guard" in ended.failed:
        guard = known[line_of("return torch.nn.functional.layer_norm(nested, [12]).values().sum()")]
        assert guard.why == "IndexError: list index out of range"
    pattern = known[line_of("return scores.softmax(-1) @ value")]
    assert "no attention on Tuesdays" in pattern.why
    lowered = known[line_of("return torch.lgamma(a)")]
    assert (lowered.what, lowered.parts[0].node) == ("a compile failed: lowering", "lgamma")
    assert lowered.why.startswith("InductorError: LoweringException: RuntimeError: no lowering on Tuesdays")
    backend = known[line_of("torch.compile(function, backend=backend)(*arguments)")]
    assert backend.why == "RuntimeError: this backend is out of order"


def test_no_command_line_is_kept(dump: Dump) -> None:
    ends = [row.exception for row in dump.rows(GraphEnd) if row.exception]
    texts = [*ends, *(row.reason or "" for row in dump.rows(Frame))]
    assert len(ends) >= 3
    assert not [text for text in texts if "g++ " in text or "Command:" in text or " -std=c++" in text]


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        ("a.cpp:3:7: fatal error: no.h: No such file or directory\n    3 | #include <no.h>\n", ["no.h: No such file"]),
        ("a.cpp:3:7: error: one\n    3 | x\na.cpp:9:7: error: one\n    9 | x\n", ["one"]),
        ("a.cpp:3: error: no column\n", ["no column"]),
        ("a.h:1:2: warning: w\na.cpp:3:7: error: behind it\n", ["behind it"]),
    ],
)
def test_of_what_a_compiler_says_its_errors_are_kept(output: str, kept: list[str]) -> None:
    text = brief(f"CppCompileError: C++ compile error\n\nCommand:\ng++ -O3 a.cpp\n\nOutput:\n{output}")
    found = errors_in(text)
    assert [error.message.startswith(words) for error, words in zip(found, kept, strict=True)] == [True] * len(kept)
    assert "-O3" not in text
    assert "warning" not in text


def test_of_a_linker_the_end_is_kept() -> None:
    text = brief("C++ compile error\n\nCommand:\ng++ -O3\n\nOutput:\nld: cannot find -lgomp\ncollect2: error: ld: 1\n")
    assert text == "C++ compile error\nld: cannot find -lgomp\ncollect2: error: ld: 1"
