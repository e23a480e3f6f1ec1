"""Makes Inductor's IR, as torch prints it, readable.

What was printed before is named instead of repeated, and any value fits on one line. IR nests: the text of one value
contains the texts of all values below it. torch indents the inside of a construct and closes it at the indent at which
it opened; little else is relied on, and text of another form passes through unchanged.
"""

import re
from collections.abc import Callable
from typing import Final

LOOPS: Final = frozenset({
    "Pointwise", "Reduction", "WelfordReduction", "OnlineSoftmaxReduction", "MultiOutputReduction", "Scan", "Sort",
    "Scatter",
})  # fmt: skip
"""IR without memory: computed where it is read."""

# A line can have any length: no pattern searches for the end of one construct across all others.
_OPENS = re.compile(r"\b([A-Za-z_]\w*)\($")
_COMPUTED = re.compile(r"\b([A-Z]\w*)\(name='([^']+)', layout=(\w+Layout\(.{,2000}?\)), data=(?:[A-Z]\w*)\($")
_LEAF = re.compile(r"\b([A-Z]\w*)\(name='([^']+)', layout=(\w+Layout\(.{,2000}?\))(?=[,)])")
_NAMES = re.compile(r"\b([A-Za-z_]\w*)\(")
_CLASSES = re.compile(r"\b([A-Z]\w*)\(")
_FIELD_NAME = re.compile(r"^\s*name='?([\w.]+)'?,$")
_FIELD_LAYOUT = re.compile(r"^\s*layout=(.+),$")
_LAYOUT = re.compile(
    r"Layout\('[^']+', torch\.(\w+), size=[\[(]((?:(?!Layout\().)*?)[\])], stride=[\[(]"
    r"((?:(?!Layout\().)*?)[\])](?:, offset=([^,)]+))?"
)
_STATEMENT = re.compile(r"^\s*(tmp\d+) = (.+)$")
_LITERAL = re.compile(r"^ops\.(?:constant|index_expr)\((.+), torch\.\w+\)$")
_TEMPORARY = re.compile(r"tmp\d+")
_NOISE = re.compile(
    r", _split_size=None, _original_inner_fn=None, _original_ranges=None, _original_reduction_ranges=None(?=\))"
    r"| at 0x[0-9a-f]+(?=>)"
    r"|^ *(?:(?:all)?arg_properties|kwarg_properties|ordered_kwargs_for_cpp_kernel|unbacked_bindings|mutation_outputs"
    r"|output_view)=.*\n",
    re.MULTILINE,
)
"""Empty fields, addresses and operator schemas, which say nothing about this graph."""
_LONGEST_EXPRESSION = 96
_MOST_WRAPPERS = 64
"""Maximum number of boxes and views around a value."""

_DTYPES: Final = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
    "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "b8", "complex64": "c64", "complex128": "c128",
}  # fmt: skip
"""The abbreviations that torch uses in graph texts."""


def dtype_text(dtype: str) -> str:
    """`f32` for float32; a rarer type unchanged."""
    return _DTYPES.get(dtype, dtype)


def fold(text: str, printed: set[str], *, node: str = "") -> str:
    """`text` with the buffers in `printed` shortened to their names, and values of nodes other than `node` to `%name`.

    Buffers that are printed in full are added to `printed`.
    """
    lines = _NOISE.sub("", text).split("\n")
    found: list[str] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        if line.endswith("("):
            name, head = _named(lines, position, node)
            if name in printed:
                position = _end(lines, position)
                lines[position] = f"{head} … {lines[position].lstrip()}"
                continue  # a line that closes one construct may open the next
            if name and not name.startswith("%"):
                printed.add(name)
        found.append(line)
        position += 1
    return "\n".join(found)


def _named(lines: list[str], position: int, node: str) -> tuple[str, str]:
    """The name of the construct that opens at the end of a line, and the short form of that line."""
    line = lines[position]
    if match := _COMPUTED.search(line):
        return match[2], line
    opening = _OPENS.search(line)
    if opening is None:
        return "", line
    kind = opening[1]
    if kind in LOOPS:
        origin = _origin(lines, position)
        return (f"%{origin}" if origin and origin != node else ""), f"{line}%{origin}"
    for offset in (1, 2):
        if position + offset < len(lines) and (match := _FIELD_NAME.match(lines[position + offset])):
            layout = _FIELD_LAYOUT.match(lines[position + offset + 1]) if position + offset + 1 < len(lines) else None
            return match[1], f"{line}name={match[1]}{f', layout={layout[1]}' if layout else ''},"
    return "", line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _end(lines: list[str], position: int) -> int:
    """Index of the line that closes the construct opened at the end of line `position`."""
    indent = _indent(lines[position])
    for end in range(position + 1, len(lines)):
        if lines[end].strip() and _indent(lines[end]) <= indent:
            return end
    return len(lines) - 1


def _origin(lines: list[str], position: int) -> str:
    """The `origin_node=` of the construct that opens at the end of line `position`."""
    for line in lines[position + 1 : _end(lines, position)]:
        if line.lstrip().startswith("origin_node="):
            name = line.strip().removeprefix("origin_node=").rstrip(",")
            return "" if name == "None" else name
    return ""


def brief(text: str, now: Callable[[str], str | None] = lambda origin: None) -> str:
    """A value on one line: `TensorBox(StorageBox(ComputedBuffer buf1 f32[10, 88, 78]))`.

    `now(node)` returns what a value that was virtual when `text` was printed has become since, or None.
    """
    lines = text.split("\n")
    if not text.startswith("["):
        return _brief(lines, now)
    starts = [position for position, line in enumerate(lines) if line.endswith("(") and not line.startswith(" ")]
    if not starts:
        return text if len(lines) == 1 else f"{lines[0]} …]"
    parts = [_brief(lines[first:last], now) for first, last in zip(starts, [*starts[1:], len(lines)], strict=True)]
    return f"[{', '.join(parts)}]"


def _brief(lines: list[str], now: Callable[[str], str | None]) -> str:
    wrappers: list[tuple[str, int]] = []
    for position, line in enumerate(lines):
        if match := _LEAF.search(line):
            leaf = f"{match[1]} {match[2]} {layout_text(match[3])}"
            wrappers += [(name, position) for name in _CLASSES.findall(line[: match.start()])]
            break
        names = _NAMES.findall(line) if line.endswith("(") else []
        if not names:
            leaf = line.strip().rstrip(",")[:_LONGEST_EXPRESSION]
            break
        if names[-1] in LOOPS:
            wrappers += [(name, position) for name in names[:-1]]
            origin = _origin(lines, position)
            leaf = (now(origin) if origin else None) or _loops(names[-1], lines, position)
            break
        name, head = _named(lines, position, "")
        if name:
            wrappers += [(name, position) for name in names[:-1]]
            layout = _FIELD_LAYOUT.search(
                head.rpartition(", layout=")[2] and f"layout={head.rpartition(', layout=')[2]}"
            )
            leaf = f"{names[-1]} {name} {layout_text(layout[1]) if layout else ''}".rstrip()
            break
        wrappers += [(name, position) for name in names]
    else:
        leaf = ""
    for name, position in reversed(wrappers[:_MOST_WRAPPERS]):
        leaf = f"{name}({leaf}{_view(lines, position) if name not in ('TensorBox', 'StorageBox') else ''})"
    return leaf


def _view(lines: list[str], position: int) -> str:
    """What the view that opens at line `position` does: ` → f32[64, 64]`."""
    end = _end(lines, position)
    inner = _indent(lines[position]) + 2
    for line in reversed(lines[position + 1 : end + 1]):
        field = line.strip().rstrip(",")
        if _indent(line) == inner and (field.startswith(("size=", "dims=")) or "Layout(" in field):
            return f" → {layout_text(field) if 'Layout(' in field else field.removeprefix('size=')}"
    closing = lines[end].strip()
    return f" → {closing.lstrip('), ').rstrip(')')}" if "dims=" in closing else ""


def layout_text(layout: str) -> str:
    """`f32[10, 88, 78]` for torch's text of a layout, with strides if it is not contiguous, and its offset."""
    match = _LAYOUT.search(layout)
    if match is None:
        return layout.split("(", 1)[0]
    dtype, size, stride, offset = match.groups()
    plain = f"{dtype_text(dtype)}[{size.rstrip(',')}]"
    if not _is_contiguous(size, stride):
        plain += f" stride [{stride.rstrip(',')}]"
    return f"{plain} offset {offset}" if offset else plain


def _is_contiguous(size: str, stride: str) -> bool:
    try:
        sizes = [int(length) for length in size.split(",") if length.strip()]
        strides = [int(step) for step in stride.split(",") if step.strip()]
    except ValueError:
        return False
    expected = 1
    for length, step in zip(reversed(sizes), reversed(strides), strict=False):
        if length != 1 and step != expected:
            return False
        expected *= length
    return True


def _loops(kind: str, lines: list[str], position: int) -> str:
    """`Pointwise f32[10, 88, 78]: load(buf0, …) + load(primals_2, i0)`."""
    block = lines[position + 1 : _end(lines, position)]
    dtype = next((line.strip()[6:].rstrip(",") for line in block if line.lstrip().startswith("torch.")), "")
    ranges = next((line.strip()[7:].rstrip(",") for line in block if line.lstrip().startswith("ranges=")), "")
    reduced = next(
        (line.strip()[17:].rstrip(",") for line in block if line.lstrip().startswith("reduction_ranges=")), ""
    )
    over = f" over {reduced}" if reduced else ""
    return f"{kind} {dtype_text(dtype)}{ranges.replace('(', '[').replace(')', ']')}{over}: {expression(block)}"


def expression(lines: list[str]) -> str:
    """The statements of an inner_fn as one expression; their number if that would be long."""
    values: dict[str, str] = {}
    result = ""
    for line in lines:
        if match := _STATEMENT.match(line):
            name, value = match.groups()
            if literal := _LITERAL.match(value):
                values[name] = literal[1]
            elif len(value) <= _LONGEST_EXPRESSION:
                # A longer value is not shown, nor anything that uses it: it would double with each use.
                values[name] = _inlined(value.replace("ops.", ""), values)[: _LONGEST_EXPRESSION + 1]
            else:
                values[name] = value
        elif (stripped := line.strip()).startswith("return "):
            result = values.get(returned := stripped.removeprefix("return "), returned)
    return result if 0 < len(result) <= _LONGEST_EXPRESSION else f"{len(values)} statements"


def _inlined(value: str, values: dict[str, str]) -> str:
    """`value` with each tmpN replaced by its value, in parentheses if it is one term among several."""

    def replaced(found: re.Match[str]) -> str:
        inner = values.get(found[0], found[0])
        is_alone = value[: found.start()].endswith(("(", ", ")) and value[found.end() :].startswith((")", ","))
        return inner if is_alone or found[0] == value else _wrapped(inner)

    return _TEMPORARY.sub(replaced, value)


def _wrapped(value: str) -> str:
    """`value`, in parentheses if it has more than one term."""
    depth = 0
    for character in value:
        depth += (character in "([") - (character in ")]")
        if depth == 0 and character == " ":
            return f"({value})"
    return value
