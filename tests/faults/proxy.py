"""A TCP proxy that reads enough of Bolt to cut a connection at a chosen client message.

The client's bytes are framed: a handshake of 20 bytes, then messages of chunks, each with its length in
two bytes and an empty chunk at the end. A message is a PackStream structure whose second byte names it.
Manifest handshakes (Bolt 5.7 and later) put one answer of the client more between the two.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Final

HELLO: Final = 0x01
RUN: Final = 0x10
BEGIN: Final = 0x11
COMMIT: Final = 0x12
ROLLBACK: Final = 0x13
PULL: Final = 0x3F
_HANDSHAKE_BYTES: Final = 20
_MAGIC: Final = b"\x60\x60\xb0\x17"
_MANIFEST: Final = b"\x00\x00\x01\xff"


class Cut(Enum):
    """Where a connection is cut at a message."""

    #: The server never gets the message.
    BEFORE = "before"
    #: The server gets it and may act on it; the client never gets the answer.
    AFTER = "after"
    #: The server acts on it and answers; the answer is thrown away.
    ANSWER = "answer"
    #: The server gets the first half of the message.
    HALF = "half"


#: Decides at each client message, by its signature, whether and how the connection is cut there.
Plan = Callable[[int], Cut | None]


def never(_signature: int) -> Cut | None:
    """The plan of a proxy that only passes on."""
    return None


@dataclass
class Proxy:
    """A running proxy: what passes is counted, and `plan` may be changed at any time."""

    port: int
    target: tuple[str, int]
    plan: Plan = never
    #: Seconds that each client message is held back.
    delay_s: float = 0.0
    #: Connections are refused while this is set.
    closed: bool = False

    def __post_init__(self) -> None:
        self.messages: Counter[int] = Counter()
        self.cuts: Counter[Cut] = Counter()
        #: The addresses by which the server knew the connections of this proxy.
        self.addresses: set[str] = set()
        self._lock = threading.Lock()
        self._pairs: set[_Pair] = set()

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def reset_all(self) -> int:
        """Reset every open connection at once; returns how many there were."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            pair.reset()
        return len(pairs)

    def decide(self, signature: int) -> Cut | None:
        """What to do at a message; one message at a time, so that plans may count."""
        with self._lock:
            self.messages[signature] += 1
            cut = self.plan(signature)
            if cut:
                self.cuts[cut] += 1
        if self.delay_s:
            time.sleep(self.delay_s)
        return cut

    def serve(self, listener: socket.socket) -> None:
        """Accept connections until the listener is closed."""
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            if self.closed:
                client.close()
                continue
            try:
                server = socket.create_connection(self.target, timeout=5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            pair = _Pair(self, client, server)
            with self._lock:
                self._pairs.add(pair)
                self.addresses.add("{}:{}".format(*server.getsockname()))
            threading.Thread(target=pair.forward, daemon=True).start()
            threading.Thread(target=pair.answer, daemon=True).start()

    def forget(self, pair: _Pair) -> None:
        with self._lock:
            self._pairs.discard(pair)


class _Pair:
    """One client connection and the server connection that it stands for."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self.proxy, self.client, self.server = proxy, client, server
        #: Set when the next bytes of the server are the answer to throw away.
        self.swallow = threading.Event()

    def forward(self) -> None:
        """Pass the client's messages on, until one of them is where the plan cuts."""
        with contextlib.suppress(OSError, EOFError):
            self._handshake()
            while True:
                raw, signature = self._message()
                cut = self.proxy.decide(signature)
                if cut is None:
                    self.server.sendall(raw)
                    continue
                self._cut(cut, raw)
                return
        self.reset()

    def _cut(self, cut: Cut, raw: bytes) -> None:
        if cut is Cut.ANSWER:
            self.swallow.set()
            self.server.sendall(raw)
            return
        if cut is Cut.HALF:
            self.server.sendall(raw[: len(raw) // 2])
        elif cut is Cut.AFTER:
            self.server.sendall(raw)
            # In order: the server reads the message before it sees that nobody waits for the answer.
            self.server.shutdown(socket.SHUT_WR)
        self.reset(gently=cut is Cut.AFTER)

    def answer(self) -> None:
        """Pass the server's bytes back."""
        with contextlib.suppress(OSError):
            while data := self.server.recv(65_536):
                if self.swallow.is_set():
                    break
                self.client.sendall(data)
        self.reset()

    def reset(self, *, gently: bool = False) -> None:
        """Close both ends; the client sees a reset and no orderly end."""
        self.proxy.forget(self)
        for end in (self.client,) if gently else (self.client, self.server):
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        if gently:
            self.server.close()

    def _handshake(self) -> None:
        raw = self._exactly(_HANDSHAKE_BYTES)
        if raw[:4] != _MAGIC:
            raise EOFError
        self.server.sendall(raw)
        if _MANIFEST in raw:
            # The client answers the server's manifest with a version and its capabilities (a varint).
            chosen = self._exactly(4)
            while True:
                byte = self._exactly(1)
                chosen += byte
                if byte[0] < 0x80:
                    break
            self.server.sendall(chosen)

    def _message(self) -> tuple[bytes, int]:
        """One whole message as it came, and its signature; empty chunks before it keep a connection alive."""
        raw, body = b"", b""
        while True:
            size = self._exactly(2)
            raw += size
            length = int.from_bytes(size, "big")
            if length == 0:
                if body:
                    return raw, body[1] if len(body) > 1 else -1
                continue
            chunk = self._exactly(length)
            raw += chunk
            body += chunk

    def _exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            data = self.client.recv(count - len(found))
            if not data:
                raise EOFError
            found += data
        return found


@contextmanager
def proxied(host: str, port: int) -> Generator[Proxy]:
    """A proxy on loopback before `host:port`, closed with all of its connections at the end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy(listener.getsockname()[1], (host, port))
        threading.Thread(target=proxy.serve, args=(listener,), daemon=True).start()
        try:
            yield proxy
        finally:
            listener.close()
            proxy.reset_all()
