"""Texts for values, the same in every table and file. Plain strings: writing a text file needs no rich."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.graph import any_number, nested_path
from inspect_compile.knowledge.frontend.own_code import own_line

if TYPE_CHECKING:
    from inspect_compile.facts import Location, Shared

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""Escape sequences, control characters except line feed and tab, characters that change the writing direction, lone
surrogates, and what no XML may contain.
"""

_UNSAFE_IN_JSON = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]|#(?=#)")
_MAYBE_UNSAFE = re.compile(rb"[\x7f\xc2\xd8\xe2\xef]|##")

_COMMANDS_IN_LOGS = re.compile(r"(?m)^([^\S\n]*:)(?=:[A-Za-z])|#(?=#(?:\[|vso\[|teamcity\[))")
"""How a line begins that GitHub Actions carries out, and what Azure Pipelines and TeamCity carry out anywhere."""

OF: Final = " · "
"""Between what is done and its place: `softmax · model.py:9`."""
FROM: Final = " ← "
"""Between a line of the user's own and the line of a library that it leads to."""

_MODULES: Final = 3
"""Paths of modules that are named on one line."""
_SPAWNED: Final = "--multiprocessing-fork"
_UNITS: Final = ("B", "kB", "MB", "GB", "TB", "PB")
_MULTIPLES: Final = ("", "k", "M", "G", "T", "P", "E")
WIDEST: Final = 400
"""Maximum width of a padded column of a text file, in characters."""
BAR: Final = 12
"""Number of columns of the bar of a whole."""
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_TABLE_SUFFIXES: Final = ("", "K", "M", "B", "T")


def clean(text: str) -> str:
    """`text` from a dump, made harmless for a terminal: nothing in it moves the cursor, changes colours or reads
    backwards.
    """
    return _ESCAPES.sub("", text).expandtabs(4)


def one_line(text: str) -> str:
    """`text` cleaned, with its lines joined by spaces."""
    return " ".join(clean(text).split())


def unbroken(text: str) -> str:
    """`text` cleaned and on one line, with its blanks unchanged: a path, a message, a word of a command."""
    return " ".join(clean(text).splitlines())


def terminal_safe(json: bytes) -> bytes:
    """JSON with everything escaped that `clean` removes, and that steers a CI system: encoders leave it unchanged."""
    if _MAYBE_UNSAFE.search(json) is None:
        return json
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", json.decode()).encode()


def log_safe(text: str) -> str:
    """`text`, cleaned already, without lines that a CI system would carry out: `::error::` becomes `: :error::`."""
    return _COMMANDS_IN_LOGS.sub(lambda found: f"{found[0]} ", text)


def exception_text(text: str) -> str:
    """An exception on one line, without torch's advice on how to see more of torch."""
    return one_line(text).partition(" Set TORCHDYNAMO_VERBOSE=1")[0]


def byte_text(count: int | None) -> str:
    """`262 kB`: decimal units, three digits; `?` if not known."""
    return "?" if count is None else _scaled(count, _UNITS)


def multiple_text(count: float, unit: str) -> str:
    """`12.4 MFLOP` for 12,355,200 and `FLOP`."""
    number, _, prefix = _scaled(count, _MULTIPLES).partition(" ")
    return f"{number} {prefix}{unit}"


def _scaled(count: float, units: Sequence[str]) -> str:
    if abs(count) < 1000:
        return f"{count:g} {units[0]}"
    size, step = float(count), 0
    while abs(size) >= 999.5 and step + 1 < len(units):
        size /= 1000
        step += 1
    return f"{size:.3g} {units[step]}"


def flop_suffix(total: int) -> str:
    """The suffix for a FLOP table with this total: `K` for 12,355,200, as torch's flop counter chooses it."""
    return _TABLE_SUFFIXES[max(0, min(len(_TABLE_SUFFIXES) - 1, (len(str(total)) - 3) // 3))]


def flop_text(count: int, suffix: str) -> str:
    """`12355.200K`: one suffix for a table, so that numbers can be compared by their length."""
    return f"{count / 1000 ** _TABLE_SUFFIXES.index(suffix):.3f}{suffix}" if suffix else str(count)


def share_text(share: float | None, places: int = 2) -> str:
    """`94.56 %`; empty if not known."""
    return "" if share is None else f"{share:.{places}%}".replace("%", " %")


def bar_text(share: float, longest: int = BAR) -> str:
    """The bar of a share from 0 to 1, of which a whole has `longest` columns."""
    eighths = round(longest * 8 * share)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def unplaced_text(pieces: int) -> str:
    """Words for the pieces of work of a start-up that have no place in it."""
    return f"{number_of(pieces, 'piece')} of work left out: the machine's clock was set back during the run"


def seconds_text(seconds: float | None) -> str:
    """`1.6 s`, `40 ms`, `0.3 ms`."""
    if seconds is None:
        return "?"
    if seconds >= 0.0995:
        return f"{seconds:.1f} s"
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.00095 else f"{seconds * 1000:.1f} ms"


def time_text(seconds: float | None) -> str:
    """`3.2 µs`, `1.2 ms`: three digits; empty if not known."""
    if seconds is None:
        return ""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns" if seconds else "0"


def place_text(where: "Location | None") -> str:
    """`mixed.py:14`; for a line of a library `train.py:41 ← adam.py:414`, the user's own line first, and the nn.Module
    that ran it, `layers.0.attention · library.py:33`.
    """
    return "".join(place_parts(where))


def place_parts(where: "Location | None") -> tuple[str, str]:
    """`train.py:41` and ` ← adam.py:414`; the second part is empty for a line of the user's own, or if none is known.

    What has no line is empty.
    """
    if where is None:
        return "", ""
    own = own_line(where)
    if own is where:
        return line_text(where), ""
    below = f"{modules_text((where,))}{line_text(where)}"
    return (below, "") if own is None else (line_text(own), f"{FROM}{below}")


def line_text(where: "Location") -> str:
    """`adam.py:414`: the line alone, without what led to it."""
    return f"{file_name(where.file)}:{where.line}"


def in_module(*paths: str) -> str:
    """`layers.0.mlp · `, before what is in that module; of several modules the first ones. Empty for none."""
    few = [one_line(path) for path in paths if path][:_MODULES]
    more = len([path for path in paths if path]) - len(few)
    return f"{', '.join(few)}{f' and {more:,} more' if more > 0 else ''}{OF}" if few else ""


def code_text(where: "Location | None") -> str:
    """What is written in that line, if the dump has it."""
    return one_line(where.code) if where is not None else ""


def file_name(path: str) -> str:
    """The last part of a path, on any system."""
    return one_line(re.split(r"[/\\]", path)[-1])


def program_words(argv: Iterable[str]) -> list[str]:
    """A command line without its interpreter, with only the name of the program; safe for a terminal.

    Processes that `multiprocessing` starts anew have a program of Python's in the place of the user's.
    """
    words = list(argv)
    if _SPAWNED in words:
        return ["process of multiprocessing"]
    if len(words) > 1 and file_name(words[0]).startswith("python"):
        del words[0]
    return [file_name(word) if index == 0 else one_line(word) for index, word in enumerate(words)]


def shared_text(shared: "Shared") -> str:
    """`Shared, without paths, user names and source lines`."""
    kinds = [one_line(row.what) for row in shared.removed]
    if not kinds:
        return "Shared; nothing was taken out"
    return f"Shared, without {' and '.join(filter(None, (', '.join(kinds[:-1]), kinds[-1])))}"


def lines_text(lines: "Iterable[Location]") -> str:
    """`mixed.py:14 15 18  train.py:41 ← adam.py:414 456`: each file once, with its lines in the given order."""
    return "  ".join("".join(parts) for parts in lines_parts(lines))


def lines_parts(lines: "Iterable[Location]") -> list[tuple[str, str]]:
    """The same in pieces, as `place_parts` has them; lines of the user's own come first, then those that lead to lines
    of libraries, then others.
    """
    own: list[Location] = []
    below: dict[str, list[Location]] = {}
    for where in lines:
        first = own_line(where)
        if first is where:
            own.append(where)
        else:
            below.setdefault("" if first is None else line_text(first), []).append(where)
    found = [(files, "") for files in _files(own)]
    found += [(place, f"{FROM}{'  '.join(_in_libraries(rows))}") for place, rows in below.items() if place]
    return found + [("", text) for text in _in_libraries(below.get("", ()))]


def _in_libraries(lines: "Iterable[Location]") -> list[str]:
    """`layers.*.attention · library.py:33 35`: lines of libraries by the modules that ran them."""
    found: dict[str, list[Location]] = {}
    for where in lines:
        found.setdefault(any_number(where.module), []).append(where)
    return [f"{modules_text(rows)}{'  '.join(_files(rows))}" for rows in found.values()]


def modules_text(lines: "Sequence[Location]") -> str:
    """`layers.0.attention · `; of several layers `layers.*.attention · `, and nothing where no module is known."""
    paths = {where.module for where in lines}
    path = next(iter(paths)) if len(paths) == 1 else any_number(lines[0].module)
    return f"{one_line(path)}{OF}" if path else ""


def _files(lines: "Iterable[Location]") -> list[str]:
    files: dict[str, dict[str, None]] = {}
    for where in lines:
        files.setdefault(file_name(where.file), {})[str(where.line)] = None
    return [f"{file}:{' '.join(numbers)}" for file, numbers in files.items()]


def places_text(places: Iterable[tuple[str, str]], between: str = "  ") -> str:
    """The same for paths and numbers of lines."""
    files: dict[str, dict[str, None]] = {}
    for path, number in places:
        files.setdefault(file_name(path), {})[number] = None
    return between.join(f"{file}:{' '.join(numbers)}" for file, numbers in files.items())


def nested_name(graph: str, name: str) -> str:
    """`true_graph_0/add` for `add` in a graph that is nested in another; else the name alone."""
    nested = nested_path(graph)
    return f"{nested}/{name}" if nested else name


def number_of(count: int, singular: str, plural: str = "") -> str:
    """`1 kernel`, `1,024 kernels`."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


def change_text(before: int, after: int) -> str:
    """`922 → 885`, or `885` if unchanged."""
    return f"{after:,}" if before == after else f"{before:,} → {after:,}"


def columns(rows: Iterable[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
    """Rows of cells as aligned lines; columns in `right` are flush right, the last one is not padded.

    No cell is padded beyond `WIDEST`: one very long cell would make all lines as long. A cell is one line.
    """
    cells = [[clean(cell).replace("\n", " ") for cell in row] for row in rows]
    widths = [min(max(len(cell) for cell in column), WIDEST) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        padded = [
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return lines
