"""Changes that are known to make programs faster, for `tune`: each is tried, and kept only if it was seen to.

What each is, and why it can help, is torch's own documentation (torch.compile, torch.optim, "performance tuning guide")
and the sources that stand beside it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from inspect_compile.facts.trials import COMPILE, LOADER, Answer, Change, Constructed, Place
from inspect_compile.knowledge.frontend.own_code import is_library
from inspect_compile.knowledge.fusion.knob_values import worth_trying
from inspect_compile.knowledge.overview.findings import INPUT, LAUNCH_BOUND, MATMUL_PRECISION, OPTIMIZER, TRANSFER

_MODES: Final = ("mode", "options", "backend", "disable")
_GRAPHS: Final = "reduce-overhead"
INDUCTOR: Final = "torch._inductor.config."
"""Before the names of its settings, as findings and `replay` write them."""
_UNSET: Final = ("None", "False", "'default'", "'inductor'", "{}")


class Candidate(msgspec.Struct, frozen=True):
    """One change, or several that belong together."""

    changes: tuple[Change, ...]
    predicted: float | None = None
    """The most that it can save of a step, as findings say; None where none is about it."""
    promised_by: str = ""
    """The kind of these findings."""
    is_precision: bool = False
    """It computes with another precision than the program asked for: never kept unasked."""
    compiles_long: bool = False
    """It builds or measures much while it compiles, a minute and more: what runs beside it would wait for it."""

    @property
    def words(self) -> str:
        """As a person would write it."""
        return ", ".join(one.words for one in self.changes)


class Program(msgspec.Struct, frozen=True):
    """What decides which changes a program could have."""

    is_cuda: bool
    threads: int
    compiles: tuple[Constructed, ...]
    """Its own calls of torch.compile with Inductor, once for each line."""
    optimizers: tuple[Constructed, ...]
    """Those that can be fused, once for each line."""
    loaders: tuple[Constructed, ...] = ()
    """Its DataLoaders, once for each line."""

    @classmethod
    def of(cls, seen: Answer) -> "Program":
        """What a first run has seen."""
        first: dict[tuple[str, Place], Constructed] = {}
        for one in seen.constructed:
            if one.where.file and not is_library(one.where.file):
                first.setdefault((one.of, one.where), one)
        with_inductor = ("", "'inductor'")
        compiles = [one for one in first.values() if one.of == COMPILE]
        return cls(
            is_cuda=seen.device not in ("", "cpu"),
            threads=seen.threads,
            compiles=tuple(one for one in compiles if one.given.get("backend", "") in with_inductor),
            optimizers=tuple(one for one in first.values() if one.of not in (COMPILE, LOADER) and _can_be_fused(one)),
            loaders=tuple(one for one in first.values() if one.of == LOADER),
        )


def _can_be_fused(one: Constructed) -> bool:
    is_free = all(one.given.get(name, "None") in ("None", "False") for name in ("fused", "foreach", "differentiable"))
    return is_free and one.is_floating and one.device in ("cpu", "cuda")


def without_compile(program: Program) -> Candidate | None:
    """The program without torch.compile: what its numbers are compared by, and sometimes faster."""
    places = tuple(one.where for one in program.compiles)
    if not places:
        return None
    return Candidate((Change("keyword", COMPILE, True, "disable", places),))


def candidates(
    program: Program,
    knobs: Sequence[str] = (),
    shares: Mapping[str, float] | None = None,
    hints: Iterable[str] = (),
) -> list[Candidate]:
    """All that can be tried on a program: what its findings promise most of first, then what brings most elsewhere.

    `knobs`: settings of Inductor that its findings name; `shares`: kind of finding → the share of a step that it costs;
    `hints`: what torch says that would help against its graph breaks. What compiles long comes behind the rest, and
    what changes the precision is last.
    """
    found = [_promised(one, shares or {}) for one in (*_all(program, knobs), *_captures(hints))]
    return sorted(found, key=lambda one: (one.is_precision, one.compiles_long, -(one.predicted or 0.0)))


def _promised(one: Candidate, shares: Mapping[str, float]) -> Candidate:
    kind = _promised_by(one)
    return msgspec.structs.replace(one, predicted=shares[kind], promised_by=kind) if kind in shares else one


def _promised_by(one: Candidate) -> str:
    """The kind of finding that promises something of this change."""
    if one.is_precision:
        return MATMUL_PRECISION
    keyword = next(
        (change.keyword for change in one.changes if change.keyword != "mode" or change.value == _GRAPHS), ""
    )
    return {"fused": OPTIMIZER, "mode": LAUNCH_BOUND, "num_workers": INPUT, "pin_memory": TRANSFER}.get(keyword, "")


def is_likelier(one: Candidate, kept: Candidate) -> bool:
    """Is it likelier to help once `kept` is there? A step waits for the host's launches as a whole: where the optimizer
    makes fewer of them, those of the compiled graphs are what is left, and the other way round.
    """
    return {_promised_by(one), _promised_by(kept)} == {OPTIMIZER, LAUNCH_BOUND}


def _all(program: Program, knobs: Sequence[str]) -> Iterator[Candidate]:
    yield from _fused(program.optimizers)
    yield from _modes(program)
    yield from _threads(program)
    yield from _loading(program)
    for knob in dict.fromkeys(knobs):
        for value in worth_trying(knob):
            yield Candidate((Change("setting", f"{INDUCTOR}{knob}", value),))
    if program.compiles:
        for name, value in _SETTINGS if not program.is_cuda else (*_CUDA_SETTINGS, *_SETTINGS):
            change = Change("setting", name, value)
            yield Candidate((change,), compiles_long=name.endswith(_SLOW))
    if program.is_cuda:
        yield Candidate((_CUDNN,))
    if (without := without_compile(program)) is not None:
        yield without
    if program.is_cuda:
        yield Candidate((_TF32,), is_precision=True)


def _captures(hints: Iterable[str]) -> Iterator[Candidate]:
    """Settings that torch names where Dynamo stopped: each takes one kind of call into the graph."""
    for name in dict.fromkeys(name for hint in hints for name in _CAPTURE.findall(hint)):
        yield Candidate((Change("setting", name, True),))


_CAPTURE: Final = re.compile(r"\b(torch\._dynamo\.config\.\w+) = True\b")
_MOST_WORKERS: Final = 8
_SLOW: Final = ("max_autotune", "coordinate_descent_tuning", "cpp_wrapper")
_CUDNN: Final = Change("setting", "torch.backends.cudnn.benchmark", True)
_TF32: Final = Change("call", "torch.set_float32_matmul_precision", "high")
_SETTINGS: Final[tuple[tuple[str, bool], ...]] = (
    ("torch._inductor.config.cpp_wrapper", True),
    ("torch._inductor.config.max_autotune", True),
    ("torch._inductor.config.comprehensive_padding", False),
    ("torch._inductor.config.combo_kernels", True),
)
_CUDA_SETTINGS: Final[tuple[tuple[str, bool], ...]] = (("torch._inductor.config.coordinate_descent_tuning", True),)


def _fused(optimizers: Sequence[Constructed]) -> Iterator[Candidate]:
    for name in dict.fromkeys(one.of for one in optimizers):
        places = tuple(one.where for one in optimizers if one.of == name)
        yield Candidate((Change("keyword", name, True, "fused", places),))


def _modes(program: Program) -> Iterator[Candidate]:
    places = tuple(
        one.where for one in program.compiles if not any(one.given.get(name, "None") not in _UNSET for name in _MODES)
    )
    if places and program.is_cuda:
        for mode in (_GRAPHS, "max-autotune-no-cudagraphs"):
            change = Change("keyword", COMPILE, mode, "mode", places)
            yield Candidate((change,), compiles_long=mode != _GRAPHS)


def _threads(program: Program) -> Iterator[Candidate]:
    if not program.is_cuda:
        for count in sorted({1, program.threads // 2} - {0, program.threads}):
            yield Candidate((Change("call", "torch.set_num_threads", count),))


def _loading(program: Program) -> Iterator[Candidate]:
    """Workers for a loader that has none, and pinned memory for a GPU."""
    for keyword, value, is_wanted in (
        ("num_workers", min(program.threads, _MOST_WORKERS), program.threads > 1),
        ("pin_memory", True, program.is_cuda),
    ):
        places = tuple(one.where for one in program.loaders if one.given.get(keyword, "0") in ("0", "False", "None"))
        if places and is_wanted:
            yield Candidate((Change("keyword", LOADER, value, keyword, places),))
