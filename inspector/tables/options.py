"""The options of `show` that only some of the tables take."""

from typing import Any, Final, NamedTuple


class Option(NamedTuple):
    """One option, as argparse takes it; the table's function gets its value under `name`."""

    flag: str
    name: str
    help: str
    short: str = ""
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    kind: type = str
    """bool: it takes no value."""

    @property
    def flags(self) -> tuple[str, ...]:
        """`-o`, `--output`."""
        return (self.short, self.flag) if self.short else (self.flag,)

    def keywords(self) -> dict[str, Any]:
        """For `add_argument`, but for the help."""
        if self.kind is bool:
            return {"dest": self.name, "action": "store_true", "default": None}
        return {"dest": self.name, "metavar": self.metavar, "choices": self.choices or None, "type": self.kind}


BY: Final = Option("--by", "by", "one row for each of these", choices=("module", "op", "kernel", "line"))
OF: Final = Option("--of", "of", "what the width of a call is", choices=("time", "bytes", "flops"))
AT: Final = Option("--at", "at", "who holds it after a line of the output code, or `peak`", metavar="LINE")
TRACE: Final = Option("--trace", "trace", "a profile of the same program, to measure against", metavar="FILE")
EARLIER: Final = Option("--earlier", "earlier", "the dump of an earlier run, to compare the keys with", metavar="DUMP")
OUTPUT: Final = Option(
    "--output", "output", "write it as a trace for Perfetto, and print nothing else", short="-o", metavar="FILE"
)

FOLDED: Final = Option(
    "--output",
    "output",
    "write folded stacks, for flamegraph.pl, inferno or speedscope, and print nothing else; times in nanoseconds",
    short="-o",
    metavar="FILE",
)

KINDS: Final = Option("--kinds", "kinds", "the kinds of findings that are looked for", kind=bool)
REASON: Final = Option("--reason", "reason", "only pairs with this reason, `numel-mismatch`", metavar="CODE")
PAIRS_OF_LINE: Final = Option("--line", "line", "only pairs with an operation of a line, `model.py:12`", metavar="LINE")
ROUND: Final = Option("--round", "in_round", "only this round", metavar="N", kind=int)

STAGE: Final = Option(
    "--stage",
    "stage",
    "ttir, ttgir, llir, ptx, sass, amdgcn, isa; asm for a C++ kernel: line by line; "
    "all: how much of each comes from which line of the kernel's source",
    metavar="STAGE",
)
STAGES_OF_LINE: Final = Option(
    "--line", "line", "what its stages contain of it, or of a line of the kernel's source, `25`", metavar="LINE"
)
CONFIGURATION: Final = Option(
    "--config", "config", "of its stages a configuration, `XBLOCK256-w4-s1` or a part of it", metavar="LABEL"
)
COMPILE: Final = Option(
    "--compile",
    "compile",
    "for --stage asm compile a source that torch's cache here does not have: of a dump that you trust",
    kind=bool,
)

OPTIONS: Final[dict[str, tuple[Option, ...]]] = {
    "findings": (KINDS,),
    "caches": (EARLIER,),
    "fusion": (REASON, PAIRS_OF_LINE, ROUND),
    "flops": (BY,),
    "traffic": (BY,),
    "flame": (OF, FOLDED),
    "roofline": (TRACE,),
    "memory": (AT,),
    "time": (OUTPUT,),
    "measured": (BY,),
    "kernel": (STAGE, STAGES_OF_LINE, CONFIGURATION, COMPILE),
}
"""Table or page → what it takes beside names; its functions get the values as keywords."""
