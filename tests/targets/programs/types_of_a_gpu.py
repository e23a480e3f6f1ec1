"""What a CPU lacks of what torch's own table of operators (`op_db`) says that a GPU computes, once it stands in for one.

Prints a line for each: operator, type, error.
"""

import sys
import types
import unittest
import warnings

import torch

if "expecttest" not in sys.modules:  # torch's table is imported with torch's own tests; nothing of it is used here
    stub = types.ModuleType("expecttest")
    stub.TestCase = unittest.TestCase  # type: ignore[attr-defined]
    stub.assert_expected_inline = None  # type: ignore[attr-defined]
    sys.modules["expecttest"] = stub

warnings.simplefilter("ignore")
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

torch.ones(1, device="cuda")
tried = 0
for op in op_db:
    lacking = {one for one in set(op.dtypesIfCUDA or ()) - set(op.dtypes) if not one.is_complex}
    for dtype in sorted(lacking, key=str):
        known = torch.float32 if dtype.is_floating_point else torch.int64

        def narrow(value: object, dtype: torch.dtype = dtype, known: torch.dtype = known) -> object:
            is_one = isinstance(value, torch.Tensor) and value.dtype == known
            return value.to(dtype) if is_one else value  # type: ignore[attr-defined]

        try:
            sample = next(iter(op.sample_inputs("cpu", dtype)))
        except Exception:
            sample = next(iter(op.sample_inputs("cpu", known))).transform(narrow)
        tried += 1
        try:
            op(sample.input, *sample.args, **sample.kwargs)
        except Exception as error:
            print(op.full_name, str(dtype).removeprefix("torch."), str(error).partition("\n")[0], sep=" | ")
print("tried", tried)
