"""`ARCHITECTURE FILE …`: what LLVM's assembler for AMD GPUs, as Triton brings it, makes of assembly for one of them.

Prints for each file the machine and architecture of the object (ELF: e_machine, the low byte of e_flags); what the
assembler does not know it says on stderr.
"""

import struct
import sys
from pathlib import Path

from triton._C.libtriton import amd, llvm
from triton.backends.amd import compiler

assemble = getattr(compiler, "assemble_amdgcn", None) or amd.assemble_amdgcn  # Triton 3.9 has it in Python
llvm.init_targets()
architecture, *files = sys.argv[1:]
for file in files:
    made = assemble(Path(file).read_text(), architecture, "")
    assert made[:4] == b"\x7fELF"
    print(struct.unpack_from("<H", made, 18)[0], hex(struct.unpack_from("<I", made, 48)[0] & 0xFF))
