"""Compiles it as `run --target` does, with options of Inductor set: python compile.py GRAPH TARGET DUMP OPTION …."""

import importlib
import os
import sys
import time
from pathlib import Path

import torch

from inspect_compile.knowledge.targets import TARGETS
from inspect_compile.lowering.shadow import guise

graph, target, dump, *options = sys.argv[1:]
guise.put_on(TARGETS[target])

from inspect_compile.child import account
from inspect_compile.child.probes import watched
from inspect_compile.child.session import Session
from inspect_compile.dump import Dump
from inspect_compile.finish import finish
from inspect_compile.lowering.shadow import parcel, retarget

retarget.OWN.update(dict.fromkeys(options, True))
retarget.install()
session = Session(Path(dump), top=Path(dump), argv=["small.py"], cwd=os.getcwd(), started=time.time())
for module in watched():
    importlib.import_module(module)
    session.install(module)
retarget.compile_parcel(*parcel.unpacked(Path(graph).read_bytes()))
session.close(account.Ended("finished"))
finish(Dump(Path(dump)), is_own=True)
