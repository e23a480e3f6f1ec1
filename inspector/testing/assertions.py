"""Assertions about what was compiled. One that fails says where in the program, and why, as the dump shows it."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from inspect_compile.analysis.lock.contract import Compiled as Contract
    from inspect_compile.analysis.lock.rules import Together
    from inspect_compile.dump import Dump

_MOST_LOOPS: Final = 20
_WIDTH: Final = 140
"""Columns of a story in the message of an assertion."""


class Compiled:
    """What was compiled in one capture. Its assertions are for after the block."""

    def __init__(self, path: Path, root: str) -> None:
        self.path = path
        """The dump: `inspect-compile open PATH` walks through it."""
        self._root = root
        self._dump: Dump | None = None
        self._contract: Contract | None = None

    def open(self, path: Path) -> None:
        """The block has ended: read what was recorded."""
        from inspect_compile.dump import Dump

        self.path = path
        self._dump = Dump(path)

    @property
    def dump(self) -> "Dump":
        """The dump itself; raises RuntimeError inside the block."""
        if self._dump is None:
            raise RuntimeError("the capture() block has not ended: what it compiled is known only afterwards")
        return self._dump

    @property
    def contract(self) -> "Contract":
        """Figures, loops and lines of what was compiled."""
        if self._contract is None:
            from inspect_compile.analysis.lock.contract import contract

            self._contract = contract(self.dump, root=self._root)
        return self._contract

    def assert_no_graph_breaks(self) -> None:
        """Dynamo left no function half-way."""
        __tracebackhide__ = True
        self.assert_rule("no graph_breaks")

    def assert_graph_breaks(self, *, at_most: int) -> None:
        """Not more than so many graph breaks."""
        __tracebackhide__ = True
        self.assert_rule(f"graph_breaks <= {at_most}")

    def assert_no_recompiles(self) -> None:
        """No function was compiled twice."""
        __tracebackhide__ = True
        self.assert_rule("no recompiles")

    def assert_recompiles(self, *, at_most: int) -> None:
        """Not more than so many recompiles."""
        __tracebackhide__ = True
        self.assert_rule(f"recompiles <= {at_most}")

    def assert_graphs(self, *, at_most: int) -> None:
        """Not more than so many graphs, forward and backward counted separately."""
        __tracebackhide__ = True
        self.assert_rule(f"graphs <= {at_most}")

    def assert_kernels(self, *, at_most: int, kind: str = "") -> None:
        """Not more than so many generated kernels, in all graphs or in those of a kind (`forward`)."""
        __tracebackhide__ = True
        self.assert_rule(f"kernels{f'.{kind}' if kind else ''} <= {at_most}")

    def assert_fused(self, *parts: str) -> None:
        """One loop of a kernel computes all of these: operators (`layer_norm`), or lines of the program
        (`model.py:14`).
        """
        __tracebackhide__ = True
        self.assert_rule(f"fused({', '.join(parts)})")

    def assert_no_fallback(self, name: str = "") -> None:
        """Code was generated for every operator, or for this one (`aten.cumsum`)."""
        __tracebackhide__ = True
        self.assert_rule(f"no fallback {name}".strip())

    def assert_peak(self, *, at_most: int, kind: str = "") -> None:
        """No graph, or none of a kind, holds more bytes at once, beside its inputs."""
        __tracebackhide__ = True
        self.assert_rule(f"peak{f'.{kind}' if kind else ''} <= {at_most}")

    def assert_numerics(self) -> None:
        """Every result of the calls that `capture(numerics=…)` checked was compared, and is right: what has the status
        0 of `inspect-compile numerics`.
        """
        __tracebackhide__ = True
        from inspect_compile.analysis.numerics.coverage import uncompared
        from inspect_compile.analysis.numerics.verdicts import summary
        from inspect_compile.graph import Graphs
        from inspect_compile.tables.numerics.coverage import uncompared_lines
        from inspect_compile.tables.numerics.numerics import summary_lines

        if self.dump.run.numerics is None:
            raise ValueError("numerics were not checked: use capture(numerics=True)")
        found, missing = summary(Graphs(self.dump)), uncompared(Graphs(self.dump))
        if found.is_wrong or missing or not found.calls:
            lines = [*summary_lines([found]), *uncompared_lines(missing)]
            table = "\n".join(line.plain for line in lines)
            raise AssertionError(f"{table}\nsee: inspect-compile show {self.path} numerics")

    def assert_rule(self, text: str) -> None:
        """Any rule of a contract, except those that compare with one: `no extern addmm`, `flops <= 2 GFLOP`."""
        __tracebackhide__ = True
        from inspect_compile.analysis.lock.check import check
        from inspect_compile.analysis.lock.records import Lock
        from inspect_compile.analysis.lock.rules import Bound, NoChange, Together, rule
        from inspect_compile.contracts.report import Report
        from inspect_compile.contracts.text import text as report_text

        parsed = rule(text)
        if isinstance(parsed, NoChange) or (isinstance(parsed, Bound) and parsed.is_multiple):
            raise ValueError(f"{text!r} compares with a contract: assert_lock(FILE) does, by the rules in it")
        found = check(Lock(), self.contract, (parsed,)).changes
        if not found:
            return
        message = report_text(Report(text, "", found, self._root, 1, len(self.contract.lock.graphs)), is_complete=True)
        if isinstance(parsed, Together):
            message += self._why(parsed)
        elif isinstance(parsed, Bound) and parsed.metric in ("kernels", "launches", "fused"):
            message += self._loops()
        raise AssertionError(f"{message}\nsee: inspect-compile show {self.path}")

    def assert_lock(self, path: Path | str, *, update: bool = False) -> None:
        """Nothing differs from a contract, by its rules; `update` writes it."""
        __tracebackhide__ = True
        import msgspec

        from inspect_compile.analysis.lock.check import check
        from inspect_compile.analysis.lock.rules import DEFAULT, parsed
        from inspect_compile.contracts.lockfile import read, text_of
        from inspect_compile.contracts.report import Report
        from inspect_compile.contracts.text import text

        file = Path(path)
        old = read(file) if file.is_file() else None
        if update:
            file.parent.mkdir(parents=True, exist_ok=True)
            rules = old.rules if old is not None else DEFAULT
            file.write_text(text_of(msgspec.structs.replace(self.contract.lock, rules=rules)), encoding="utf-8")
            return
        if old is None:
            raise AssertionError(f"{file}: no contract exists; pytest --inspect-compile-lock=update writes it")
        result = check(old, self.contract, parsed(old.rules))
        if result.changes:
            report = Report(str(file), "", result.changes, self._root, result.rules, len(self.contract.lock.graphs))
            more = "if this is intended: pytest --inspect-compile-lock=update"
            raise AssertionError(f"{text(report)}\n{more}\nsee: inspect-compile show {self.path}")

    def _why(self, rule: "Together") -> str:
        """The story of the two loops that are apart, as `inspect-compile why` prints it."""
        from inspect_compile.analysis.fusion.pair_story import FusionStories
        from inspect_compile.analysis.lock.promises import broken_promises
        from inspect_compile.graph import CompiledGraph
        from inspect_compile.tables.block_lines import plain_text
        from inspect_compile.tables.fusion.why import pair as story

        broken = broken_promises(rule, self.contract)
        if broken is None or broken.pair is None:
            return self._loops()
        two = broken.pair
        stories = FusionStories(CompiledGraph(self.dump, two.graph), ())
        found = stories.pair(stories.meant(two.a), stories.meant(two.b))
        lines = plain_text(story(found, str(self.path)), _WIDTH).splitlines()
        return "\n" + "\n".join(line.rstrip() for line in lines)

    def _loops(self) -> str:
        """What there is, for a reader who wonders."""
        loops = self.contract.loops[:_MOST_LOOPS]
        return "\nthe loops of its kernels:\n" + "".join(f"  {' + '.join(loop.operators)}\n" for loop in loops)
