"""Finds encoded texts: percent-encoding, bytes in PTX, hex, base64, escapes.

`rewritten` asks for each what to do with it; nothing here knows what a secret is. Runs in time linear in the length of
the text.
"""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

SHORTEST: Final = 4
"""Minimum length in characters: a shorter text found in bytes is chance."""
LONGEST_OPAQUE: Final = 256
"""Maximum length in characters of an encoding without text: a longer one is left out."""

_DIRECTIVE: Final = (
    r"[ \t]*\.(?:b8|byte)[ \t]+(?:0x)?[\da-fA-F]+(?:[ \t]*,[ \t]*(?:0x)?[\da-fA-F]+)*[ \t]*(?://[^\n]*|\#[^\n]*)?"
)
DIRECTIVE: Final = re.compile(rf"{_DIRECTIVE}\n?")
"""A line of PTX or assembly that defines bytes, as in DWARF sections."""
_DIRECTIVES: Final = re.compile(rf"(?m)^{_DIRECTIVE}(?:\n{_DIRECTIVE})*$")
_COMMENT: Final = re.compile(r"//[^\n]*|#[^\n]*")
_NUMBER: Final = re.compile(r"(?<![\w.])(?:0x[\da-fA-F]+|\d+)(?![\w.])")
_LIST: Final = re.compile(r"(?<![\w.])\d{1,3}(?:,[ \t\n]{0,80}\d{1,3}){5,}+(?![\w.])")
_PERCENT: Final = re.compile(r"(?<![\w.~+/:@%-])[\w.~+/:@-]*(?:%[0-9A-Fa-f]{2}[\w.~+/:@-]*)++")
_HEX: Final = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?P<digits>(?:[0-9a-fA-F]{2}){6,}+)(?![0-9A-Za-z])")
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{12,}+={0,2}")
_ESCAPES: Final = re.compile(
    r"(?:\\{1,2}x[0-9a-fA-F]{2}(?:\\{1,2}[x0]0{1,2})?|\\{1,2}u00[0-9a-fA-F]{2}|\\{1,2}[0-3][0-7]{2}|\\{1,2}[0-9A-F]{2}(?![0-9A-F])"
    r"){4,}+"
)
_ESCAPE: Final = re.compile(
    r"\\{1,2}(?:x(?P<hex>..)|u00(?P<unicode>..)|(?P<octal>[0-3][0-7]{2})|(?P<llvm>[0-9A-F]{2}))"
)
_WIDE: Final = re.compile(r"(?:[\x20-\x7e]\\{1,2}(?:x00|u0000|0{1,3})){4,}+")
_WIDE_END: Final = re.compile(r"\\{1,2}(?:x00|u0000|0{1,3})")
_PRINTABLE: Final = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f]{4,}")

Redacted = Callable[[str], str]
"""Redacts a text."""


def rewritten(text: str, redacted: Redacted, placeholder: Callable[[bool], str]) -> str:
    """`text` without encodings of a text that `redacted` would change, and without long encodings that hold no text.

    `placeholder(is_text)` returns the replacement. Bytes on separate lines become tildes, so that line numbers stay the
    same.
    """

    def replacement(found: re.Match[str], decoded: bytes | None) -> str:
        if decoded is None:
            return found[0]
        pieces = texts_in(decoded)
        if any(redacted(piece) != piece for piece in pieces):
            return placeholder(True)
        return placeholder(False) if not pieces and _is_opaque(found[0]) else found[0]

    if "%" in text:
        text = _PERCENT.sub(lambda found: replacement(found, unquote(found[0]).encode()), text)
    if ".b" in text:
        text = _DIRECTIVES.sub(lambda found: _without_bytes(found[0], redacted), text)
    if "," in text:
        text = _LIST.sub(lambda found: replacement(found, _of_numbers(found[0])), text)
    if "\\" in text:
        text = _ESCAPES.sub(lambda found: replacement(found, _of_escapes(found[0])), text)
        text = _WIDE.sub(lambda found: replacement(found, _WIDE_END.sub("", found[0]).encode()), text)
    text = _HEX.sub(lambda found: replacement(found, bytes.fromhex(found["digits"])), text)
    return _BASE64.sub(lambda found: replacement(found, _of_base64(found[0])), text)


def hidden(text: str) -> list[str]:
    """The texts that are encoded in `text`, recursively."""
    found: list[str] = []

    def decoded(piece: str) -> str:
        found.append(piece)
        return piece

    rewritten(text, decoded, lambda is_text: "")
    return found + [inner for piece in found for inner in hidden(piece)]


def texts_in(data: bytes) -> list[str]:
    """The texts in `data`, with one or two bytes per character: runs of printable characters."""
    try:
        narrow = data.decode("utf-8")
    except UnicodeDecodeError:
        narrow = data.decode("latin-1") if _is_ascii_mostly(data) else ""
    found = _PRINTABLE.findall(narrow)
    if b"\0" in data:
        for wide in ("utf-16-le", "utf-16-be"):
            found += [piece for piece in _PRINTABLE.findall(data.decode(wide, "replace")) if piece.isascii()]
    return [piece for piece in found if len(piece) >= SHORTEST]


def _is_opaque(text: str) -> bool:
    """True if it is long and no name: names of kernels and symbols contain underscores, or letters of one case."""
    if len(text) <= LONGEST_OPAQUE or "_" in text:
        return False
    return bool(_HEX.fullmatch(text)) or (text.lower() != text != text.upper() and any(map(str.isdigit, text)))


def _is_ascii_mostly(data: bytes) -> bool:
    return sum(0x20 <= byte < 0x7F for byte in data) * 4 >= 3 * len(data)


def _without_bytes(lines: str, redacted: Redacted) -> str:
    """Lines of bytes, with 126, a tilde, for the bytes of texts that `redacted` would change."""
    places = [
        (found.start() + start, found.end() + start) for start, code in _code(lines) for found in _NUMBER.finditer(code)
    ]
    data = bytes(_byte(lines[start:end]) for start, end in places)
    text = data.decode("latin-1")
    secret = [
        range(*piece.span())
        for piece in _PRINTABLE.finditer(text)
        if redacted(piece[0]) != piece[0] or redacted(shown := _utf8(piece[0])) != shown
    ]
    parts, end = [], 0
    for index in (index for piece in secret for index in piece):
        parts += [lines[end : places[index][0]], "126"]
        end = places[index][1]
    return "".join((*parts, lines[end:]))


def _byte(number: str) -> int:
    """The value of a byte; for anything else one that is part of no text."""
    value = int(number, 16) if number.startswith("0x") else int(number) if len(number) < SHORTEST else 0
    return value if value < 256 else 0


def _utf8(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "replace")


def _code(lines: str) -> list[tuple[int, str]]:
    """For each line, what follows the directive, without comment, and its position."""
    found, start = [], 0
    for line in lines.split("\n"):
        bare = _COMMENT.sub("", line)
        begin = re.match(r"[ \t]*\.\w+", bare)
        skipped = begin.end() if begin else 0
        found.append((start + skipped, bare[skipped:]))
        start += len(line) + 1
    return found


def _of_numbers(text: str) -> bytes | None:
    numbers = [int(word) for word in text.split(",")]
    return bytes(numbers) if max(numbers) < 256 else None


def _of_escapes(text: str) -> bytes:
    def byte(found: re.Match[str]) -> str:
        digits = found["hex"] or found["unicode"] or found["llvm"]
        return chr(int(digits, 16) if digits else int(found["octal"], 8))

    return _ESCAPE.sub(byte, text).encode("latin-1", "replace")


def _of_base64(text: str) -> bytes | None:
    bare = text.rstrip("=").replace("-", "+").replace("_", "/")
    bare = bare[:-1] if len(bare) % 4 == 1 else bare
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
