"""Each command line of README.md and docs/ is one that the commands take, and those that read a dump run."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from inspect_compile.commands import COMMANDS, RUN, Parser, main
from inspect_compile.commands.drawing.asked import asked
from inspect_compile.commands.program import split
from inspect_compile.commands.show import _split
from inspect_compile.tables import PAGES, TABLES
from tests.conftest import DumpOf

ROOT = Path(__file__).resolve().parent.parent
WRITTEN = {"reference.md"}
"""Made from the commands themselves: tests/commands/test_reference.py."""
PAGES_WITH_COMMANDS = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in WRITTEN),
]
READING = ("show", "why", "draw", "name", "diff", "report", "export", "share")
"""Commands that read a dump, run nothing of it and need no terminal."""


PATHS = {
    "DUMP",
    "LOG",
    "OLD",
    "NEW",
    "PATH",
    "RUN_FOR_THE_TARGET",
    "RUN_ON_THE_GPU",
    "d",
    "dump",
    "torch_compile_debug",
    "walks",
}


class Line(NamedTuple):
    page: str
    text: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.text)[1:]


def lines() -> Iterator[Line]:
    """Those in blocks of code, and those in a line or a table."""
    for page in PAGES_WITH_COMMANDS:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```[a-z]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            for line in block.splitlines():
                found = re.match(
                    r"\$? *(?:[A-Z_]+=\S+ )*(inspect-compile .*?)(?: {2,}.*| +#.*| +https?:.*| without paths.*)?$", line
                )
                if found is not None:
                    yield from (Line(page.name, one) for one in meant(found[1]))
        for found_inline in re.findall(
            r"`(inspect-compile [^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        ):
            yield from (Line(page.name, one) for one in meant(found_inline.replace("\\|", "|")))


VALUES = {"N": "3", "SIZE": "500MB", "TABLE": "kernels", "KIND": "schedule", "STRING": "relu"}
"""What stands for a value that is checked at once."""


def meant(text: str) -> list[str]:
    """What is written: with all of its `[…]` and with none; of alternatives the first and the last."""
    if len(text.split()) < 3 and text.split()[-1] in {one.name for one in COMMANDS}:
        return []  # a command is named
    text = re.sub(r"(?<=\s)…(?=/)", "some", text)
    if text.split()[1] == "numerics" and text.endswith("…") and "SCRIPT" not in text:
        text = text.removesuffix("…") + "SCRIPT"
    found = []
    for whole in (True, False):
        one = text
        while (optional := re.search(r"\[([^\[\]]*)\]", one)) is not None:
            one = one[: optional.start()] + (optional[1].split(" | ")[0] if whole else "") + one[optional.end() :]
        one = " ".join(word.split("|")[-whole] for word in one.split())
        found.append(" ".join(VALUES.get(word, word) for word in one.split() if word != "…"))
    return found


LINES = sorted(set(lines()))


def parsed(line: Line) -> tuple[str, list[str]]:
    """The command and its own words; raises CommandError, as the command does, for what it does not take."""
    words = line.words
    listed = next((one for one in COMMANDS if words and one.name == words[0]), RUN)
    own = words[1:] if words and listed.name == words[0] else words
    parser = Parser(listed)
    listed.load().configure(parser)
    if listed.has_program:
        own, program = split(own)
        assert program is not None or not own or listed.name in ("check", "numerics", "lock", "tune", "run"), line
    given = parser.parse_intermixed_args(own)
    if listed.name == "show":
        _split(given.words, (*TABLES, *PAGES))
    if listed.name == "draw":
        asked(given.words)
    return listed.name, own


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.page}: {line.text}")
def test_the_command_takes_it(line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in line.words:
        if name in PATHS or name.endswith((".log", ".zip")):
            (tmp_path / name).touch()
    assert parsed(line)[0]


NAMES = {
    "A": "missed_fusion.py:22", "B": "missed_fusion.py:24", "N": "add", "NODE": "add", "NAME": "cpp_fused_gelu_mul_1",
    "KERNEL": "cpp_fused_gelu_mul_1", "STRING": "cpp_fused_gelu_mul_1", "op10": "op1", "op12": "op2", "3": "add",
    "model.py:17": "missed_fusion.py:22", "model.py:18": "missed_fusion.py:24", "relu": "cpp_fused_gelu_mul_1",
    "triton_poi_fused_relu_0": "cpp_fused_gelu_mul_1", "triton_poi_fused_add_gelu_1": "cpp_fused_gelu_mul_1",
    "cpp_fused_tanh_0": "cpp_fused_gelu_mul_1", "walks.py:17": "missed_fusion.py:22",
    "walks.py:18": "missed_fusion.py:24",
}  # fmt: skip
"""What stands in pages for names of a program's → names of the sample."""
NOT_OF_THIS_DUMP = (
    "no such replay", "no such target", "no such stage", "not a distributed run", "is not known", "no such rank",
    "has no ptx", "no launch was checked", "was compiled for it", "target_sm_90: no such dump", "already exists",
)  # fmt: skip
"""What commands say of a part that a dump without it does not have."""


def test_those_that_read_a_dump_run(
    dump_of: DumpOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = dump_of("missed_fusion").dump
    dump = tmp_path / "torch_compile_debug" / "run"
    shutil.copytree(recorded, dump)
    monkeypatch.chdir(tmp_path)
    done, failed = 0, []
    for words in sorted({tuple(line.words) for line in LINES if line.words[:1] and line.words[0] in READING}):
        if any(word.endswith((".log", ".zip", "json")) for word in words) or {"some/all", "--trace", "--try"} & set(
            words
        ):
            continue
        given = [
            words[0],
            *(str(dump) if word in PATHS else NAMES.get(word, word) for word in words[1:]),
        ]
        status = main(given)
        told = capsys.readouterr()
        if status in (0, 1) and told.out:
            done += 1
        elif not any(one in told.err for one in NOT_OF_THIS_DUMP):
            failed.append(f"{' '.join(words)}: {told.err}")
    assert "\n".join(failed) == ""
    assert done > 50


def test_there_are_many() -> None:
    assert len(LINES) > 120
