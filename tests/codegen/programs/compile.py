"""Compiles it as `run --target` does, with options of Inductor set: python compile.py GRAPH TARGET DUMP OPTION …."""

import importlib
import os
import sys
import time
from pathlib import Path

import torch

from inspect_compile.knowledge.targets.targets import TARGETS
from inspect_compile.lowering.intervention.cross_compile import fake_cuda

graph, target, dump, *options = sys.argv[1:]
fake_cuda.install(TARGETS[target])

from inspect_compile.child import run_record
from inspect_compile.child.probes import watched
from inspect_compile.child.session import Session
from inspect_compile.dump import Dump
from inspect_compile.finish import finish
from inspect_compile.lowering.intervention.cross_compile.pickling import graph_pickle
from inspect_compile.lowering.intervention.cross_compile import retarget

retarget.CONFIG.update(dict.fromkeys(options, True))
retarget.install()
session = Session(Path(dump), top=Path(dump), argv=["small.py"], cwd=os.getcwd(), started=time.time())
for module in watched():
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:  # not in this torch, or of a package that is not installed
        continue
    session.install(module)
retarget.compile_graph(*graph_pickle.unpacked(Path(graph).read_bytes()))
session.close(run_record.Ended("finished"))
finish(Dump(Path(dump)), is_own=True)
