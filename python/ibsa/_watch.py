# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Events that the SA reports, as an iterator."""

import ctypes
import errno
from collections import deque
from typing import Any, Deque, List, NamedTuple, Optional, Set, Tuple

from ._callback import Entry, called
from ._client import Client, GidValue
from ._native import ErrorText, EventOptions, EventStruct, Gid, filled, lib
from ._records import Record, gid_parse, gid_text, record_class
from .constants import EventKind
from .errors import check


class Event(NamedTuple):
    """One event; see struct ibsa_event in <ibsa/event.h>.

    gid is "" and notice is None if the event has none.
    """

    kind: EventKind
    err: int = 0
    status: int = 0
    trap: int = 0
    gid: str = ""
    lid: int = 0
    port_num: int = 0
    sequence: int = 0
    time_ns: int = 0
    notice: "Optional[Record[Any]]" = None
    audited: bool = False
    holder: str = ""

    @property
    def name(self) -> str:
        """The name of the kind, such as "gid-in"."""
        return str(lib.ibsa_event_name(self.kind).decode())


class WatchEntry(Entry):
    __slots__ = ()

    def take(self, address: int) -> Tuple[bool, Any]:
        event = EventStruct.from_address(address)
        kind = EventKind(event.kind)
        notice = None
        if event.notice:
            notice = record_class("Notice")._copy(event.notice)
        gid = gid_text(event.gid) if any(event.gid.raw) else ""
        return kind == EventKind.ENDED, Event(
            kind, event.err, event.status, event.trap, gid, event.lid,
            event.port_num, event.sequence, event.time_ns, notice,
            event.audited, (event.holder or b"").decode("utf-8", "replace"))


class Watch:
    """Events, by for or async for. The iteration ends when the watch is closed.

    A watch ends with its client, with close() or at the end of a with block.
    """

    def __init__(self, client: Client, kinds: EventKind, gids: List[GidValue],
                 audit_ms: int, deadline_ms: int, audit_nodes: bool,
                 limit: int) -> None:
        self._client = client
        self._events: Deque[Event] = deque()
        self._limit = limit
        self._missed = False
        self._waiters: Set[Any] = set()
        self._handle: Any = None
        filters = (Gid * len(gids))(*map(gid_parse, gids)) if gids else None
        options = filled(
            EventOptions, kinds=int(kinds), gids=filters, gid_count=len(gids),
            audit_ms=audit_ms, deadline_ms=deadline_ms, audit_nodes=audit_nodes)
        entry = WatchEntry(client, self._happened)
        handle, error = ctypes.c_void_p(), ErrorText()
        try:
            with client._lock:
                check(lib.ibsa_event_watch_start_sized(
                    client._use(), options, ctypes.sizeof(options), called, entry.token, error,
                    handle), error)
            self._entry = entry
            self._handle = handle.value
        except BaseException:
            if handle.value:  # a signal's handler; C has the watch
                lib.ibsa_event_watch_stop(handle)
            entry.forget()
            raise

    def _happened(self, event: Event) -> None:
        if event.kind == EventKind.ENDED:
            self._handle = None
        elif self._handle is None:
            return
        elif len(self._events) >= self._limit:
            self._missed = True
            return
        else:
            self._events.append(event)
        self._wake()

    def _wake(self) -> None:
        """All tasks that read the events: one of them gets the event."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _next(self) -> Optional[Event]:
        if self._events:
            return self._events.popleft()
        if self._missed:
            self._missed = False
            return Event(EventKind.GAP, -errno.ENOBUFS)
        return None

    def close(self) -> None:
        """End the watch; events that were not read are dropped."""
        with self._client._lock:
            if self._handle is None:
                return
            if not self._client.closed:
                lib.ibsa_event_watch_stop(self._handle)
            self._handle = None
        self._entry.forget()
        self._events.clear()
        self._wake()
        if self._client._binding is not None:
            self._client._binding.changed()

    def __iter__(self) -> "Watch":
        return self

    def __next__(self) -> Event:
        self._client._wait_until(
            lambda: self._events or self._missed or self._handle is None)
        event = self._next()
        if event is None:
            raise StopIteration
        return event

    def __aiter__(self) -> "Watch":
        return self

    async def __anext__(self) -> Event:
        while True:
            event = self._next()
            if event is not None:
                return event
            if self._handle is None:
                raise StopAsyncIteration
            binding = self._client._attached()
            waiter = binding.waiter()
            self._waiters.add(waiter)
            try:
                await binding.wait(waiter)
            finally:
                self._waiters.discard(waiter)

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> "Watch":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
