"""Samples of secrets, of the ways to say them, and of what only looks like one."""

from __future__ import annotations

# Secrets are put together here, so that no file holds one.
ALNUM = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0"
HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
PEM = "PRIVATE" + " KEY"

CAUGHT = {
    "provider": ["sk-" + ALNUM, "sk-" + "proj-" + ALNUM[:20] + "_-" + ALNUM, "pk_" + ALNUM[:24]],
    "anthropic": ["sk-" + "ant-api03-" + ALNUM + "-" + ALNUM + "AA"],
    "aws": ["AKIA" + "J7Q2M5K3P4R6S2T3", "ASIA" + "J7Q2M5K3P4R6S2T3"],
    "github": ["gh" + kind + "_" + ALNUM[:36] for kind in "pousr"]
    + ["github" + "_pat_" + ALNUM[:22] + "_" + ALNUM],
    "gitlab": ["glpat" + "-" + ALNUM[:20]],
    "npm": ["npm" + "_" + ALNUM[:36]],
    "pypi": ["pypi" + "-AgEIcHlwaS5vcmc" + ALNUM * 2],
    "slack": ["xoxb" + "-123456789012-" + ALNUM[:24], "xapp" + "-1-A0-" + ALNUM],
    "google": ["AIza" + ALNUM[:35], "ya29" + "." + ALNUM],
    "hugging-face": ["hf" + "_" + ALNUM[:34]],
    "stripe": [kind + "_live_" + ALNUM[:24] for kind in ("sk", "rk", "pk")]
    + ["sk" + "_test_" + ALNUM[:24]],
    "jwt": ["eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + ALNUM],
    "sendgrid": ["SG" + "." + ALNUM[:22] + "." + ALNUM + "abc"],
    "digitalocean": ["dop" + "_v1_" + HEX * 2],
    "shopify": ["shpat" + "_" + HEX],
    "vault": ["hvs" + "." + ALNUM],
    "linear": ["lin" + "_api_" + ALNUM],
    "notion": ["ntn" + "_" + ALNUM + "abcd"],
    "grafana": ["glsa" + "_" + ALNUM],
    "sentry": ["sntrys" + "_" + ALNUM + ALNUM],
    "atlassian": ["ATATT3" + ALNUM + ALNUM],
    "postman": ["PMAK" + "-" + HEX[:24] + "-" + HEX + "ab"],
    "age": ["AGE-SECRET" + "-KEY-1" + "Q2W3E4R5T6" * 5 + "ABCDEFGH"],
    "1p": ["A3" + "-Q2W3E4-R5T6Y7-U8I9O-P1A2S-D3F4G-H5J6K", "ops_" + "eyJ" + ALNUM * 7 + "+/=="],
    "adobe": ["p8e" + "-" + ALNUM[:32]],
    "alibaba": ["LTAI" + ALNUM[:20]],
    "artifactory": ["AKCp" + (ALNUM * 2)[:69], "cmVmd" + (ALNUM * 2)[:59]],
    "authress": ["sc_" + "abc12.x1y2.acc_" + HEX[:16] + "." + ALNUM],
    "azure": ["aB3" + "8Q~" + ALNUM[:33]],
    "clickhouse": ["4b1d" + ALNUM[:38]],
    "clojars": ["CLOJARS" + "_" + (HEX * 2)[:60]],
    "cloudflare": ["v1.0" + "-" + HEX[:24] + "-" + (HEX * 5)[:146]],
    "databricks": ["dapi" + HEX],
    "doppler": ["dp." + "pt." + ALNUM + "abc", "dp." + "st.prd." + ALNUM],
    "duffel": ["duffel" + "_live_" + ALNUM + "a_-"],
    "dynatrace": ["dt0c01" + "." + ALNUM[:24] + "." + ALNUM + ALNUM[:24]],
    "easypost": ["EZAK" + ALNUM + ALNUM[:14]],
    "facebook": ["EAAC" + ALNUM * 3],
    "flutterwave": ["FLWSECK" + "_TEST-" + HEX + "-X"],
    "fly": ["fo1" + "_" + ALNUM + "abc", "fm2" + "_" + (ALNUM + "+/") * 4 + "=="],
    "frame-io": ["fio" + "-u-" + (ALNUM * 2)[:64]],
    "harness": ["pat" + "." + ALNUM[:22] + "." + ALNUM[:24] + "." + ALNUM[:20]],
    "terraform": [ALNUM[:14] + ".atlas" + "v1." + (ALNUM * 2)[:64]],
    "infracost": ["ico" + "-" + ALNUM[:32]],
    "intra42": ["s-s4t2" + "ud-" + HEX * 2],
    "mapbox": ["pk" + ".eyJ" + ALNUM + "abc." + ALNUM[:22]],
    "maxmind": [ALNUM[:6] + "_" + ALNUM[:29] + "_mmk"],
    "octopus": ["API" + "-" + "Q2W3E4R5T6Y7U8I9O0PASDFGHJ"],
    "plaid": ["access" + "-production-" + "0190aa00-7c1e-7b4e-9f00-1234567890ab"],
    "prefect": ["pnu" + "_" + ALNUM[:36]],
    "readme": ["rdme" + "_" + (HEX * 3)[:70]],
    "scalingo": ["tk-us" + "-" + (ALNUM * 2)[:48]],
    "settlemint": ["sm_" + "pat_" + ALNUM[:16]],
    "shippo": ["shippo" + "_live_" + HEX + HEX[:8]],
    "sourcegraph": ["sgp" + "_" + HEX[:16] + "_" + HEX + HEX[:8]],
    "square": ["sq0" + "atp-" + ALNUM[:22], "EAAA" + "E" + (ALNUM * 2)[:59]],
    "telegram": ["AA" + ALNUM[:33]],
    "twilio": ["SK" + HEX],
    "typeform": ["tfp" + "_" + (ALNUM * 2)[:59]],
    "openshift": ["sha256" + "~" + ALNUM + "abc"],
    "airtable": ["pat" + ALNUM[:14] + "." + HEX * 2],
    "bitbucket": ["ATBB" + ALNUM[:32]],
    "supabase": ["sbp" + "_" + HEX + HEX[:8]],
    "nvidia": ["nvapi" + "-" + (ALNUM * 2)[:64]],
    "netlify": ["nfp" + "_" + ALNUM[:36]],
    "langsmith": ["lsv2" + "_pt_" + HEX + "_" + HEX[:10]],
    "circleci": ["CCIPAT" + "_" + ALNUM + "_" + HEX],
    "buildkite": ["bkua" + "_" + HEX + HEX[:8]],
    "contentful": ["CFPAT" + "-" + ALNUM + "abc"],
}
# More forms of vendors that stand above.
CAUGHT["gitlab"] += ["GR1348941" + ALNUM[:20], "glffct" + "-" + ALNUM[:20]]
CAUGHT["grafana"] += ["eyJrIjoi" + (ALNUM * 2)[:72]]
CAUGHT["sentry"] = [
    "sntrys" + "_eyJ" + ALNUM + "+/" + ALNUM + "=_" + ALNUM + "abc",
    "sntryu" + "_" + HEX * 2,
]
CAUGHT["aws"] += ["A3TX" + "J7Q2M5K3P4R6S2T3", "ABSK" + (ALNUM + "+/") * 3]
CAUGHT["jwt"] += ["ZXlK" + "aGJHY2lP" + ALNUM * 2 + "=="]
CAUGHT["stripe"] += ["whsec" + "_" + ALNUM[:20] + "+/" + ALNUM[:9] + "="]
CAUGHT["google"] += ["1//0" + "g" + ALNUM + "-_" + ALNUM]
CAUGHT["provider"] += ["NRII" + "-" + ALNUM[:32], "pscale" + "_oauth_" + ALNUM, "gsk" + "_" + ALNUM]
WAYS_TO_SAY_IT = [
    "{}", "use {} here", "K={}", '"{}"', "'{}'", "({})", "x:{},", r'{{"content":"a\n{}\nb"}}',
    "https://host/?key={}", r"a\u003d{}", "k%3D{}", "\x1b[32m{}\x1b[0m", "[{}](x)", "`{}`.",
]  # fmt: skip
FIELDS = [
    "password: {}", "Password = {}", "PASSWORD={}", "DB_PASSWORD='{}'", 'dbPassword: "{}",',
    "token={}", "token={}&user=bob", "access_token: {}", '"api_key": "{}"', "'apiKey' => '{}'",
    "API-KEY: {}", "x-api-key: {}", "client_secret={}", r'{{\"secret\": \"{}\"}}',
    'password: str = "{}"', "Authorization: Bearer {}", "authorization: Basic {}",
    'curl -H "Authorization: token {}"', "Bearer {}", "--password {}", "--api-key={}",
    "<password>{}</password>", "my password is {}", "**Password:** {}", "`token`: `{}`",
    'config["secret"] = "{}"', "postgres://app:{}@db/x", "https://{}@example.com/x",
    "aws_secret_access_key = {}", "SECRET_KEY_BASE={}", "passphrase: {}", "pwd={}",
    "if password == '{}':",
]  # fmt: skip
UNTOUCHED = [
    "commit 3f2a9c1d0b8e7f6a5c4d3e2f1a0b9c8d7e6f5a4b", "0190aa00-7c1e-7b4e-9f00-1234567890ab",
    "sha256:" + "9f86d081884c7d659a2feaa0c55ad015" * 2, "sha512-" + ALNUM * 2 + "==",
    "a risk-based-decision-making-approach", "task-0190aa0007c1e", "desk-standing-0123456789abcd",
    "mas" + "k-ABCdef" + "0123456789ABCdef0123", "reflector.runtime.supervisor.launch_detached_process",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE",
    "token: ${GITHUB_TOKEN}", "token: <your-key>", "api_key=<your-key>", "TOKEN=$TOKEN",
    "password: {{ password }}", "password = os.environ['PASSWORD']", "token = process.env.TOKEN",
    "token = get_token(user1)", "const token = await getToken(user2)", "password: str",
    "your password: must be at least 12 characters", 'password: "must be 12 characters long"',
    "Password: required", "the token: it expires after 3600 seconds", "max_tokens=4096",
    "tokens: 120000", "token_count: 12345678", "tokenizer = Tokenizer32()", '"token": null',
    "password=password", "password=self.password1", "token: Optional[str] = None", "password: ****",
    "api_key: xxxxxxxxxxxxxxxx", "api_key = YOUR_API_KEY", "key: value12345", "primary_key=id12345",
    "Bearer authentication is used", "Authorization: Bearer <token>", "Authorization: Bearer $TOKEN",
    "secret: true", "git@github.com:a/b.git", "https://example.com:8080/a@b", "sk-learn",
    "postgres://user:${PASSWORD}@db/x", "http://user:password@host/", "PWD=/home/person/project1",
    "socks5h://<username>:<password>@proxy-host1",
    "sk-learn-compatible-estimator-classes-and-more-words", "basic token handling",
    "the secret_name_of_this_kubernetes_object", 'label: "login.password.hint"',
    "4b1d" + HEX + "0a1b", "4b1d" + HEX + HEX[:28], "sha256~abc", "TASK" + HEX, "cache-key-" + HEX,
    "path.to.some.module.atlas.v1.something_long_enough_to_be_a_run", "sm_pattern_matching_of_names",
    "EAAA" + ("ABCDEFGH" * 9)[:72], "API-REFERENCE-OF-THE-WHOLE-SYSTEM", "v1.0-beta-and-some-more-words",
    "the file pat.something.else.entirely.txt", "access-production-database-of-the-shop",
    "https://example.com/a//b/1//0", "10:30:AA", "s-s4t2-is-a-name-of-something",
]  # fmt: skip
