"""Write inspector/share/words.txt anew: the words that `share --no-source` leaves as they are.

They are the names of torch, Triton and Python, and the words of their messages and of ours. Run it with each supported
torch in turn; what other versions have stays: `python scripts/words_of_torch.py`.
"""

import builtins
import dis
import keyword
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch
import torch.distributed

from inspect_compile.share.vocabulary import WORDS, key

ROOT = Path(__file__).resolve().parent.parent
OURS = ("inspector", "lowering", "codegen", "tui")
CORE = ("_dynamo", "_inductor/codegen", "_inductor/runtime", "_functorch", "fx", "nn/modules", "_higher_order_ops")
ALL = ("_inductor/fx_passes", "_inductor/pattern_matcher.py", "_dynamo/guards.py", "_guards.py", "_C/_dynamo")
OFTEN = 5
"""In how many files of torch a word must be; two are enough in the parts whose names stand in a dump most, one in those
whose passes and guards are told by name.
"""
WORD = re.compile(r"[^\W\d]\w{2,59}")
MODULES = (
    torch,
    torch._C._dynamo.guards,
    torch.nn,
    torch.nn.functional,
    torch.nn.Module,
    torch.Tensor,
    torch.optim,
    torch.autograd,
)
OTHERS = (torch.cuda, torch.linalg, torch.fft, torch.special, torch.distributed, torch.utils.data, torch.distributions)


def main() -> None:
    found = {word for file in _python(ROOT / folder for folder in OURS) for word in _words(file)}
    found |= _of_torch(Path(torch.__file__).parent)
    found |= _keys(word for name in torch._C._dispatch_get_all_op_names() for word in WORD.findall(name))
    found |= _keys(name for module in (*MODULES, *OTHERS, builtins) for name in dir(module))
    found |= _keys((*keyword.kwlist, *sys.stdlib_module_names, *dis.opmap))
    before = set(WORDS.read_text().split()) if WORDS.exists() else set()
    WORDS.write_text("\n".join(sorted(found | before)) + "\n")
    print(f"{len(found | before):,} words, {len(found - before):,} of them new")


def _of_torch(folder: Path) -> set[str]:
    often, core, kept = Counter[str](), Counter[str](), set[str]()
    for file in _python([folder, folder.parent / "triton" / "language", folder.parent / "triton" / "compiler"]):
        words = _words(file)
        often.update(words)
        place = str(file.relative_to(folder.parent)).partition("/")[2]
        core.update(words if place.startswith(CORE) or "triton" in file.parts else ())
        kept |= words if place.startswith(ALL) else set()
    kept |= {word for word, count in core.items() if count > 1}
    return kept | {word for word, count in often.items() if count >= OFTEN}


def _python(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(file for file in folder.rglob("*.py*") if file.suffix in (".py", ".pyi"))


def _words(file: Path) -> set[str]:
    return _keys(WORD.findall(file.read_text("utf-8", "replace")))


def _keys(words: Iterable[str]) -> set[str]:
    return {"_".join(parts) for word in words if word.isascii() and len("".join(parts := key(word))) > 2}


if __name__ == "__main__":
    main()
