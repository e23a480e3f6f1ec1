"""All of a release but the upload: check, build twice, check the packages, test the wheel, and say what is left.

    python scripts/release.py [--dist DIST] [--skip-tests] [--reader PYTHON …]

Releases the commit that is checked out. Nothing is tagged, pushed or uploaded.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LEFT: Final = """
What is left to a person, with the packages above:

  git tag --sign v{version} --message 'inspect-compile {version}'
  git push origin v{version}
  python -m twine upload {packages}
  conda build recipe -c conda-forge      # where conda-build is; then the upload that it prints
  make docs                              # and publish build/site
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="All of a release but the upload.")
    parser.add_argument(
        "--dist", type=Path, default=ROOT / "dist", help="where the packages are left, dist/ by default"
    )
    parser.add_argument("--skip-tests", action="store_true", help="do not test the wheel")
    parser.add_argument("--reader", action="append", default=[], metavar="PYTHON", help="one more Python that reads")
    arguments = parser.parse_args()
    version = declared_version(ROOT)
    wrong = obstacles(ROOT, version)
    for line in wrong:
        print(f"not ready: {line}", file=sys.stderr)
    if wrong:
        return 1
    dist, again = arguments.dist.resolve(), ROOT / "build" / "dist-again"
    for folder in (dist, again):
        shutil.rmtree(folder, ignore_errors=True)
        script("build_packages.py", "-o", str(folder))
    packages = sorted(dist.iterdir())
    for path in packages:
        if path.read_bytes() != (again / path.name).read_bytes():
            print(f"{path.name}: two builds of one commit differ", file=sys.stderr)
            return 1
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *packages], check=True)
    if not arguments.skip_tests:
        readers = [word for python in arguments.reader for word in ("--reader", python)]
        script("wheel_test.py", "--dist", str(dist), *readers)
    print()
    for path in packages:
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path}")
    print(LEFT.format(version=version, packages=" ".join(map(str, packages))))
    return 0


def declared_version(root: Path) -> str:
    """The version, which stands in one place."""
    text = (root / "inspector" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return str(version)


def obstacles(root: Path, version: str) -> list[str]:
    """Why the checkout cannot be released as `version`; empty if it can."""
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\S+)", changelog, re.MULTILINE)
    waiting = [path for path in (root / "changelog.d").iterdir() if path.name != "README.md"]
    found = []
    if not headings or headings[0] != version:
        found.append(f"CHANGELOG.md begins with {headings[0] if headings else 'nothing'}, and the version is {version}")
    if waiting:
        found.append(f"fragments in changelog.d: {len(waiting)}; make changelog VERSION=… makes a version of them")
    if git(root, "status", "--porcelain"):
        found.append("there are changes that are not committed")
    if git(root, "tag", "--list", f"v{version}"):
        found.append(f"there is a tag v{version} already")
    return found


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout


def script(name: str, *words: str) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / name, *words], check=True)


if __name__ == "__main__":
    sys.exit(main())
