"""Where each line of a compiled kernel's text comes from, by the debug locations that its compiler wrote into it.

The text is untrusted: what is nested too deeply, refers to itself or names too many places is cut off.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from inspect_compile.graph import file_name


class Place(NamedTuple):
    """A line of a source file, named by the last part of its path: compilers write the same path in several ways."""

    file: str
    line: int


Stack = tuple[Place, ...]
"""A place and the calls that it was inlined through, innermost first."""

Lines = list[tuple[Stack, ...]]
"""The origins of each line of a text: several stacks if operations were merged, none if nothing is stated."""

_MOST: Final = 16
"""Maximum number of stacks for a line, and of calls in a stack."""
LONGEST: Final = 4096
"""Maximum length of one location, in characters."""

_QUOTED: Final = r'"((?:[^"\\]|\\.)*+)"'


# MLIR: ttir and ttgir

_ALIAS: Final = re.compile(r"#(\w+) = loc\((.*)\)\s*$")
_TOKEN: Final = re.compile(r'"((?:[^"\\]|\\.)*+)(?:"|\\?\Z)|#(\w+)|(\d+)|(\w+)|(\S)', re.DOTALL)
"""A text that is cut off ends where all ends."""
_TRAILING: Final = re.compile(r" loc\(")


class _Token(NamedTuple):
    text: str = ""
    alias: str = ""
    number: str = ""
    word: str = ""
    sign: str = ""


class _Mlir:
    """MLIR's `loc(…)`: a place, a name of a value with another location, a call site, fused locations or an alias."""

    def __init__(self, text: str) -> None:
        self._defined = {
            found[1]: found[2] for line in text.splitlines() if line[:1] == "#" and (found := _ALIAS.match(line))
        }
        self._known: dict[str, tuple[Stack, ...]] = {}

    def alias(self, name: str, depth: int) -> tuple[Stack, ...]:
        if name not in self._known:
            self._known[name] = ()  # an alias that refers to itself
            if name in self._defined:
                self._known[name] = self.parsed(self._defined[name], depth)
        return self._known[name]

    def parsed(self, text: str, depth: int = 0) -> tuple[Stack, ...]:
        tokens = [_Token(*(group or "" for group in found.groups())) for found in _TOKEN.finditer(text[:LONGEST])]
        return self._location(iter([*tokens, _Token()]), depth)[:_MOST]

    def _location(self, tokens: Iterator[_Token], depth: int) -> tuple[Stack, ...]:
        if depth > _MOST:
            return ()
        token = next(tokens, _Token())
        if token.alias:
            return self.alias(token.alias, depth + 1)
        if token.word == "callsite":
            next(tokens, None)
            callee = self._location(tokens, depth + 1)
            next((one for one in tokens if one.word == "at"), None)
            caller = self._location(tokens, depth + 1)
            next((one for one in tokens if one.sign == ")"), None)
            return tuple((*one, *other)[:_MOST] for one in callee or ((),) for other in caller or ((),))[:_MOST]
        if token.word == "fused":
            found: tuple[Stack, ...] = ()
            for one in tokens:
                if one.sign in ("[", ","):
                    found += self._location(tokens, depth + 1)
                if one.sign == "]" or len(found) >= _MOST:
                    break
            return tuple(dict.fromkeys(found))
        if token.word == "unknown" or token.sign:
            return ()
        after = next(tokens, _Token())
        if after.sign == "(":  # the name of a value
            inner = self._location(tokens, depth + 1)
            next((one for one in tokens if one.sign == ")"), None)
            return inner
        line = next(tokens, _Token()).number if after.sign == ":" else ""
        next(tokens, None), next(tokens, None)
        return ((Place(file_name(token.text), int(line[:9])),),) if line else ()


def mlir_lines(text: str) -> Lines:
    """Locations of ttir or ttgir. MLIR writes that of an operation with a body after it: its first line gets it."""
    mlir = _Mlir(text)
    lines = text.splitlines()
    found: Lines = [()] * len(lines)
    open_at: list[int] = []
    for index, line in enumerate(lines):
        stripped = line.strip()
        if stripped[:1] in ("#", "/"):
            continue
        places = [match.end() for match in _TRAILING.finditer(line)]
        if places:
            found[index] = mlir.parsed(line[places[-1] :])
        if stripped.startswith("}") and open_at:
            first = open_at.pop()
            found[first] = found[first] or found[index]
            if stripped.endswith("{"):
                open_at.append(first)
        elif stripped.endswith("{"):
            open_at.append(index)
    return found


# LLVM IR

_NODE: Final = re.compile(r"!(\d+) = (?:distinct )?!DI(Location|LexicalBlockFile|LexicalBlock|Subprogram|File)\((.*)\)")
_FIELD: Final = re.compile(rf"\b(\w++): (?:{_QUOTED}|!?(\w+))")
_ATTACHED: Final = re.compile(r"!dbg !(\d+)")


def llvm_lines(text: str) -> Lines:
    """Locations of llir: `!dbg` of each instruction, resolved through scopes and `inlinedAt`."""
    nodes: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        if line[:1] == "!" and (node := _NODE.match(line)):
            nodes[node[1]] = {
                "": node[2],
                **{key: word or name for key, word, name in _FIELD.findall(node[3][:LONGEST])},
            }

    def file_of(scope: str) -> str:
        for _ in range(_MOST):
            node = nodes.get(scope, {})
            if node.get("") == "File":
                return file_name(node.get("filename", ""))
            scope = node.get("file") or node.get("scope", "")
        return ""

    def stack_of(number: str) -> Stack:
        stack: list[Place] = []
        while number in nodes and len(stack) < _MOST:
            node = nodes[number]
            line = node.get("line", "0")
            stack.append(
                Place(file_of(node.get("file") or node.get("scope", "")), int(line[:9]) if line.isdecimal() else 0)
            )
            number = node.get("inlinedAt", "")
        return tuple(place for place in stack if place.line)

    known: dict[str, tuple[Stack, ...]] = {"": ()}

    def of(line: str) -> tuple[Stack, ...]:
        attached = _ATTACHED.match(line, at) if (at := line.rfind("!dbg !")) >= 0 else None
        number = attached[1] if attached else ""
        if number not in known:
            stack = stack_of(number)
            known[number] = (stack,) if stack else ()
        return known[number]

    return [of(line) for line in text.splitlines()]


# Assembly: ptx and amdgcn

_FILE: Final = re.compile(rf"\.file\s+(\d+)\s+{_QUOTED}(?:\s+{_QUOTED})?")
_LOC: Final = re.compile(r"\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?")
_CALL: Final = re.compile(r"@\[ ([^\s@]+):(\d+):\d+")
_INLINED: Final = re.compile(r"inlined_at (\d+) (\d+) (\d+)")
_INLINE_ASSEMBLY: Final = re.compile(r"\s*// (begin|end) inline asm$")
_FUNCTION_ENDS: Final = re.compile(r"^\.Lfunc_end\d+:", re.MULTILINE)
"""In AMD's assembly, directives for the loader follow this line."""
_ENDS: Final = re.compile(r"\}|\.section|\s+\.section|\.Lfunc_end|\s+\.cfi_endproc")
_NO_INSTRUCTION: Final = re.compile(r"[.$/;#{}()]|[\w$.@]+:(?!:)")


def is_instruction(line: str) -> bool:
    """True if the line is an instruction rather than a directive, a label or a remark."""
    stripped = line[:LONGEST].strip()
    return bool(stripped) and _NO_INSTRUCTION.match(stripped) is None


def assembly_lines(text: str) -> Lines:
    """Locations of the instructions under each `.loc`.

    The calls are in the remark that LLVM writes beside it. Newer releases name only the innermost call, whose own
    `.loc` comes before; if several lead to that call, the last one is taken, as ptxas does. Those releases also number
    the lines inside inline assembly onward from the statement that contains it, which is the line used for all of them.
    """
    lines = text.splitlines()
    files = {
        file[1]: file_name(file[3] or file[2])
        for line in lines
        if ".file" in line and (file := _FILE.search(line[:LONGEST]))
    }
    found: Lines = []
    here: tuple[Stack, ...] = ()
    last: dict[tuple[str, ...], Stack] = {}
    is_inline = False
    for whole in lines:
        line = whole[:LONGEST]
        if marker := _INLINE_ASSEMBLY.match(line):
            is_inline = marker[1] == "begin"
        elif ".loc" in line and not is_inline and (loc := _LOC.search(line)):
            calls: Stack = tuple(Place(file_name(name), int(number[:9])) for name, number in _CALL.findall(line))
            if not calls and (call := _INLINED.search(line)):
                calls = last.get(call.groups(), (Place(files.get(call[1], ""), int(call[2][:9])),))
            stack = (Place(files.get(loc[1], ""), int(loc[2][:9])), *calls)[:_MOST]
            last[loc.groups("0")] = stack
            here = (tuple(place for place in stack if place.line),) if stack[0].line else ()
        elif _ENDS.match(line):
            here = ()
        found.append(here if here and is_instruction(line) else ())
    return found


# Machine code, disassembled

PTX: Final = "ptx"
"""What a disassembly calls the text that was assembled."""
_REMARK: Final = re.compile(r"//(\S+):(\d+)$")
CODE: Final = re.compile(r"/\*[0-9a-f]{4,}\*/")
"""What stands before an instruction in nvdisasm's text."""
CODE_OF_AMD: Final = re.compile(r"(\w++).*// [0-9A-F]{12}:")
"""An instruction in llvm-objdump's text: its address stands behind it."""


def machine_lines(
    text: str, of_assembly: Sequence[tuple[Stack, ...]], calls: Mapping[Place, tuple[Stack, ...]]
) -> Lines:
    """Locations of a disassembly, from the line comments above its instructions.

    Such a comment names a place without its calls. If it names the line of the assembly too, that line's stacks are
    used; otherwise `calls` lists the stacks of the assembly that begin at the place, and is used only if there is
    exactly one.
    """
    found: Lines = []
    here: tuple[Stack, ...] = ()
    for line in text.splitlines():
        stripped = line[:LONGEST].strip()
        if named := _REMARK.match(stripped):
            number = int(named[2][:9])
            if named[1] == PTX:
                exact = of_assembly[number - 1] if 0 < number <= len(of_assembly) else ()
                here = exact or here
            else:
                place = Place(named[1], number)
                known = calls.get(place, ())
                here = known if len(known) == 1 else () if known else ((place,),)
        found.append(here if CODE.match(stripped) else ())
    return found


def machine_lines_in_order(text: str, assembly: str, of_assembly: Sequence[tuple[Stack, ...]]) -> Lines:
    """Locations of a disassembly without line comments: an assembler makes one instruction of each line of `assembly`,
    in order.

    There may be padding between them. If any instruction of the assembly is not found again, nothing is mapped.
    """
    given = [
        (line.split(None, 1)[0], stacks)
        for line, stacks in zip(program_lines(assembly), of_assembly, strict=False)
        if is_instruction(line)
    ]
    found: Lines = []
    next_one = 0
    for line in text.splitlines():
        code = CODE_OF_AMD.match(line[:LONGEST].strip())
        is_next = code is not None and next_one < len(given) and code[1] == given[next_one][0]
        found.append(given[next_one][1] if is_next else ())
        next_one += is_next
    return found if next_one == len(given) else [()] * len(found)


def program_lines(assembly: str) -> list[str]:
    """The lines of an assembly up to the end of its functions, where its data begins."""
    ends = _FUNCTION_ENDS.search(assembly)
    return assembly[: ends.start() if ends else None].splitlines()


# Lines that GNU objdump writes for the machine code

_NAMED: Final = re.compile(r"(?:inlined by )?(.*):(\d+)(?: \([^()]*\))?$")
_DONE: Final = re.compile(r" *[0-9a-f]+:\t")
"""What stands before an instruction in GNU objdump's text."""
_FUNCTION: Final = re.compile(r"[0-9a-f]+ <(.*)>:$")


def objdump_lines(text: str, file: str) -> tuple[str, Lines]:
    """The functions that are mostly of `file`, without the lines between the instructions; and where these are from."""
    kept: list[str] = []
    found: Lines = []
    names, places = [""], list[tuple[Stack, ...]]()
    inner: Place | None = None
    calls: list[Place] = []
    is_told = False  # since the last instruction

    def close() -> None:
        nonlocal names, places
        own = sum(any(place.file == file for stack in stacks for place in stack) for stacks in places)
        if own and 2 * own >= len(places) - 1:
            kept.extend(names)
            found.extend(places)

    for line in text.splitlines():
        if function := _FUNCTION.match(line[:LONGEST]):
            close()
            names, places, inner, calls = [f"{function[1]}:"], [()], None, []
        elif _DONE.match(line):
            stack = (*([] if inner is None else [inner]), *calls)[:_MOST]
            names.append(line.expandtabs(4))
            places.append((stack,) if stack else ())
            is_told = False
        elif named := _NAMED.match(line[:LONGEST]):
            place = Place(file_name(named[1]), int(named[2][:9]))
            if line.startswith("inlined by "):
                calls = [*calls, place][:_MOST] if is_told else [place]
            else:
                inner, calls = place, []
            is_told = True
    close()
    return "\n".join(kept), found


PARSERS: Final[dict[str, Callable[[str], Lines]]] = {
    "ttir": mlir_lines,
    "ttgir": mlir_lines,
    "llir": llvm_lines,
    "ptx": assembly_lines,
    "amdgcn": assembly_lines,
}
"""Stage → what reads its locations; a disassembly needs its assembly too."""
