"""Reads a generated output_code.py without our tables: what it defines, what it calls."""

import ast
import re
from collections import Counter

_DEFINITION = re.compile(r"^(\w+) = async_compile\.\w+\(", re.MULTILINE)
_EXTERN = re.compile(r"^(?:extern_kernels|torch\.ops|aten|inductor_ops)\b")
_NOT_KERNELS = ("torch.ops.inductor._reinterpret_tensor", "torch.ops.prims", "torch.ops.higher_order")


def dotted(node: ast.expr) -> str:
    """`extern_kernels.mm` of what is called; of a part of a list without it."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def defined_kernels(code: str) -> set[str]:
    """Names of the kernels that the code compiles when it is loaded."""
    return set(_DEFINITION.findall(code))


def called_kernels(code: str) -> Counter[str]:
    """How often each kernel, generated or extern, is called from the generated functions."""
    generated = defined_kernels(code)
    found: Counter[str] = Counter()
    for function in ast.walk(ast.parse(code)):
        if not isinstance(function, ast.FunctionDef) or function.name in ("benchmark_compiled_module", "get_args"):
            continue
        for call in ast.walk(function):
            if not isinstance(call, ast.Call):
                continue
            name = dotted(call.func).removesuffix(".run")
            if name in generated or (_EXTERN.match(name) and not name.startswith(_NOT_KERNELS)):
                found[name] += 1
    return found


def fx_nodes(text: str) -> dict[str, list[str]]:
    """The nodes of fx_graph_transformed.py in order: class name (empty for the graph itself) → node names."""
    tree = ast.parse(text.replace("class <lambda>", "class GraphModule"))
    found: dict[str, list[str]] = {}
    for module in ast.walk(tree):
        if not isinstance(module, ast.ClassDef):
            continue
        forward = next(item for item in module.body if isinstance(item, ast.FunctionDef))
        names = [argument.arg for argument in forward.args.args if argument.arg != "self"]
        for statement in forward.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
            is_release = isinstance(statement, ast.Assign) and (
                isinstance(statement.value, ast.Constant) and statement.value.value is None
            )
            if isinstance(target, ast.Name) and not is_release:
                names.append(target.id)
        found["" if module in tree.body else module.name] = names
    return found
