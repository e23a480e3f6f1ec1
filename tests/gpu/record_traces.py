"""Records what tests/profiles/test_recorded.py reads: of each program a dump and a trace, small enough to be kept.

    PYTHONPATH=build/typing python tests/gpu/record_traces.py FOLDER     # on a machine with a CUDA device

Each program runs under inspection and torch.profiler at once. Paths are taken out, and of the dump all that no test
of profiles reads.
"""

import argparse
import gzip
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

PROGRAMS: Final = {
    "inference": ("inference.py",),
    "training": ("training.py",),
    "reduce_overhead": ("reduce_overhead.py",),
    "two_graphs": ("two_graphs.py",),
    "user_kernel": ("user_kernel.py",),
    "shared_name": ("shared_name.py",),
    "shared_name_graphs": ("shared_name.py", "--graphs"),
    "ddp": ("ddp.py",),
    "ddp_reduce_overhead": ("ddp.py", "--mode", "reduce-overhead"),
}
"""Name of the recording → the program and its arguments."""

RANKS: Final = {"ddp": 2, "ddp_reduce_overhead": 2}
"""Of those that torchrun starts, each rank on a GPU of its own: how many. The first rank's dump and trace are kept."""

KEPT: Final = re.compile(
    r"run\.json|shared\.json|graphs\.jsonl|dynamo\.jsonl|measured\.jsonl|cudagraphs\.jsonl|collectives\.jsonl|remarks\.jsonl|probes\.jsonl|.*/(kernels|nodes|schedule|wrapper|lowering)\.jsonl"
    r"|.*/output_code\.py|.*/source\.(py|cpp)|\.finished"
)
"""Files of a dump that attribute and name read."""

HERE: Final = Path(__file__).resolve().parent
COMMAND: Final = (sys.executable, "-m", "inspect_compile")


def record(name: str, words: tuple[str, ...], folder: Path, options: tuple[str, ...] = ()) -> None:
    """One recording: `folder`/NAME/dump.zip and trace.json.gz."""
    into = folder / name
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        dump, trace = Path(scratch) / "dump", Path(scratch) / "trace.json"
        program = HERE / "programs" / words[0]
        script: tuple[str, ...] = (str(program), str(trace), *words[1:])
        if name in RANKS:
            script = ("--", "torchrun", "--standalone", "--nproc-per-node", str(RANKS[name]), *script)
        subprocess.run((*COMMAND, "run", "--no-tui", *options, "--dump", str(dump), *script), check=True)
        dump = dump / "rank_0" if name in RANKS else dump
        pack(dump, into / "dump.zip")
        (into / "trace.json.gz").write_bytes(gzip.compress(without_paths(trace.read_bytes()), mtime=0))
        subprocess.run((*COMMAND, "attribute", str(dump), str(trace), "--by", "kernel"), check=False)
    sizes = ", ".join(f"{path.name} {path.stat().st_size / 1000:.0f} kB" for path in sorted(into.iterdir()))
    print(f"{name}: {sizes}", flush=True)


def pack(dump: Path, to: Path) -> None:
    """A zip of the dump without paths of this machine, and without what the tests don't read."""
    with tempfile.TemporaryDirectory() as scratch:
        shared = Path(scratch) / "dump.zip"
        subprocess.run(
            (*COMMAND, "share", str(dump), "--redact", "--json", "-o", str(shared)), check=True, capture_output=True
        )
        with (
            zipfile.ZipFile(shared) as all_of_it,
            zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as kept,
        ):
            for member in all_of_it.infolist():
                inner = member.filename.partition("/")[2]
                if KEPT.fullmatch(inner) or KEPT.fullmatch(inner.partition("/")[2]):
                    kept.writestr(zipfile.ZipInfo(inner, (1980, 1, 1, 0, 0, 0)), all_of_it.read(member), 8)


def without_paths(trace: bytes) -> bytes:
    """The trace without folders of this machine: of a path its last part stays."""
    return re.sub(rb'"(?:/[\w.+~@-]+)+/([\w.+-]+)"', rb'"\1"', trace)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", choices=[*PROGRAMS, []], help="which ones; all of them by default")
    arguments = parser.parse_args()
    failed = []
    for name in arguments.names or PROGRAMS:
        try:
            record(name, PROGRAMS[name], arguments.folder)
        except subprocess.CalledProcessError as error:
            failed.append(f"{name}: {error}")
    sys.exit("\n".join(failed) or None)


if __name__ == "__main__":
    main()
