"""Texts of kernels, in all forms, without the names and numbers that differ for no reason."""

import difflib
import re
from typing import Final

import msgspec

from inspect_compile.analysis.compare.content import own
from inspect_compile.facts import Kernel

SOURCE: Final = "source"

_LOCATION: Final = re.compile(r" loc\([^()\n]{0,400}(?:\([^()\n]{0,400}\))?[^()\n]{0,40}\)")
_ATTACHED: Final = re.compile(r",? !(?:dbg|tbaa|range|noundef|srcloc)\b(?: !\d{1,9})?")
_NO_INSTRUCTION: Final = re.compile(
    r"\.(?:loc|file|cfi_\w+|ident|addrsig\w*)\b|\$?\.?L(?:__)?(?:tmp|func_begin|func_end|info|debug)\w{0,40}:"
)
"""What begins a line of assembly that only says where something comes from."""
_ADDRESS: Final = re.compile(r"/\*[0-9a-fx]{1,18}\*/", re.IGNORECASE)
_OBJDUMP_ADDRESS: Final = re.compile(r"^\s{0,16}[0-9a-f]{1,16}:\s{1,16}|<[^<>\n]{0,400}>|^[0-9a-f]{8,16} ")
_NUMBERED: Final = re.compile(r"\b(buf|op|arg|primals_|tangents_|view_|getitem_)(\d{1,9})(?:_1)?\b")


def plain(text: str, stage: str, name: str) -> str:
    """A text of the kernel `name` in the form `stage` (`source`, or a stage): without its name, addresses, places in
    the source, and numbers of buffers other than in the order of their appearance.
    """
    if name:
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", "KERNEL", text)
    lines = (own(text) if stage == SOURCE else text).splitlines()
    if stage in ("ptx", "amdgcn"):
        debug = next((place for place, line in enumerate(lines) if line.strip().startswith(".section\t.debug")), None)
        lines = lines[:debug]
    kept = (_without_places(line, stage).rstrip() for line in lines)
    return _renumbered("\n".join(filter(None, kept))) + "\n"


def _without_places(line: str, stage: str) -> str:
    """A line of a stage without what says where it comes from; empty if it says nothing else."""
    bare = line.lstrip()
    if stage in ("ttir", "ttgir"):
        return "" if bare.startswith("#loc") else _LOCATION.sub("", line)
    if stage == "llir":
        is_place = line.startswith(("!", "; ModuleID", "source_filename")) or bare.startswith("#dbg_")
        return "" if is_place else _ATTACHED.sub("", line)
    if stage in ("ptx", "amdgcn"):
        if _NO_INSTRUCTION.match(bare):
            return ""
        return line.partition("//")[0] if stage == "ptx" else line.partition(";")[0].partition("//")[0]
    if stage == "sass":
        return "" if bare.startswith("//") else _ADDRESS.sub("", line)
    return _OBJDUMP_ADDRESS.sub("", line) if stage in ("isa", "asm") else line


def _renumbered(text: str) -> str:
    """Numbers of buffers and inputs in the order of their first appearance."""
    known: dict[tuple[str, str], int] = {}
    counts: dict[str, int] = {}

    def new(found: re.Match[str]) -> str:
        key = found[1], found[2]
        if key not in known:
            known[key] = counts[found[1]] = counts.get(found[1], -1) + 1
        return f"{found[1]}{known[key]}"

    return _NUMBERED.sub(new, text)


class DiffLine(msgspec.Struct, frozen=True, tag_field="fact", tag="diff_line"):
    """One line of a unified diff. `diff --stage --json` prints these."""

    sign: str
    """`-` only in the first text, `+` only in the other one, a space in both, `@` for where a part begins."""
    text: str


def unified(stage: str, kernels: tuple[Kernel, Kernel], texts: tuple[str, str]) -> list[DiffLine]:
    """The lines in which one form of two kernels differs, with three around them; nothing if they are equal."""
    lines = [plain(text, stage, kernel.name).splitlines() for kernel, text in zip(kernels, texts, strict=True)]
    found = list(difflib.unified_diff(lines[0], lines[1], lineterm=""))[2:]
    return [DiffLine(line[:1], line[1:]) for line in found]
