"""The page of the OpenAPI document works where nothing but the service can be reached."""

from __future__ import annotations

import re

import httpx


def test_the_docs_page_takes_every_file_from_the_service(anonymous: httpx.Client) -> None:
    """It names no other host, forbids the browser to ask one, and each file that it names is there."""
    page = anonymous.get("/docs")

    assert page.status_code == 200
    assert re.findall(r"https?:|[\"'(]//", page.text) == []
    assert "default-src 'self'" in page.headers["content-security-policy"]
    named = re.findall(r"(?:src|href)=\"([^\"]+)\"", page.text) + re.findall(r"url: '([^']+)'", page.text)
    assert len(named) == 4
    for name in named:
        answer = anonymous.get(str(page.url.join(name)))
        assert answer.status_code == 200, name
        assert answer.content, name


def test_the_style_of_the_docs_page_loads_nothing_from_elsewhere(anonymous: httpx.Client) -> None:
    """Its pictures are in it."""
    style = anonymous.get("/docs/swagger-ui.css").text

    assert re.findall(r"url\((?![\"']?data:)|@import", style) == []


def test_there_is_no_page_that_would_ask_another_host(anonymous: httpx.Client) -> None:
    """ReDoc is off, and the folder of the page holds its own files only."""
    for path in ("/redoc", "/docs/oauth2-redirect", "/docs/..%2fmain.py", "/docs/main.py"):
        answer = anonymous.get(path)
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (404, "not_found")
