"""docs/reference.md and the man page are what the commands' help says."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from inspect_compile.commands import COMMANDS
from inspect_compile.commands.usage import exits
from tests.scripted import script

command_reference = script("command_reference")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == command_reference.page(), "make reference writes it"


def test_it_has_every_command_and_option() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for listed in COMMANDS:
        section = text.partition(f"\n## {listed.name}\n")[2].partition("\n## ")[0]
        options = [one for action in command_reference.parser_of(listed)._actions for one in action.option_strings]
        assert [one for one in options if one not in section and one not in ("-h", "--help")] == []


def test_the_help_of_each_lists_its_exit_statuses() -> None:
    for listed in COMMANDS:
        told = command_reference.parser_of(listed).format_help()
        assert all(
            re.search(rf"^  {status} +{re.escape(meaning)}$", told, re.MULTILINE)
            for status, meaning in exits.of(listed.name)
        )


def test_the_man_page_is_plain_roff() -> None:
    text = command_reference.man()
    instructions = {line.split()[0] for line in text.splitlines() if line.startswith((".", "'"))}
    assert instructions == {".TH", ".SH", ".SS", ".nf", ".fi"}
    assert text.isascii()
    assert all(f".SS {listed.name}".replace("-", "\\-") in text for listed in COMMANDS)


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_has_no_complaints(tmp_path: Path) -> None:
    (tmp_path / "page.1").write_text(command_reference.man())
    words: list[str | Path] = ["groff", "-man", "-ww", "-Tascii", tmp_path / "page.1"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    )
    assert "NAME" in done.stdout
    assert "special character" in done.stderr or not done.stderr
