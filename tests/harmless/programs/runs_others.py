"""Programs within a program: a zipped one, a module and a script by runpy, one within the other, and one that exits."""

import runpy
import subprocess
import sys
import zipapp
from pathlib import Path

MAIN = """
import sys
import torch
from .parts import scaled
print(__name__, __package__, sys.argv[1:], scaled(torch.ones(2)).tolist())
"""
PARTS = """
import torch
@torch.compile
def scaled(x):
    return x * 2 + 1
"""
SCRIPT = """
import runpy, sys
print(__name__, sys.argv[0] == __file__)
found = runpy.run_module("app.parts", run_name="inner")
import torch
print(found["scaled"](torch.ones(3)).tolist(), found["__name__"])
sys.exit(4)
"""

for name, text in {"app/__init__.py": "", "app/__main__.py": MAIN, "app/parts.py": PARTS, "script.py": SCRIPT}.items():
    path = Path("zipped", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
Path("zipped/__main__.py").write_text("import runpy\nrunpy.run_module('app', run_name='__main__', alter_sys=True)\n")
zipapp.create_archive("zipped", "program.pyz")
done = subprocess.run([sys.executable, "program.pyz", "a", "b"], capture_output=True, text=True, check=False)
print(done.returncode, done.stdout, without := [line for line in done.stderr.splitlines() if "Error" in line])
Path("program.pyz").unlink()
sys.path.insert(0, "zipped")
print(runpy.run_path("zipped", run_name="__main__")["runpy"].__name__)
runpy.run_path("zipped/script.py", run_name="__main__")
