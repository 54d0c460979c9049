"""A signed head, kept outside, shows what a journal cannot show of itself (T08, T09, T10)."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from amos_graph.commands.capture import capture
from amos_graph.commands.execution import Context
from amos_graph.domain.checkpoint import (
    Checkpoint,
    compare,
    key_id,
    parse_checkpoint,
    parse_private,
    parse_public,
    private_pem,
    public_pem,
    sign,
    signer_of,
)
from amos_graph.domain.events import checksum, event_node, event_record
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.journal import chain_page
from amos_graph.queries.verify import checkpoint_of, verify
from amos_graph.upkeep.checkpoints import known_keys, read_checkpoint, signing_key, take
from amos_graph.upkeep.restore import restore
from tests.administrator import run, wipe
from tests.backup.conftest import LINE_BYTES_MAX, Told
from tests.conftest import ContextOf
from tests.samples import source_event

HEAD = {
    "schema_version": "amos.v1",
    "store_id": "s1",
    "shard": "t/w",
    "graph_version": 120,
    "head_hash": "sha256:" + "a" * 64,
}
AT = "2026-11-30T12:00:00.000000Z"


@pytest.fixture(scope="module")
def key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.generate()


def test_a_signature_holds_for_every_field_and_for_the_pinned_key_alone(key: Ed25519PrivateKey) -> None:
    """Any field changed, another key, or a signature taken from another checkpoint: refused."""
    kept = sign(HEAD, AT, key)
    pinned = [Ed25519PrivateKey.generate().public_key(), key.public_key()]
    assert signer_of(kept, pinned) == key_id(key.public_key())
    changes: dict[str, Any] = {
        "store_id": "s2",
        "shard": "t/x",
        "graph_version": 119,
        "head_hash": "sha256:" + "b" * 64,
        "taken_at": "2026-11-30T12:00:00.000001Z",
        "key_id": "0" * 16,
        "signature": sign({**HEAD, "graph_version": 121}, AT, key).signature,
    }
    for name, value in changes.items():
        with pytest.raises(AmosError) as refused:
            signer_of(kept.model_copy(update={name: value}), pinned)
        assert refused.value.code == "authorization_denied", name
    with pytest.raises(AmosError, match="none of the 1 known public keys"):
        signer_of(kept, pinned[:1])
    with pytest.raises(AmosError, match="none of the 0 known public keys"):
        signer_of(kept, [])
    with pytest.raises(AmosError, match="not base64"):
        signer_of(kept.model_copy(update={"signature": "?"}), pinned)


@pytest.mark.reliability("T10")
def test_a_checkpoint_cannot_choose_the_key_that_it_is_verified_with(key: Ed25519PrivateKey) -> None:
    """A forger's own key, named by the forged checkpoint, counts for nothing (CVE-2022-39199)."""
    forger = Ed25519PrivateKey.generate()
    forged = sign({**HEAD, "head_hash": "sha256:" + "f" * 64}, AT, forger)
    assert forged.key_id == key_id(forger.public_key())
    with pytest.raises(AmosError) as refused:
        signer_of(forged, [key.public_key()])
    assert refused.value.code == "authorization_denied"


def test_an_unsigned_checkpoint_has_no_signer(key: Ed25519PrivateKey) -> None:
    """It is what it says; whoever reads it is told that nobody vouches for it."""
    assert signer_of(parse_checkpoint(json.dumps(HEAD).encode()), [key.public_key()]) is None


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "not JSON", '{"a": 1}', json.dumps({**HEAD, "graph_version": 0})],
)
def test_what_is_no_checkpoint_is_told(text: str) -> None:
    """With the path of what is wrong with it."""
    with pytest.raises(AmosError) as refused:
        parse_checkpoint(text.encode(), "kept.json")
    assert refused.value.code == "schema_invalid"
    assert "kept.json" in refused.value.message


def test_keys_survive_their_files(key: Ed25519PrivateKey) -> None:
    """What is written is read again; what is no Ed25519 key in PEM form is told."""
    assert parse_private(private_pem(key).encode(), "k").public_key() == key.public_key()
    assert parse_public(public_pem(key.public_key()).encode(), "k") == key.public_key()
    other = X25519PrivateKey.generate().public_key()
    for pem in (b"", b"junk", other.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)):
        with pytest.raises(AmosError, match="it holds no"):
            parse_public(pem, "k")
    for pem in (b"", b"junk", public_pem(key.public_key()).encode()):
        with pytest.raises(AmosError, match="it holds no"):
            parse_private(pem, "k")


def test_the_key_of_a_home_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """The same key signs the next time; its public half is what a reader at this home trusts."""
    made = signing_key(tmp_path)
    kept = take(HEAD, tmp_path)
    assert signing_key(tmp_path).private_bytes_raw() == made.private_bytes_raw()
    assert signer_of(kept, known_keys([], tmp_path)) == key_id(made.public_key())
    assert known_keys([], tmp_path / "elsewhere") == []
    for path in (tmp_path / "keys" / "checkpoint.key", tmp_path / "keys" / "checkpoint.pub"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (tmp_path / "keys" / "checkpoint.key").write_text("damaged")
    with pytest.raises(AmosError, match="holds no private key"):
        signing_key(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(AmosError) as refused:
        signing_key(tmp_path / "file")
    assert refused.value.code == "unavailable"
    with pytest.raises(AmosError, match="cannot be read"):
        read_checkpoint(tmp_path / "absent")


@pytest.mark.reliability("T10")
@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ({}, "same"),
        ({"head_hash": "sha256:" + "b" * 64}, "conflict"),
        ({"graph_version": 7}, "ordered"),
        ({"store_id": "s2"}, "other_store"),
        ({"shard": "t/x"}, "other_shard"),
    ],
)
def test_two_heads_are_compared_without_a_store(change: dict[str, Any], outcome: str) -> None:
    """Only two heads of one store, one shard and one length prove something; nothing else is claimed."""
    one = Checkpoint.model_validate(HEAD)
    assert compare(one, one.model_copy(update=change)).outcome == outcome


def kept(told: Told, home: Path) -> dict[str, Any]:
    """The present head, signed, read again from its file and verified with the pinned key."""
    taken = take(checkpoint_of(told.context.graph, told.shard), home)
    file = home / "kept.json"
    file.write_text(json.dumps(taken.record()))
    found = read_checkpoint(file)
    assert signer_of(found, known_keys([], home)) is not None
    return found.record()


def faults(graph: Graph, shard: str, checkpoint: dict[str, Any]) -> list[str]:
    """What verification says when the checkpoint is at hand; without it, there is nothing to see."""
    assert [fault.record() for fault in verify(graph, shard).faults] == []
    return [fault.message for fault in verify(graph, shard, checkpoint=checkpoint).faults]


@pytest.mark.reliability("T09")
def test_an_older_copy_a_cut_tail_and_a_store_made_anew_are_shown_by_the_checkpoint(
    told: Told, there: Context, tmp_path: Path
) -> None:
    """The store is sound by itself; the signed head says what is missing: "checkpoint at 9, store at 6"."""
    older = told.export("older.jsonl")
    before = checkpoint_of(told.context.graph, told.shard)["graph_version"]
    for number in range(3):
        capture(told.context, {"events": [source_event(f"evd_tail_{number}")]})
    head = kept(told, tmp_path)

    # A dump of last week is put back, or somebody cut the tail and reset the head: the same store.
    restore(there.graph, there.archive, older, line_bytes_max=LINE_BYTES_MAX)
    at = head["graph_version"]
    assert faults(there.graph, told.shard, head) == [f"checkpoint at {at}, store at {before}"]
    assert at == before + 3

    # It goes on from there to the same length with other events.
    for number in range(3):
        capture(there, {"events": [source_event(f"evd_other_{number}")]})
    assert faults(there.graph, told.shard, head) == [f"event {at} is not the one that the checkpoint names"]

    # The shard is wiped and begun anew, and has more events in the end.
    wipe(there.graph, told.shard)
    assert faults(there.graph, told.shard, head) == [
        f"checkpoint at {at}, the store has no journal of this shard"
    ]
    for number in range(at + 1):
        capture(there, {"events": [source_event(f"evd_anew_{number}")]})
    assert faults(there.graph, told.shard, head) == [
        "this is another store than the checkpoint was taken of",
        f"event {at} is not the one that the checkpoint names",
    ]


@pytest.mark.reliability("T09")
def test_a_tail_that_is_cut_in_the_graph_is_shown_by_the_checkpoint(
    tampered: Told, context_of: ContextOf, tmp_path: Path
) -> None:
    """Somebody with the database's password takes the newest event out and mends all that points at it."""
    capture(context_of(), {"events": [source_event("evd_last")]})
    head = kept(tampered, tmp_path)
    run(
        tampered.context.graph,
        """
        MATCH (j:Journal {shard: $shard})-[:HEAD]->(e:Event)<-[:NEXT]-(before:Event)
        MATCH (e)-[:WROTE]->(v:Version)-[:OF]->(n)
        SET j.graph_version = before.graph_version, j.head_hash = before.checksum,
            j.version_count = j.version_count - 1, j.body_bytes = j.body_bytes - size(v.body),
            j.accepted_at = $accepted_at
        CREATE (j)-[:HEAD]->(before)
        DETACH DELETE e, v, n
        """,
        shard=tampered.shard,
        accepted_at=_accepted_before(tampered),
    )
    at = head["graph_version"]

    assert faults(tampered.context.graph, tampered.shard, head) == [f"checkpoint at {at}, store at {at - 1}"]


def _accepted_before(told: Told) -> str:
    """When the event before the newest was accepted."""
    graph, shard = told.context.graph, told.shard
    at = checkpoint_of(graph, shard)["graph_version"] - 1
    (row,) = graph.read("test", lambda tx: chain_page(tx, shard, at - 1, at))
    return event_record(row.event)["accepted_at"]


@pytest.mark.reliability("T08")
def test_a_chain_that_is_rewritten_to_its_head_is_shown_by_the_checkpoint_only(
    tampered: Told, tmp_path: Path
) -> None:
    """Every hash from some event on made anew: sound from inside, and not what was signed."""
    graph, shard = tampered.context.graph, tampered.shard
    head = kept(tampered, tmp_path)
    rows = graph.read("test", lambda tx: chain_page(tx, shard, 4, head["graph_version"]))
    before = rows[0].event["previous_event_hash"]
    for row in rows:
        event = {**event_record(row.event), "actor": "svc:forger", "previous_event_hash": before}
        before = event["checksum"] = checksum(event)
        run(
            graph,
            "MATCH (e:Event {shard: $shard, graph_version: $at}) SET e = $properties",
            shard=shard,
            at=event["graph_version"],
            properties=event_node(event),
        )
    run(graph, "MATCH (j:Journal {shard: $shard}) SET j.head_hash = $hash", shard=shard, hash=before)
    at = head["graph_version"]

    assert faults(graph, shard, head) == [f"event {at} is not the one that the checkpoint names"]


@pytest.mark.reliability("T10")
def test_a_fork_is_proven_by_two_signed_heads(told: Told, there: Context, tmp_path: Path) -> None:
    """One export restored, then other events here and there: each is sound, together they are a conflict."""
    file = told.export()
    common = kept(told, tmp_path)
    restore(there.graph, there.archive, file, line_bytes_max=LINE_BYTES_MAX)
    for store in (told.context, there):
        capture(store, {"events": [source_event("evd_same", payload={"store": id(store)})]})
    one = take(checkpoint_of(told.context.graph, told.shard), tmp_path)
    other = take(checkpoint_of(there.graph, told.shard), tmp_path)
    pinned = known_keys([], tmp_path)

    assert signer_of(one, pinned) == signer_of(other, pinned) is not None
    assert one.graph_version == other.graph_version
    assert one.store_id == other.store_id
    assert compare(one, other).outcome == "conflict"
    # Both go on from the head that was signed before: the old head is a prefix of each.
    for graph in (told.context.graph, there.graph):
        assert faults(graph, told.shard, common) == []
    assert faults(there.graph, told.shard, one.record()) != []


@pytest.mark.reliability("T29")
def test_a_checkpoint_stays_good_for_a_restored_store(told: Told, there: Context, tmp_path: Path) -> None:
    """A copy goes on being the store that it is a copy of."""
    head = kept(told, tmp_path)
    restore(there.graph, there.archive, told.export(), line_bytes_max=LINE_BYTES_MAX)
    capture(replace(there, idempotency_key="after"), {"events": [source_event("evd_after")]})

    assert faults(there.graph, told.shard, head) == []
