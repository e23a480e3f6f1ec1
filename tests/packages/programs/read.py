"""`python read.py DUMP FOLDER LOG PROFILE A B`: every command that reads a dump, in one interpreter; prints what each said, as JSON.

Without torch, triton and sympy: of the environment, or because UNAVAILABLE hides them.
"""

import asyncio
import contextlib
import io
import json
import os
import shutil
import sys
import zipfile
from pathlib import Path

COMPILER = ("torch", "triton", "sympy", "numpy")
CHARTS = ("memory", "startup", "timeline")
for hidden in os.environ.get("UNAVAILABLE", "").split():
    sys.modules[hidden] = None  # type: ignore[assignment] # its import fails as that of what is not installed

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.export.formats import FORMATS
from inspect_compile.tables import TABLES
from inspect_compile.tui.app import InspectApp


def commands(dump: str, folder: Path, log: str, profile: Path, pair: list[str]) -> list[list[str]]:
    out = str(folder / "out")
    dotted = sorted(KINDS.keys() - {"kernel", "node", *CHARTS})
    drawings = [*(((kind,), "dot") for kind in dotted), *(((kind,), "svg") for kind in CHARTS)]
    return [
        *(["show", dump, table] for table in TABLES),
        *(["show", dump, table, "--json"] for table in TABLES),
        *(["draw", dump, *kind, "-o", f"{out}/{kind[0]}/", "--format", form] for kind, form in drawings),
        *(["export", dump, "--format", form, "-o", f"{out}.{form}"] for form in FORMATS),
        ["draw", dump, "--list"],
        ["report", dump, "-o", f"{out}.html"],
        ["share", dump, "-o", f"{out}.zip"],
        ["share", dump, "--redact", "-o", f"{out}-redacted.zip"],
        ["lock", dump, "-o", f"{out}.lock"],
        ["check", dump, "--lock", f"{out}.lock"],
        ["name", dump, "no_such_kernel"],
        ["why", dump, *pair],
        ["diff", dump, dump],
        ["attribute", str(folder / "profiled"), str(profile / "trace.json.gz")],
        *(["show", log, table] for table in ("overview", "kernels", "graphs", "dynamo", "origin")),
        ["report", log, "-o", f"{out}-log.html"],
        ["import", log, "-o", f"{out}-imported"],
        ["completion", "bash"],
        ["doctor"],
        # What compiles, or runs the program's code.
        ["replay", dump],
        ["numerics", dump, "--causes"],
        ["import", log, "-o", f"{out}-again", "--recompile"],
    ]


def said(words: list[str]) -> list[object]:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(words)
    printed = out.buffer.getvalue().decode()  # type: ignore[attr-defined]
    return [" ".join(words), status, printed, err.getvalue()]


async def walk(dump: Path) -> int:
    """The app with each of its panels in front; the number of those that showed something."""
    app = InspectApp(Dump(dump))
    seen = 0
    async with app.run_test(size=(120, 40)) as pilot:
        for key in "123456789":
            await pilot.press(key)
            await pilot.pause()
            seen += app.focused is not None
    return seen


if __name__ == "__main__":
    given, target, log, profile = map(Path, sys.argv[1:5])
    copy = target / "dump"  # reading makes the texts of a dump anew
    shutil.copytree(given, copy)
    zipfile.ZipFile(profile / "dump.zip").extractall(target / "profiled")
    answers = [said(words) for words in commands(str(copy), target, str(log), profile, sys.argv[5:])]
    panels = asyncio.run(walk(copy))
    loaded = sorted(name for name in COMPILER if sys.modules.get(name) is not None)
    print(json.dumps({"answers": answers, "panels": panels, "loaded": loaded}))
