"""Compiles a packed graph as `run --target` does, choosing among templates: python templates.py GRAPH TARGET DUMP.

Nothing can be measured, and torch compiles no template for that: here each is, as torch's own precompile does. What it
was compiled to is written beside the dump, and its file's name printed: a JSON object, template → file.

Torch compiles candidates beforehand, but not on Python 3.11.0 to 3.11.8: it is told that this is a later one.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path

from inspect_compile.knowledge.targets.targets import TARGETS
from inspect_compile.lowering.intervention.cross_compile import fake_cuda

graph, target, dump = sys.argv[1:]
fake_cuda.install(TARGETS[target])

from torch._inductor import select_algorithm
from torch._inductor.codecache import PyCodeCache

from inspect_compile.child import run_record
from inspect_compile.child.probes import watched
from inspect_compile.child.session import Session
from inspect_compile.dump import Dump
from inspect_compile.finish import finish
from inspect_compile.lowering.intervention.cross_compile.pickling import graph_pickle
from inspect_compile.lowering.intervention.cross_compile import retarget
from inspect_compile.lowering.intervention.cross_compile.unmeasured import Unmeasured

MOST = 4
found = {}


class LaterPython:
    """The module sys."""

    version_info = type("VersionInfo", (), {"major": 3, "minor": 12, "micro": 9})()

    def __getattr__(self, name):
        return getattr(sys, name)


def compiled(choices):
    for choice in choices:
        request = getattr(choice, "bmreq", None)
        if request is None or len(found) == MOST or not hasattr(request, "module_path"):
            continue
        module = PyCodeCache.load_by_key_path(request.module_cache_key, request.module_path)
        kernel = getattr(module, request.kernel_name)
        kernel.precompile()
        code = kernel.compile_results[0].kernel.asm
        file = Path(f"{choice.name}.code")
        file.write_bytes(code["cubin"]) if "cubin" in code else file.write_text(code["amdgcn"])
        found[choice.name] = str(file.resolve())
    return choices


retarget.CONFIG.update(max_autotune_gemm=True)
retarget.install()
Unmeasured(target).install()
session = Session(Path(dump), top=Path(dump), argv=["small.py"], cwd=os.getcwd(), started=time.time())
for module in watched():
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:  # not in this torch, or of a package that is not installed
        continue
    session.install(module)
select_algorithm.sys = LaterPython()
select_algorithm.add_preprocessing_fn(compiled)
retarget.compile_graph(*graph_pickle.unpacked(Path(graph).read_bytes()))
session.close(run_record.Ended("finished"))
finish(Dump(Path(dump)), is_own=True)
print(json.dumps(found))
