"""Texts that stand encoded in others are found, and what holds none is left as it is."""

import base64
import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_compile.share import encodings

SECRET = "/home/zebulon/acme"

ENCODED: dict[str, Callable[[str], str]] = {
    "percent": lambda text: quote(text, safe=""),
    "all in percent": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "hex": lambda text: text.encode().hex(),
    "hex with a prefix": lambda text: f"0x{text.encode().hex().upper()}",
    "hex of UTF-16": lambda text: text.encode("utf-16-le").hex(),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 without its end": lambda text: base64.b64encode(text.encode()).decode().rstrip("="),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(f"??>{text}".encode()).decode(),
    "base64 of UTF-16": lambda text: base64.b64encode(text.encode("utf-16-be")).decode(),
    "base64 twice": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "a list of bytes": lambda text: ", ".join(map(str, text.encode())),
    "bytes of PTX": lambda text: "\n".join(f".b8 {byte}    // DW_AT_name" for byte in text.encode()),
    "bytes of PTX in one line": lambda text: f"\t.b8 {','.join(map(str, text.encode()))}",
    "bytes of an assembler": lambda text: "\n".join(f"\t.byte\t{byte:#x}" for byte in text.encode()),
    "escapes of Python": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
    "escapes in JSON": lambda text: "".join(f"\\\\x{byte:02x}" for byte in text.encode()),
    "escapes of JSON": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
    "escapes of C": lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
    "escapes of LLVM": lambda text: "".join(f"\\{byte:02X}" for byte in text.encode()),
    "escapes of UTF-16": lambda text: "".join(f"{letter}\\x00" for letter in text),
}
AROUND = (("", ""), ("name = '", "'"), ('{"a": "', '"}'), ("x\n", "\ny"), ("(", ");"))


def redacted(text: str) -> str:
    return rewritten(text.replace("zebulon", "USER"))


def rewritten(text: str) -> str:
    return encodings.rewritten(text, redacted, lambda is_text: "~encoded" if is_text else "~left-out")


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("way", ENCODED)
def test_what_is_encoded_is_found(way: str, around: tuple[str, str]) -> None:
    before, after = around
    if "PTX" in way or "assembler" in way:
        before, after = before and "x\n", after and "\ny"
    text = f"{before}{ENCODED[way](SECRET)}{after}"

    found = rewritten(text)

    assert found != text
    assert not any("zebulon" in piece for piece in (found, *encodings.hidden(found)))
    assert any("zebulon" in piece for piece in encodings.hidden(text))
    assert found.count("\n") == text.count("\n")
    assert rewritten(found) == found


@pytest.mark.parametrize("way", ENCODED)
def test_another_text_stays(way: str) -> None:
    text = ENCODED[way]("/usr/include/x.h and more")

    assert rewritten(text) == text


def test_bytes_keep_their_lines_and_comments() -> None:
    """Only those of the text: what stands before and behind it in the section are numbers."""
    lines = [
        ".b8 2    // DWARF version number",
        *(f".b8 {byte}" for byte in b"/x/zebulon\0triton\0"),
        ".b32 .debug_line // 7",
    ]
    found = rewritten("\n".join(lines)).split("\n")

    assert found[0] == lines[0]
    assert found[1:11] == [".b8 126"] * 10
    assert found[11:] == lines[11:]


def test_long_encodings_without_a_text_go() -> None:
    blob = base64.b64encode(bytes(range(128, 256)) * 4).decode()

    assert rewritten(f"a {blob} b") == "a ~left-out b"
    assert rewritten(f"dense<0x{(bytes(range(128, 256)) * 2).hex()}>") == "dense<~left-out>"


@pytest.mark.parametrize(
    "text",
    [
        "triton_poi_fused__to_copy_add_native_layer_norm_" * 12,
        f"_ZN2at6native{'15Vectorized12AVX512Ef' * 20}_",
        "torch/_inductor/runtime/triton_heuristics.py",
        "size=(128, 64, 32, 32, 16, 8, 104, 111)",
        "100 % of 3 %5 = %arg0 %11",
        "0x7f8a12345678 cf30153c4c131c8164ee7798e5022d810682e2cb",
        r"re.compile('\\w+\\d+\\s') '\033[1m'",
    ],
)
def test_what_looks_alike_stays(text: str) -> None:
    assert rewritten(text) == text


@given(st.text(max_size=120))
def test_any_text_at_all(text: str) -> None:
    found = rewritten(text)

    assert rewritten(found) == found
    assert "zebulon" in text or found.replace("~left-out", "") == text or "~encoded" in found


@given(st.sampled_from(sorted(ENCODED)), st.text("abz /._-", min_size=4, max_size=20), st.text("xyz \n(", max_size=5))
def test_wherever_it_stands(way: str, text: str, around: str) -> None:
    told = f"{around}\n{ENCODED[way](f'{text}/zebulon/{text}')}\n{around}"

    assert not re.search("zebulon", "".join(encodings.hidden(rewritten(told))))
