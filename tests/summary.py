"""What is said at the end of a run of the tests: what it left out, how to look at a failure, and where its time went.

The time is CPU seconds, since other work may run beside the tests: those of the tests, of the programs and compilers
that they wait for, and of what programs leave behind for an interpreter of tests/warm.py.
"""

import ast
import os
import shlex
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Sequence
from typing import Any, Final

import pytest

from tests.warm import INTERPRETERS

OVER: Final = 1.2
"""A run fails if it takes more than so many times the seconds that --cpu-bound gives."""
YARDSTICK: Final = 0.038
"""CPU seconds that `yardstick` takes on the machine that --cpu-bound is meant for, an EPYC of 2.6 GHz at rest."""
_EVERY: Final = 50
"""Tests after which a worker measures its machine again: other work slows it down as it slows down the tests."""
_SLOWEST: Final = 15
_FAILURES: Final = 10

_COMMANDS: Final = {
    "slow": "make test-slow",
    "slowest": "make test-all",
    "targets": "make targets",
    "harmless": "make harmless",
}
"""What runs the tests with a marker that this run may have left out; of several markers the last one counts."""


class Summary:
    """A plugin of the controller and of each worker: workers count, the controller adds up."""

    def __init__(self, bound: float | None) -> None:
        self.bound = bound
        self.cpu: defaultdict[str, float] = defaultdict(float)
        """CPU seconds of each file."""
        self.total = 0.0
        """Those of everything, imports and fixtures of the whole session too."""
        self.tests = 0
        self.left_out: Counter[str] = Counter()
        """Number of tests by marker."""
        self.yardsticks: list[float] = []
        """CPU seconds of each."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, bool, bool]:
        if self.tests % _EVERY == 0:
            self.yardsticks.append(yardstick())
        self.tests += 1
        before = _cpu() + INTERPRETERS.cpu
        try:
            return (yield)
        finally:
            self.cpu[item.nodeid.partition("::")[0]] += _cpu() + INTERPRETERS.cpu - before

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        for item in items:
            markers = [marker for marker in _COMMANDS if item.get_closest_marker(marker)]
            self.left_out.update(markers[-1:])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        INTERPRETERS.close()  # what they took is known once they have ended
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["summary"] = _cpu(), dict(self.cpu), dict(self.left_out), self.yardsticks
            return
        # What workers took is counted already.
        self.total += sum(os.times()[:2]) if self.total else _cpu()
        if self.is_over and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended: each of them left out the same tests."""
        nothing: tuple[Any, ...] = 0.0, {}, self.left_out, []
        total, cpu, self.left_out, yardsticks = getattr(node, "workeroutput", {}).get("summary", nothing)
        self.total += total
        self.yardsticks += yardsticks
        for file, seconds in cpu.items():
            self.cpu[file] += seconds

    @property
    def slowness(self) -> float:
        """How many times as long this machine takes for the same work as the one that the bound is meant for."""
        return max(1.0, statistics.median(self.yardsticks or [YARDSTICK]) / YARDSTICK)

    @property
    def is_over(self) -> bool:
        """Did the tests take a fifth more than they may?"""
        return self.bound is not None and self.total > OVER * self.bound * self.slowness

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """Print it."""
        say = terminalreporter.line
        failed = [report.nodeid for kind in ("failed", "error") for report in terminalreporter.getreports(kind)]
        if failed:
            terminalreporter.section("failures")
            say("Run one alone, and see what its programs printed and left behind in FOLDER:")
            for name in failed[:_FAILURES]:
                say(f"  {shlex.quote(sys.argv[0])} -l --basetemp FOLDER {shlex.quote(name)}")
        terminalreporter.section(f"{self.total:.0f} CPU seconds")
        for file, seconds in sorted(self.cpu.items(), key=lambda found: -found[1])[:_SLOWEST]:
            say(f"{seconds:7.1f}  {file}")
        for marker, count in self.left_out.items():
            say(f"Left out: {count} tests, which `{_COMMANDS[marker]}` runs")
        if self.is_over:
            say(
                f"That is more than {OVER} times the {self.bound:.0f} CPU seconds that they may take (--cpu-bound), "
                f"on a machine that takes {self.slowness:.2f} times as long: which file takes longer than before?",
                red=True,
            )


def yardstick() -> float:
    """CPU seconds of a piece of work that is always the same."""
    before = time.process_time()
    for _ in range(4):
        compile(ast.parse(_SOURCE), "yardstick", "exec")
    return time.process_time() - before


_SOURCE: Final = "\n".join(
    f"def f{number}(a, b=[{number}]):\n    return a.x + b[a.y] * {number}" for number in range(150)
)


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
