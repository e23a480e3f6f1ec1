"""A C++ kernel that also writes out the values of its statements, in the iteration that stores a certain element.

The text is that of the kernel with calls added after its statements: what they compute stays as it was. Plain texts in
and out; imports no torch.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from inspect_compile.codegen.numerics.loops import Block, lines_in_blocks

LANES: Final = 32
"""Maximum number of a vector's elements that are written out."""
HEADER: Final = 4
"""Numbers before the points' values: how often the element was stored, the lane, the storing point, and the turn."""

VALUE: Final = "value"
BEFORE: Final = "before"
"""The value of an accumulator before the statement."""
STORE: Final = "store"
LOOP: Final = "loop"
"""The value of a loop variable."""

_INCLUDE: Final = "#include <torch/csrc/inductor/cpp_prefix.h>"
_SIGNATURE: Final = re.compile(r'extern "C"\s*void\s+kernel\(')
_DEFINES: Final = re.compile(
    r"^(?:static )?(?:thread_local )?(?:auto|bool|[\w:]+_t|float|double|at::[\w:]+(?:<[\w:, ]+>)?)"
    r" ((?:masked_)?tmp\w*) = (.+);$"
)
_CHANGES: Final = re.compile(r"^((?:masked_)?tmp_acc\w*(?:\[[^\]]+\])?) = (.+);$")
_VECTOR_STORE: Final = re.compile(r"^(\w+)\.store\(((?=\w*(?:out_ptr|buffer))\w++ .+)\);$")
_SCALAR_STORE: Final = re.compile(r"^(?=\w*(?:out_ptr|buffer))(\w+)\[(.+?)\] = (.+);$")
_ADDS_TO: Final = re.compile(r"^atomic_add\(&((?=\w*(?:out_ptr|buffer))\w++\[.+?\]), (\w+)\);")
_ADDS_VECTOR: Final = re.compile(
    r"^atomic_add_vec<[^>]+>\(((?:(?!out_ptr|buffer)\w)*(?:out_ptr|buffer)\w*), (\w+), (\w+)"
    r"(?:, (\w+|static_cast<\w+>\(\w+\)))?\);"
)
_TILE_STORE: Final = re.compile(r"^(\w+)\.store\((tmp\d+) \+ .+\);$")
_SIZE: Final = r"((?:static_cast<\w+>\()?\d+L?\)?)"
_TILE: Final = re.compile(rf"transpose_mxn<[\w:]+(?:,{_SIZE},{_SIZE})?,(?:true|false)>\((tmp\d+), ")
_COUNT: Final = re.compile(r", static_cast<int64_t>\((\d{1,3})L?\)\);$")
_FROM_LANES: Final = re.compile(r"\btmpbuf\w*\[(?:static_cast<\w+>\()?(\w+)")
_NAME: Final = re.compile(r"\btmp\w*")
_STATEMENTS: Final = (_DEFINES, _CHANGES, _VECTOR_STORE, _SCALAR_STORE, _ADDS_TO, _ADDS_VECTOR, _TILE_STORE)


class Point(NamedTuple):
    """A place in the kernel where something is written out."""

    line: int
    """Line number in the kernel's source, from 1."""
    kind: str
    name: str
    """The variable; for a store the one that is stored."""
    nest: int
    """The line on which the outermost loop around it begins; 0 if there is none."""
    loop: int
    """Number of the innermost loop around it; 0 outside of loops."""
    text: str
    """The line, without surrounding blanks."""
    block: int = 0
    """The line on which the innermost block around it begins."""

    def follows(self, other: "Point") -> bool:
        """True if the other one is passed before it, for what it stores: in the loops around it, or, where it is in
        none, in those of its block, whose result it stores.
        """
        is_with_it = other.nest == self.nest if self.nest else other.line >= self.block
        return is_with_it and other.line <= self.line

    @property
    def is_addition(self) -> bool:
        """True if it adds to memory: it writes out what was there before, what is added, and what is there then."""
        return self.kind == STORE and "atomic_add" in self.text


@dataclass
class Probed:
    """A source with calls, and where they are."""

    text: str = ""
    own: str = ""
    """The source without the calls, from the line on that is its first."""
    points: list[Point] = field(default_factory=list)
    loose: set[int] = field(default_factory=set)
    """Positions of the points that store rows of a tile which is not seen to be stored."""
    loops: dict[int, int] = field(default_factory=dict)
    """The line on which a loop begins → its number, from 1."""

    @property
    def size(self) -> int:
        """How many numbers (double) it writes out."""
        return HEADER + len(self.points) * (LANES + 1)


def probed(source: str) -> Probed | None:
    """The kernel with two more arguments, a `double*` for `Probed.size` numbers and the address of the element, as
    `int64_t`. None if it is not in the form that torch writes.
    """
    if _INCLUDE not in source or _SIGNATURE.search(source) is None:
        return None
    found = Probed(own=source[source.index(_INCLUDE) :])
    lines = list(_with_calls(source.splitlines(), found))
    text = "\n".join(lines)
    sizes = {"POINTS": max(1, len(found.points)), "LOOPS": len(found.loops) + 1, "LANES": LANES, "HEADER": HEADER}
    constants = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    helpers = _HELPERS.replace("@CONSTANTS@", constants)
    text = text.replace(_INCLUDE, _INCLUDE + helpers, 1)
    begins = _SIGNATURE.search(text)
    assert begins is not None
    head = _end_of_arguments(text, begins.end())
    body = text.index("{", head) + 1
    found.text = (
        f"{text[:head]}, double* ic_values, const int64_t ic_element{text[head:body]}\n"
        f"    inspect_compile::begin(ic_values, ic_element);{text[body:]}\n"
    )
    return found


def base_name(name: str) -> str:
    """The name of a variable without what torch adds for its vector form."""
    return re.sub(r"(_vec|_arr\b.*)$", "", name)


def count_in(text: str) -> int | None:
    """The number of elements that a statement loads or stores at once; None if it does not say it."""
    found = _COUNT.search(text)
    return None if found is None else int(found[1])


def _end_of_arguments(text: str, start: int) -> int:
    depth = 1
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return at
    return len(text)


def _with_calls(lines: Sequence[str], found: Probed) -> Iterator[str]:
    first = next(at for at, line in enumerate(lines) if _INCLUDE in line)
    written = 0
    """How many blocks had begun or ended when loop variables were written out: each block has a copy of them."""
    number, nest, inner, line = 0, 0, 0, ""
    open_: list[Block] = []
    tiles: dict[str, int] = {}
    """Variable of a tile → the point where its rows are stored."""

    def point(kind: str, name: str) -> int:
        found.points.append(Point(number, kind, name, nest, inner, line, open_[-1].line if open_ else 0))
        return len(found.points) - 1

    def call(kind: str, name: str) -> str:
        return f"inspect_compile::put({point(kind, name)}, {inner}, {name});"

    for at_line, raw, open_, changed in lines_in_blocks(lines, 1 - first):
        number, line = at_line, raw.strip()
        nest = next((one.loop for one in open_ if one.loop), 0)
        inner = inner if nest else 0
        condition, statement = _parted_condition(line)
        if nest and changed > written and any(form.match(statement) for form in _STATEMENTS):
            variables = [one.variable for one in open_ if one.variable]
            loop_at = next(one.loop for one in reversed(open_) if one.variable)
            inner = found.loops.setdefault(loop_at, len(found.loops) + 1)
            written = changed
            yield f"inspect_compile::turn({inner}, {variables[-1]});"
            for name in variables:
                yield call(LOOP, name)
        after = []
        if changes := _CHANGES.match(statement):
            yield call(BEFORE, changes[1])
            after = [call(VALUE, changes[1])]
        elif defines := _DEFINES.match(line):
            if not defines[2].startswith("["):
                after = [call(VALUE, defines[1])]
        elif store := _VECTOR_STORE.match(statement):
            address, count = _parted(store[2])
            lanes = count or f"inspect_compile::lanes({store[1]})"
            after = [f"{condition}inspect_compile::stored({point(STORE, store[1])}, {address}, {lanes}, 0);"]
        elif single := _SCALAR_STORE.match(statement):
            part, variable = _FROM_LANES.search(single[3]), _NAME.search(single[3])
            at, lane = point(STORE, variable[0] if variable else ""), part[1] if part else 0
            after = [f"{condition}inspect_compile::stored({at}, &{single[1]}[{single[2]}], 1, {lane});"]
        elif adds := _ADDS_TO.match(statement):
            at = point(STORE, adds[2])
            yield f"inspect_compile::adding({at}, &{adds[1]});"
            after = [f"{condition}inspect_compile::added({at}, &{adds[1]}, {adds[2]});"]
        elif adds := _ADDS_VECTOR.match(statement):
            at = point(STORE, adds[3])
            yield f"inspect_compile::adding({at}, {adds[1]});"
            count = adds[4] or f"inspect_compile::lanes({adds[3]})"
            after = [f"{condition}inspect_compile::added({at}, {adds[1]}, {adds[2]}, {adds[3]}, {count});"]
        elif (row := _TILE_STORE.match(line)) and any(one.variable.endswith("_inner") for one in open_):
            at = tiles[row[2]] = point(STORE, row[1])
            found.loose.add(at)
            within = next(one.variable for one in reversed(open_) if one.variable.endswith("_inner"))
            after = [f"inspect_compile::keep_row({at}, {within});"]
        elif line.endswith(");") and (tile := _TILE.search(line)) and tile[3] in tiles:
            _, rest = _parted(line[tile.end() : -len(");")])
            to, step = _parted(rest)
            size = f"{tile[1]}, {tile[2]}" if tile[1] else _parted(step)[1]
            step = step if tile[1] else _parted(step)[0]
            found.loose.discard(tiles[tile[3]])
            after = [f"inspect_compile::stored_tile({tiles[tile[3]]}, {to}, {step}, {size});"]
        yield raw
        yield from after


def _parted_condition(line: str) -> tuple[str, str]:
    """The condition of a line, `if (…) `, and its statement; empty, and the whole line, if it has none."""
    if not line.startswith(("if(", "if (")) or not line.endswith((";", "; }")):
        return "", line
    begins = line.index("(") + 1
    ends = _end_of_arguments(line, begins) + 1
    statement = line[ends:].strip()
    if statement.startswith("{"):
        statement = statement.strip("{} ")
    return f"{line[:ends]} ", statement


def _parted(arguments: str) -> tuple[str, str]:
    """The first one of some arguments, and the others."""
    depth = 0
    for at, sign in enumerate(arguments):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and not depth:
            return arguments[:at], arguments[at + 1 :].strip()
    return arguments, ""


_HELPERS: Final = """
#include <type_traits>
#include <vector>
namespace inspect_compile {
constexpr int @CONSTANTS@;
struct Slot { double count; double value[LANES]; };
struct Slots { Slot at[POINTS]; };
static thread_local Slots here;
static double* values = nullptr;
static const char* element = nullptr;
static bool is_asked[POINTS];
static bool is_storing[LOOPS];
static double wanted = 0;
struct Turn { double last = 1e300; double number = 0; };
static thread_local Turn turns[LOOPS];
template <typename T> inline void many(Slot& to, const T* from, int count) {
    to.count = count < LANES ? count : LANES;
    for (int i = 0; i < to.count; ++i) to.value[i] = static_cast<double>(from[i]);
}
template <typename T> inline void write(Slot& to, const T& from) {
    if constexpr (std::is_convertible_v<T, double>) {
        to.count = 1;
        to.value[0] = static_cast<double>(from);
    } else if constexpr (std::is_convertible_v<T, float>) {
        to.count = 1;
        to.value[0] = static_cast<float>(from);
    } else {
        to.count = 0;
    }
}
template <typename T> inline int lanes(const T&) { return 1; }
#if INDUCTOR_USE_VECTOR_TYPES()
template <typename T> inline void write(Slot& to, const at::vec::Vectorized<T>& from) {
    alignas(64) T parts[at::vec::Vectorized<T>::size()];
    from.store(parts);
    many(to, parts, at::vec::Vectorized<T>::size());
}
template <typename T, int N> inline void write(Slot& to, const at::vec::VectorizedN<T, N>& from) {
    alignas(64) T parts[at::vec::VectorizedN<T, N>::size()];
    from.store(parts, at::vec::VectorizedN<T, N>::size());
    many(to, parts, at::vec::VectorizedN<T, N>::size());
}
template <typename T, int N> inline void write(Slot& to, const at::vec::VecMask<T, N>& from) {
    alignas(64) bool parts[at::vec::VectorizedN<T, N>::size() + 64];
    at::vec::VecMask<T, N> mask = from;
    mask.store(parts, at::vec::VectorizedN<T, N>::size());
    many(to, parts, at::vec::VectorizedN<T, N>::size());
}
template <typename T> inline int lanes(const at::vec::Vectorized<T>&) { return at::vec::Vectorized<T>::size(); }
template <typename T, int N> inline int lanes(const at::vec::VectorizedN<T, N>&) {
    return at::vec::VectorizedN<T, N>::size();
}
#endif
inline void turn(int loop, int64_t variable) {
    Turn& of = turns[loop];
    if (variable != of.last) of.number = variable < of.last ? 0 : of.number + 1;
    of.last = static_cast<double>(variable);
}
template <typename T> inline void put(int at, int loop, const T& from) {
    if (is_storing[loop] || turns[loop].number <= wanted) write(here.at[at], from);
}
template <typename T> inline int64_t place_in(const T* begin, int64_t count) {
    const char* first = reinterpret_cast<const char*>(begin);
    bool is_there = element >= first && element < first + count * static_cast<int64_t>(sizeof(T));
    return is_there ? (element - first) / static_cast<int64_t>(sizeof(T)) : -1;
}
inline void write_out(int at, int64_t lane, const Slots& from) {
    values[0] += 1;
    values[1] = static_cast<double>(lane);
    values[2] = at;
    for (int i = 0; i < POINTS; ++i) {
        double* to = values + HEADER + i * (LANES + 1);
        to[0] = from.at[i].count;
        for (int j = 0; j < LANES; ++j) to[1 + j] = from.at[i].value[j];
    }
}
template <typename T> inline void stored(int at, const T* begin, int64_t count, int64_t lane) {
    int64_t place = is_asked[at] ? place_in(begin, count) : -1;
    if (place >= 0) write_out(at, lane + place, here);
}
template <typename T> inline void adding(int at, const T*) {
    Slot& to = here.at[at];
    to.count = 0;
    to.value[1] = 0;
    if (is_asked[at]) to.value[0] = static_cast<double>(*reinterpret_cast<const T*>(element));
}
template <typename T> inline void add_up(int at, const T* to, double more, int64_t lane) {
    if (!is_asked[at] || place_in(to, 1) < 0) return;
    Slot& slot = here.at[at];
    slot.count = 3;
    slot.value[1] += more;
    slot.value[2] = static_cast<double>(*to);
    write_out(at, lane, here);
}
template <typename T, typename V> inline void added(int at, const T* to, const V& more) {
    if constexpr (std::is_convertible_v<V, double>) add_up(at, to, static_cast<double>(more), 0);
    else add_up(at, to, static_cast<double>(static_cast<float>(more)), 0);
}
template <typename T, typename I, typename V>
inline void added(int at, const T* to, const I& index, const V& more, int64_t count) {
    Slot indices, parts;
    write(indices, index);
    write(parts, more);
    for (int64_t i = 0; i < count && i < LANES; ++i)
        add_up(at, to + static_cast<int64_t>(indices.value[i]), parts.value[i], i);
}
static thread_local std::vector<Slots> tiles[POINTS];
inline void keep_row(int at, int64_t row) {
    if (!is_asked[at]) return;
    if (static_cast<int64_t>(tiles[at].size()) <= row) tiles[at].resize(row + 1);
    tiles[at][row] = here;
}
template <typename T> inline void stored_tile(int at, const T* to, int64_t step, int64_t rows, int64_t lanes) {
    for (int64_t lane = 0; is_asked[at] && lane < lanes; ++lane) {
        int64_t row = place_in(to + lane * step, rows);
        if (row >= 0 && row < static_cast<int64_t>(tiles[at].size())) write_out(at, lane, tiles[at][row]);
    }
}
inline void begin(double* to, int64_t address) {
    values = to;
    element = reinterpret_cast<const char*>(address);
    wanted = to[3];
    for (int i = 0; i < POINTS; ++i) is_asked[i] = to[HEADER + i * (LANES + 1)] != 0;
    for (int i = 0; i < LOOPS; ++i) is_storing[i] = i == 0;
    for (int i = 0; i < POINTS; ++i) {
        int loop = static_cast<int>(to[HEADER + i * (LANES + 1) + 1]);
        if (loop != 0) is_storing[loop] = true;
    }
}
}
"""
