"""Bodies that break parsers, stores and memories: refused with the path, or kept to the last bit (T18)."""

from __future__ import annotations

import gzip
import json
import resource
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.conftest import assert_refused
from tests.samples import source_event

CAPTURE = "/v1/events:capture"


def _capture(http: httpx.Client, text: str | bytes, **headers: str) -> httpx.Response:
    content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return http.post(CAPTURE, content=content, headers={"Content-Type": "application/json", **headers})


def _event(payload: str) -> str:
    record = json.dumps(source_event(payload={"x": 0})).replace('{"x": 0}', payload)
    return '{"payload": {"events": [' + record + "]}}"


REFUSED = {
    "nothing": "",
    "not JSON": "{",
    "a list": "[]",
    "a text": '"x"',
    "a number": "7",
    "null": "null",
    "trailing text": "{} {}",
    "comments": '{"payload": {} /* x */}',
    "byte order mark": "\ufeff{}",
    "no payload": "{}",
    "an unknown field": '{"payload": {}, "surprise": 1}',
    "true for a number": '{"payload": {}, "expected_versions": {"belief:a": true}}',
    "a text for a number": '{"payload": {}, "expected_versions": {"belief:a": "1"}}',
    "NaN": _event('{"x": NaN}'),
    "infinity": _event('{"x": Infinity}'),
    "minus infinity": _event('{"x": -Infinity}'),
    "beyond a double": _event('{"x": 1e400}'),
    "2^53": _event('{"x": 9007199254740992}'),
    "2^63": _event('{"x": 9223372036854775808}'),
    "a number of 5,000 digits": _event('{"x": ' + "9" * 5_000 + "}"),
    "a lone surrogate": _event(r'{"x": "\ud800"}'),
    "a lone surrogate as a key": _event(r'{"\udfff": 1}'),
    "a duplicate key": _event('{"x": 1, "x": 2}'),
    "a duplicate key in the envelope": '{"payload": {}, "payload": {}}',
    "100,000 levels": _event('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}"),
    "100,000 levels, never closed": "[" * 100_000,
    "60,000 keys": _event("{" + ",".join(f'"k{i}": 0' for i in range(60_000)) + "}"),
    "a list of 400,000 wrong records": '{"payload": {"events": [' + "0," * 400_000 + "0]}}",
    "400,000 unknown fields": '{"payload": {' + ",".join(f'"k{i}": 0' for i in range(400_000)) + "}}",
}


@pytest.mark.reliability("T18")
@pytest.mark.case("C68")
@pytest.mark.parametrize("text", REFUSED.values(), ids=list(REFUSED))
def test_a_body_that_would_have_to_be_guessed_is_refused(http: httpx.Client, text: str) -> None:
    """Each is `schema_invalid`, in the one shape, and never a 500."""
    assert_refused(_capture(http, text), 422, "schema_invalid")


@pytest.mark.reliability("T18")
def test_bytes_that_are_not_utf_8_are_refused(http: httpx.Client) -> None:
    """Latin-1, UTF-16 and raw surrogates are no JSON text."""
    for raw in (b'{"payload": "\xe9"}', '{"payload": {}}'.encode("utf-16"), b'{"payload": "\xed\xa0\x80"}'):
        assert_refused(_capture(http, raw), 422, "schema_invalid")


@pytest.mark.reliability("T18")
def test_a_fault_names_its_path_from_the_top_of_the_body(http: httpx.Client) -> None:
    """The envelope's faults and the command's are named alike."""
    assert_refused(
        _capture(http, '{"payload": {}, "scope": {"agent_id": 7}}'), 422, "schema_invalid", "scope.agent_id"
    )
    wrong = source_event(source_type="Not A Type")
    answer = http.post(CAPTURE, json={"payload": {"events": [source_event("evd_ok"), wrong]}})
    assert_refused(answer, 422, "schema_invalid", "payload.events[1].source_type")
    at = "payload.events[0].payload"
    for value, place in {
        '{"x": [0, 1e400]}': ".x[1]",
        '{"x": [0, NaN]}': ".x[1]",
        '{"x": 1, "x": 2}': ".x",
        '{"x": [0, ' + "9" * 5_000 + "]}": ".x[1]",
        r'{"x": [0, "\ud800"]}': ".x[1]",
        '{"x": ' + "[" * 28 + "]" * 28 + "}": ".x" + "[0]" * 27,
        '{"x": ' + "[" * 9_000: ".x" + "[0]" * 27,
    }.items():
        assert_refused(_capture(http, _event(value)), 422, "schema_invalid", at + place)
    twice = '{"payload": {}, "scope": {"agent_id": "a", "agent_id": "b"}}'
    assert_refused(_capture(http, twice), 422, "schema_invalid", "scope.agent_id")


@pytest.mark.reliability("T18")
def test_a_body_beyond_the_limit_is_refused_while_it_is_read(http: httpx.Client) -> None:
    """64 MB, announced or in chunks, cost neither memory nor a 500."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def chunks() -> Iterator[bytes]:
        for _ in range(1_000):
            yield b" " * 64_000

    for content in (chunks(), b" " * 64_000_000):
        try:
            answer = http.post(CAPTURE, content=content, headers={"Content-Type": "application/json"})
        except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
            # The refusal came before all was sent, and the connection was closed on the rest.
            continue
        assert_refused(answer, 422, "schema_invalid")

    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kb < 200_000


@pytest.mark.reliability("T18")
def test_a_compressed_body_is_refused_unopened(http: httpx.Client) -> None:
    """A gzip bomb is never inflated."""
    bomb = gzip.compress(b" " * 50_000_000)
    assert_refused(_capture(http, bomb, **{"Content-Encoding": "gzip"}), 422, "schema_invalid")
    assert_refused(_capture(http, bomb), 422, "schema_invalid")


@pytest.mark.reliability("T18")
def test_a_body_of_another_type_is_refused(http: httpx.Client) -> None:
    """Forms and XML are not guessed at."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/xml"):
        assert_refused(_capture(http, "{}", **{"Content-Type": kind}), 422, "schema_invalid")


KEPT: dict[str, Any] = {
    "zero with a sign": -0.0,
    "the largest integer": 2**53 - 1,
    "the smallest integer": -(2**53 - 1),
    "a tiny number": 5e-324,
    "mixed numbers": [1, 1.5, -2],
    "null members": {"a": None, "b": [None]},
    "a NUL": "a\u0000b",
    "an emoji family": "👨\u200d👩\u200d👧\u200d👦",
    "right to left": "שלום \u202e abc",
    "combining marks": "e\u0301\u0323",
    "NFC and NFD twins": {"\u00e9": 1, "e\u0301": 2},
    "an empty name": {"": 1},
    "a key of 8,200 bytes": {"k" * 8_200: 1},
    "a text of 20,000 characters": "x" * 20_000,
    "what looks like Cypher": "'}) DETACH DELETE n //",
}


@pytest.mark.reliability("T18", "T23")
@pytest.mark.case("C68", "C76")
def test_odd_but_lawful_values_come_back_to_the_last_bit(http: httpx.Client) -> None:
    """Captured twice they are one evidence, so the digest before equals the digest after."""
    events = [
        {"source_type": "note", "source_ref": name, "payload": {"value": value}}
        for name, value in KEPT.items()
    ]
    first = http.post(CAPTURE, json={"payload": {"events": events}}).json()
    second = http.post(CAPTURE, json={"payload": {"events": events}}).json()

    assert first["result_status"] == "accepted", first
    assert len(first["payload"]["created"]) == len(KEPT)
    assert second["payload"]["created"] == []
    assert second["payload"]["reused"] == first["payload"]["evidence_refs"]
    assert http.get("/v1/verify").json()["payload"]["ok"] is True


@pytest.mark.case("C65")
def test_the_same_oversize_payload_is_refused_on_every_way_in(http: httpx.Client) -> None:
    """Evidence that is too large for capture is too large for commit and propose."""
    event = source_event(payload={"text": "x" * 4_100_000})
    atom = {
        "type": "semantic",
        "payload": {"statement": "x"},
        "evidence_refs": ["evd_turn1"],
        "confidence": {"level": "low"},
    }
    ways = {
        CAPTURE: {"events": [event]},
        "/v1/atoms:commit": {"events": [event], "atoms": [atom]},
        "/v1/atoms:propose": {"events": [event], "candidates": [atom]},
    }
    for path, payload in ways.items():
        answer = http.post(path, json={"payload": payload})
        assert_refused(answer, 422, "schema_invalid", "payload.events[0].payload")
