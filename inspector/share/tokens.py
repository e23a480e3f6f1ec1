"""The forms of tokens that services issue, by service: written after what each publishes of its own.

Every form has a beginning that nothing else has, or parts of fixed lengths, and a maximum length.
"""

from typing import Final

from inspect_compile.share.patterns import ESCAPE

_HEX: Final = "[0-9a-f]"
_WORD: Final = "[A-Za-z0-9]"
_ALONE: Final = rf"(?:(?<![\w+/-])|{ESCAPE})"
"""Before a form of great length: it could begin again within itself."""

FORMS: Final[dict[str, tuple[str, ...]]] = {
    "1Password": (rf"{_ALONE}ops_eyJ[\w+/-]{{50,4000}}+={{0,2}}",),
    "Airtable": (rf"pat{_WORD}{{14}}\.{_HEX}{{64}}",),
    "Alibaba Cloud": (rf"LTAI{_WORD}{{12,30}}",),
    "Amazon": (
        r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}",
        rf"{_ALONE}(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[\w/+-]{{50,4000}}+={{0,2}}",
        r"ABSK[\w/+-]{60,400}={0,2}",
        rf"{_ALONE}bedrock-api-key-[\w/+-]{{20,4000}}+={{0,2}}",
    ),
    "Anyscale": (rf"esecret_{_WORD}{{20,60}}", rf"aph0_{_WORD}{{20,80}}"),
    "Atlassian": (r"AT(?:ATT|CTT|STT)3[\w=-]{40,400}", rf"ATBB{_WORD}{{20,60}}"),
    "Cerebras": (rf"csk-{_WORD}{{20,80}}",),
    "CircleCI": (r"CCIP(?:AT|RJ)_[A-Za-z0-9]{10,40}_[0-9a-fA-F]{20,64}",),
    "Clojars": (rf"CLOJARS_{_WORD}{{60}}",),
    "Cloudflare": (rf"v1\.0-{_HEX}{{24}}-{_HEX}{{100,200}}",),
    "Contentful": (r"CFPAT-[\w-]{30,60}",),
    "crates.io": (rf"cio{_WORD}{{32}}",),
    "Databricks": (rf"d(?:api|kea|ose){_HEX}{{32}}(?:-\d)?",),
    "DigitalOcean": (rf"do[opr]_v1_{_HEX}{{64}}",),
    "Discord": (r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}",),
    "Docker": (r"dckr_[a-z]{2,6}_[\w-]{20,80}",),
    "Doppler": (r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,100}",),
    "Dropbox": (rf"{_ALONE}sl\.[\w-]{{60,2000}}+",),
    "Dynatrace": (r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}",),
    "E2B": (rf"e2b_{_HEX}{{40}}",),
    "ElevenLabs": (rf"sk_{_HEX}{{48}}",),
    "Figma": (r"fig[a-z]_[\w-]{20,100}",),
    "Fly.io": (r"fo1_[\w-]{40,60}", rf"{_ALONE}fm[12][ar]?_[\w+/-]{{40,4000}}+={{0,2}}"),
    "GitHub": (r"gh[opsru]_[A-Za-z0-9]{20,300}", r"github_pat_\w{20,300}"),
    "GitLab": (r"gl(?:pat|dt|ft|ffct|soat|rt|rtr|cbt|imt|ptt|agent|oas)-[\w.-]{16,300}", r"GR1348941[\w-]{20,60}"),
    "Google": (
        *(r"AIza[\w-]{30,60}", r"AQ\.[\w-]{40,100}", rf"{_ALONE}ya29\.[\w-]{{20,2000}}+", r"GOCSPX-[\w-]{20,60}"),
        r"1//0[\w-]{40,200}",
    ),
    "Grafana": (r"glc_[\w+/=-]{32,400}", r"glsa_[A-Za-z0-9]{20,40}_[0-9a-fA-F]{8}", r"eyJrIjoi[\w+/=-]{40,400}"),
    "Groq": (rf"gsk_{_WORD}{{20,100}}",),
    "Heroku": (r"HRKU-[\w-]{20,100}",),
    "Hugging Face": (
        *(rf"hf_{_WORD}{{16,200}}", rf"api_org_{_WORD}{{20,60}}"),
        rf"{_ALONE}hf_(?:oauth|jwt|app|refresh)_[\w.-]{{16,4000}}+={{0,2}}",
    ),
    "JFrog": (rf"AKCp{_WORD}{{60,80}}", rf"cmVmdGtu{_WORD}{{50,60}}"),
    "Jina": (rf"jina_{_WORD}{{30,100}}",),
    "JSON Web Token": (rf"{_ALONE}eyJ[\w-]{{8,4000}}+\.eyJ[\w-]{{8,4000}}+(?:\.[\w-]{{0,4000}}+)?",),
    "LangSmith": (rf"lsv2_[a-z]{{2}}_{_HEX}{{32}}_{_HEX}{{6,16}}", rf"ls__{_HEX}{{32}}"),
    "Linear": (rf"lin_(?:api|oauth)_{_WORD}{{30,80}}",),
    "Mailchimp": (r"[0-9a-z]{32}-us\d{1,2}",),
    "Mapbox": (r"[pst]k\.eyJ[\w-]{20,400}\.[\w-]{16,60}",),
    "Netlify": (rf"nfp_{_WORD}{{30,60}}",),
    "New Relic": (r"NR(?:AK|AL|BR|II|JS|RA|SP|IQ|MA)-[\w-]{15,80}", r"[0-9a-zA-Z]{36}NRAL"),
    "Notion": (rf"ntn_{_WORD}{{20,80}}", rf"secret_{_WORD}{{43}}"),
    "npm": (rf"npm_{_WORD}{{30,60}}",),
    "NVIDIA": (r"nvapi-[\w-]{40,100}",),
    "OpenAI, Anthropic, OpenRouter and others": (r"sk-[\w-]{20,300}",),
    "Perplexity": (rf"pplx-{_WORD}{{20,100}}",),
    "Pinecone": (r"pcsk_\w{20,120}",),
    "PlanetScale": (r"pscale_(?:tkn|pw|oauth)_[\w.=-]{30,70}",),
    "PostHog": (rf"ph[cx]_{_WORD}{{30,60}}",),
    "Postman": (r"PM(?:AK|AT)-[0-9A-Za-z]{20,30}(?:-[0-9a-f]{34})?",),
    "Prefect": (rf"pn[ub]_{_WORD}{{36}}",),
    "Pulumi": (rf"pul-{_HEX}{{40}}",),
    "PyPI": (r"pypi-[\w-]{50,400}",),
    "Replicate": (rf"r8_{_WORD}{{30,60}}",),
    "RubyGems": (rf"rubygems_{_HEX}{{48}}",),
    "RunPod": (rf"rpa_{_WORD}{{30,60}}",),
    "SendGrid": (r"SG\.[\w-]{16,64}\.[\w-]{16,64}",),
    "Sendinblue": (rf"xkeysib-{_HEX}{{64}}-{_WORD}{{16}}",),
    "Sentry": (rf"{_ALONE}sntry[a-z]_[\w+/-]{{20,1000}}+={{0,2}}",),
    "Shopify": (r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",),
    "Slack": (r"xox[abeoprs](?:\.xox[a-z])?-[\w-]{10,300}", r"xapp-[\w-]{10,300}"),
    "Sourcegraph": (rf"sg[pd]_(?:{_WORD}{{5,16}}_)?{_HEX}{{40}}",),
    "Square": (r"sq0[a-z]{3}-[\w-]{20,60}", r"EAAA[\w-]{56,64}"),
    "Stripe": (r"[rsp]k_(?:live|test)_[0-9A-Za-z]{16,200}", r"whsec_[\w+/=-]{20,100}"),
    "Supabase": (rf"sbp_{_HEX}{{40}}", r"sb_secret_[\w-]{20,60}"),
    "Tailscale": (r"tskey-[a-z]{2,12}-[\w-]{10,160}",),
    "Tavily": (r"tvly-[\w-]{20,60}",),
    "Telegram": (r"\d{8,10}:AA[\w-]{33}",),
    "Tencent Cloud": (rf"AKID{_WORD}{{13,60}}",),
    "Terraform": (rf"{_WORD}{{14}}\.atlasv1\.[\w-]{{50,80}}",),
    "Together": (r"tgp_v1_[\w-]{20,80}",),
    "Twilio": (rf"(?:AC|SK){_HEX}{{32}}",),
    "Vault": (rf"{_ALONE}hv[bsr]\.[\w-]{{20,1000}}+",),
    "W&B": (r"wandb_v\d_\w{20,200}", rf"local-{_HEX}{{40}}"),
    "xAI": (r"xai-[\w-]{20,200}",),
    "Yandex": (r"AQVN[\w-]{30,60}", r"y0_[\w-]{30,100}"),
    "age": (r"AGE-SECRET-KEY-1[0-9A-Z]{50,70}",),
}
"""Service → its forms."""
