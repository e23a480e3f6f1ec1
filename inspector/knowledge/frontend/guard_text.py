"""What the guards of TorchDynamo check, in words. Source: torch/_dynamo/guards.py, GuardBuilder, torch 2.11 to 2.15."""

import re
from typing import Final

from inspect_compile.facts import Guard

_NO_CONDITION: Final = re.compile(
    r"(?:\w+Error|getattr failed) on |(?:\w+: )?Not an? \w|expected type of '|tensor '|[A-Z_]+ changed: "
)
"""How torch begins where it gives what a guard met in the place of its condition (torch/csrc/dynamo/guards.cpp)."""


def is_condition(reason: str) -> bool:
    """Whether torch's reason for a recompile is a condition, and not what came up where one was checked."""
    return _NO_CONDITION.match(reason) is None


def no_longer_text(reason: str) -> str:
    """`no longer true: CONDITION`, or what came up."""
    return f"no longer true: {reason}" if is_condition(reason) else reason


_KINDS: Final = {
    "AUTOGRAD_SAVED_TENSORS_HOOKS": "the same hooks for tensors that autograd saves",
    "BUILTIN_MATCH": "the same builtin",
    "CLASS_MATCH": "the same class",
    "CLOSURE_MATCH": "the same function, or one with the same code",
    "DEFAULT_DEVICE": "the same default device",
    "DETERMINISTIC_ALGORITHMS": "torch.use_deterministic_algorithms as it was",
    "DICT_CONST_KEYS": "the same keys",
    "DICT_CONTAINS": "the key is there, or is not, as it was",
    "DICT_KEYS_MATCH": "the same keys, in the same order",
    "DUAL_LEVEL": "the same level of forward-mode differentiation",
    "DUPLICATE_INPUT": "the same tensor as the other argument",
    "EMPTY_NN_MODULE_HOOKS_DICT": "no hooks on the module",
    "FSDP_TRAINING_STATE": "the same training state of FSDP",
    "FUNCTION_MATCH": "the same function",
    "FUNCTORCH_STACK_MATCH": "the same functorch transforms around it",
    "GLOBAL_STATE": "autocast, default dtype, threads, deterministic and TF32 settings as they were",
    "GRAD_MODE": "gradients on or off, as they were",
    "HASATTR": "the attribute is there, or is not, as it was",
    "ID_MATCH": "the same object",
    "MODULE_MATCH": "the same module",
    "NAME_MATCH": "the same __name__",
    "NN_MODULE": "the same nn.Module, in the same mode",
    "NONE_MATCH": "None",
    "NOT_NONE_MATCH": "not None",
    "NOT_PRESENT_IN_GENERIC_DICT": "no instance attribute that hides the class's",
    "OBJECT_MUTATION": "not changed since",
    "OPTIMIZER_MATCH": "an optimizer with the same groups and state",
    "RANGE_ITERATOR_MATCH": "a range iterator at the same position",
    "SHAPE_ENV": "no assumption about symbolic sizes",
    "STATIC_INPUT_MATCH": "the same memory address",
    "TENSOR_SUBCLASS_METADATA_MATCH": "a tensor subclass with the same metadata",
    "TORCH_FUNCTION_STATE": "the same __torch_function__ modes",
    "TUPLE_ITERATOR_LEN": "a tuple iterator with as many items left",
    "WEAKREF_ALIVE": "the object of the weak reference is alive",
}
_TYPE = re.compile(r", type=<class '(?P<name>[^']*)'>")
_IDS = re.compile(r"___check_(?:type|obj)_id\(")
_DYNAMIC = re.compile(r"hasattr\(.*'_dynamo_\w+_?indices'\) == False")


def words(guard: Guard) -> str:
    """What the guard requires: torch's condition if a person can read it, else words for its kind."""
    readable = [code for code in guard.code if not _IDS.match(code) and not _DYNAMIC.fullmatch(code)]
    if guard.kind == "TENSOR_MATCH":
        properties = "dtype, device, requires_grad, fixed sizes and strides"
        return f"{guard.value}: its {properties}" if guard.value else f"a tensor with the same {properties}"
    kind = next((match["name"] for code in guard.code if (match := _TYPE.search(code))), "")
    if guard.kind in ("TYPE_MATCH", "SEQUENCE_LENGTH") and kind:
        return " and ".join([f"of type {kind}", *_conditions(guard, readable)])
    if guard.kind == "ID_MATCH" and kind:
        return f"the same {kind}"
    if guard.kind == "SHAPE_ENV" and readable:
        return " and ".join(readable)
    if readable and guard.kind not in ("AUTOGRAD_SAVED_TENSORS_HOOKS", "DEFAULT_DEVICE"):
        return " and ".join(_conditions(guard, readable))
    return _KINDS.get(guard.kind, "")


def _conditions(guard: Guard, readable: list[str]) -> list[str]:
    """The conditions without the name, which is shown beside them: `== 2`, `of length 2`."""
    length = f"len({guard.source}) == "
    return [
        f"of length {code.removeprefix(length)}" if code.startswith(length) else code.removeprefix(f"{guard.source} ")
        for code in readable
    ]
