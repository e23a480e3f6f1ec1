"""Saves what is shown; never over a file that exists."""

from pathlib import Path

from inspect_compile.errors import CommandError
from inspect_compile.tui.models.sheet import Sheet

FORMATS = (".txt", ".svg")


def sheet_text(sheet: Sheet, width: int) -> str:
    """The titles and all rows of a sheet as text; columns as wide as they need, if `width` has room for them."""
    lines = ["".join(span.text for span in sheet.titles(width))] if sheet.header else []
    for index in range(len(sheet)):
        lines.append("".join(span.text for span in (*sheet.fixed(index), *sheet.spans(index, width))))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def free_name(stem: str, folder: Path) -> str:
    """`kernels.txt`, or `kernels-2.txt` if there is one already."""
    safe = "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in stem)
    names = (f"{safe}{'' if number == 1 else f'-{number}'}.txt" for number in range(1, 10_000))
    return next((name for name in names if not (folder / name).exists()), f"{safe}.txt")


def form_of(path: Path) -> str:
    """How a file of this name is written, by its ending. Raises CommandError."""
    if path.suffix.lower() not in FORMATS:
        raise CommandError(f"{path}: the name must end with {' or '.join(FORMATS)}")
    return path.suffix.lower()


def save(path: Path, text: str) -> None:
    """Write a new file. Raises CommandError, also if it exists."""
    try:
        with open(path, "x", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except FileExistsError:
        raise CommandError(f"{path}: exists already; choose another name") from None
    except OSError as error:
        raise CommandError(f"{path}: cannot be written ({error.strerror or error})") from None
