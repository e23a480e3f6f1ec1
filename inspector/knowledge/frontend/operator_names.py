"""The names of operators as a program writes them: `softmax` for `aten._softmax.default`."""

import re
from typing import Final

_BARE: Final = re.compile(r"^_*(?:native_|unsafe_|safe_|efficientzero|foreach_)?|_for_cpu$")
_KNOWN: Final = {
    "_to_copy": "to",
    "convert_element_type": "to",
    "scaled_dot_product_flash_attention": "scaled_dot_product_attention",
    "scaled_dot_product_efficient_attention": "scaled_dot_product_attention",
    "scaled_dot_product_cudnn_attention": "scaled_dot_product_attention",
    "scaled_dot_product_fused_attention_overrideable": "scaled_dot_product_attention",
    "inductor_random": "random numbers",
    "inductor_seeds": "random numbers",
    "inductor_lookup_seed": "random numbers",
    "mm": "matmul",
    "bmm": "matmul",
}
"""Where the program's name is another one. What torch.compile works with is in torch/_inductor/inductor_prims.py and
torch/_prims/__init__.py.
"""


def operator_name(target: str) -> str:
    """`softmax` for `aten._softmax.default`, `layer_norm` for `aten.native_layer_norm.default`; own operators keep
    their namespace: `mine::scale`. Empty for a target without a name.
    """
    namespace, _, rest = target.partition(".")
    packet = rest.partition(".")[0]
    if namespace not in ("aten", "prims"):
        return (
            target.rpartition(".")[2]
            if namespace in ("operator", "torch", "math")
            else target.removesuffix(".default").replace(".", "::", 1)
        )
    bare = _BARE.sub("", packet)
    return _KNOWN.get(packet) or _KNOWN.get(bare) or bare or packet
