"""Opens the user's editor at a line."""

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.dump.files import plain_file
from inspect_compile.errors import CommandError

_WITH_COLON: Final = frozenset({"hx", "helix", "subl", "zed"})
"""Editors that take `FILE:LINE`."""
_WITH_GOTO: Final = frozenset({"code", "codium", "code-insiders", "cursor", "windsurf"})
"""Editors that take `--goto FILE:LINE`, and return at once unless told to wait."""

NO_EDITOR: Final = "no editor is set: export EDITOR=vim (or nano, emacs, 'code --wait'), then e opens it at the line"


class TextPlace(NamedTuple):
    """A line of a file on this machine."""

    path: Path
    line: int


def editor_command(place: TextPlace, environment: Mapping[str, str]) -> list[str]:
    """The command that opens the file at the line, in VISUAL or EDITOR. Raises CommandError if neither is set."""
    asked = environment.get("VISUAL", "").strip() or environment.get("EDITOR", "").strip()
    if not asked:
        raise CommandError(NO_EDITOR)
    try:
        words = shlex.split(asked)
    except ValueError as error:
        raise CommandError(f"EDITOR={asked}: cannot be read as a command ({error})") from None
    name, path = Path(words[0]).name, str(place.path.absolute())
    if name in _WITH_GOTO:
        return [*words, "--goto", f"{path}:{place.line}"]
    return [*words, f"{path}:{place.line}"] if name in _WITH_COLON else [*words, f"+{place.line}", path]


def edit(place: TextPlace) -> None:
    """Run the editor on the terminal until it is closed. Raises CommandError."""
    file = plain_file(place.path)
    if file is None:
        raise CommandError(f"{place.path}: no such file on this machine")
    file.close()
    command = editor_command(place, os.environ)
    try:
        status = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise CommandError(f"{command[0]}: cannot be started ({error.strerror or error})") from None
    if status:
        raise CommandError(f"{shlex.join(command)} ended with exit status {status}")
