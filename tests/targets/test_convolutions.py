"""Which library runs a convolution on a GPU, and how it lays out what it makes, as an H200 told."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from inspect_compile.lowering.intervention.cross_compile import convolutions

RECORDED = Path(__file__).parents[1] / "data" / "convolutions_h200.json"


@pytest.fixture(autouse=True)
def _cudnn() -> Iterator[None]:
    enabled = torch.backends.cudnn.enabled
    yield
    torch.backends.cudnn.enabled = enabled


def test_libraries_and_layouts_are_those_of_the_gpu() -> None:
    recorded = json.loads(RECORDED.read_text())
    wrong = []
    for row in recorded["rows"]:
        told = dict(zip(recorded["columns"], row, strict=True))
        value, weight = (made(told, name) for name in ("input", "weight"))
        places = value.ndim - 2
        torch.backends.cudnn.enabled = told["enabled"]
        steps = {name: [told[name]] * places for name in ("stride", "dilation", "output_padding")}
        library = convolutions.backend(value, weight, **steps, transposed=told["transposed"], groups=told["groups"])
        # Of one dimension torch asks for the layout as of two.
        layout = str(convolutions.layout(value, weight)) if library.startswith("Cudnn") else told["format"]
        if (library, layout) != (told["backend"], told["format"]):
            wrong.append((told, library, layout))
    assert wrong == []
    assert len(recorded["rows"]) > 500


def made(told: dict[str, Any], name: str) -> torch.Tensor:
    tensor = torch.empty(told[name], dtype=getattr(torch, told["dtype"]), device="meta")
    last = torch.channels_last if tensor.ndim == 4 else torch.channels_last_3d
    return tensor.to(memory_format=last) if told[f"{name}_layout"] == "last" else tensor
