"""The table of secrets that are known by how they start."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A token starts where a word starts, or behind what an escape, a URL or a terminal puts there.
_START = (
    rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"
    rb"|(?<=[\[;]\dm)|(?<=[\[;]\d\dm))"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret: where it can start (literally, 3 bytes at least), and its pattern."""

    name: str
    heads: tuple[bytes, ...]
    pattern: bytes


# Facts (prefixes, alphabets, lengths) follow the gitleaks rules of the same vendors. No name may
# end in a word that announces a secret: a marker before a colon would announce one itself.
PREFIXED: tuple[Rule, ...] = (
    Rule("anthropic", (b"sk-",), rb"sk-ant-[\w-]{12,512}"),
    Rule(
        "provider",
        (b"sk-", b"pk-"),
        rb"(?:sk-(?:proj|svcacct|admin|None|or-v1|lf)|pk-lf)-[\w-]{16,512}",
    ),
    Rule("provider", (b"sk-", b"sk_", b"pk_"), rb"(?:sk-|[sp]k_)[A-Za-z0-9]{18,512}"),
    Rule(
        "provider",
        (b"sk-",),
        rb"sk-(?=[\w-]{0,64}\d)(?=[\w-]{0,64}[A-Z])(?=[\w-]{0,64}[a-z])[\w-]{24,512}",
    ),
    Rule("stripe", (b"sk_", b"pk_", b"rk_"), rb"[spr]k_(?:live|test|prod)_[A-Za-z0-9]{10,512}"),
    Rule("stripe", (b"whsec_",), rb"whsec_[A-Za-z0-9+/=]{16,512}"),
    Rule(
        "aws",
        (b"AKIA", b"ASIA", b"ABIA", b"ACCA"),
        rb"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    Rule(
        "github", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), rb"gh[pousr]_[A-Za-z0-9]{30,512}"
    ),
    Rule("github", (b"github_pat_",), rb"github_pat_\w{22,512}"),
    Rule(
        "gitlab",
        (
            b"glpat-",
            b"gldt-",
            b"glrt-",
            b"glptt-",
            b"glcbt-",
            b"glsoat-",
            b"glft-",
            b"glimt-",
            b"glagent-",
            b"gloas-",
        ),
        rb"gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|oas)-[\w.-]{16,512}",
    ),
    Rule("npm", (b"npm_",), rb"npm_[A-Za-z0-9]{30,512}"),
    Rule("pypi", (b"pypi-",), rb"pypi-[\w-]{40,1024}"),
    Rule("slack", (b"xox",), rb"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,512}"),
    Rule("slack", (b"xapp-",), rb"xapp-[A-Za-z0-9-]{16,512}"),
    Rule("google", (b"AIza",), rb"AIza[\w-]{35}"),
    Rule("google", (b"ya29.", b"GOCSPX-"), rb"(?:ya29\.|GOCSPX-)[\w-]{20,1024}"),
    Rule("hugging-face", (b"hf_", b"api_org_"), rb"(?:hf|api_org)_[A-Za-z0-9]{30,512}"),
    Rule("jwt", (b"eyJ",), rb"(?<![_-])eyJ[\w-]{8,8192}\.[\w-]{4,8192}(?:\.[\w-]{0,8192}){1,3}"),
    Rule("sendgrid", (b"SG.",), rb"SG\.[\w-]{16,64}\.[\w-]{16,64}"),
    Rule("digitalocean", (b"_v1_",), rb"do[opr]_v1_[a-f0-9]{40,128}"),
    Rule(
        "shopify",
        (b"shpat_", b"shpca_", b"shppa_", b"shpss_"),
        rb"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{30,64}",
    ),
    Rule("vault", (b"hvs.", b"hvb."), rb"hv[bs]\.[\w-]{20,512}"),
    Rule("linear", (b"lin_api_", b"lin_oauth_"), rb"lin_(?:api|oauth)_[A-Za-z0-9]{32,128}"),
    Rule("notion", (b"ntn_", b"secret_"), rb"ntn_[A-Za-z0-9]{40,128}|secret_[A-Za-z0-9]{43}"),
    Rule("grafana", (b"glc_", b"glsa_"), rb"gl(?:c|sa)_\w{32,512}"),
    Rule("sentry", (b"sntrys_", b"sntryu_"), rb"sntry[su]_\w{40,512}"),
    Rule("atlassian", (b"ATATT3",), rb"ATATT3[\w-]{40,512}"),
    Rule("postman", (b"PMAK-",), rb"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    Rule(
        "provider",
        (
            b"gsk_",
            b"xai-",
            b"tvly-",
            b"figd_",
            b"_tkn_",
            b"dckr_pat_",
            b"rubygems_",
            b"dp.pt.",
        ),
        rb"(?:gsk|xai|tvly|figd|pscale_tkn|dckr_pat|rubygems|dp\.pt)[_.-][\w-]{30,512}",
    ),
    Rule(
        "provider",
        (b"pplx-", b"pul-", b"xkeysib-", b"NRAK-", b"dnkey-", b"HRKU-"),
        rb"(?:pplx|pul|xkeysib|NRAK|dnkey|HRKU)-[\w-]{22,512}",
    ),
    Rule("provider", (b"r8_",), rb"(?<![_-])r8_[A-Za-z0-9]{37}(?![\w-])"),
    Rule("age", (b"AGE-SECRET-KEY-",), rb"AGE-SECRET-KEY-1[A-Z0-9]{50,64}"),
)
PREFIXED_PATTERN = re.compile(
    _START + b"(?:" + b"|".join(b"(" + rule.pattern + b")" for rule in PREFIXED) + b")",
    re.ASCII,
)


def _gate(heads: set[bytes]) -> re.Pattern[bytes]:
    # A head is found by its last byte, mostly a separator and so rarer than its first.
    last = b"".join(sorted({re.escape(head[-1:]) for head in heads}))
    tails = b"|".join(re.escape(tail) for tail in sorted({head[-3:] for head in heads}))
    return re.compile(b"[" + last + b"](?<=" + tails + b")")


HEAD = _gate({head for rule in PREFIXED for head in rule.heads})
