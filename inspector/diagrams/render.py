"""Turns DOT into SVG, PNG and PDF: runs Graphviz with a time limit, and arranges its drawings."""

import contextlib
import math
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate
from tempfile import TemporaryFile
from typing import IO, Final

from inspect_compile.diagrams.chart_file import chart_dot
from inspect_compile.diagrams.compact import STYLE, compacted
from inspect_compile.diagrams.look import DARK, FONT, PAPER
from inspect_compile.errors import CommandError

SECONDS: Final = 60.0
"""How long Graphviz may take by default: many times what 3,000 scheduler nodes need."""

INSTALL: Final = "install Graphviz (apt-get install graphviz, or brew install graphviz)"

MOST_PROCESSES: Final = 8
GRAPHS_A_PROCESS: Final = 4
"""Number of graphs from which on another process is worth its start."""

_START: Final = "\ndigraph "
"""The start of a graph; texts contain no line break."""

_GAP: Final = 8
"""Gap between drawings, in points; each has a margin too."""

_USUAL: Final = (900.0, 1700.0)
"""Estimated width and height of a section before it is laid out."""

_SHAPE: Final = 1.8
"""Desired width for a height of 1."""

_SIMPLER: Final = ("-Gsplines=line", "-Gnslimit=0.2", "-Gnslimit1=0.2", "-Gmclimit=0.1")
"""Options for graphs on which dot fails: straight arrows, and a short search for positions."""

_DOCUMENT: Final = re.compile(
    r'<svg width="[\d.]+(?:pt|px)?" height="[\d.]+(?:pt|px)?"\s+'
    r'viewBox="0(?:\.0+)? 0(?:\.0+)? (?P<width>[\d.]+) (?P<height>[\d.]+)"[^>]*>(?P<body>.*?)</svg>',
    re.DOTALL,
)
_GRAPH_TITLE: Final = re.compile(r'<g id="[^"]*" (class="graph"[^<>]*>)\s*<title>[^<]*</title>')
_HEAD: Final = re.compile(
    r'<g id="(?P<id>[^"]*)" class="(?P<kind>node|edge|cluster)">\s*<title>[^<]*</title>'
    r'(?P<anchor>\s*<g id="a_[^"]*"><a xlink:title="(?P<tooltip>[^"]*)"[^<>]*>)?'
)
_ANCHOR: Final = re.compile(r'<g id="a_[^"]*"><a[^<>]*>')
_COMMENT: Final = re.compile(r"<!--(?:(?!<!--).)*?-->\n?", re.DOTALL)

_HOVER: Final = ".edges>g:hover path{stroke:#000}.edges>g:hover text{fill:#000;font-weight:bold}"


def svg(dot_text: str, timeout: float = SECONDS) -> str:
    """The graphs of `dot_text` in one SVG: the last one (the legend) at the left, then the others, row by row.

    Text stays text, and tooltips are `<title>` elements; there is no script, no link and no font in it. Raises
    CommandError if `dot` is missing, fails, or takes more than `timeout` seconds.
    """
    found = [
        match
        for drawn in _laid_out("svg", dot_text, _Limit(timeout))
        for match in _DOCUMENT.finditer(drawn.decode("utf-8", "replace"))
    ]
    if not found:
        raise CommandError("dot wrote no SVG; check with `dot -V`")
    return _beside(found[-1], found[:-1])


def png(dot_text: str, timeout: float = SECONDS) -> bytes:
    """The same as PNG. Raises CommandError like `svg`."""
    return _packed(dot_text, "png", timeout)


def pdf(dot_text: str, timeout: float = SECONDS) -> bytes:
    """The same as a PDF of one page, whose text can be searched. Raises CommandError like `svg`."""
    return _packed(dot_text, "pdf", timeout)


def chart(svg_text: str, output: str, timeout: float = SECONDS) -> bytes:
    """A chart, which is an SVG already, as png or pdf. Raises CommandError like `svg`."""
    (drawn,) = _run(["neato", "-n2", f"-T{output}"], [chart_dot(svg_text).encode("utf-8", "replace")], _Limit(timeout))
    return drawn


def _packed(dot_text: str, output: str, timeout: float) -> bytes:
    limit = _Limit(timeout)
    laid_out = b"".join(_laid_out("dot", dot_text, limit))
    number = 1 + _in_a_row([_USUAL] * (len(_graphs(dot_text)) - 1))
    (packed,) = _run(["gvpack", f"-array_tu{number}", f"-m{_GAP}"], [laid_out], limit)
    (drawn,) = _run(["neato", "-n2", "-s", f"-T{output}"], [packed], limit)
    return drawn


class _Limit:
    """A time limit shared by several processes."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until = time.monotonic() + seconds

    def left(self) -> float:
        """Remaining seconds; never 0, so that finished output can still be read."""
        return max(self._until - time.monotonic(), 0.001)


class MissingError(CommandError):
    """A Graphviz program is not installed."""


class _FailedError(CommandError):
    """A Graphviz program failed."""


def _graphs(dot_text: str) -> list[str]:
    return [f"{_START}{graph}" for graph in f"\n{dot_text}".split(_START)[1:]]


def _laid_out(output: str, dot_text: str, limit: _Limit) -> list[bytes]:
    """`dot`'s output for the graphs, distributed over the processors; in order."""
    graphs = _graphs(dot_text)
    number = min(os.cpu_count() or 1, MOST_PROCESSES, math.ceil(len(graphs) / GRAPHS_A_PROCESS))
    shares = [graphs[len(graphs) * share // number : len(graphs) * (share + 1) // number] for share in range(number)]
    texts = ["".join(share).encode("utf-8", "replace") for share in shares]
    try:
        return _run(["dot", f"-T{output}"], texts, limit)
    except _FailedError:
        return _run(["dot", f"-T{output}", *_SIMPLER], texts, limit)


def _run(command: list[str], texts: list[bytes], limit: _Limit) -> list[bytes]:
    """The output of `command` for each of `texts`, all at once. All processes are gone when this returns or raises."""
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(_started(command, text)) for text in texts]
        for process, _, errors in started:
            try:
                process.wait(limit.left())
            except subprocess.TimeoutExpired:
                raise CommandError(
                    f"{command[0]} did not finish in {limit.seconds:g} s; "
                    "draw a part with --around NODE --depth 2, or allow more time with --timeout SECONDS"
                ) from None
            if process.returncode != 0:
                reason = _first_line(_read(errors).decode("utf-8", "replace")) or f"exit status {process.returncode}"
                raise _FailedError(f"{command[0]} failed: {reason}; draw a part with --around NODE --depth 2")
        return [_read(printed) for _, printed, _ in started]


@contextlib.contextmanager
def _started(command: list[str], text: bytes) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    """A process, its output and its errors. It uses files, so that nobody has to feed or read it."""
    with TemporaryFile() as given, TemporaryFile() as printed, TemporaryFile() as errors:
        given.write(text)
        given.seek(0)
        try:
            process = subprocess.Popen(command, stdin=given, stdout=printed, stderr=errors, start_new_session=True)
        except OSError as error:
            reason = (
                "is not installed" if isinstance(error, FileNotFoundError) else f"does not start ({error.strerror})"
            )
            raise MissingError(f"{command[0]} {reason}; {INSTALL}") from None
        try:
            yield process, printed, errors
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _first_line(text: str) -> str:
    return next((line.strip()[:200] for line in text.splitlines() if line.strip()), "")


def _beside(legend: re.Match[str], drawings: Sequence[re.Match[str]]) -> str:
    """One SVG: the legend, then the drawings, as densely as their order allows and about as high as a screen."""
    every = (legend, *drawings)
    places, (wide, high) = _dense([_size(drawing) for drawing in every])
    placed = [(drawing, x, y) for drawing, (x, y) in zip(every, places, strict=True)]
    width, height = math.ceil(wide), math.ceil(high)
    size = f'width="{width}pt" height="{height}pt" viewBox="0 0 {width} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}">',
        f"<style>{STYLE}{_HOVER}{DARK}</style>",
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
    ]
    for drawing, x, y in placed:
        parts += [f'<g transform="translate({x:g} {y:g})">', _cleaned(drawing["body"]), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _size(drawing: re.Match[str]) -> tuple[float, float]:
    return float(drawing["width"]), float(drawing["height"])


def _dense(sizes: Sequence[tuple[float, float]]) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """A place for each drawing, and the size of all: the width that leaves the least empty in about the shape."""

    def cost(found: tuple[list[tuple[float, float]], tuple[float, float]]) -> float:
        width, height = found[1]
        return width * height * (1 + abs(math.log(width / height / _SHAPE)))

    ends = accumulate(width + _GAP for width, _ in sizes)
    wanted = math.sqrt(sum(width * height for width, height in sizes) * _SHAPE)
    return min((_in_rows(sizes, most) for most in (*ends, *(wanted * part / 10 for part in range(8, 21)))), key=cost)


def _in_rows(
    sizes: Sequence[tuple[float, float]], most: float
) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """Drawings in rows of at most this width; one that is low stands below the one before it, if the row is so high."""
    places: list[tuple[float, float]] = []
    left = right = top = below = bottom = 0.0
    for width, height in sizes:
        if places and below + height <= bottom and left + width + _GAP <= max(right, left):
            y = below
        elif right and right + width + _GAP > most:
            left, right, top = 0.0, width + _GAP, bottom
            y = top
        else:
            left, right, y = right, right + width + _GAP, top
        places.append((left, y))
        below = y + height + _GAP
        bottom = max(bottom, below)
    return places, (max(x + size[0] for (x, _), size in zip(places, sizes, strict=True)), bottom - _GAP)


def _in_a_row(sizes: Sequence[tuple[float, float]]) -> int:
    """Number of drawings per row that gives a shape closest to the desired one."""
    if not sizes:
        return 1
    wide = sum(width for width, _ in sizes) / len(sizes)
    high = max(height for _, height in sizes)
    numbers = range(1, len(sizes) + 1)
    return min(
        numbers, key=lambda number: abs(math.log(number * wide / (math.ceil(len(sizes) / number) * high) / _SHAPE))
    )


def _cleaned(body: str) -> str:
    """Graphviz's elements with tooltips that browsers show, without its anchors and ids."""
    body = _COMMENT.sub("", body.strip())
    body = _GRAPH_TITLE.sub(r"<g \1", body)
    body = _HEAD.sub(_head, body)
    body = _ANCHOR.sub("<g>", body).replace("</a>\n", "").replace("</a>", "")
    return compacted(body.replace(f' font-family="{FONT}"', "").splitlines())


def _head(found: re.Match[str]) -> str:
    kind = found["kind"]
    own = f' id="{found["id"]}"' if kind == "node" else ""
    tooltip = f"<title>{found['tooltip']}</title>" if found["tooltip"] else ""
    return f'<g{own} class="{kind}">{tooltip}{"<g>" if found["anchor"] else ""}'
