"""Finds and counts the instructions in the text of a kernel's stage."""

import re
from typing import Final

from inspect_compile.analysis.kernels.debug_lines import CODE, CODE_OF_AMD, LONGEST, is_instruction, program_lines

_SAYS_PLACES: Final = re.compile(r"#loc\d* = loc\(|!\d+ = (?:distinct )?!DI|\t\.loc\t|\t//\S+:\d+$")
_ASSEMBLY: Final = ("ptx", "amdgcn")

_OPERATIONS: Final = {
    "ttir": re.compile(r"\s++(?:%[^=]+ = )?\"?([A-Za-z_]\w*+(?:\.\w++)*+)\"?.* loc\("),
    "llir": re.compile(r"  (?:%\S+ = )?(?:(?:tail|musttail|notail) )?([a-z]\w*)"),
    "ptx": re.compile(r"(?:@!?%\w+\s+)?(\w+(?:\.(?:global|shared|local|param|const)\b)?)"),
    "amdgcn": re.compile(r"(\w+)"),
    "sass": re.compile(rf"{CODE.pattern}\s+(?:@!?U?P\w+\s+)?([A-Z]\w*)"),
    "isa": CODE_OF_AMD,
    "asm": re.compile(r"\s*[0-9a-f]+:\s+(?:\([^)]*\)\s*)?([a-z]\w*)"),
}
"""Stage → pattern of an instruction, with its name as the group; for PTX with the memory space."""


def says_places_only(line: str) -> bool:
    """True if the line only states source locations."""
    return _SAYS_PLACES.match(line[:LONGEST]) is not None


def operation(name: str, line: str) -> str:
    """What a line of the stage `name` does: `tt.load`, `fadd`, `ld.global`, `STG`; empty if it is no instruction."""
    form = _OPERATIONS.get("ttir" if name == "ttgir" else name)
    if form is None or (name in _ASSEMBLY and not is_instruction(line)):
        return ""
    found = form.match(line[:LONGEST] if name in ("ttir", "ttgir", "llir") else line[:LONGEST].strip())
    return found[1] if found else ""


def count_instructions(name: str, text: str) -> int:
    """Number of instructions in the text of a stage."""
    lines = program_lines(text) if name in _ASSEMBLY else text.splitlines()
    return sum(bool(operation(name, line)) for line in lines)
