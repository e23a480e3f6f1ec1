"""The lines of the user's program go, their places stay."""

import pytest

from inspect_compile.share.source_lines import SourceLines

TRACEBACK = """\
Unsupported: no graph

from user code:
   File "/w/net.py", line 9, in forward
    return self.secret(x)
           ^^^^^^^^^^^^^^
  File "/w/net.py", line 3, in secret
    print("secret")

Set TORCHDYNAMO_VERBOSE=1"""


def test_a_location_keeps_its_file_and_line() -> None:
    lines = SourceLines()
    where = {"file": "a.py", "line": 3, "function": "f", "code": "secret(x)"}
    found = lines.json({"where": where, "stack": [where], "code": ["x == 1"], "kind": "frame"})

    assert found["where"] == {**where, "code": ""}
    assert found["stack"] == [{**where, "code": ""}]
    assert found["code"] == ["x == 1"]
    assert lines.count == 2


def test_a_traceback_in_a_text_loses_its_lines() -> None:
    lines = SourceLines()
    found = lines.text(TRACEBACK)

    assert "secret(x)" not in found
    assert "^^^" not in found
    assert 'print("secret")' not in found
    assert found.count('File "/w/net.py", line') == 2
    assert found.endswith("Set TORCHDYNAMO_VERBOSE=1")
    assert lines.count == 3


def test_a_traceback_in_a_file_keeps_the_numbers_of_its_lines() -> None:
    lines = SourceLines()
    found = [lines.line(line) for line in TRACEBACK.splitlines()]

    assert len(found) == len(TRACEBACK.splitlines())
    assert found[4] == found[5] == found[7] == ""
    assert found[9] == "Set TORCHDYNAMO_VERBOSE=1"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    # File: /w/net.py:9 in f, code: y = secret(x)", "    # File: /w/net.py:9 in f"),
        ("0/0: len(x) == 2  # return secret(x)  # net.py:9 in f", "0/0: len(x) == 2   # net.py:9 in f"),
        ("# Topologically Sorted Source Nodes: [y], Original ATen: [aten.relu]", None),
        ("tmp0 = tl.load(in_ptr0)  # a comment", None),
    ],
)
def test_comments_of_the_compiler(line: str, expected: str | None) -> None:
    assert SourceLines().line(line) == (expected or line)
