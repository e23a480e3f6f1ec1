"""`doctor`: what works here, and what to install."""

import argparse
import functools
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.commands.streams import say_own

OLDEST: Final = (2, 11)
NEWEST: Final = (2, 15)
"""The newest torch that the probes are known to work with."""

PACKAGES: Final = ("msgspec", "sympy", "rich", "textual", "graphviz")

SECONDS: Final = 10.0
"""A tool that takes longer to print its version counts as broken."""


class Finding(NamedTuple):
    """One thing that was checked."""

    what: str
    is_fine: bool
    text: str
    advice: str = ""
    """What to do; empty if nothing."""
    is_needed: bool = True
    """Whether recording fails without it."""


class Doctor:
    """Says what works here."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its one option."""
        parser.add_argument(
            "--measure", action="store_true", help="measure the CPU, for `show roofline`, and keep the result"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Print one line for each check, and what to do; returns 0 if a program can be recorded and viewed."""
        if arguments.measure:
            _measure()
        findings = []
        for look in LOOKS:
            for finding in look():
                findings.append(finding)
                mark = "ok" if finding.is_fine else "NO" if finding.is_needed else "--"
                advice = f"; {finding.advice}" if finding.advice else ""
                say_own(f"{mark:3} {finding.what:13} {finding.text}{advice}")
                sys.stdout.flush()
        missing = [finding.what for finding in findings if finding.is_needed and not finding.is_fine]
        if missing:
            say_own(f"\nNot ready: {', '.join(missing)}. Programs cannot be recorded here; dumps made elsewhere open.")
            return 1
        say_own("\nReady: inspect-compile SCRIPT records a program.")
        return 0


def look_at_python() -> Iterator[Finding]:
    """The interpreter, which also runs the programs, and its headers, which C++ kernels include."""
    yield Finding("python", True, f"{sys.version.split()[0]} ({sys.executable})")
    header = Path(sysconfig.get_path("include"), "Python.h")
    if header.is_file():
        yield Finding("Python.h", True, str(header))
    else:
        advice = "kernels are built with it (Debian: apt-get install python3-dev)"
        yield Finding("Python.h", False, f"not at {header}", advice)


def look_at_packages() -> Iterator[Finding]:
    """The packages that inspect-compile needs."""
    there = {name: version for name in PACKAGES if (version := _version(name)) is not None}
    lacking = [name for name in PACKAGES if name not in there]
    text = ", ".join(f"{name} {version}" for name, version in there.items())
    yield Finding("packages", not lacking, text or "none", f"pip install {' '.join(lacking)}" if lacking else "")


def look_at_torch() -> Iterator[Finding]:
    """torch, its build, and triton."""
    from inspect_compile.knowledge.versions import release

    found = _distribution("torch")
    if found is None:
        yield Finding("torch", False, "not installed for this Python", "pip install 'inspect-compile[record]'")
        return
    build = _build(found)
    numbers = release(found.version)
    text = f"{found.version}, {build}"
    if numbers < OLDEST:
        yield Finding("torch", False, text, f"{_name(OLDEST)} is the oldest that works: pip install -U torch")
    elif numbers > NEWEST:
        advice = f"newer than the newest tested, {_name(NEWEST)}: probes may be missing"
        yield Finding("torch", False, text, advice, is_needed=False)
    else:
        yield Finding("torch", True, f"{text}, within {_name(OLDEST)}–{_name(NEWEST)}")
    triton = next((version for name in ("triton", "pytorch-triton") if (version := _version(name)) is not None), None)
    if triton is not None or build == "CPU build":
        yield Finding("triton", True, triton or "not installed; only GPUs need it", is_needed=False)
    else:
        advice = "kernels on a GPU need it: pip install triton"
        yield Finding("triton", False, "not installed", advice, is_needed=False)


def look_at_compiler() -> Iterator[Finding]:
    """The C++ compiler that Inductor would call."""
    command = os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")
    version = _first_line([command, "--version"])
    if version is not None:
        yield Finding("C++ compiler", True, f"{command}: {version}")
        return
    other = next((name for name in ("g++", "clang++", "c++") if shutil.which(name)), None)
    hint = f"export CXX={other}" if other else "Debian: apt-get install g++; macOS: xcode-select --install"
    advice = f"CPU kernels need it ({hint})"
    yield Finding("C++ compiler", False, f"{command} does not run", advice, is_needed=not uses_gpu())


def look_at_dot() -> Iterator[Finding]:
    """Graphviz."""
    version = _first_line(["dot", "-V"])
    advice = "only `draw` needs it, for SVG (Debian: apt-get install graphviz; macOS: brew install graphviz)"
    yield Finding("dot", version is not None, version or "not found", "" if version else advice, is_needed=False)


def look_at_device() -> Iterator[Finding]:
    """GPUs, as listed by the vendor's tool: importing torch would take seconds."""
    found = gpus()
    build = torch_build()
    if not found:
        yield Finding("device", True, f"CPU, {os.cpu_count()} cores; no GPU found")
    elif build == "CPU build":
        advice = "this torch is a CPU build and will not use it"
        yield Finding("device", False, ", ".join(found), advice, is_needed=False)
    else:
        yield Finding("device", True, ", ".join(found))


def look_at_roof() -> Iterator[Finding]:
    """The measurement of the CPU that `show roofline` uses."""
    from inspect_compile.knowledge.targets.host import host

    found = host()
    if found is None:
        advice = "`show roofline` needs it for a CPU: inspect-compile doctor --measure"
        yield Finding("CPU roof", False, "not measured", advice, is_needed=False)
        return
    peaks = ", ".join(f"{name} {rate / 1e9:,.0f} GFLOP/s" for name, rate in found.peak.items())
    yield Finding("CPU roof", True, f"{found.bandwidth / 1e9:,.0f} GB/s, {peaks}; measured on {found.date}")


def look_at_terminal() -> Iterator[Finding]:
    """Whether the TUI can be opened here."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield Finding("terminal", False, "not a terminal", "the TUI needs a terminal; `show` does not", is_needed=False)
        return
    size = os.get_terminal_size(sys.stdout.fileno())
    term = os.environ.get("TERM", "")
    text = f"{term or 'TERM not set'}, {size.columns}×{size.lines}"
    if term in ("", "dumb"):
        yield Finding("terminal", False, text, "the TUI needs more; export TERM=xterm-256color", is_needed=False)
    elif size.columns < 80 or size.lines < 24:
        yield Finding("terminal", False, text, "the TUI needs at least 80×24", is_needed=False)
    else:
        yield Finding("terminal", True, text)


LOOKS: Final[tuple[Callable[[], Iterator[Finding]], ...]] = (
    look_at_python,
    look_at_torch,
    look_at_packages,
    look_at_compiler,
    look_at_device,
    look_at_roof,
    look_at_dot,
    look_at_terminal,
)


def _measure() -> None:
    """Measure the CPU in a separate process that loads torch."""
    from inspect_compile.errors import CommandError

    command = [sys.executable, "-m", "inspect_compile.child.workers.host_speed"]
    say_own("measuring the CPU; this takes some seconds …")
    sys.stdout.flush()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise CommandError(f"the CPU could not be measured: {reason}")


def uses_gpu() -> bool:
    """True if programs here need no kernels for the CPU."""
    return bool(gpus()) and torch_build() != "CPU build"


@functools.cache
def gpus() -> tuple[str, ...]:
    """The names of this machine's NVIDIA GPUs, with their architecture."""
    listed = _output(["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"])
    rows = [line.rpartition(",") for line in (listed or "").splitlines() if "," in line]
    return tuple(f"{name.strip()} (sm_{capability.strip().replace('.', '')})" for name, _, capability in rows)


def torch_build() -> str:
    """What the installed torch was built for."""
    found = _distribution("torch")
    return "no torch" if found is None else _build(found)


def _build(torch: Distribution) -> str:
    try:
        text = Path(str(torch.locate_file("torch/version.py"))).read_text("utf-8")
    except OSError:
        return "unknown build"
    for name, title in (("cuda", "CUDA"), ("hip", "ROCm"), ("xpu", "XPU")):
        match = re.search(rf"^{name}\b[^=\n]*= *'([^']+)'", text, re.MULTILINE)
        if match:
            return f"{title} {match[1]} build"
    return "CPU build"


def _distribution(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _version(name: str) -> str | None:
    found = _distribution(name)
    return None if found is None else found.version


def _name(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _output(command: list[str]) -> str | None:
    """The output of a command on either stream; None if it is missing or fails."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None


def _first_line(command: list[str]) -> str | None:
    text = _output(command)
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[0] if lines else None
