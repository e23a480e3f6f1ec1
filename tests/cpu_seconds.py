"""How many CPU seconds the tests take, file by file, and whether that is still what it was meant to be.

CPU seconds and not wall time, since other work may run beside the tests. What a test waits for counts, programs and
compilers too; what programs leave behind counts as far as an interpreter of tests/warm.py is left with it.
"""

import os
from collections import defaultdict
from collections.abc import Generator
from typing import Any, Final

import pytest

from tests.warm import INTERPRETERS

OVER: Final = 1.2
"""A run fails if it takes more than so many times the seconds that --cpu-bound gives."""
_SHOWN: Final = 15


def _so_far() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class CpuSeconds:
    """A plugin of the controller and of each worker: workers measure, the controller adds up."""

    def __init__(self, bound: float | None) -> None:
        self.bound = bound
        self.by_file: defaultdict[str, float] = defaultdict(float)
        self.total = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, bool, bool]:
        before = _so_far() + INTERPRETERS.cpu
        try:
            return (yield)
        finally:
            self.by_file[item.nodeid.partition("::")[0]] += _so_far() + INTERPRETERS.cpu - before

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        INTERPRETERS.close()  # what they took is known once they have ended
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["cpu_seconds"] = _so_far(), dict(self.by_file)
        elif not self.total:  # there are no workers
            self.total = _so_far()
        if output is None and self.is_over and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        total, by_file = getattr(node, "workeroutput", {}).get("cpu_seconds", (0.0, {}))
        self.total += total
        for file, seconds in by_file.items():
            self.by_file[file] += seconds

    @property
    def is_over(self) -> bool:
        """Did the tests take a fifth more than they may?"""
        return self.bound is not None and self.total > OVER * self.bound

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which files took longest, and fail if all took too long."""
        total = self.total or _so_far()
        terminalreporter.section(f"CPU seconds: {total:.0f}")
        slowest = sorted(self.by_file.items(), key=lambda found: -found[1])[:_SHOWN]
        for file, seconds in slowest:
            terminalreporter.line(f"{seconds:7.1f}  {file}")
        if self.is_over:
            terminalreporter.line(
                f"That is more than {OVER} times the {self.bound:.0f} s that they may take (--cpu-bound): which of "
                "these files takes longer than before?",
                red=True,
            )
