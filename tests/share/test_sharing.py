"""Every kind of file of a dump, with every kind of secret in it, plain and encoded: none of them is in the zip."""

import zipfile
from pathlib import Path

import pytest

from inspect_compile.dump import paths
from inspect_compile.facts import Run
from inspect_compile.share import encodings
from inspect_compile.share.secrets import Machine
from inspect_compile.share.sharing import share
from tests.handmade import GRAPH, at, ended, graph, kernel, made, node
from tests.share.secret_texts import BEHIND_NAMES, KEY, LETTERS, TOKENS, UUID, WORD
from tests.share.test_encodings import ENCODED

MACHINE = Machine(("zebulon",), ("gpu07",), ("/home/zebulon",))
RUN = Run(
    status="finished",
    argv=("/home/zebulon/acme/net.py", "-pcorrecthorse", "--key=battery-staple"),
    cwd="/home/zebulon/acme",
    environment={"HOSTNAME": "gpu07"},
)
PLAIN = (
    *("by zebulon", "/home/zebulon/acme/net.py:3", "on gpu07:29500", "run with -pcorrecthorse", "battery-staple"),
    *("https://github.com/pytorch/pytorch?token=correcthorse", "zebulon@acme.example.com", "10.1.2.3"),
    *(f"a {token} b" for token in TOKENS.values()),
    *BEHIND_NAMES,
    f"-----BEGIN RSA PRIVATE KEY-----\\n{LETTERS}\\n-----END RSA PRIVATE KEY-----",
)
IN_LINES = ("bytes of PTX", "bytes of an assembler")
HIDDEN = tuple(
    encode(secret)
    for way, encode in ENCODED.items()
    if way not in IN_LINES
    for secret in (
        "/home/zebulon/acme",
        "user zebulon on gpu07",
        f"key {TOKENS['hf']} of x",
        "the host at 10.1.2.3 is up",
        "set password='hunter22' here",
        "ask zebulon@acme.example.com",
    )
)
SECRETS = ("zebulon", "gpu07", "correcthorse", "battery-staple", WORD, "10.1.2.3", LETTERS[:16], KEY[:16], UUID)


def test_there_are_enough() -> None:
    assert len({*PLAIN, *HIDDEN}) >= 550


@pytest.fixture
def shared(tmp_path: Path) -> dict[str, str]:
    """What is in the zip: the name of each file, and its text."""
    texts = "\n".join((*PLAIN, *HIDDEN))
    source, ptx = "kernels/triton_a/source.py", "kernels/triton_a/w4-s1/triton_a.ptx"
    rows = [node(f"n{index}", "aten.relu.default", where=at(3, text)) for index, text in enumerate((*PLAIN, *HIDDEN))]
    dump = made(tmp_path / "dump", graph(), *rows, kernel("triton_a", kind="triton", source=source), ended(), run=RUN)
    folder = dump.folder(GRAPH)
    in_lines = "\n".join(ENCODED[way]("/home/zebulon/acme") + "\n.b32 7" for way in IN_LINES)
    key = ["-----BEGIN RSA PRIVATE KEY-----", *[LETTERS] * 4, "-----END RSA PRIVATE KEY-----"]
    others = [ptx.replace(".ptx", end) for end in (".ttir", ".ttgir", ".llir", ".sass", ".json", ".cpp", ".csv")]
    for name in (f"{paths.OUTPUT_CODE}.py", paths.FX_RUNNABLE, paths.IR_PRE_FUSION, source, ptx, *others):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join((texts, in_lines, *key, "the end\n")))
    (folder / "kernels/triton_a/utf16.txt").write_bytes("/home/zebulon".encode("utf-16"))

    written = share(dump, tmp_path / "a.zip", MACHINE, redact=True, source=True)
    assert "binary files" in {row.what for row in written.left_out}
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        return {name: archive.read(name).decode("utf-8") for name in archive.namelist()}


def test_nothing_is_left_in_any_file(shared: dict[str, str]) -> None:
    left = {
        (name, secret)
        for name, text in shared.items()
        for shown in (text, *encodings.hidden(text))
        for secret in SECRETS
        if secret in shown.lower().replace(secret.lower(), secret)
    }
    assert left == set()


def test_files_keep_their_lines(shared: dict[str, str]) -> None:
    (ptx,) = (text for name, text in shared.items() if name.endswith(".ptx"))
    (code,) = (text for name, text in shared.items() if name.endswith("output_code.py"))

    assert ptx == code
    assert len([name for name, text in shared.items() if text == ptx]) == 12
    assert ptx.endswith("the end\n")
    lines_in = (
        len(PLAIN) + len(HIDDEN) + sum(ENCODED[way]("/home/zebulon/acme").count("\n") + 2 for way in IN_LINES) + 7
    )
    assert ptx.count("\n") == lines_in
