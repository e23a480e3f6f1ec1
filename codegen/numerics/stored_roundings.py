"""Whether a kernel rounds to a half type what it stores, and nothing before."""

import re
from collections.abc import Collection, Mapping
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
_TRITON_NARROWED: Final = re.compile(r"\.to\(tl\.(?:bfloat16|float16)\)")
_TRITON_NAMED: Final = re.compile(r"\s*(\w+) = \w+\.to\(tl\.(?:bfloat16|float16)\)$")
_TRITON_STORED: Final = re.compile(r"\s*tl\.store\((\w+)")
_TRITON_HALVES: Final = ("*bf16", "*fp16")
_TRITON_CALL: Final = re.compile(r"(?<![\w.])(?!(?:float|range)\()\w+\(")
"""Of a function that the kernel has for itself, as templates have."""
_TRITON_UNKNOWN: Final = ("tl.dot", "atomic", "scan", "sort", "bitcast", "inline_asm")
"""The same for Triton: products of matrices, and what is not computed element by element or as a reduction."""


def rounds_only_stored(source: Source) -> bool:
    """True of a C++ kernel if each value that is made a half type is stored, and none is read again in it."""
    if any(word in source.text for word in _UNKNOWN):
        return False
    lines = source.text.splitlines()
    return _are_only_stored(lines) and not any(
        _is_read_again(lines, pointer) for pointer in _HALF_POINTER.findall(source.text)
    )


def triton_rounds_only_stored(text: str, signature: Mapping[str, str]) -> bool:
    """The same of a Triton kernel. `signature` has Triton's type of each parameter: `*bf16`."""
    if any(word in text for word in _TRITON_UNKNOWN):
        return False
    lines = text[text.find("):\n") + 1 :].splitlines()
    if any(map(_TRITON_CALL.search, lines)):
        return False
    narrowed = [line for line in lines if _TRITON_NARROWED.search(line)]
    named = [found[1] for line in narrowed if (found := _TRITON_NAMED.match(line))]
    return (
        len(named) == len(narrowed)
        and not any(_is_computed_with(lines, name) for name in named)
        and not _are_read_after_stores(lines, [name for name, kind in signature.items() if kind in _TRITON_HALVES])
    )


def _is_computed_with(lines: list[str], name: str) -> bool:
    users = [line for line in lines if name in _WORD.findall(line)]
    return any(not _TRITON_STORED.match(line) and not line.lstrip().startswith(f"{name} = ") for line in users)


def _are_read_after_stores(lines: list[str], pointers: Collection[str]) -> bool:
    stored: set[str] = set()
    for line in lines:
        if found := _TRITON_STORED.match(line):
            stored.add(found[1])
        elif "tl.load(" in line and any(name in stored for name in _WORD.findall(line) if name in pointers):
            return True
    return False


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
