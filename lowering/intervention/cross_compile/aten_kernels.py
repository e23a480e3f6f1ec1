"""Registers Python functions as kernels of ATen operators, in the place of torch's, until this process ends."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any, Final

import torch

_LIBRARY: Final[Any] = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
"""torch removes the kernels when this object is gone."""


def override(kernels: Iterable[tuple[Any, Callable[..., Any]]], key: str, *, with_keyset: bool = False) -> None:
    """Register (operator, function) pairs for the dispatch key `key`, such as "CPU" or "AutocastCPU".

    With `with_keyset` a function gets the dispatch keys of the call as its first argument. Raises what torch.library
    raises for an operator that it does not know.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*Overriding a previously registered kernel")
        for operator, kernel in kernels:
            _LIBRARY.impl(operator, kernel, key, with_keyset=with_keyset, allow_override=True)
