"""Test packages from outside the checkout: the wheel in fresh environments, with the tests of the sdist.

    python scripts/wheel_test.py [--dist DIST] [--in FOLDER] [--reader PYTHON …] [--only reading|recording] [-- WORDS]

1. An environment of each PYTHON with the wheel alone, without torch, has to read a dump, and does as
   tests/packages/test_reading.py says.
2. An environment of this Python with `wheel[record,test]` passes the tests: those of `make test`, or pytest's WORDS.

FOLDER keeps the environments for the next time; without it they are in a temporary folder. pip's own settings
(PIP_CONSTRAINT, PIP_INDEX_URL, …) hold.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("inspector", "lowering", "codegen", "tui")
FAST: Final = ("-m", "not slow and not slowest and not harmless and not targets", "--numprocesses", "2")


def main() -> int:
    parser = argparse.ArgumentParser(description="Test the wheel in fresh environments, outside the checkout.")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where the wheel and the sdist are")
    parser.add_argument("--in", dest="folder", type=Path, help="a folder for the environments, kept")
    parser.add_argument("--reader", action="append", default=[], metavar="PYTHON", help="one more Python that reads")
    parser.add_argument("--only", choices=("reading", "recording"))
    parser.add_argument("pytest", nargs="*", help="what pytest runs, after --")
    arguments = parser.parse_args()
    dist = arguments.dist.resolve()
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with tempfile.TemporaryDirectory(prefix="inspect-compile-") as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        if folder.is_relative_to(ROOT):
            parser.error(f"{folder} is in the checkout, whose modules the tests could import")
        tests = unpacked(sdist, folder / "tests")
        recorder = environment(sys.executable, folder / "recording", f"{wheel}[record,test]")
        failed = []
        if arguments.only != "recording":
            for python in [sys.executable, *arguments.reader]:
                reader = environment(python, folder / f"reading-{version(python)}", str(wheel))
                failed += run_tests(
                    recorder, tests, ["tests/packages/test_reading.py"], f"read: {version(python)}", reader
                )
        if arguments.only != "reading":
            failed += run_tests(recorder, tests, arguments.pytest or [*FAST, "tests"], f"record: {version(recorder)}")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


def unpacked(sdist: Path, folder: Path) -> Path:
    """The sdist without the packages themselves: only the wheel has those."""
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (checkout,) = folder.iterdir()
    for name in PACKAGES:
        shutil.rmtree(checkout / name)
    return checkout.rename(folder / "checkout")  # tests look for our name in tracebacks


def environment(python: str, folder: Path, requirement: str) -> str:
    """The Python of an environment in which `requirement`, a wheel, is installed, whatever was there before."""
    own = str(folder / "bin" / "python")
    if not os.path.exists(own):
        subprocess.run([python, "-m", "venv", folder], check=True)
    subprocess.run([own, "-m", "pip", "uninstall", "--quiet", "--yes", "inspect-compile"], check=True)
    subprocess.run([own, "-m", "pip", "install", "--quiet", requirement], check=True)
    return own


def version(python: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def run_tests(python: str, tests: Path, words: Sequence[str], name: str, reader: str | None = None) -> list[str]:
    """`[name]` if pytest of `python` does not pass in `tests`."""
    variables = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    }
    variables |= {"INSPECT_COMPILE_READER": reader} if reader is not None else {}
    print(f"== {name}", flush=True)
    where = [python, "-c", "import inspect_compile; print(inspect_compile.__file__)"]
    found = subprocess.run(where, cwd=tests, env=variables, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(found).is_relative_to(Path(python).parents[1]), found
    done = subprocess.run([python, "-m", "pytest", *words], cwd=tests, env=variables, check=False)
    return [name] if done.returncode else []


if __name__ == "__main__":
    sys.exit(main())
