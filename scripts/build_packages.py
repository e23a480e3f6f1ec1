"""Build the sdist and the wheel of a commit, the same to the byte wherever and whenever that is done.

    python scripts/build_packages.py [-o FOLDER] [--no-isolation] [COMMIT]

They are built from a copy of the commit (HEAD unless one is named), so that nothing else in the checkout gets in. All
times are the commit's, or SOURCE_DATE_EPOCH. The setuptools of PIP_CONSTRAINT builds them, with --no-isolation the one
at hand; another one can write other metadata. Needs git and the package `build`.
"""

import argparse
import gzip
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
UMASK: Final = 0o022


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the sdist and the wheel of a commit, reproducibly.")
    parser.add_argument("commit", nargs="?", default="HEAD", help="HEAD unless given")
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "dist", help="the folder for both, dist/ by default"
    )
    parser.add_argument("--no-isolation", action="store_true", help="build with the packages of this environment")
    arguments = parser.parse_args()
    options = ["--no-isolation"] if arguments.no_isolation else []
    for path in build(arguments.commit, arguments.output.resolve(), options):
        print(path)


def build(commit: str, output: Path, options: Sequence[str]) -> list[Path]:
    """The paths of the sdist and the wheel. Raises CalledProcessError for a commit that cannot be built."""
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct", commit))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}
    os.umask(UMASK)  # a wheel keeps the modes of the files
    with tempfile.TemporaryDirectory(prefix="inspect-compile-") as folder:
        source = Path(folder, "source")
        with tarfile.open(fileobj=io.BytesIO(git_archive(commit))) as archive:
            archive.extractall(source, filter="data")
        python_build([*options, "--sdist"], source, Path(folder, "sdist"), environment)
        (made,) = Path(folder, "sdist").iterdir()
        sdist = output / made.name
        output.mkdir(parents=True, exist_ok=True)
        sdist.write_bytes(normalised(made, epoch))
        # From the sdist, as whoever has only that builds it.
        with tarfile.open(sdist) as archive:
            archive.extractall(Path(folder, "unpacked"), filter="data")
        (unpacked,) = Path(folder, "unpacked").iterdir()
        python_build([*options, "--wheel"], unpacked, Path(folder, "wheel"), environment)
        (made,) = Path(folder, "wheel").iterdir()
        wheel = output / made.name
        wheel.write_bytes(made.read_bytes())
    return [sdist, wheel]


def normalised(sdist: Path, epoch: int) -> bytes:
    """An sdist with its files in order, all of one time, owner and mode: setuptools has those of this build."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=epoch) as stream,
        tarfile.open(mode="w", fileobj=stream, format=tarfile.PAX_FORMAT) as new,
        tarfile.open(sdist) as old,
    ):
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.size, plain.mtime = member.type, member.size, epoch
            plain.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            new.addfile(plain, old.extractfile(member) if member.isfile() else None)
    return packed.getvalue()


def python_build(what: Sequence[str], source: Path, output: Path, environment: Mapping[str, str]) -> None:
    words: list[str | Path] = [sys.executable, "-m", "build", *what, "--outdir", output, source]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        done.check_returncode()


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def git_archive(commit: str) -> bytes:
    words = ["git", "-c", "tar.umask=0022", "archive", "--format=tar", commit]
    return subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


if __name__ == "__main__":
    main()
