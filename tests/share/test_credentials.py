"""Credentials of every kind are taken out, by our patterns and in the eyes of detect-secrets, which is not ours."""

import base64

import pytest
from detect_secrets.core import scan
from detect_secrets.settings import default_settings

from tests.share.test_redact import redacted

KEY = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"  # 40 hexadecimal digits, of nothing
LETTERS = "Ab0Cd1Ef2Gh3Ij4Kl5Mn6Op7Qr8St9Uv0Wx1Yz2Ab3Cd4Ef5Gh6"
JWT = ".".join(
    base64.urlsafe_b64encode(text).decode().rstrip("=") for text in (b'{"alg":"HS256"}', b'{"sub":"z"}', b"x" * 32)
)

TOKENS = {
    "hf": f"hf_{LETTERS[:34]}",
    "ghp": f"ghp_{LETTERS[:36]}",
    "github_pat": f"github_pat_{LETTERS[:22]}_{LETTERS[:30]}",
    "glpat": f"glpat-{LETTERS[:20]}",
    "openai": f"sk-proj-{LETTERS[:20]}T3BlbkFJ{LETTERS[:20]}",
    "stripe": "_".join(("sk", "live", LETTERS[:24])),
    "aws": "AKIA" + "ABCDEFGHIJKLMNOP",
    "aws session": "ASIA" + "ABCDEFGHIJKLMNOP",
    "google": f"AIza{LETTERS[:35]}",
    "google oauth": f"ya29.{LETTERS[:40]}",
    "slack": "-".join(("xoxb", "123456789012", "123456789012", LETTERS[:24].lower())),
    "npm": f"npm_{LETTERS[:36]}",
    "pypi": f"pypi-AgEIcHlwaS5vcmc{LETTERS}{LETTERS}",
    "sendgrid": f"SG.{LETTERS[:22]}.{LETTERS[:43]}",
    "square": f"sq0csp-{LETTERS[:43]}",
    "twilio": f"AC{KEY[:32]}",
    "mailchimp": f"{KEY[:32]}-us12",
    "telegram": f"1234567890:AA{LETTERS[:33]}",
    "discord": f"M{LETTERS[:23]}.{LETTERS[:6]}.{LETTERS[:27]}",
    "jwt": JWT,
    "databricks": f"dapi{KEY[:32]}",
    "nvidia": f"nvapi-{LETTERS}",
    "replicate": f"r8_{LETTERS[:37]}",
    "vault": f"hvs.{LETTERS[:30]}",
    "hf oauth": f"hf_oauth_eyJ{LETTERS}.{LETTERS}",
    "groq": f"gsk_{LETTERS}",
    "xai": f"xai-{LETTERS}{LETTERS[:28]}",
    "perplexity": f"pplx-{LETTERS[:48]}",
    "wandb v1": f"wandb_v1_{LETTERS}_{LETTERS[:20]}",
    "grafana cloud": f"glc_{LETTERS}==",
    "grafana account": f"glsa_{LETTERS[:32]}_{KEY[:8]}",
    "sentry organisation": f"sntrys_eyJ{LETTERS}_{LETTERS[:43]}",
    "sentry user": f"sntryu_{KEY}{KEY[:24]}",
    "docker": f"dckr_pat_{LETTERS[:27]}",
    "docker organisation": f"dckr_oat_{LETTERS[:27]}",
    "atlassian": f"ATATT3xFfGF0{LETTERS}-{LETTERS}={KEY[:8].upper()}",
    "bitbucket": f"ATBB{LETTERS[:28]}",
    "tailscale": f"tskey-auth-{LETTERS[:17]}-{LETTERS[:32]}",
    "pinecone": f"pcsk_{LETTERS[:6]}_{LETTERS}",
    "webhook": f"whsec_{LETTERS[:32]}",
    "notion": f"ntn_{LETTERS[:46]}",
    "notion before": f"secret_{LETTERS[:43]}",
    "figma": f"figd_{LETTERS[:40]}",
    "postman": f"PMAK-{KEY[:24]}-{KEY[:34]}",
    "new relic": f"NRAK-{LETTERS[:27].upper()}",
    "new relic licence": f"{KEY[:36]}NRAL",
    "vault batch": f"hvb.{LETTERS}{LETTERS}",
    "alibaba": f"LTAI{LETTERS[:20]}",
    "tencent": f"AKID{LETTERS[:32]}",
    "aws session token": f"IQoJb3JpZ2luX2Vj{LETTERS}/{LETTERS}+{LETTERS}==",
    "bedrock": f"ABSK{LETTERS}{LETTERS}{LETTERS[:20]}=",
    "bedrock for hours": f"bedrock-api-key-{LETTERS}{LETTERS}=",
    "digitalocean": f"doo_v1_{KEY}{KEY[:24]}",
    "elevenlabs": f"sk_{KEY}{KEY[:8]}",
    "langsmith": f"lsv2_pt_{KEY[:32]}_{KEY[:10]}",
    "circleci": f"CCIPAT_{LETTERS[:22]}_{KEY}",
    "together": f"tgp_v1_{LETTERS[:43]}",
    "supabase": f"sbp_{KEY}",
    "linear": f"lin_api_{LETTERS[:40]}",
    "airtable": f"pat{LETTERS[:14]}.{KEY}{KEY[:24]}",
    "pulumi": f"pul-{KEY}",
    "wandb": KEY,
    "azure": KEY[:32],
}


@pytest.mark.parametrize(
    "around", ["{}", "token: {}", "x = '{}'", '{{"a": "{}"}}', "--key={},", "https://h.example.com/?t={}", "\\n{}\\n"]
)
@pytest.mark.parametrize("kind", TOKENS)
def test_tokens(kind: str, around: str) -> None:
    found = redacted(around.format(TOKENS[kind]))

    assert TOKENS[kind] not in found
    assert LETTERS[:16] not in found


BEHIND_NAMES = [
    "password = 'hunter22'",
    'DB_PASSWORD="correct horse"',
    "G['PASSWORD'] == 'hunter22'",
    "G['os'].environ['API_KEY'] == 'hunter22'",
    "___from_numpy(G['config'].secret) != 'hunter22'",
    "L['args'].name == 'hunter22'",
    "G['VALUE'] == 'hunter22'",
    "{\"code\": \"G['SECRET'] == 'hunter22'\"}",
    '{"code": "G[\\"SECRET\\"] == \\"hunter22\\""}',
    "PGPASSWORD=hunter22 python train.py",
    "client_secret: hunter22",
    "passwd := 'hunter22'",
    "api-key => 'hunter22'",
    "os.environ['DB_PASS_PHRASE_PASSWORD'] = 'hunter22'",
    "wandb_api_key=hunter22",
    "aws_secret_access_key = hunter22hunter22hunter22hunter22hunter22",
    "auth_token='hunter22'",
    "token = 'hunter22hunter22'",
    "Authorization: Bearer hunter22hunter22hunter22",
    "AccountKey=hunter22hunter22hunter22hunter22;",
    "storage_key: 'hunter22'",
    "https://github.com/pytorch/pytorch/archive?token=hunter22",
    "https://user:hunter22@example.com/x",
    "failed guard: G['TOKEN_OF_X'] == 'hunter22'",
    "G['os'].environ._data[b'X'] == b'hunter22'",
    "0/0: kind == 'hunter22'   # y = 3",
    "kind, in 1 of 2: 'hunter22' → 'hunter22'; size",
    "L['modes'] == ['a', 'hunter22']",
    "L['kind'] is not 'hunter22'",
    "psk = 'hunter22'",
    "db_pw: hunter22",
    "creds='hunter22'",
    "Authorization: ApiKey hunter22hunter22",
    '{"Authorization": "hunter22"}',
    "X-Api-Key: hunter22",
    "Cookie: session=hunter22; theme=dark",
    "Set-Cookie: id=hunter22",
    "aws_session_token=hunter22hunter22",
    "webhook_url = 'hunter22'",
]


@pytest.mark.parametrize("text", BEHIND_NAMES)
def test_what_stands_behind_a_name(text: str) -> None:
    assert "hunter22" not in redacted(text)


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
        "# torch git version: cf30153c4c131c8164ee7798e5022d810682e2cb",
        "cab4qxbfvhwkfnxqo4pdxyvbtrkbkqhnvvbhzkl3pqkbqhxm2jvd",
        "___check_obj_id(G['F'], 140234), G['x'] == 3",
    ],
)
def test_what_is_no_credential_stays(text: str) -> None:
    assert redacted(text) == text


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
