"""Imports of its own fail, before torch is imported, before it compiles and after: it prints what it is told of each."""

import importlib.machinery
import resource
import sys
import traceback
from types import ModuleType


class Loader:
    """Loads `held`, which it may not read."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        traceback.print_stack()
        raise PermissionError(module.__name__)


class Finder:
    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name == "cut_off":
            raise ConnectionError(name)
        return importlib.machinery.ModuleSpec(name, Loader()) if name == "held" else None  # type: ignore[arg-type]


def import_all() -> None:
    for name in ("held", "cut_off", "missing", "wave"):
        try:
            __import__(name)
        except Exception:
            traceback.print_exc()


def import_without_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        import_all()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]
import_without_descriptors()
import torch  # noqa: E402

import_without_descriptors()
print(torch.compile(lambda x: x.cos() + 1)(torch.ones(2)).sum().item())
import_without_descriptors()
import_all()
