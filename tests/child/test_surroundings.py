"""What run.json keeps of the environment: names of what may affect a compile, values of known settings only."""

import os

import pytest

from inspect_compile.child import surroundings
from inspect_compile.knowledge.overview.variables import NOT_KEPT, SETTINGS

KEPT = {
    "TORCHINDUCTOR_MAX_AUTOTUNE": "1",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:128",
    "TORCH_LOGS": "+dynamo,graph_breaks,torch._dynamo.guards",
    "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS": "ATEN,TRITON",
    "TORCH_CUDA_ARCH_LIST": "8.0;9.0a+PTX",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "16",
    "KMP_AFFINITY": "granularity=fine,compact,1,0",
    "CXX": "/usr/bin/g++-12 -march=native",
    "TORCHINDUCTOR_CACHE_DIR": "/data/caches/inductor",
    "TORCH_TRACE": "/data/trace",
}
NAMED = {
    "TORCH_NIGHTLY_UPLOAD": "bucket",
    "TRITON_TEAM": "initech",
    "PYTORCH_API_KEY": "1",
    "TORCH_COMPILE_JOB_ID": "merger-7",
    "TORCHINDUCTOR_REDIS_URL": "redis://cache.initech.example",
    "TORCHINDUCTOR_MAX_AUTOTUNE": "hf_aBcD1234eFgH5678iJkL",
    "TORCH_LOGS": "7f3a9c2e1b8d4f60a5c7e9d2b4f6a8c0",
    "TORCHINDUCTOR_FREEZING": "https://user:word@host/x",
    "TORCHDYNAMO_VERBOSE": "$(cat /etc/passwd)",
    "TORCH_SHOW_CPP_STACKTRACES": "1\n2",
    "CXX": "g++; curl 'x'",
    "OMP_NUM_THREADS": "1" * 400,
    "MKL_NUM_THREADS": "b\udcff",
}


def of(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    for name in os.environ:
        monkeypatch.delenv(name)
    for name, value in {**given, "HOME": "/home/jane", "AWS_SECRET_ACCESS_KEY": "x", "INSPECT_COMPILE": "0"}.items():
        monkeypatch.setenv(name, value)
    found = surroundings.environment()
    monkeypatch.undo()
    return found


def test_values_of_settings_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert of(KEPT, monkeypatch) == KEPT


def test_of_all_else_only_the_name_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert of(NAMED, monkeypatch) == dict.fromkeys(NAMED, NOT_KEPT)


def test_settings_of_torch_are_listed() -> None:
    assert len(SETTINGS) > 300
    assert {
        "TORCHDYNAMO_DISABLE",
        "TORCHINDUCTOR_FX_GRAPH_CACHE",
        "TRITON_INTERPRET",
        "TORCH_COMPILE_DEBUG",
    } <= SETTINGS
