"""Run by tests/warm.py: an interpreter that has loaded torch's compiler, and becomes one program after another by fork.

A program needs seconds of CPU before its first compile, and they are the same each time: importing torch, hashing its
sources, trying the processor's vector instructions. Here they are spent once. What a program then sees is what it sees
in an interpreter of its own, but for `sys.modules`, the frames below its first line, and the process's command line.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import socket
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

ONCE: Final = (
    "torch._inductor.compile_fx",
    "torch._inductor.cudagraph_trees",
    "torch._inductor.codegen.common:init_backend_registration",
    "torch._inductor.codegen.cpp_wrapper_cpu_array_ref",
    "torch._inductor.codecache:torch_key",
    "torch._inductor.codecache:CacheBase.get_system",
    "torch._inductor.cpu_vec_isa:pick_vec_isa",
    "torch._inductor.cpp_builder:get_cpp_compiler",
    "torch._inductor.fx_passes.fuse_attention",
    "torch._inductor.fx_passes.mkldnn_fusion",
    "torch._inductor.fx_passes.quantization",
    "torch._dynamo.backends.registry:_lazy_import",
    "torch._dynamo.repro.after_dynamo",
    "torch._functorch._aot_autograd.subclass_codegen",
    "torch.distributed.tensor.experimental",
    "torch.export._trace",
    "torch.utils.cpp_extension",
    "sympy.physics.units",
)
"""What torch loads or computes once in each process that compiles: modules, and functions that keep their result."""

OWN_NAME: Final = "inspect_compile"
_PR_SET_CHILD_SUBREAPER: Final = 36


class BecomeError(BaseException):
    """Instead of os.execve: this process goes on as another program."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self.argv, self.environment = list(argv), dict(environment)


def prepare() -> None:
    """Do what is in ONCE; a torch that has something no longer does it later, or not at all."""
    for name in ONCE:
        module, _, path = name.partition(":")
        with contextlib.suppress(ImportError, AttributeError):
            found: Any = importlib.import_module(module)
            for part in filter(None, path.split(".")):
                found = getattr(found, part)
            if path:
                found()
    if sys.platform == "linux":  # what programs leave behind becomes a child of this process, which waits for it
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    gc.collect()
    gc.freeze()  # a collection in a fork would copy each page that it looks at


def serve(connection: socket.socket) -> dict[str, Any]:
    """Answer requests until the other end closes; returns in a fork, which is to become the program it was sent."""
    lines = connection.makefile("r")
    for line in lines:
        child = os.fork()
        if not child:
            lines.close()
            connection.close()
            request: dict[str, Any] = json.loads(line)
            return request
        _, status, usage = os.wait4(child, 0)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # left behind by a program, and ended
                pass
        answer = [os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime]
        connection.sendall(f"{json.dumps(answer)}\n".encode())
    os._exit(0)


def become(request: Mapping[str, Any]) -> Callable[[], None]:
    """Take on the process's surroundings; returns what it runs."""
    set_environment(request["environment"])
    if "streams" in request:
        os.chdir(request["cwd"])
        redirect(request["streams"])
    words: list[str] = request["words"]
    if words[1:3] != ["-m", OWN_NAME]:
        return program(words, request["environment"])
    try:
        sys.exit(command(words))
    except BecomeError as start:
        set_environment(start.environment)
        return program(start.argv, start.environment)


def redirect(streams: Sequence[str]) -> None:
    """Let files be the standard streams."""
    for descriptor, path in enumerate(streams):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND if descriptor else os.O_RDONLY, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)


def set_environment(environment: Mapping[str, str]) -> None:
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)


def command(words: Sequence[str]) -> int:
    """`python -m inspect_compile …`; raises BecomeError where it would become the program."""
    ours, theirs = socket.socketpair()
    helper = os.fork()
    if not helper:  # it has none of the command's frames, for a program that the command waits for
        ours.close()
        request = serve(theirs)
        raise BecomeError(request["words"], request["environment"])
    theirs.close()

    starts: Any = importlib.import_module(f"{OWN_NAME}.launch.replace")
    plain_replace, plain_ended = starts.replace, starts.ended

    def replace(path: str, argv: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
        ours.close()
        if not is_script(argv):
            plain_replace(path, argv, environment)
        os.waitpid(helper, 0)
        raise BecomeError(argv, environment)

    def ended(path: str, argv: Sequence[str], environment: Mapping[str, str]) -> int:
        if not is_script(argv):
            return int(plain_ended(path, argv, environment))
        ours.sendall(f"{json.dumps({'words': list(argv), 'environment': dict(environment)})}\n".encode())
        status: int = json.loads(ours.makefile("r").readline())[0]
        return status

    starts.replace, starts.ended = replace, ended
    commands: Any = importlib.import_module(f"{OWN_NAME}.commands")
    sys.argv[:] = [str(commands.__file__), *words[3:]]
    try:
        status: int = commands.main()
        return status
    finally:
        ours.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(helper, 0)


def is_script(argv: Sequence[str]) -> bool:
    """True for `python SCRIPT …`, which is all that `program` can run."""
    return argv[0] == sys.executable and len(argv) > 1 and argv[1].endswith(".py")


def program(argv: Sequence[str], environment: Mapping[str, str]) -> Callable[[], None]:
    """`python SCRIPT …`, watched if the environment says so as it does for the bootstrap."""
    path, arguments = argv[1], argv[1:]
    sys.orig_argv[:], sys.argv[:] = argv, arguments
    begin: Any = importlib.import_module(f"{OWN_NAME}.child.start")
    setting: Any = importlib.import_module(f"{OWN_NAME}.child.setting")
    python_path = filter(None, environment.get(setting.PYTHON_PATH, "").split(os.pathsep))
    sys.path[:0] = [entry for entry in python_path if entry not in (setting.BOOTSTRAP, *sys.path)]
    if setting.VARIABLE in environment:
        with contextlib.suppress(Exception):  # as the bootstrap does
            begin.begin(environment[setting.VARIABLE])
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=__builtins__)
    sys.modules["__main__"] = module

    def run() -> None:
        with open(path, "rb") as source:
            code = compile(source.read(), path, "exec")
        exec(code, module.__dict__)

    return run


def end(run: Callable[[], None]) -> NoReturn:
    """Run it, and end the process as Python does, without taking everything apart."""
    status: Any = 0
    try:
        run()
    except SystemExit as error:
        status = error.code
        if status is not None and not isinstance(status, int):
            sys.stderr.write(f"{status}\n")
            status = 1
    except BaseException as error:
        below = error.__traceback__
        while below is not None and below.tb_frame.f_code.co_filename == end.__code__.co_filename:
            below = below.tb_next
        error.__traceback__ = below
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, below
        sys.excepthook(type(error), error, below)
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(int(status or 0))


def main() -> None:
    sys.path.remove("")  # that of `python -c`
    connection = socket.socket(fileno=int(sys.argv[1]))
    prepare()
    request = serve(connection)
    end(lambda: become(request)())


main()
