"""A word that is none of those that there are: what was meant, and nothing superfluous is passed over."""

from pathlib import Path

import pytest

from inspect_compile.commands import COMMANDS, Listed, main
from inspect_compile.commands.usage.near import did_you_mean
from inspect_compile.tables import PAGES, TABLES
from inspect_compile.tables.words import WORDS
from tests.handmade import ended, graph, kernel, made, node

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dump with a kernel and a node, in the current directory."""
    made(tmp_path / "net", graph(), node("relu", "aten.relu"), kernel("cpp_fused_relu_0"), ended())
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("line", "status", "told"),
    [
        ("show net stepz", 2, "no such table; did you mean steps?"),
        ("show stepz", 2, "neither a dump nor a table; did you mean steps?"),
        ("show net --limt 3", 2, "--limt 3; did you mean --limit?"),
        ("draw net schedul", 2, "no such diagram as schedul; did you mean schedule?"),
        ("draw schedul", 2, "neither a dump nor a diagram; did you mean schedule?"),
        ("completion bsh", 2, "did you mean bash?"),
        ("export net --format perfeto", 2, "did you mean perfetto?"),
        ("run --levl facts x.py", 125, "--levl; did you mean --level?"),
        ("run --level fact x.py", 125, "did you mean facts?"),
        ("numerics --causs net", 2, "did you mean --causes?"),
        ("shwo net", 125, "is the command `inspect-compile show` meant?"),
        ("show net kernel cpp_fused_rely_0", 2, "near: cpp_fused_relu_0"),
    ],
)
def test_what_was_meant(line: str, status: int, told: str, capsys: Capture) -> None:
    assert main(line.split()) == status
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "open net net net",
        "show net nodes no_such_name",
        "show net kernels no_such_name",
        "show net kernels no_such_name --json",
        "show net overview net",
        "draw net schedule net",
        "why net a b c",
        "attribute net trace.json more",
        "diff net net net",
        "lock net net",
        "check net net",
        "replay net relu",
        "report net --no-such",
        "export net net --format json",
        "share net net",
        "import net net -o other",
        "doctor net",
        "completion bash net",
    ],
)
def test_what_is_superfluous_is_refused(line: str, capsys: Capture) -> None:
    assert main(line.split()) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("inspect-compile: ")
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("listed", COMMANDS, ids=lambda listed: listed.name)
def test_an_option_that_there_is_not(listed: Listed, capsys: Capture) -> None:
    assert main([listed.name, "--no-such-option"]) == listed.exit_code
    told = capsys.readouterr()
    assert told.out == ""
    assert f"`inspect-compile {listed.name} --help` lists what there is" in told.err


def test_names_still_choose_rows(capsys: Capture) -> None:
    assert main(["show", "net", "kernels", "cpp_fused_relu_0"]) == 0
    assert "cpp_fused_relu_0" in capsys.readouterr().out


def test_nothing_is_near() -> None:
    assert did_you_mean("zzz", TABLES) == ""
    assert did_you_mean("x" * 1_000_000, TABLES) == ""


def test_the_help_has_a_word_on_each_table(capsys: Capture) -> None:
    assert set(WORDS) == {*TABLES, *PAGES}
    with pytest.raises(SystemExit):
        main(["show", "--help"])
    told = capsys.readouterr().out
    assert all(words in told for words in WORDS.values())
    assert max(map(len, WORDS.values())) <= 62
