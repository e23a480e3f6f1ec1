"""Whether a C++ kernel rounds to a half type what it stores, and nothing before."""

import re
from typing import Final

from inspect_compile.codegen.numerics.loaded_sources import Source

_HALF: Final = r"(?:at::|c10::)?(?:BFloat16|Half)\b"
_NARROWED: Final = re.compile(rf"\bauto (\w{{1,200}}) = [\w:]{{0,80}}(?:convert|cast)<{_HALF}[^()]{{0,200}}>\(")
_STORED: Final = re.compile(
    r"\s*(?:(\w+)\.store\(\w*out_ptr|\w*out_ptr\d+\[[^=]*\] = (?:static_cast<[^()]{0,200}>\()?(\w+)\)?;)"
)
_WORD: Final = re.compile(r"\w+")
_USED: Final = re.compile(r"\b(\w+)\s*[+\[]")
_WRITTEN: Final = re.compile(r"\s*(\w+)\[[^=]*\] = ")
_HALF_POINTER: Final = re.compile(rf"\b{_HALF}\*\s*(\w*out_ptr\d+)\b")
_UNKNOWN: Final = ("local_buffer", "atomic_add", "gemm", "cascade")
"""Words in the source of kernels that keep values of half types in other places, or are not loops of Inductor's."""


def rounds_only_stored(source: Source) -> bool:
    """True if each value that is made a half type is stored, and none is read again in the same kernel."""
    if any(word in source.text for word in _UNKNOWN):
        return False
    lines = source.text.splitlines()
    return _are_only_stored(lines) and not any(
        _is_read_again(lines, pointer) for pointer in _HALF_POINTER.findall(source.text)
    )


def _are_only_stored(lines: list[str]) -> bool:
    for name in {found[1] for line in lines if (found := _NARROWED.search(line))}:
        users = [line for line in lines if name in _WORD.findall(line) and f"auto {name} = " not in line]
        if not all((found := _STORED.match(line)) and name in found.groups() for line in users):
            return False
    return True


def _is_read_again(lines: list[str], pointer: str) -> bool:
    """True if a line that reads through the pointer comes after one that writes there."""
    uses = [(at, line) for at, line in enumerate(lines) if pointer in _USED.findall(line)]
    writes = [at for at, line in uses if f".store({pointer}" in line or _is_written(line, pointer)]
    reads = [at for at, _ in uses if at not in writes]
    return bool(writes) and bool(reads) and max(reads) > min(writes)


def _is_written(line: str, pointer: str) -> bool:
    found = _WRITTEN.match(line)
    return found is not None and found[1] == pointer
