# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The client: one opened port, queries and reachability.

Callbacks of C append to the list _ended (see _callback.py). The caller of the
dispatch delivers this list after C has returned.
"""

import asyncio
import atexit
import ctypes
import errno
import functools
import os
import select
import signal
import threading
import time
import warnings
import weakref
from collections import deque
from typing import (TYPE_CHECKING, Any, Callable, Deque, Dict, Iterable, List,
                    Mapping, Optional, Tuple, Type, Union, overload)

from ._callback import (BatchEntry, Done, Port, QueryEntry, ReachAnswer,
                        Signals, called, entries)
from ._native import (ErrorText, Gid, Options, PortStruct, Query, ReachOptions,
                      SaAccess, Stats, c_path, c_text, filled, lib)
from ._records import (R, Record, Reply, Value, default_method, gid_parse,
                       one_record, record_class)
from .constants import EventKind, Grh, Method, Why
from .errors import Error, check

if TYPE_CHECKING:
    from ._fabric import Fabric
    from ._loop import LoopBinding
    from ._service import Registration, RegistrationReport
    from ._topology import Topology
    from ._watch import Watch
    from .records import PathRecord

GidValue = Union[str, bytes]


class Client:
    """An open port. Use open() or Fabric.open() to create one.

    A client has one file descriptor and no thread. Its methods may be called
    from several threads, one of which receives for all; a client on an asyncio
    event loop only from the thread of the loop.
    """

    def __init__(self, options: Options,
                 fabric: "Optional[Fabric]" = None) -> None:
        self._handle: Any = None
        self._lock = threading.RLock()
        self._step_lock = threading.RLock()
        self._ended: Deque[Tuple[Done, Any]] = deque()
        self._raised: Deque[BaseException] = deque()
        self._binding: "Optional[LoopBinding]" = None
        self._fabric = fabric
        self._waiters = 0
        handle, error = ctypes.c_void_p(), ErrorText()
        check(lib.ibsa_open_sized(options, ctypes.sizeof(options), error, handle), error)
        self._handle = handle.value
        self._fd: int = lib.ibsa_fd(self._handle)
        _open_clients.add(self)
        if fabric is not None:
            fabric._clients.add(self)

    # Life.

    def _use(self) -> Any:
        if self._handle is None:
            raise Error(-errno.ESHUTDOWN, "the client is closed")
        return self._handle

    @property
    def closed(self) -> bool:
        return self._handle is None

    def close(self) -> None:
        """End all queries and close the port.

        Waits, up to two seconds, until the SA has deleted the client's services
        and subscriptions. Queries in flight end with -ECANCELED.
        """
        with self._lock:
            if self._handle is None:
                return
            with Signals():
                check(lib.ibsa_close(self._handle))
            self._handle = None
        _open_clients.discard(self)
        if self._binding is not None:
            self._binding.detach()
        if self._fabric is not None:
            self._fabric._client_closed(self)
        self._deliver()

    def _inherited(self) -> None:
        """Close the client in a forked child, which must not use it."""
        self._lock, self._step_lock = threading.RLock(), threading.RLock()
        handle, self._handle = self._handle, None
        self._ended.clear()
        self._binding = None
        lib.ibsa_close(handle)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self)
            self.close()

    # Event loops of all kinds.

    def fileno(self) -> int:
        """The descriptor to poll for reading; -1 on a virtual clock."""
        self._use()
        return self._fd

    @property
    def timeout_ms(self) -> int:
        """Milliseconds until dispatch() must be called; -1: no limit."""
        if self._ended or self._raised:
            return 0
        with self._lock:
            return int(lib.ibsa_timeout_ms(self._use()))

    def _dispatch(self, wait_ms: Optional[int] = None) -> int:
        with self._lock, Signals():
            if wait_ms is None:
                return int(lib.ibsa_dispatch(self._use()))
            return int(lib.ibsa_wait(self._use(), wait_ms))

    def _deliver(self, until: float = float("inf")) -> None:
        while self._raised:
            raise self._raised.popleft()
        while self._ended:
            done, result = self._ended.popleft()
            done(result)
            if time.monotonic() > until:
                return

    def _wait(self, timeout_ms: int) -> int:
        """Wait once for the client, and dispatch without delivering."""
        if self._fd < 0:
            return self._dispatch(timeout_ms)
        limit = self.timeout_ms
        if 0 <= timeout_ms and (limit < 0 or timeout_ms < limit):
            limit = timeout_ms
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        poll.poll(limit if limit >= 0 else None)
        return self._dispatch()

    def _step(self, receive: Callable[[], int],
              is_done: Callable[[], Any] = bool) -> int:
        """Receive and deliver, unless another thread does, or all is done."""
        if not self._step_lock.acquire(timeout=0.01):
            return 0
        try:
            if is_done():
                return 0
            err = 0 if self._ended or self._raised else receive()
            self._deliver()
            return err
        finally:
            self._step_lock.release()

    def dispatch(self) -> None:
        """Receive, send retries, call callbacks; never waits.

        After an exception of a callback, the next call calls the next one.
        """
        check(self._step(self._dispatch))

    def wait(self, timeout_ms: int = -1) -> None:
        """Wait until the client has something to do, then dispatch.

        May return early. -1: no limit. A virtual clock advances instead.
        """
        check(self._step(lambda: self._wait(timeout_ms)))

    def run(self, seconds: float) -> None:
        """Dispatch for a time, so that services are renewed."""
        if self._fd < 0:
            raise Error(-errno.EINVAL, "the clock is virtual: call "
                        "Fabric.advance_ms()")
        end = time.monotonic() + seconds
        left = seconds
        while left > 0:
            self.wait(int(left * 1000) + 1)
            left = end - time.monotonic()

    def _wait_until(self, is_done: Callable[[], Any]) -> None:
        try:
            while not is_done():
                err = self._step(lambda: self._wait(-1), is_done)
                if err not in (0, -errno.ENODEV, -errno.EINTR):
                    check(err)
        finally:
            if self._binding is not None:
                self._binding.changed()

    # Queries.

    def _start(self, record: Type[Record[Any]], done: Done,
               options: Mapping[str, Any],
               values: Mapping[str, Value]) -> QueryEntry:
        host, mask = record._match(values)
        query = filled(Query, **options)
        query.record = record._table
        query.match = ctypes.addressof(host)
        query.match_size = record._table.contents.host_size
        query.mask = mask
        if not query.method:
            query.method = default_method(record)
        entry = QueryEntry(self, done)
        query_id = ctypes.c_uint64()
        try:
            with self._lock:
                err = lib.ibsa_query_start_sized(
                    self._use(), query, ctypes.sizeof(query), called,
                    entry.token, query_id)
            check(err, _query_texts.get(-err, ""))
            entry.id = query_id.value
            return entry
        except BaseException:
            if query_id.value:  # a signal's handler; C has the query
                self._cancel(query_id.value)
            else:
                entry.forget()
            raise

    def _cancel(self, query_id: int) -> None:
        with self._lock:
            if self._handle is not None:
                lib.ibsa_cancel(self._handle, query_id)

    def start(self, record: Union[str, Type[Record[Any]]], done: Done, /, *,
              method: int = 0, deadline_ms: int = 0, no_sharing: bool = False,
              attribute_modifier: int = 0, **match: Value) -> int:
        """Send a query; done(result) is called by a later dispatch.

        The result is a Reply or an Error. For programs with an event loop other
        than asyncio. Returns the number that cancel() takes.
        """
        return self._start(record_class(record), done, _options(
            method, deadline_ms, no_sharing, attribute_modifier), match).id

    def cancel(self, query_id: int) -> None:
        """End a query that start() has begun, with the Error -ECANCELED."""
        with self._lock:
            check(lib.ibsa_cancel(self._use(), query_id),
                  f"the query {query_id} has ended")

    @overload
    def query(self, record: str, /,
              **arguments: Any) -> Reply[Any]: ...

    @overload
    def query(self, record: Type[Record[R]], /,
              **arguments: Any) -> Reply[R]: ...

    def query(self, record: Union[str, Type[Record[R]]], /, *, method: int = 0,
              deadline_ms: int = 0, no_sharing: bool = False,
              attribute_modifier: int = 0, **match: Value) -> Reply[R]:
        """Query the SA and wait for the reply: all records that match.

        The record is a class, such as ibsa.NodeRecord, or a name. The other
        arguments are the values of fields to match. Raises Error if the SA
        refuses the request or does not reply.
        """
        results: List[Any] = []
        entry = self._start(record_class(record), results.append, _options(
            method, deadline_ms, no_sharing, attribute_modifier), match)
        try:
            self._wait_until(lambda: results)
        except BaseException:
            self._cancel(entry.id)
            raise
        if isinstance(results[0], Error):
            raise results[0]
        reply: Reply[R] = results[0]
        return reply

    @overload
    def query_one(self, record: str, /,
                  **arguments: Any) -> Any: ...

    @overload
    def query_one(self, record: Type[Record[R]], /,
                  **arguments: Any) -> R: ...

    def query_one(self, record: Union[str, Type[Record[R]]], /, *,
                  method: int = Method.GET, deadline_ms: int = 0,
                  no_sharing: bool = False, attribute_modifier: int = 0,
                  **match: Value) -> R:
        """Query the only record that matches.

        Raises Error with -ENOENT or -ENOTUNIQ if there is not exactly one.
        """
        reply = self.query(
            record, method=method, deadline_ms=deadline_ms,
            no_sharing=no_sharing, attribute_modifier=attribute_modifier,
            **match)
        only: R = one_record(reply)
        return only

    @overload
    def query_async(self, record: str, /,
                    **arguments: Any) -> "asyncio.Future[Reply[Any]]": ...

    @overload
    def query_async(self, record: Type[Record[R]], /,
                    **arguments: Any) -> "asyncio.Future[Reply[R]]": ...

    def query_async(self, record: Union[str, Type[Record[R]]], /, *,
                    method: int = 0, deadline_ms: int = 0,
                    no_sharing: bool = False, attribute_modifier: int = 0,
                    **match: Value) -> "asyncio.Future[Reply[R]]":
        """Query the SA as query() does; the reply is awaited.

        The query is sent when the event loop continues, also without an await.
        """
        return self._attached().query(record_class(record), _options(
            method, deadline_ms, no_sharing, attribute_modifier), match)

    @overload
    async def query_one_async(self, record: str, /,
                              **arguments: Any) -> Any: ...

    @overload
    async def query_one_async(self, record: Type[Record[R]], /,
                              **arguments: Any) -> R: ...

    async def query_one_async(
            self, record: Union[str, Type[Record[R]]], /, *,
            method: int = Method.GET, deadline_ms: int = 0,
            no_sharing: bool = False, attribute_modifier: int = 0,
            **match: Value) -> R:
        """Query the only record that matches, as query_one() does."""
        reply = await self.query_async(
            record, method=method, deadline_ms=deadline_ms,
            no_sharing=no_sharing, attribute_modifier=attribute_modifier,
            **match)
        only: R = one_record(reply)
        return only

    def _path_match(self, to: GidValue, source: Optional[GidValue],
                    match: Mapping[str, Value]) -> Dict[str, Any]:
        values: Dict[str, Any] = {"reversible": 1, "numb_path": 1, "dgid": to,
                                    "sgid": source or self.port().gid}
        values.update(match)
        return values

    def path(self, to: GidValue, /, *, source: Optional[GidValue] = None,
             deadline_ms: int = 0, **match: Value) -> "PathRecord":
        """The path to the port with a GID.

        source is the GID of the source port; default: GID 0 of this port. The
        other arguments are values that the path must have, such as pkey.
        """
        return self.query_one(
            _path_record(), deadline_ms=deadline_ms,
            **self._path_match(to, source, match))

    async def path_async(self, to: GidValue, /, *,
                         source: Optional[GidValue] = None,
                         deadline_ms: int = 0,
                         **match: Value) -> "PathRecord":
        """The path to the port with a GID, as path() returns it."""
        return await self.query_one_async(
            _path_record(), deadline_ms=deadline_ms,
            **self._path_match(to, source, match))

    # Reachability.

    def _reach_start(self, gids: Iterable[GidValue], done: Done,
                     source: Optional[GidValue], timeout_ms: int,
                     why: bool) -> BatchEntry:
        wanted = [gid_parse(gid) for gid in gids]
        options = filled(ReachOptions, timeout_ms=timeout_ms,
                         why=Why.ALWAYS if why else Why.NEVER)
        if source is not None:
            setattr(options, "from", gid_parse(source))
        entry = BatchEntry(self, done)
        entry.answers = [None] * len(wanted)
        batch = ctypes.c_void_p()
        try:
            with self._lock:
                check(lib.ibsa_reach_start_sized(
                    self._use(), options, ctypes.sizeof(options), (Gid * len(wanted))(*wanted),
                    len(wanted), called, entry.token, batch),
                    "a GID is zero, or there are no GIDs")
            entry.batch = batch.value or 0
            return entry
        except BaseException:
            if batch.value:
                entry.batch = batch.value
                self._reach_stop(entry)
            else:
                entry.forget()
            raise

    def _reach_stop(self, entry: BatchEntry) -> None:
        with self._lock:
            if self._handle is not None and entry.token in entries:
                lib.ibsa_reach_stop(entry.batch)

    def reach_each(self, gids: Iterable[GidValue], /, *,
                   source: Optional[GidValue] = None, timeout_ms: int = 0,
                   why: bool = False) -> List[ReachAnswer]:
        """Whether the SA has paths to GIDs, in the order of the GIDs.

        why: find out why there is no path, by up to three further queries each.
        """
        results: List[Any] = []
        entry = self._reach_start(gids, results.append, source,
                                  timeout_ms, why)
        is_done = lambda: results and results[-1] is not None  # noqa: E731
        try:
            self._wait_until(is_done)
        except BaseException:
            self._reach_stop(entry)
            raise
        answers: List[ReachAnswer] = results[-1]
        return answers

    def reach(self, gid: GidValue, /, *, source: Optional[GidValue] = None,
              timeout_ms: int = 0, why: bool = True) -> ReachAnswer:
        """Whether the SA has a path to a GID, and why not."""
        return self.reach_each([gid], source=source, timeout_ms=timeout_ms,
                               why=why)[0]

    async def reach_each_async(
            self, gids: Iterable[GidValue], /, *,
            source: Optional[GidValue] = None, timeout_ms: int = 0,
            why: bool = False) -> List[ReachAnswer]:
        """Whether the SA has paths to GIDs, in the order of the GIDs."""
        binding = self._attached()
        waiter = binding.waiter()
        entry = self._reach_start(
            gids, lambda answers: binding.finish(waiter, answers), source,
            timeout_ms, why)
        try:
            answers: List[ReachAnswer] = await binding.wait(waiter)
            return answers
        except BaseException:
            self._reach_stop(entry)
            raise

    async def reach_async(self, gid: GidValue, /, *,
                          source: Optional[GidValue] = None,
                          timeout_ms: int = 0,
                          why: bool = True) -> ReachAnswer:
        """Whether the SA has a path to a GID, and why not."""
        return (await self.reach_each_async(
            [gid], source=source, timeout_ms=timeout_ms, why=why))[0]

    # Topology.

    def topology(self, *, deadline_ms: int = 0) -> "Topology":
        """Read the nodes and links of the fabric, by four queries."""
        from ._topology import TABLES, Topology
        topology = Topology()
        for record, match in TABLES:
            topology._add(self._optional(record, lambda: self.query(
                record, deadline_ms=deadline_ms, **match)))
        return topology._finish()

    async def topology_async(self, *, deadline_ms: int = 0) -> "Topology":
        """Read the nodes and links of the fabric, by four queries."""
        from ._topology import TABLES, Topology
        topology = Topology()
        replies = await asyncio.gather(
            *(self.query_async(record, deadline_ms=deadline_ms, **match)
              for record, match in TABLES), return_exceptions=True)
        for (record, _), reply in zip(TABLES, replies):
            if isinstance(reply, BaseException):
                self._optional(record, functools.partial(_raise, reply))
            else:
                topology._add(reply)
        return topology._finish()

    @staticmethod
    def _optional(record: str, query: Callable[[], Reply[Any]]) \
            -> Iterable[Record[Any]]:
        """The reply; an SA may refuse SwitchInfoRecords."""
        try:
            return query()
        except Error as error:
            if record != "SwitchInfoRecord" or \
                    error.err != -errno.EREMOTEIO:
                raise
            return ()

    # Events and services.

    def watch(self, kinds: int = 0, *, gids: Iterable[GidValue] = (),
              audit_ms: int = 0, deadline_ms: int = 0,
              audit_nodes: bool = False, limit: int = 65536) -> "Watch":
        """Receive the events that the SA reports, by for or async for.

        kinds are those of EventKind; default: events of ports and groups. If
        the program does not read the events, at most limit of them are stored;
        the event after a loss is a GAP with -ENOBUFS.
        """
        from ._watch import Watch
        return Watch(self, EventKind(kinds), list(gids), audit_ms, deadline_ms,
                     audit_nodes, limit)

    def register(self, *, audit_ms: int = 0, deadline_ms: int = 0,
                 on_report: "Optional[Callable[[RegistrationReport], None]]"
                 = None, **service: Value) -> "Registration":
        """Register a service until the end of a with or async with block.

        The arguments are the fields of its ServiceRecord. The client renews the
        service while it dispatches: in asyncio always, otherwise in run(),
        wait() and the functions that wait for replies.
        """
        from ._service import Registration
        return Registration(self, service, audit_ms, deadline_ms, on_report)

    def port(self, refresh: bool = False) -> Port:
        """The state of the port: as last read, or read now."""
        state = PortStruct()
        with self._lock:
            check(lib.ibsa_port_get_sized(self._use(), refresh, state,
                                          ctypes.sizeof(state)))
        return Port(state)

    @property
    def stats(self) -> Stats:
        """Counters since the client was opened; see struct ibsa_stats."""
        stats = Stats()
        with self._lock:
            lib.ibsa_stats_get_sized(self._use(), stats,
                                     ctypes.sizeof(stats))
        return stats

    def _attached(self) -> "LoopBinding":
        """The binding to the event loop that is running."""
        loop = asyncio.get_running_loop()
        self._use()
        if self._binding is None or self._binding.loop is not loop:
            from ._loop import LoopBinding
            if self._binding is not None:
                self._binding.detach()
            self._binding = LoopBinding(self, loop)
        return self._binding

    def __repr__(self) -> str:
        return f"<ibsa.Client{' (closed)' if self._handle is None else ''}>"


_query_texts = {
    errno.ENETDOWN: "the port is down",
    errno.EAGAIN: "no subnet manager has configured the port",
    errno.ENODEV: "the device disappeared",
    errno.ENOBUFS: "the queue of requests is full",
    errno.ERANGE: "a value is wider than its field",
    errno.EOPNOTSUPP: "the record is of Omni-Path, and the port is not",
}


def _raise(error: BaseException) -> Any:
    raise error


def _path_record() -> "Type[PathRecord]":
    return record_class("PathRecord")  # type: ignore[return-value]


def _options(method: int, deadline_ms: int, no_sharing: bool,
             attribute_modifier: int) -> Dict[str, Any]:
    values = {"method": method, "deadline_ms": deadline_ms,
              "no_sharing": no_sharing,
              "attribute_modifier": attribute_modifier}
    return {name: value for name, value in values.items() if value}


def open(device: Optional[str] = None, port: int = 0, *,
         fabric: "Union[str, os.PathLike[str], Fabric, None]" = None,
         window: int = 0, queue: int = 0, reply_bytes: int = 0,
         deadline_ms: int = 0, first_interval_ms: int = 0,
         max_interval_ms: int = 0, jitter_percent: int = 0, seed: int = 0,
         no_sharing: bool = False, no_environment: bool = False,
         window_min: int = 0, grh: Grh = Grh.AUTO, sm_key: int = 0) -> Client:
    """Open a port for queries to the SA.

    device: name of the device, or of the node of a fabric; default: the first
            with an active InfiniBand port
    port:   port number; default: the first active InfiniBand port of the
            device, or else its first active RoCE port
    fabric: an embedded Fabric; path of a topology file; "unix:PATH" of a fabric
            server; "": a device of this machine. Default: $IBSA_FABRIC, or else
            a device

    The other arguments are those of struct ibsa_options; 0 is the default.
    """
    options = filled(
        Options, device=c_path(device, "device"), port=port, window=window,
        queue=queue, reply_bytes=reply_bytes, deadline_ms=deadline_ms,
        first_interval_ms=first_interval_ms, max_interval_ms=max_interval_ms,
        jitter_percent=jitter_percent, seed=seed, no_sharing=no_sharing,
        no_environment=no_environment, window_min=window_min)
    options.access = filled(SaAccess, grh=grh, sm_key=sm_key)
    if fabric is None or isinstance(fabric, (str, os.PathLike)):
        options.fabric = None if fabric is None else c_text(os.fspath(fabric))
        return Client(options)
    if not hasattr(fabric, "_use"):
        raise TypeError("fabric must be a Fabric, a path or None, not "
                        + type(fabric).__name__)
    options.on = fabric._use()
    return Client(options, fabric)


_open_clients: "weakref.WeakSet[Client]" = weakref.WeakSet()


def _after_fork() -> None:
    clients = list(_open_clients)
    _open_clients.clear()
    entries.clear()
    for client in clients:
        client._inherited()


@atexit.register
def _close_all() -> None:
    """Before the interpreter ends, so that C calls nothing that is gone."""
    for client in list(_open_clients):
        try:
            client.close()
        except Exception as error:
            warnings.warn(f"at exit: {error}", RuntimeWarning)


os.register_at_fork(after_in_child=_after_fork)
