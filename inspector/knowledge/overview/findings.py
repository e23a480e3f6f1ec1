"""The words of findings: what each kind means for a person who does not know the compiler, and what can be done."""

from typing import Final, NamedTuple


class Words(NamedTuple):
    """One kind of finding, or one variety of a kind."""

    what: str
    to_do: str = ""
    """What a person can change; empty if each finding has its own advice."""


MISSED_FUSION: Final = "missed-fusion"
SECOND_STAGES: Final = "second-stages"
APART_HANDED: Final = "apart-handed"
APART_READ: Final = "apart-read"
COPY: Final = "copy"
LIBRARY_COPY: Final = "library-copy"
INPUT_COPY: Final = "input-copy"
JOINING: Final = "joining"
JOINING_CALLS: Final = "joining-calls"
PADDING_BY_HAND: Final = "padding-by-hand"
PRODUCT_COPY: Final = "product-copy"
CONVOLUTION_JOINED: Final = "convolution-joined"
EINSUM_COPY: Final = "einsum-copy"
LAYOUT: Final = "layout"
LIBRARY_LAYOUT: Final = "library-layout"
CONVOLUTION_LAYOUT: Final = "convolution-layout"
CONVOLUTION_LAST: Final = "convolution-last"
PADDED_LAYOUT: Final = "padded-layout"
LAYOUT_CHANGES: Final = "layout-changes"
PADDING: Final = "padding"
BREAK: Final = "graph-break"
BREAK_MASK: Final = "break-mask"
BREAK_NUMBER: Final = "break-number"
BREAK_BUILTIN: Final = "break-builtin"
BREAK_LIBRARY: Final = "break-library"
BREAK_DDP: Final = "break-ddp"
NOTHING_COMPILED: Final = "graph break: Python runs this line, and nothing else in its function is compiled"
"""In the place of a break's words where neither what comes before it nor what is left behind it made a graph."""
LIBRARY: Final = "library"
RECOMPILE: Final = "recompile"
RECOMPILE_STATIC: Final = "recompile-static"
RECOMPILE_NUMBER: Final = "recompile-number"
RECOMPILE_CONSTANT: Final = "recompile-constant"
RECOMPILE_INDEX: Final = "recompile-index"
RECOMPILE_MODULE: Final = "recompile-module"
RECOMPILE_GLOBAL: Final = "recompile-global"
RECOMPILE_CONDITION: Final = "recompile-condition"
RECOMPILE_FIXED: Final = "recompile-fixed"
RECOMPILE_ONE: Final = "recompile-one"
RECOMPILE_STRIDE: Final = "recompile-stride"
RECOMPILE_GRADIENT: Final = "recompile-gradient"
RECOMPILE_CONVERT: Final = "recompile-convert"
RECOMPILE_TYPE: Final = "recompile-type"
RECOMPILE_VALUE: Final = "recompile-value"
RECOMPILE_BOOL: Final = "recompile-bool"
RECOMPILE_NONE: Final = "recompile-none"
RECOMPILE_KEYS: Final = "recompile-keys"
RECOMPILE_LENGTH: Final = "recompile-length"
RECOMPILE_INSTANCE: Final = "recompile-instance"
RECOMPILE_IDENTITY: Final = "recompile-identity"
RECOMPILE_FUNCTION: Final = "recompile-function"
RECOMPILE_MODE: Final = "recompile-mode"
RECOMPILE_TRAINING: Final = "recompile-training"
RECOMPILE_ALIAS: Final = "recompile-alias"
RECOMPILE_BACKEND: Final = "recompile-backend"
RECOMPILE_UNKNOWN: Final = "recompile-unknown"
RECOMPILE_REST: Final = "recompile-rest"
RECOMPILE_AFTER: Final = "recompile-after"
RECOMPILE_STATE: Final = "recompile-state"
RECOMPILE_LIMIT: Final = "recompile-limit"
CACHE: Final = "cache"
CACHE_MISS: Final = "cache-miss"
FOREACH: Final = "foreach"
FALLBACK: Final = "fallback"
COMPLEX: Final = "complex"
SPILL: Final = "spill"
NO_CUDAGRAPH: Final = "no-cudagraph"
CUDAGRAPH_AGAIN: Final = "cudagraph-again"
MEMORY: Final = "memory"
NUMERICS: Final = "numerics"
FAILED: Final = "failed-compile"
FAILED_CALL: Final = "failed-call"
TUNED: Final = "tuned"
INCOMPLETE: Final = "incomplete"
PROBE: Final = "probe"
SLOW_PROBES: Final = "slow-probes"
LAUNCH_BOUND: Final = "launch-bound"
LAUNCH_BOUND_HOST: Final = "launch-bound-host"
LAUNCH_BOUND_SKIPPED: Final = "launch-bound-skipped"
HALF_PRECISION: Final = "half-precision"
DOUBLE_PRECISION: Final = "float64"
MATMUL_PRECISION: Final = "matmul-precision"
OPTIMIZER: Final = "optimizer"
SYNCHRONISATION: Final = "synchronisation"
SYNCHRONISATION_ASKED: Final = "synchronisation-asked"
INPUT: Final = "input"
TRANSFER: Final = "transfer"
TRANSFER_PINNED: Final = "transfer-pinned"
TRANSFER_BACK: Final = "transfer-back"
EAGER: Final = "eager"
EAGER_TENSORS: Final = "eager-tensors"
EAGER_BREAK: Final = "eager-break"
UNROLLED: Final = "compile-time"
AUTOTUNING: Final = "autotuning"
OWN_PASS: Final = "own-pass"
LAYERS: Final = "compile-time-layers"
MUTATION: Final = "mutation"
DDP_CUTS: Final = "ddp-cuts"
ATTENTION: Final = "attention"
ATTENTION_BY_HAND: Final = "attention-by-hand"

WORDS: Final[dict[str, Words]] = {
    APART_HANDED: Words("one kernel writes to memory what the next kernel reads back"),
    APART_READ: Words("two kernels read the same values from memory"),
    COPY: Words(
        "a kernel only copies values to another place or memory layout",
        "compute in the layout that the next step needs: no transpose before a reshape, no .contiguous()",
    ),
    INPUT_COPY: Words(
        "an input is copied into another memory layout in each call",
        "create the input in that layout where it is loaded, before the compiled function",
    ),
    JOINING: Words(
        "a kernel only copies values to concatenate them",
        "preallocate the result and write slices into it, as a key-value cache does; or compute with each part"
        " separately: one layer for each part instead of one layer for all",
    ),
    JOINING_CALLS: Words(
        "a kernel only copies values to concatenate them",
        "preallocate the result and write the parts into it; one call for each part moves more: it reads the weights"
        " again, or makes results that have to be added",
    ),
    PADDING_BY_HAND: Words(
        "a kernel only copies values to concatenate them",
        "one part is a constant: torch.nn.functional.pad instead of cat moves the copy into the kernel that reads it",
    ),
    LIBRARY_COPY: Words(
        "a kernel only copies values to another place or memory layout",
        "library code makes this copy: look for an option that avoids it, such as use_cache=False in"
        " transformers when you do not generate",
    ),
    PRODUCT_COPY: Words(
        "layout copy around a batched matmul",
        "if this is attention, use torch.nn.functional.scaled_dot_product_attention: its fused kernels need no copy as"
        " long as the last axis is contiguous (on a CPU they do not support dropout); removing a .contiguous() does"
        " not help",
    ),
    EINSUM_COPY: Words(
        "layout copy around a batched matmul",
        "torch.einsum copies its operands into the layout of torch.bmm: create them with their batch axes first, or use"
        " one torch.bmm with a weight for each head; a transpose before the einsum, or splitting an einsum of three"
        " operands in two, does not help",
    ),
    LAYOUT: Words(
        "values are copied into the memory layout that a library call needs",
        "create them in that layout: avoid a transpose or slice before the call",
    ),
    LIBRARY_LAYOUT: Words(
        "values are copied into the memory layout that a library call needs",
        "library code makes the call: look for an option that avoids it, or for another implementation",
    ),
    PADDED_LAYOUT: Words(
        "values are copied for a library call: torch padded their rows, and the call needs dense rows",
        "there is no transpose or slice to remove: choose a row size that is aligned, so that torch pads nothing",
    ),
    CONVOLUTION_LAYOUT: Words(
        "values are copied into channels-last memory for a convolution, in each call",
        "keep them in channels-last memory: model.to(memory_format=torch.channels_last), and the same for the input",
    ),
    CONVOLUTION_LAST: Words(
        "values are copied into channels-last memory for a convolution, in each call",
        "the model is channels-last already, but what it reads here is not: make that channels-last where it is"
        " created",
    ),
    CONVOLUTION_JOINED: Words(
        "the result of a cat is copied into channels-last memory for a convolution, in each call",
        "in a channels-last model, apply torch.nn.functional.conv2d to each part with its part of the weight, and add"
        " the results; channels-last alone does not remove this copy, because an earlier cat made one of the parts",
    ),
    PADDING: Words(
        "torch copies the inputs of a matmul, to pad them to sizes that are faster on this device",
        "choose sizes that need no padding: a multiple of 8 (of 4 in float32)",
    ),
    BREAK: Words(
        "graph break: Python runs this line, and what follows is compiled separately",
        "move the line out of the compiled function, or exclude the function around it: torch.compiler.disable",
    ),
    BREAK_MASK: Words(
        "graph break: Python runs this line, and what follows is compiled separately",
        "if the selected values are written back or summed, use torch.where with the mask, and mask.sum() for their"
        " number: no size then depends on values, and less memory is moved",
    ),
    BREAK_NUMBER: Words(
        "graph break: Python runs this line, and what follows is compiled separately",
        "instead of slicing by this number, which torch may fail to compile, use torch.arange: as an index, with the"
        " number added, or as a mask, compared with the number",
    ),
    BREAK_LIBRARY: Words(
        "graph break: Python runs this line, and what follows is compiled separately",
        "the line is in {library}, which {call} calls: move that call out of the compiled function, or compile"
        " separately what it calls",
    ),
    BREAK_DDP: Words(
        "graph break: Python runs this line, and what follows is compiled separately",
        "DistributedDataParallel, called at {call}, breaks the graph: compile the module before you wrap it,"
        " DistributedDataParallel(torch.compile(module))",
    ),
    LIBRARY: Words(
        "library code does this",
        "{library} does this, called from {call}: look for an option of that call that avoids it, such as"
        " use_cache=False in transformers when you do not generate, or for another implementation",
    ),
    BREAK_BUILTIN: Words(
        "graph break: Python runs this line, and what follows is compiled separately",
        "Dynamo cannot trace a function written in C: call it outside the compiled function and pass its result as a"
        " tensor; if it computes with tensors, wrap it with torch.library.custom_op",
    ),
    RECOMPILE: Words(
        "the function recompiles",
        "mark the dimension as dynamic before the first call: torch._dynamo.mark_dynamic({tensor}, {dimension})",
    ),
    RECOMPILE_STATIC: Words(
        "the function recompiles",
        "dynamic=False, or torch._dynamo.config.automatic_dynamic_shapes = False, compiles each value separately;"
        " without it torch makes a value symbolic after its first change",
    ),
    RECOMPILE_NUMBER: Words(
        "the function recompiles",
        "Dynamo treats a Python number as a constant until it changes once: compile with dynamic=True, or pass "
        "{name} as a tensor",
    ),
    RECOMPILE_CONSTANT: Words(
        "the function recompiles",
        "{line} needs {name} as a Python number, so each value is compiled separately, even with dynamic=True: if it"
        " only indexes tensors, pass it as a tensor of one element; otherwise pass few different values, or"
        " compile only what does not depend on it",
    ),
    RECOMPILE_INDEX: Words(
        "the function recompiles",
        "torch reads a 0-dimensional CPU tensor as a number when it is an index: pass a tensor with one element,"
        " {name}.reshape(1)",
    ),
    RECOMPILE_MODULE: Words(
        "the function recompiles",
        "Dynamo treats an int attribute of a module as a constant, even with dynamic=True: keep {name} in a tensor"
        " and change it in place, or set torch._dynamo.config.allow_unspec_int_on_nn_module = True",
    ),
    RECOMPILE_GLOBAL: Words(
        "the function recompiles",
        "Dynamo treats a global Python number as a constant: keep it in a tensor and change it in place, or pass it as"
        " a tensor",
    ),
    RECOMPILE_CONDITION: Words(
        "the function recompiles",
        "the value is symbolic already, but the compile assumes this condition, because the program, or torch when it"
        " checks a layout, branches on it: keep it true, or remove the branch",
    ),
    RECOMPILE_FIXED: Words(
        "the function recompiles",
        "{line} needs a changing size as a number, as a loop over it does, and marking it as dynamic raises an "
        "error: pad to one of a few sizes, or compile only the body of the loop",
    ),
    RECOMPILE_ONE: Words(
        "the function recompiles",
        "sizes 0 and 1 are always specialized, even if marked as dynamic: use larger sizes only, compile them "
        "separately, as prefill and decode, or keep one size, as a static cache does",
    ),
    RECOMPILE_STRIDE: Words(
        "the function recompiles",
        "pass {tensor} with the same memory layout in each call: {tensor}.contiguous() before the call",
    ),
    RECOMPILE_GRADIENT: Words(
        "the function recompiles",
        "a tensor requires a gradient in one call and not in another: fix the graph break in the caller, if there is "
        "one, or pass the same requires_grad in each call",
    ),
    RECOMPILE_CONVERT: Words(
        "the function recompiles",
        "the {what} differs from call to call, and each is compiled separately: convert {tensor} before the call",
    ),
    RECOMPILE_TYPE: Words(
        "the function recompiles",
        "{name} has another type: pass it as a tensor in each call, or as one type",
    ),
    RECOMPILE_VALUE: Words(
        "the function recompiles",
        "Dynamo treats {name} as a constant: compute what depends on it before the call, and pass the result as a"
        " tensor or a bool",
    ),
    RECOMPILE_BOOL: Words(
        "the function recompiles",
        "True and False are compiled once each, so this happens once; to compile only once, pass a tensor instead of "
        "{name}, and use torch.where",
    ),
    RECOMPILE_NONE: Words(
        "the function recompiles",
        "{name} is None in one call and not in another, and each is compiled separately: pass a tensor in every call",
    ),
    RECOMPILE_KEYS: Words(
        "the function recompiles",
        "the dict's keys changed: use the same keys in the same order in each call, or pass its values as arguments",
    ),
    RECOMPILE_LENGTH: Words(
        "the function recompiles",
        "a list, dict or set changes its length from call to call: use it outside the compiled function, or keep its"
        " values in one tensor of a fixed size",
    ),
    RECOMPILE_INSTANCE: Words(
        "the function recompiles",
        "{name} differs from one {holder} to the next, and all instances share the compiles of one function: "
        "compile a function outside the class, and pass it what depends on {name} as a tensor or a bool",
    ),
    RECOMPILE_IDENTITY: Words(
        "the function recompiles",
        "{name} is a new object in each of these calls: create it once, outside the calls, or pass its values as "
        "tensors",
    ),
    RECOMPILE_FUNCTION: Words(
        "the function recompiles",
        "{name} is a different function, which is compiled separately: call it outside the compiled function; if you "
        "need more than 8, raise torch._dynamo.config.recompile_limit",
    ),
    RECOMPILE_MODE: Words(
        "the function recompiles",
        "torch's {what} is part of each compile: set it to the same value for each call",
    ),
    RECOMPILE_TRAINING: Words(
        "the function recompiles",
        "train() and eval() are compiled once each, so this happens once",
    ),
    RECOMPILE_ALIAS: Words(
        "the function recompiles",
        "two arguments are one tensor in one call and two in another: pass a clone() of one",
    ),
    RECOMPILE_BACKEND: Words(
        "the function recompiles",
        "each torch.compile with a new backend function compiles again: make the backend once, or call "
        "torch.compile once and keep what it returns",
    ),
    RECOMPILE_STATE: Words(
        "the function recompiles",
        "the first step creates the optimizer's state, so the second step recompiles, and no later step does: run "
        "the first step without torch.compile",
    ),
    RECOMPILE_UNKNOWN: Words(
        "the function recompiles",
        "keep this condition true from call to call",
    ),
    RECOMPILE_REST: Words(
        "the function recompiles",
        "fix the graph break at {line}: its values then stay in the graph",
    ),
    RECOMPILE_AFTER: Words(
        "the function recompiles",
        "fix the graph break at {line}; the resume function then disappears; then {own}",
    ),
    RECOMPILE_LIMIT: Words(
        "torch reached the recompile limit: calls that match no existing compile run without torch.compile",
        "TORCH_LOGS=recompiles prints what changes from call to call",
    ),
    CACHE: Words("every start of the program compiles this again: torch cannot cache it"),
    CACHE_MISS: Words(
        "torch's cache of compiled graphs had no entry for this one",
        "if this was not the first start, keep the cache between starts: TORCHINDUCTOR_CACHE_DIR, or"
        " torch.compiler.save_cache_artifacts",
    ),
    FOREACH: Words(
        "fallback: torch.compile generates no code for this operator, and calls it separately",
        "the operator takes a list of tensors: pass foreach=False to the function that you call",
    ),
    FALLBACK: Words(
        "fallback: torch.compile generates no code for this operator, and calls it separately",
        "if this is your own operator, write it with torch's operators, or register a decomposition",
    ),
    COMPLEX: Words(
        "fallback: torch.compile generates no code for this operator, and calls it separately",
        "compute with real and imaginary parts (torch.view_as_real): torch generates code for these",
    ),
    SPILL: Words(
        "a kernel spills: it needs more registers than the GPU has, and keeps values in slow memory",
        "split the computation, or let torch measure several block sizes: mode='max-autotune'",
    ),
    NO_CUDAGRAPH: Words(
        "this graph does not run as a CUDA graph: the host launches every kernel in every call",
    ),
    CUDAGRAPH_AGAIN: Words("the CUDA graph was recorded again", "keep static inputs at the same address"),
    MEMORY: Words("memory kept for reuse raises the peak"),
    NUMERICS: Words("a result is not what the program computes without torch.compile"),
    FAILED: Words("a compile failed"),
    FAILED_CALL: Words("compiled code raised an error when it was called, and the program ended"),
    TUNED: Words("`tune` measured a change that makes the steps faster"),
    INCOMPLETE: Words("a graph is incomplete in this dump"),
    PROBE: Words("a probe of inspect-compile recorded nothing, so this dump is missing something"),
    LAUNCH_BOUND: Words(
        "the GPU waits for the host, which launches the kernels of compiled graphs one by one",
        'record CUDA graphs: torch.compile(…, mode="reduce-overhead"); or compile more in one graph, such as several '
        "steps of a loop",
    ),
    LAUNCH_BOUND_SKIPPED: Words(
        "the GPU waits for the host, which launches the kernels of compiled graphs one by one",
        "the program asks for CUDA graphs, but torch does not use them: {why}",
    ),
    LAUNCH_BOUND_HOST: Words(
        "the overhead of a call (guards and wrapper) is larger than what compiling such a small graph saves",
        "compile more in one graph, such as several steps of a loop; or do not compile this function",
    ),
    SECOND_STAGES: Words(
        "large reductions are split, and the second stage of each is a small separate kernel",
    ),
    LAYOUT_CHANGES: Words(
        "the library converts the input and output of a convolution to channels-last memory and back, in each call",
        "model.to(memory_format=torch.channels_last), and the same for its input; measure it, because the code around"
        " the convolutions can become slower",
    ),
    HALF_PRECISION: Words(
        "matmuls and convolutions run in float32",
        "torch.autocast(device_type, torch.bfloat16) around the forward pass and the loss: it rounds, so compare the"
        " results",
    ),
    DOUBLE_PRECISION: Words(
        "kernels compute in float64, which moves twice the bytes of float32",
        "if float32 is precise enough, convert the inputs once: x.float(); NumPy arrays are float64 by default; it"
        " rounds, so compare the results",
    ),
    MATMUL_PRECISION: Words(
        "float32 matmuls run without tensor cores",
        'torch.set_float32_matmul_precision("high") rounds their inputs to TF32, so compare the results',
    ),
    OPTIMIZER: Words(
        "the optimizer runs many small operators instead of one fused kernel",
        "{name}(…, fused=True) updates all parameters in one kernel",
    ),
    SYNCHRONISATION: Words(
        "the host waits for a GPU result in each step, and the GPU is idle until the host continues",
        "keep the value on the GPU: read it only every N steps, or branch with torch.where",
    ),
    SYNCHRONISATION_ASKED: Words(
        "the program synchronizes with the GPU in each step, and the GPU is idle until the host continues",
        "remove the synchronize(), or call it only every N steps: only timing needs it",
    ),
    INPUT: Words(
        "the program waits for its DataLoader",
        "use more workers (num_workers=…), persistent_workers=True, and pin_memory=True for a GPU",
    ),
    TRANSFER: Words(
        "the GPU waits for data that is copied to it from unpinned memory",
        "DataLoader(…, pin_memory=True), or tensor.pin_memory() once, and then .to(device, non_blocking=True)",
    ),
    TRANSFER_PINNED: Words(
        "the GPU waits for data that is copied to it",
        "copy the next batch on a separate stream while the GPU computes this one; or send fewer bytes, such as uint8"
        " instead of float32",
    ),
    TRANSFER_BACK: Words(
        "the GPU waits while its results are copied to the host",
        "keep them on the GPU; or copy them less often, into pinned memory with non_blocking=True",
    ),
    EAGER: Words(
        "operators run one by one outside compiled code",
        "move these lines into the compiled function, or put them into a separate function and compile it",
    ),
    EAGER_TENSORS: Words(
        "a loop runs the same operators on one tensor after another, outside compiled code",
        "use one call for all tensors, such as torch._foreach_mul_(tensors, factor); or compile a function that has the"
        " loop",
    ),
    EAGER_BREAK: Words(
        "a graph break splits the function, and operators run one by one between its parts",
        "fix the graph break: they then run in a graph",
    ),
    UNROLLED: Words(
        "Dynamo unrolls a Python loop, so compile time grows with each iteration",
        "compile the body as a function and call it in the loop: it compiles once, but each call then checks guards"
        " and launches kernels, and nothing fuses across iterations; or trace the loop once with"
        " torch._higher_order_ops.scan",
    ),
    LAYERS: Words(
        "compile time grows with each layer, although all layers run the same code",
        "compile the layers instead of the model, `for layer in layers: layer.compile()`: layers with the same input"
        " shapes and Python numbers share one compile; each call then checks guards, and nothing fuses across layers",
    ),
    AUTOTUNING: Words(
        "autotuning, which builds and times several versions of each kernel, takes a large part of compiling",
        "keep TORCHINDUCTOR_CACHE_DIR between starts, which has the results; or tune fewer versions, such as"
        ' torch._inductor.config.max_autotune_gemm_backends = "TRITON"',
    ),
    OWN_PASS: Words(
        "a graph pass of the program takes a large part of compiling",
        "look only at the nodes that it is for, graph.find_nodes(op=…, target=…), and not at all nodes for each",
    ),
    DDP_CUTS: Words(
        "DistributedDataParallel splits the graph at the end of each bucket, and values pass through memory there",
        "a larger bucket_cap_mb splits less often; torch._dynamo.config.optimize_ddp = False does not split, but then"
        " no gradient is sent until the whole backward has finished: time both",
    ),
    MUTATION: Words(
        "the program writes a few elements of an input, and torch copies all of it, in each call",
        "write each slice with an index: x[torch.arange(begin, end, device=x.device)] = values instead of"
        " x[begin:end] = values; torch writes these in place",
    ),
    ATTENTION: Words(
        "scaled_dot_product_attention runs as matmuls and a softmax: no fused kernel supports this call",
    ),
    ATTENTION_BY_HAND: Words(
        "hand-written attention runs as matmuls and a softmax, and its scores pass through memory",
        "torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=…, scale=…) does it in one"
        " kernel; the axes of each are batch, heads, rows, head size",
    ),
    SLOW_PROBES: Words("inspect-compile itself took a noticeable part of the run"),
}
