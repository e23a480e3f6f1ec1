"""compile.lock: a contract as TOML, in an order and layout that make a good diff. Reading it runs nothing."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from inspect_compile.analysis.lock.records import VERSION, Lock
from inspect_compile.errors import CommandError

LARGEST: Final = 64 << 20
HEAD: Final = """\
# What torch.compile made of a program. `inspect-compile check` compares the program with it, by the rules below;
# `inspect-compile check --update` writes it again after a look. docs/ci.md describes every field.
"""
_RULES: Final = "# What may differ: later rules count more.\n"
_MACHINE: Final = "# Depends on the machine: compared only on a machine of the same kind.\n"
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_UNSAFE: Final = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]')


def text_of(lock: Lock) -> str:
    """The file's text: the same for the same contract."""
    plain: dict[str, Any] = msgspec.to_builtins(lock)
    parts = [
        HEAD,
        f"version = {lock.version}",
        f"{_RULES}rules = {_strings(lock.rules)}",
        "# A missed fusion is listed if it has at least this many bytes.",
        f"missed_over = {lock.missed_over}",
        *_table("made", plain["made"]),
    ]
    for name in ("frame", "graph"):
        for row in plain[name]:
            parts += _row(name, row)
    parts += ["", f"{_MACHINE}[machine]", *_pairs({"kind": lock.machine.kind})]
    for row in plain["machine"].get("graph", ()):
        parts += _row("machine.graph", row)
    return "\n".join(parts) + "\n"


def read(path: Path) -> Lock:
    """The contract in a file. Raises CommandError."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise CommandError(f"{path}: no such contract; create one: inspect-compile lock SCRIPT -o {path}") from None
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror or error})") from None
    try:
        if len(data) > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
        plain = tomllib.loads(data.decode())
        if not isinstance(version := plain.get("version"), int):
            raise ValueError("it has no version")
        if version > VERSION:
            raise ValueError(f"version {version} is newer than {VERSION}; upgrade with pip install -U inspect-compile")
        _refuse_unknown(plain)
        return msgspec.convert(plain, Lock)
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise CommandError(f"{path}: not a contract that this version reads ({error})") from None


def _refuse_unknown(plain: Mapping[str, Any]) -> None:
    """A field that is not known, perhaps a misspelt one, must not be passed over."""
    known = {field.encode_name for field in msgspec.structs.fields(Lock)}
    if unknown := sorted(plain.keys() - known):
        raise ValueError(f"no such field as {unknown[0]}; there are {', '.join(sorted(known))}")


def _row(name: str, row: Mapping[str, Any]) -> Iterator[str]:
    """A table of an array: numbers and texts first, then one line for each label of what is counted."""
    yield ""
    yield f"[[{name}]]"
    yield from _pairs({key: value for key, value in row.items() if not isinstance(value, dict)})
    for key, counted in row.items():
        if isinstance(counted, dict) and counted:
            yield from _table(f"{name}.{key}", counted)


def _table(name: str, row: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"[{name}]"
    yield from _pairs(row)


def _pairs(row: Mapping[str, Any]) -> Iterator[str]:
    for key, value in row.items():
        if value is not None:
            yield f"{_key(key)} = {_value(value)}"


def _key(text: str) -> str:
    return text if _BARE.fullmatch(text) else _string(text)


def _value(value: object) -> str:
    return _string(value) if isinstance(value, str) else str(value)


def _strings(texts: Sequence[str]) -> str:
    return "[\n" + "".join(f"    {_string(text)},\n" for text in texts) + "]"


def _string(text: str) -> str:
    return f'"{_UNSAFE.sub(_escaped, text)}"'


def _escaped(found: "re.Match[str]") -> str:
    code = ord(found[0])
    if 0xD800 <= code <= 0xDFFF:
        return "\\uFFFD"
    return _ESCAPES.get(found[0], f"\\u{code:04X}")
