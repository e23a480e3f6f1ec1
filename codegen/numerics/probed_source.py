"""A C++ kernel that also writes out the values of its statements, in the iteration that stores a certain element.

The text is that of the kernel with calls added after its statements: what they compute stays as it was. Plain texts in
and out; imports no torch.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

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
_FOR: Final = re.compile(r"for ?\((?:int64_t|long) (\w+) ?=")
_DEFINES: Final = re.compile(r"^(?:auto|bool|[\w:]+_t|float|double|at::[\w:]+(?:<[\w:, ]+>)?) (tmp\w*) = (.+);$")
_CHANGES: Final = re.compile(r"^(tmp_acc\w*(?:\[[^\]]+\])?) = (.+);$")
_VECTOR_STORE: Final = re.compile(r"^(\w+)\.store\((\w*(?:out_ptr|buffer)\w* .+)\);$")
_SCALAR_STORE: Final = re.compile(r"^(\w*(?:out_ptr|buffer)\w*)\[(.+)\] = (.+);$")
_COUNT: Final = re.compile(r", static_cast<int64_t>\((\d{1,3})L?\)\);$")
_FROM_LANES: Final = re.compile(r"\btmpbuf\w*\[(?:static_cast<\w+>\()?(\w+)")
_NAME: Final = re.compile(r"\btmp\w*")


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


@dataclass
class Probed:
    """A source with calls, and where they are."""

    text: str = ""
    points: list[Point] = field(default_factory=list)
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
    found = Probed()
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
    open_: list[tuple[int, str]] = []
    """For each open brace, the line and the variable of the loop that it is the body of; 0 if it is none's."""
    waits = 0, ""
    is_new = False
    """A block has begun or ended since loop variables were written out: each block has a copy of them."""
    number, nest, inner, line = 0, 0, 0, ""

    def point(kind: str, name: str) -> int:
        found.points.append(Point(number, kind, name, nest, inner, line))
        return len(found.points) - 1

    def call(kind: str, name: str) -> str:
        return f"inspect_compile::put({point(kind, name)}, {inner}, {name});"

    for number, raw in enumerate(lines, 1 - first):
        line = raw.strip()
        loop = _FOR.search(line)
        if loop is not None:
            waits = number, loop[1]
        nest = next((at for at, _ in open_ if at), 0)
        inner = inner if nest else 0
        is_statement = any(form.match(line) for form in (_DEFINES, _CHANGES, _VECTOR_STORE, _SCALAR_STORE))
        if is_statement and nest and is_new:
            around = [name for _, name in open_ if name]
            loop_at = next(at for at, name in reversed(open_) if name)
            inner = found.loops.setdefault(loop_at, len(found.loops) + 1)
            is_new = False
            yield f"inspect_compile::turn({inner}, {around[-1]});"
            for name in around:
                yield call(LOOP, name)
        after = []
        if changes := _CHANGES.match(line):
            yield call(BEFORE, changes[1])
            after = [call(VALUE, changes[1])]
        elif defines := _DEFINES.match(line):
            if not defines[2].startswith("["):
                after = [call(VALUE, defines[1])]
        elif store := _VECTOR_STORE.match(line):
            address, count = _parted(store[2])
            lanes = count or f"inspect_compile::lanes({store[1]})"
            after = [f"inspect_compile::stored({point(STORE, store[1])}, {address}, {lanes}, 0);"]
        elif single := _SCALAR_STORE.match(line):
            part, variable = _FROM_LANES.search(single[3]), _NAME.search(single[3])
            at = point(STORE, variable[0] if variable else "")
            after = [f"inspect_compile::stored({at}, &{single[1]}[{single[2]}], 1, {part[1] if part else 0});"]
        yield raw
        yield from after
        for sign in line:
            if sign == "{":
                open_.append(waits)
                waits, is_new = (0, ""), True
            elif sign == "}" and open_:
                open_.pop()
                is_new = True


def _parted(arguments: str) -> tuple[str, str]:
    """The arguments of a store: the address, and the number of elements if there is one."""
    depth = 0
    for at, sign in enumerate(arguments):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and not depth:
            return arguments[:at], arguments[at + 1 :].strip()
    return arguments, ""


_HELPERS: Final = """
#include <type_traits>
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
template <typename T> inline void stored(int at, const T* begin, int64_t count, int64_t lane) {
    const char* first = reinterpret_cast<const char*>(begin);
    if (!is_asked[at] || element < first || element >= first + count * static_cast<int64_t>(sizeof(T))) return;
    values[0] += 1;
    values[1] = static_cast<double>(lane + (element - first) / static_cast<int64_t>(sizeof(T)));
    values[2] = at;
    for (int i = 0; i < POINTS; ++i) {
        double* to = values + HEADER + i * (LANES + 1);
        to[0] = here.at[i].count;
        for (int j = 0; j < LANES; ++j) to[1 + j] = here.at[i].value[j];
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
