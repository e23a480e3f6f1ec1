"""`run`: runs a program as Python alone would, and records it."""

import argparse
import functools
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspect_compile.commands.program import BEFORE_START, command_of
from inspect_compile.commands.streams import tell
from inspect_compile.errors import CommandError, DumpError

if TYPE_CHECKING:
    from inspect_compile.child.run_config import RunConfig
    from inspect_compile.child.setting import Setting


class Run:
    """Records a program."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that stand before the program: the fields of `RunConfig`, and where and how it is run."""
        from inspect_compile.child.run_config import LEVELS, MAX_BYTES

        parser.usage = "inspect-compile [run] [options] SCRIPT [ARG …]  |  -m MODULE [ARG …]  |  -- COMMAND [ARG …]"
        parser.add_argument("--dump", metavar="DIR", help="where to record; a new or empty directory")
        parser.add_argument(
            "--no-tui", action="store_true", help="run without the TUI, even on a terminal, and print where the dump is"
        )
        parser.add_argument(
            "--cache",
            choices=("auto", "bypass", "keep"),
            default="auto",
            help="auto (default): reuse torch's caches where a recording exists; bypass: compile everything again; "
            "keep: reuse torch's caches always, although a cache hit without a recording has no compile to show",
        )
        parser.add_argument(
            "--graphs",
            metavar="N",
            type=_positive,
            help="record only the first N graphs of each process, and count the others",
        )
        parser.add_argument(
            "--max-dump",
            dest="max_bytes",
            metavar="SIZE",
            type=size,
            default=MAX_BYTES,
            help="record at most SIZE for each process (500MB, 2GB, …; default 2GB); the program itself continues",
        )
        parser.add_argument(
            "--keep",
            metavar="N",
            type=_positive,
            help="keep the first compile of each function and the newest N recompiles of each process; older ones are "
            "removed, also when the dump reaches its maximum size",
        )
        parser.add_argument(
            "--level",
            choices=LEVELS,
            default="all",
            help="facts: record tables and generated code, at about half the cost; texts: also FX graphs and IR as "
            "text; all (default): also write text summaries when the program has ended",
        )
        parser.add_argument(
            "--measure",
            action="store_true",
            help="time each kernel launch while the program runs (`show DUMP measured`), and profile some steps "
            "(`show DUMP steps`); on a GPU each timed launch is synchronized, so the program runs slower",
        )

        parser.add_argument(
            "--live",
            nargs="?",
            const="text",
            default="",
            choices=("text", "json"),
            help="print a line on stderr for each slow compile, each recompile with the guard that failed, each limit, "
            "each cache miss and kernel build after the start, each CUDA graph that is recorded again; --live=json: as "
            "objects",
        )
        parser.add_argument(
            "--live-metrics",
            metavar="DIR",
            default="",
            help="while the program runs, write the counts of each process to a file in DIR that Prometheus reads",
        )
        parser.add_argument(
            "--ready",
            metavar="TEXT",
            default="",
            help="the start ends with the first line on stdout or stderr that has this text (`show DUMP time`, `draw "
            "DUMP startup`); `:8000`: when that port is listened on. With --no-tui a terminal is not watched, as that "
            "would change it for the program",
        )
        parser.add_argument(
            "--target",
            dest="targets",
            metavar="GPU",
            type=known_target,
            action="append",
            default=[],
            help="compile the graphs for a GPU that this machine does not have (sm_90, gfx942, …), while the program "
            "runs on the CPU; repeatable",
        )
        parser.add_argument(
            "--fake-kernels",
            action="store_true",
            help="with --target: where the program launches its own Triton kernel, which cannot run on a CPU, continue "
            "with zeros as its result",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Start the program. Without a TUI this process becomes the program, and does not return."""
        try:
            started = self._started(arguments)
        except DumpError:  # what to do about it, and the exit status, are added to it as for every command
            raise
        except CommandError as error:
            raise CommandError(str(error), exit_code=BEFORE_START) from None
        return started()

    @staticmethod
    def _started(arguments: argparse.Namespace) -> "Callable[[], int]":
        """Become the program, or return the function that runs it beside the TUI. Raises CommandError."""
        from inspect_compile.child.run_config import RunConfig
        from inspect_compile.child.setting import Setting, own_value, python_path_without_bootstrap
        from inspect_compile.dump import paths
        from inspect_compile.dump.root import default_root, make_root
        from inspect_compile.launch.ranks import join, launched
        from inspect_compile.launch.ready import can_watch, forget, port_of, watch
        from inspect_compile.launch.replace import plain_environment, replace

        path, argv = command_of(arguments.program, arguments.commands)
        options = {name: getattr(arguments, name) for name in RunConfig.__struct_fields__}
        metrics = str(_here() / arguments.live_metrics) if arguments.live_metrics else ""
        config = RunConfig(**{**options, "targets": tuple(dict.fromkeys(arguments.targets)), "live_metrics": metrics})
        if config.graphs is not None and config.keep is not None:
            raise CommandError("--graphs records the first graphs, --keep the newest recompiles: choose one of them")
        if config.fake_kernels and not config.targets:
            raise CommandError(
                "--fake-kernels stands in for Triton kernels of the program on a GPU that is not here; say which: "
                "--target sm_90"
            )
        check_triton(config.targets)
        cwd = _here()
        asked = cwd / arguments.dump if arguments.dump is not None else None
        who = launched(os.environ)
        if who is not None:
            place = join(who, asked, cwd)
            root, top = place.root, str(place.top)
            if place.is_first:
                _record_of_ranks(place.top, argv, config)
        else:
            root, top = asked or default_root(cwd, os.getpid(), datetime.now()), None
            make_root(root)
        with_tui = not (arguments.no_tui or config.live) and who is None and _on_terminal()
        ready = arguments.ready
        if ready and not can_watch():
            raise CommandError("--ready needs Linux 5.3 or newer; omit it: nothing was started")
        setting = Setting(
            root=str(root),
            pid=os.getpid(),
            python_path=python_path_without_bootstrap(os.environ),
            plain=arguments.program.kind != "command",
            run=config.plain(),
            quiet=with_tui,
            top=top,
            own=own_value(os.environ),
        )
        first_record(root, argv, setting)
        if ready and not (with_tui and port_of(ready) is None):
            for sentence in watch(Path(top or root), ready):
                tell(f"--ready: {sentence}")
        if not with_tui:
            try:
                replace(path, argv, setting.environment(plain_environment()))
            except CommandError:
                (root / paths.RUN).unlink(missing_ok=True)
                forget(root)
                raise

        def environment(pid: int) -> dict[str, str]:
            first_record(root, argv, setting)
            setting.pid = pid
            return setting.environment(plain_environment())

        return functools.partial(_beside_tui, path, argv, environment, root, ready if port_of(ready) is None else "")


def _on_terminal() -> bool:
    streams = (sys.stdin, sys.stdout)
    return all(stream is not None and stream.isatty() for stream in streams) and os.environ.get("TERM") != "dumb"


def _beside_tui(
    path: str, argv: Sequence[str], environment: Callable[[int], dict[str, str]], root: Path, ready: str
) -> int:
    """Run it on a pty until the TUI is closed, and note when it printed `ready`, unless that is empty; returns the
    program's exit status or signal.
    """
    from inspect_compile.dump import Dump, paths
    from inspect_compile.launch.assembly import assembly
    from inspect_compile.launch.program import PtyProgram, terminal_size
    from inspect_compile.launch.ready import Spotter, ask, noted
    from inspect_compile.launch.replace import die_of
    from inspect_compile.tui.app import InspectApp

    rows, columns = terminal_size()
    spotter = None
    if ready:
        ask(root, ready)
        spotter = Spotter(ready, noted(root, ready, "terminal"))
    program = PtyProgram(path, argv, environment, root / paths.SCRIPT_LOG, rows=rows, columns=columns, spotter=spotter)
    try:
        InspectApp(Dump(root), program, assembly).run()
    finally:
        status = program.end()
        last_record(root, status)
    dump = os.path.relpath(root)
    log = os.path.join(dump, paths.SCRIPT_LOG)
    tell(f"its output is in {log}; see again: inspect-compile open {dump}")
    if status < 0:
        die_of(-status)
    return status


def last_record(root: Path, status: int) -> None:
    """Add the exit status to run.json: the program itself could not see it."""
    import msgspec

    from inspect_compile.dump import Dump, Writer

    try:
        run = Dump(root).run
    except CommandError:  # somebody has removed it
        return
    if run.status == "running":
        run = msgspec.structs.replace(run, status="killed" if status < 0 else "finished")
    Writer(root).run(msgspec.structs.replace(run, exit_code=status if status >= 0 else 128 - status))


def first_record(root: Path, argv: Sequence[str], setting: "Setting") -> None:
    """The run.json that is valid until the program's process replaces it: a command may not be a Python program."""
    from inspect_compile.child import run_record
    from inspect_compile.child.run_config import RunConfig
    from inspect_compile.dump import Writer

    writer, cache = Writer(root), RunConfig.of(setting.run).cache
    notes = () if setting.plain else ("no Python process of this run has been recorded yet",)
    shown = argv[1:] if setting.plain else argv
    writer.run(run_record.running(argv=shown, cwd=os.getcwd(), started=time.time(), cache=cache, notes=notes))
    if writer.trouble is not None:
        raise CommandError(f"{writer.trouble}; name another directory with --dump DIR")


def _record_of_ranks(top: Path, argv: Sequence[str], config: "RunConfig") -> None:
    """The run.json of a dump whose ranks were started separately: each rank's status is in its own part."""
    import msgspec

    from inspect_compile.child import run_record
    from inspect_compile.dump import Writer

    run = run_record.running(argv=argv[1:], cwd=os.getcwd(), started=time.time(), cache=config.cache)
    Writer(top).run(msgspec.structs.replace(run_record.of_no_process(run), status="ranks"))


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise CommandError(f"the current directory is gone ({error.strerror})") from None


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number; write 1, 2, …")
    return int(text)


def known_target(text: str) -> str:
    """The name of a GPU in the table; ArgumentTypeError lists them."""
    from inspect_compile.knowledge.targets.targets import TARGETS

    if text not in TARGETS:
        known = ", ".join(f"{target.name} ({target.gpu})" for target in TARGETS.values())
        raise argparse.ArgumentTypeError(f"{text!r} is not a known GPU; there are: {known}")
    return text


_TRITON: Final = ("triton", "pytorch-triton", "triton-rocm", "pytorch-triton-rocm", "triton-xpu")
"""Triton's package names: builds of torch for other devices, and nightly builds, require different ones."""


def check_triton(targets: Sequence[str]) -> None:
    """Raises CommandError if Triton is missing, or older than this tool supports."""
    from importlib import metadata

    from inspect_compile.knowledge.targets.targets import TRITON
    from inspect_compile.knowledge.versions import release

    if not targets:
        return
    there = next((found.version for name in _TRITON for found in metadata.distributions(name=name)), None)
    if there is None:
        raise CommandError(
            f"--target {targets[0]}: Triton is not installed, and {TRITON} or newer is needed to compile for a GPU; "
            "install it: pip install triton"
        )
    if release(there) < release(TRITON):
        raise CommandError(
            f"--target {targets[0]}: Triton {there} is too old, {TRITON} or newer is needed to compile for a GPU: "
            "pip install -U triton"
        )


def size(text: str) -> int:
    """Bytes: `500MB`."""
    from inspect_compile.child.limits.sizes import bytes_of

    found = bytes_of(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write 500MB, 2GB, …")
    return found
