"""Saves compiled code and loads it again in each way that torch has; an argument names the one way."""

import pathlib
import shutil
import sys
import tempfile
from collections.abc import Callable

import torch
from torch._inductor import CompiledArtifact, standalone_compile
from torch.fx.experimental.proxy_tensor import make_fx

X = torch.ones(4)
PLACE = pathlib.Path(tempfile.mkdtemp())


def function(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + x.cos()


def artifact(form: str, **options: bool) -> object:
    """What vLLM does."""
    standalone_compile(make_fx(function)(X), [X], **options).save(path=str(PLACE / form), format=form)
    torch._dynamo.reset()
    return CompiledArtifact.load(path=str(PLACE / form), format=form)(X)


def all_of_the_cache() -> object:
    """Artifacts of all compiles at once, into a cache that is empty."""
    print(torch.compile(function)(X))
    data, _ = torch.compiler.save_cache_artifacts()
    torch._dynamo.reset()
    with torch._inductor.utils.fresh_cache():
        torch.compiler.load_cache_artifacts(data)
        return torch.compile(function)(X)


def ahead_of_time() -> object:
    path = str(PLACE / "function")
    torch.compile(function, fullgraph=True).aot_compile(((X,), {})).save_compiled_function(path)
    torch._dynamo.reset()
    with open(path, "rb") as file:
        return torch.compiler.load_compiled_function(file)(X)


def precompiled() -> object:
    """The same with guards and bytecode, so that nothing is traced either."""
    with torch._dynamo.config.patch(caching_precompile=True):
        return all_of_the_cache()


WAYS: dict[str, Callable[[], object]] = {
    "binary": lambda: artifact("binary"),
    "unpacked": lambda: artifact("unpacked"),
    "bundled": lambda: artifact("binary", aot=True),
    "mega-cache": all_of_the_cache,
    "ahead of time": ahead_of_time,
    "precompiled": precompiled,
}
print(WAYS[sys.argv[1]]())
shutil.rmtree(PLACE)
