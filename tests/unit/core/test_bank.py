from __future__ import annotations

import pytest

from reflector.core.bank import bank_id, canonical, remote_of

SAME = [
    "git@github.com:acme/Shop.git",
    "ssh://git@github.com/acme/Shop",
    "ssh://git@github.com:22/acme/Shop.git",
    "https://github.com/acme/Shop.git",
    "https://dev:s3cret-t0ken@GitHub.com/acme/Shop/",
    "http://github.com:80/acme/Shop.git/",
    "git://github.com/acme/Shop",
    "  github.com:acme/Shop.git \n",
]


@pytest.mark.parametrize("url", SAME)
def test_all_forms_of_one_remote_are_one(url):
    assert canonical(url) == "github.com/acme/Shop"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://gitlab.com/acme/Shop", "gitlab.com/acme/Shop"),
        ("https://github.com/acme/Shop2", "github.com/acme/Shop2"),
        ("ssh://git@[::1]:2222/a/b.git", "[::1]/a/b"),
        ("/srv/git/shop.git/", "/srv/git/shop"),
        ("../shop", "../shop"),
        ("file:///srv/git/shop.git", "srv/git/shop"),
        ("", ""),
    ],
)
def test_other_remotes_stay_apart(url, expected):
    assert canonical(url) == expected


def test_a_bank_is_named_readably_and_kept_apart_by_its_identity():
    assert bank_id("Shop & Co", "github.com/acme/Shop") == bank_id(
        "shop-co", "github.com/acme/Shop"
    )
    assert bank_id("shop", "/a/shop") != bank_id("shop", "/b/shop")
    assert bank_id("日本", "x").startswith("project-")
    assert len(bank_id("x" * 300, "y")) == 49


CONFIG = """[core]
\tbare = false
\turl = not-this
[remote "upstream"]  # theirs
\turl = https://github.com/them/shop
[remote "origin"]
\tfetch = +refs/heads/*:refs/remotes/origin/*
\tURL = "git@github.com:acme/shop.git"
\tpushurl = https://elsewhere.example/x
[branch "main"]
\turl = not-this-either
"""


def test_the_remote_that_stands_for_a_repository_is_origin_else_the_first_by_name():
    assert remote_of(CONFIG) == "git@github.com:acme/shop.git"
    assert remote_of(CONFIG.replace('"origin"', '"zz"')) == "https://github.com/them/shop"
    assert remote_of("[core]\n\turl = x\n") == ""
    assert remote_of("\x00[remote") == ""
