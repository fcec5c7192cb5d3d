"""The table of secrets that are known by their form.

Vendors, prefixes, alphabets and lengths are compared with the maintained public rules of gitleaks
(`config/gitleaks.toml`, 8.x); the patterns and the last group are our own.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

# What may stand right before a token: the start of a word, or what an escape, a URL or a terminal
# puts there.
_BEFORE = (rb"\\[nrtbf]", rb"%[0-9A-Fa-f]{2}", rb"\\u[0-9A-Fa-f]{4}", rb"[\[;]\dm", rb"[\[;]\d\dm")


def _starts(head: bytes = b"") -> bytes:
    """Return a pattern that holds where a token starts, looked at from behind its head."""
    ways = b"|".join(b"(?<=" + before + head + b")" for before in _BEFORE)
    return b"(?:(?<![A-Za-z0-9]" + head + b")|" + ways + b")"


def _literal(head: bytes) -> bytes:
    """Return the pattern of a token's head that is found as fast as a plain text."""
    return head + _starts(head)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret: what it cannot be without (literally), and its pattern.

    `back` is how many bytes before the match belong to it.
    """

    name: str
    heads: tuple[bytes, ...]
    pattern: bytes
    back: int = 0


# No name may end in a word that announces a secret: a marker before a colon would announce one.
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
            b"glffct-",
        ),
        rb"gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|oas|ffct)-[\w.-]{16,512}",
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
    Rule("grafana", (b"eyJ",), rb"(?<![_-])eyJrIjoi[A-Za-z0-9]{70,400}(?![\w-])"),
    Rule("sentry", (b"sntryu_",), rb"sntryu_\w{40,512}"),
    Rule("atlassian", (b"ATATT3",), rb"ATATT3[\w-]{40,512}"),
    Rule("postman", (b"PMAK-",), rb"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    Rule(
        "provider",
        (
            b"gsk_",
            b"xai-",
            b"tvly-",
            b"figd_",
            b"dckr_pat_",
            b"rubygems_",
        ),
        rb"(?:gsk|xai|tvly|figd|dckr_pat|rubygems)[_.-][\w.-]{30,512}",
    ),
    Rule(
        "provider",
        (b"pplx-", b"pul-", b"xkeysib-", b"NRAK-", b"NRII-", b"dnkey-", b"HRKU-"),
        rb"(?:pplx|pul|xkeysib|NRAK|NRII|dnkey|HRKU)-[\w-]{22,512}",
    ),
    Rule("provider", (b"r8_",), rb"(?<![_-])r8_[A-Za-z0-9]{37}(?![\w-])"),
    Rule("age", (b"AGE-SECRET-KEY-",), rb"AGE-SECRET-KEY-1[A-Z0-9]{50,64}"),
    Rule("adobe", (b"p8e-",), rb"p8e-[A-Za-z0-9]{32}(?!\w)"),
    Rule("clojars", (b"CLOJARS_",), rb"CLOJARS_[A-Za-z0-9]{60}"),
    Rule("duffel", (b"duffel_",), rb"duffel_(?:test|live)_[\w-]{40,64}"),
    Rule("dynatrace", (b"dt0c01.",), rb"dt0c01\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    Rule(
        "flutterwave",
        (b"FLWSECK-", b"FLWSECK_TEST-"),
        rb"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,32}(?:-X)?",
    ),
    Rule("fly", (b"fo1_",), rb"fo1_[\w-]{43}(?![\w-])"),
    Rule("frame-io", (b"fio-u-",), rb"fio-u-[\w-]{64}"),
    Rule("intra42", (b"s4t2ud-", b"s4t2af-"), rb"s-s4t2(?:ud|af)-[a-f0-9]{64}"),
    Rule("prefect", (b"pnu_",), rb"pnu_[A-Za-z0-9]{36}(?!\w)"),
    Rule("readme", (b"rdme_",), rb"rdme_[a-z0-9]{70}"),
    Rule("scalingo", (b"tk-us-",), rb"tk-us-[\w-]{48}"),
    Rule("shippo", (b"shippo_",), rb"shippo_(?:live|test)_[A-Fa-f0-9]{40}"),
    Rule("sourcegraph", (b"sgp_",), rb"sgp_(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40}"),
    Rule("square", (b"sq0atp-", b"sq0csp-"), rb"sq0(?:atp|csp)-[\w-]{22,64}"),
    Rule("typeform", (b"tfp_",), rb"tfp_[\w.-]{40,64}"),
    # Not among the rules of gitleaks.
    Rule("supabase", (b"sbp_",), rb"sbp_[a-f0-9]{40}(?!\w)"),
    Rule("nvidia", (b"nvapi-",), rb"nvapi-[\w-]{40,128}"),
    Rule("netlify", (b"nfp_",), rb"nfp_[A-Za-z0-9]{36}(?!\w)"),
    Rule("langsmith", (b"lsv2_",), rb"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    Rule("circleci", (b"CCIPAT_", b"CCIPRJ_"), rb"CCIP(?:AT|RJ)_[\w]{40,128}"),
    Rule("buildkite", (b"bkua_",), rb"bkua_[a-z0-9]{40}(?!\w)"),
    Rule("contentful", (b"CFPAT-",), rb"CFPAT-[\w-]{40,64}"),
)

# Written in base64, whose signs part a run: looked for in a text that holds one of the heads.
BASE64: tuple[Rule, ...] = (
    Rule("stripe", (b"whsec_",), rb"whsec_[A-Za-z0-9+/=]{16,512}"),
    Rule("sentry", (b"sntrys_",), rb"sntrys_[\w+/=-]{40,1024}"),
    Rule("1p", (b"ops_eyJ",), rb"ops_eyJ[A-Za-z0-9+/=_-]{100,8192}"),
    Rule("aws", (b"ABSK",), _literal(b"ABSK") + rb"[A-Za-z0-9+/]{100,270}={0,2}"),
    Rule("fly", (b"fm1", b"fm2_"), rb"fm(?:1[ar]|2)_[A-Za-z0-9+/]{100,8192}={0,3}"),
    Rule("jwt", (b"ZXlK",), rb"ZXlK(?:aGJHY2lP|MGVYQWlP|cmFXUWlP)[\w+/-]{40,8192}={0,2}"),
)

# These begin as much ordinary text does, or not with a literal at all: each is looked for in a
# text that has one of its heads in a run of token characters, or just before one.
PLAIN: tuple[Rule, ...] = (
    Rule("1p", (b"A3-",), _literal(b"A3-") + rb"[A-Z0-9]{6}-[A-Z0-9-]{11,12}(?:-[A-Z0-9]{5}){3}"),
    Rule("airtable", (b"pat",), _literal(b"pat") + rb"[A-Za-z0-9]{14}\.[a-f0-9]{64}(?!\w)"),
    Rule("alibaba", (b"LTAI",), _literal(b"LTAI") + rb"[A-Za-z0-9]{20}(?!\w)"),
    Rule("artifactory", (b"AKCp",), _literal(b"AKCp") + rb"[A-Za-z0-9]{69}(?!\w)"),
    Rule("artifactory", (b"cmVmd",), _literal(b"cmVmd") + rb"[A-Za-z0-9]{59}(?!\w)"),
    Rule("authress", (b".acc",), _literal(b"sc_") + rb"\w{5,30}\.\w{4,6}\.acc[_-][\w.+/=-]{40,160}"),
    Rule("authress", (b".acc",), _literal(b"ext_") + rb"\w{5,30}\.\w{4,6}\.acc[_-][\w.+/=-]{40,160}"),
    Rule("aws", (b"A3T",), _literal(b"A3T") + rb"[A-Z0-9]{17}(?!\w)"),
    Rule("azure", (b"Q~",), rb"Q~(?<=[\w~.]{3}\dQ~)[\w~.-]{31,34}(?![\w~.-])", back=4),
    Rule("bitbucket", (b"ATBB",), _literal(b"ATBB") + rb"[A-Za-z0-9]{32}(?!\w)"),
    Rule("clickhouse", (b"4b1d",), _literal(b"4b1d") + rb"(?=[a-z0-9]{0,38}[A-Z])[A-Za-z0-9]{38}(?!\w)"),
    Rule("cloudflare", (b"v1.0-",), _literal(rb"v1\.0-") + rb"[a-f0-9]{24}-[a-f0-9]{100,200}"),
    Rule("databricks", (b"dapi",), _literal(b"dapi") + rb"[a-f0-9]{32}(?:-\d)?(?!\w)"),
    Rule("doppler", (b"dp.",), _literal(rb"dp\.") + rb"(?:pt|ct|st|sa|scim|audit)\.[\w.-]{40,128}"),
    Rule("easypost", (b"EZAK",), _literal(b"EZAK") + rb"[A-Za-z0-9]{54}(?!\w)"),
    Rule("easypost", (b"EZTK",), _literal(b"EZTK") + rb"[A-Za-z0-9]{54}(?!\w)"),
    Rule("facebook", (b"EAAM", b"EAAC"), _literal(b"EAA") + rb"[MC][A-Za-z0-9]{100,512}"),
    Rule("gitlab", (b"GR1348941",), _literal(b"GR1348941") + rb"[\w-]{20,64}"),
    Rule("google", (b"1//0",), _literal(b"1//0") + rb"[\w-]{40,512}"),
    Rule("harness", (b"pat.",), _literal(rb"pat\.") + rb"[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    Rule("harness", (b"sat.",), _literal(rb"sat\.") + rb"[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    Rule("infracost", (b"ico-",), _literal(b"ico-") + rb"[A-Za-z0-9]{32}(?!\w)"),
    Rule("mapbox", (b"k.eyJ",), rb"k\.eyJ(?<=[ps]k\.eyJ)[\w-]{40,200}\.[\w-]{20,40}", back=1),
    Rule("maxmind", (b"_mmk",), rb"_mmk(?<=[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)(?!\w)", back=36),
    Rule("octopus", (b"API-",), _literal(b"API-") + rb"[A-Z0-9]{26}(?!\w)"),
    Rule("openshift", (b"sha256~",), rb"sha256~[\w-]{43}(?![\w-])"),
    Rule("plaid", (b"access-",), _literal(b"access-") + rb"(?:sandbox|development|production)-[a-f0-9-]{36}"),
    Rule("provider", (b"pscale_",), _literal(b"pscale_") + rb"(?:tkn|oauth|pw)_[\w=.-]{32,64}"),
    Rule("settlemint", (b"sm_",), _literal(b"sm_") + rb"[aps]at_[A-Za-z0-9]{16}(?!\w)"),
    Rule("square", (b"EAAA",), _literal(b"EAAA") + rb"[EFl][\w-]{59}(?![\w+/=-])"),
    Rule("telegram", (b":AA",), rb":AA(?<=\d{6}:AA)[\w-]{33}(?![\w-])", back=-1),
    Rule("terraform", (b".atlasv1.",), rb"\.atlasv1\.(?<=[A-Za-z0-9]{14}\.atlasv1\.)[\w=-]{60,70}", back=14),
    Rule("twilio", (b"SK",), _literal(b"SK") + rb"[0-9a-f]{32}(?!\w)"),
)  # fmt: skip


@functools.cache
def prefixed() -> re.Pattern[bytes]:
    """Return one pattern of all of `PREFIXED`; its group n + 1 is rule n.

    Made when a text first holds one of the heads: most processes never meet one.
    """
    parts = b"|".join(b"(" + rule.pattern + b")" for rule in PREFIXED)
    return re.compile(_starts() + b"(?:" + parts + b")", re.ASCII)


@functools.cache
def compiled(rule: Rule) -> re.Pattern[bytes]:
    """Return the pattern of one rule."""
    return re.compile(rule.pattern, re.ASCII)


def _gate(heads: set[bytes]) -> re.Pattern[bytes]:
    # A head is found by its last byte, mostly a separator and so rarer than its first.
    last = b"".join(sorted({re.escape(head[-1:]) for head in heads}))
    tails = b"|".join(re.escape(tail) for tail in sorted({head[-3:] for head in heads}))
    return re.compile(b"[" + last + b"](?<=" + tails + b")")


HEAD = _gate({head for rule in PREFIXED for head in rule.heads})
