"""Who may speak to the HTTP server, header by header."""

from __future__ import annotations

import pytest

from reflector.surface.mcp.guard import Gate

TOKEN = "0123456789abcdef"
GATE = Gate(TOKEN, 8377)
HOST = (b"Host", b"127.0.0.1:8377")
SHOWN = (b"Authorization", b"Bearer " + TOKEN.encode())


def status(*headers):
    refusal = GATE.refusal(headers)
    return refusal.status if refusal else 0


@pytest.mark.parametrize("host", [b"127.0.0.1:8377", b"localhost:8377", b"LocalHost:8377"])
@pytest.mark.parametrize("origin", [None, b"http://127.0.0.1:8377", b"http://localhost:8377"])
@pytest.mark.parametrize("scheme", [b"Bearer ", b"bearer "])
def test_a_client_with_the_token_passes(host, origin, scheme):
    headers = [(b"host", host), (b"authorization", scheme + TOKEN.encode())]
    headers += [(b"origin", origin)] if origin else []
    assert status(*headers) == 0


@pytest.mark.parametrize(
    "host",
    [
        b"evil.example",
        b"evil.example:8377",
        b"127.0.0.1",
        b"127.0.0.1:80",
        b"127.0.0.1:8377.evil.example",
        b"localhost:8377@evil.example",
        b"",
    ],
)
def test_a_foreign_host_is_refused_even_with_the_token(host):
    assert status((b"host", host), SHOWN) == 421


def test_no_host_and_two_hosts_are_refused():
    assert status(SHOWN) == 421
    assert status(HOST, HOST, SHOWN) == 421


@pytest.mark.parametrize(
    "origin",
    [
        b"null",
        b"",
        b"http://evil.example",
        b"https://127.0.0.1:8377",
        b"http://127.0.0.1",
        b"http://127.0.0.1:8377.evil.example",
    ],
)
def test_a_foreign_origin_is_refused_even_with_the_token(origin):
    assert status(HOST, (b"origin", origin), SHOWN) == 403
    assert status(HOST, (b"origin", b"http://127.0.0.1:8377"), (b"origin", origin), SHOWN) == 403


@pytest.mark.parametrize(
    "shown",
    [
        b"",
        TOKEN.encode(),
        b"Bearer",
        b"Bearer ",
        b"Bearer 0123456789abcdeF",
        b"Bearer 0123456789abcdef0",
        b"Basic 0123456789abcdef",
        b"Bearer \xff\xfe",
    ],
)
def test_a_wrong_token_is_refused(shown):
    assert status(HOST, (b"authorization", shown)) == 401


def test_a_missing_token_and_two_of_them_are_refused():
    assert status(HOST) == 401
    assert status(HOST, SHOWN, SHOWN) == 401
    assert status(HOST, (b"authorization", b"Bearer x"), SHOWN) == 401
