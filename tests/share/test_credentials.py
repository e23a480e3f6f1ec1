"""Credentials of every kind are taken out, by our patterns and in the eyes of detect-secrets, which is not ours."""

from pathlib import Path

import pytest
from detect_secrets.core import scan
from detect_secrets.settings import default_settings

from inspect_compile.share import credentials
from inspect_compile.share.redact import Redactor
from inspect_compile.share.secrets import Secrets
from inspect_compile.share.vocabulary import WORDS
from tests.share.secret_texts import BEHIND_NAMES, KEY, LETTERS, LOWER, TOKENS, UPPER, UUID, WORD
from tests.share.test_redact import redacted


@pytest.mark.parametrize(
    "around", ["{}", "token: {}", "x = '{}'", '{{"a": "{}"}}', "--key={},", "https://h.example.com/?t={}", "\\n{}\\n"]
)
@pytest.mark.parametrize("kind", TOKENS)
def test_tokens(kind: str, around: str) -> None:
    found = redacted(around.format(TOKENS[kind]))

    assert TOKENS[kind] not in found
    assert [part for part in (LETTERS, LOWER, UPPER, KEY, UUID) if part[:12] in found] == []


@pytest.mark.parametrize("text", BEHIND_NAMES)
def test_what_stands_behind_a_name(text: str) -> None:
    assert WORD not in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "tokens = self.embed(words)",
        "pad_token_id == 0",
        "token_type_ids: Tensor",
        "L['self'].training == True",
        "num_tokens=128, passes=3, secrets=None",
        "pass = 3",
        "L['x'].device == 'cuda:0', L['mode'] == 'reduce-overhead'",
        "G['f'].__name__ == 'forward'",
        "pw = pointwise_of(x), otp: Tensor",
        "x[2048::2], y[1024:2048:2], std::max(c10::add(a))",
        "12:34:56 is the time",
        "self.key = nn.Linear(4, 4)",
        "key: value",
        "password = getpass()",
        "the secret is kept, no password given",
        "if triton_meta.get('device_type') not in ('cuda', 'xpu', 'hip'):",
        "fw_compiler, re_stride, vc_ops, pa_ratio, ck_tile, dd_tensor, at_least_one",
        "$1, $2, {SHA}, key_padding_mask: Tensor, live_tensors = 3",
        "x[-u a:b], --num-tokens 128, --pad-token-id 3, <secrets>, openssl is there",
        "# torch git version: cf30153c4c131c8164ee7798e5022d810682e2cb",
        "cab4qxbfvhwkfnxqo4pdxyvbtrkbkqhnvvbhzkl3pqkbqhxm2jvd",
        "___check_obj_id(G['F'], 140234), G['x'] == 3",
    ],
)
def test_what_is_no_credential_stays(text: str) -> None:
    assert redacted(text) == text


def test_words_of_torch_stay() -> None:
    text = WORDS.read_text("ascii")
    assert Redactor(Secrets()).text(text) == text


@pytest.mark.harmless
def test_schemas_and_code_of_torch_hold_no_tokens() -> None:
    """Of its code the parts that a dump shows lines of."""
    import torch

    root = Path(torch.__file__).parent
    texts = [path.read_text() for room in ("_inductor", "_dynamo", "nn") for path in (root / room).rglob("*.py")]
    texts += map(str, torch._C._jit_get_all_schemas())
    found = [credentials.TOKEN.search(line) for text in texts for line in text.split("\n")]
    assert [token[0] for token in found if token] == []


def test_a_private_key_goes_whole_and_keeps_its_lines() -> None:
    lines = ["a", "-----BEGIN RSA PRIVATE KEY-----", *([LETTERS] * 5), "-----END RSA PRIVATE KEY-----", "b"]
    found = redacted("\n".join(lines)).split("\n")

    assert found == ["a", "~credential", *([""] * 6), "b"]
    assert LETTERS not in redacted(f"'-----BEGIN OPENSSH PRIVATE KEY-----\\n{LETTERS}\\n{LETTERS}\\n'")


def test_a_second_look_by_detect_secrets() -> None:
    """Its detectors find most of the tokens as they are, and nothing in what is left."""

    def seen(text: str) -> int:
        return sum(1 for _ in scan.scan_line(text))

    with default_settings():
        texts = [f"key = '{token}'" for token in TOKENS.values()] + BEHIND_NAMES
        found = [text for text in texts if seen(text)]
        assert len(found) > len(texts) // 2
        left = {text: redacted(text) for text in found}
        assert {text: shown for text, shown in left.items() if "~" not in shown} == {}


@pytest.mark.parametrize(
    "address",
    [
        *("2001:db8::8a2e:370:7334", "fe80::1ff:fe23:4567:890a%eth0", "2001:0db8:85a3:0000:0000:8a2e:0370:7334"),
        *("00:1a:2b:3c:4d:5e", "00-1A-2B-3C-4D-5E", "ec2-54-12-3-4.compute-1.amazonaws.com", "i-0123456789abcdef0"),
        *(
            "ip-10-1-2-3.eu-west-1.compute.internal",
            "a.very.long.name+with-a-tag.and.more.of.it.than.usual@example.com",
        ),
        *("user@a-department.of.a-company.example.co.uk", '"john smith"@example.com'.replace(" ", ".")),
    ],
)
@pytest.mark.parametrize("around", ["{}", "at {}:", "host='{}'", "[{}]"])
def test_addresses(address: str, around: str) -> None:
    if around == "at {}:" and ":" in address:
        around = "at {} and"
    found = redacted(around.format(address))

    assert "~" in found
    assert address[4:12] not in found
