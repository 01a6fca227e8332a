# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A client on an asyncio event loop, by its descriptor and its timeout.

A thousand queries are not encoded, sent or ended in one turn of the loop: what
takes longer than SLICE_S continues in the next turn.
"""

import asyncio
import errno
import time
from collections import deque
from typing import Any, Deque, Mapping, Optional, Tuple, Type

from ._client import Client
from ._records import Record, Value
from .errors import Error

SLICE_S = 0.001


class QueryFuture(asyncio.Future):  # type: ignore[type-arg]
    """The future of a query, which ends the query when it is cancelled."""

    __slots__ = ("client", "query_id")
    client: Client
    query_id: int

    def cancel(self, msg: Any = None) -> bool:
        is_cancelled = super().cancel(msg=msg)
        if is_cancelled and self.query_id:
            self.client._cancel(self.query_id)
            if self.client._binding is not None:
                self.client._binding.changed()
        return is_cancelled


_Waiting = Tuple[QueryFuture, Type[Record[Any]], Mapping[str, Any],
                 Mapping[str, Value]]


class LoopBinding:
    """One client on one event loop."""

    def __init__(self, client: Client, loop: asyncio.AbstractEventLoop) -> None:
        self.client = client
        self.loop = loop
        self._waiting: Deque[_Waiting] = deque()
        self._queries = 0
        self._is_full = False
        self._is_scheduled = False
        self._timer: Optional[asyncio.TimerHandle] = None
        self._fd = client.fileno()
        if self._fd >= 0:
            loop.add_reader(self._fd, self._dispatch)

    def detach(self) -> None:
        """Leave the loop. Queries that were not sent end with an Error."""
        self.client._binding = None
        if self._timer is not None:
            self._timer.cancel()
        if self.loop.is_closed():
            return
        if self._fd >= 0:
            self.loop.remove_reader(self._fd)
        for future, *_ in self._waiting:
            self.finish(future, Error(-errno.ECANCELED,
                                      "the client was closed"))
        self._waiting.clear()

    def changed(self) -> None:
        """Arrange the next turn after something was sent or received."""
        if not self._is_scheduled and not self.loop.is_closed():
            self._is_scheduled = True
            self.loop.call_soon(self._turn)

    def advanced(self) -> None:
        """Dispatch after a virtual clock has advanced."""
        self.loop.call_soon_threadsafe(self._dispatch)

    # Waiting for the client.

    def query(self, record: Type[Record[Any]], options: Mapping[str, Any],
              values: Mapping[str, Value]) -> QueryFuture:
        future = QueryFuture(loop=self.loop)
        future.client = self.client
        future.query_id = 0
        self._waiting.append((future, record, options, values))
        self.changed()
        return future

    def waiter(self) -> "asyncio.Future[Any]":
        return self.loop.create_future()

    async def wait(self, waiter: "asyncio.Future[Any]") -> Any:
        """Wait until finish(); meanwhile, a virtual clock advances."""
        self.client._waiters += 1
        self.changed()
        try:
            return await waiter
        finally:
            self.client._waiters -= 1

    def finish(self, waiter: "asyncio.Future[Any]", result: Any) -> None:
        """End a wait by a result or an Error; None: not yet."""
        if result is None or waiter.done():
            return
        if isinstance(result, BaseException):
            waiter.set_exception(result)
        else:
            waiter.set_result(result)

    # Turns of the loop.

    def _dispatch(self) -> None:
        if self.client.closed:
            return
        self._report(self.client._dispatch())
        self._is_full = False
        self.changed()

    def _report(self, err: int) -> None:
        if err not in (0, -errno.ENODEV, -errno.EINTR):
            self._exception("the client cannot receive", Error(err))

    def _exception(self, message: str, error: BaseException) -> None:
        self.loop.call_exception_handler(
            {"message": f"ibsa: {message}", "exception": error})

    def _turn(self) -> None:
        self._is_scheduled = False
        until = time.monotonic() + SLICE_S
        try:
            self.client._deliver(until)
        except (SystemExit, KeyboardInterrupt):
            self.changed()
            raise
        except BaseException as error:
            self._exception("an exception in a callback", error)
        while self._waiting and not self._is_full and \
                time.monotonic() < until and not self.client.closed:
            self._send(*self._waiting.popleft())
        if not self.client.closed:
            self._arm()

    def _send(self, future: QueryFuture, record: Type[Record[Any]],
              options: Mapping[str, Any], values: Mapping[str, Value]) -> None:
        if future.done():
            return
        try:
            future.query_id = self.client._start(
                record, lambda result: self._query_ended(future, result),
                options, values).id
            self._queries += 1
        except Exception as error:
            if getattr(error, "err", 0) == -errno.ENOBUFS and self._queries:
                self._waiting.appendleft((future, record, options, values))
                self._is_full = True
            else:
                self.finish(future, error)

    def _query_ended(self, future: QueryFuture, result: Any) -> None:
        self._queries -= 1
        future.query_id = 0
        self.finish(future, result)

    def _arm(self) -> None:
        """Continue at once, or when the client must dispatch."""
        client = self.client
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if client._ended or client._raised or \
                (self._waiting and not self._is_full):
            self.changed()
            return
        timeout = client.timeout_ms
        if self._fd < 0:
            if timeout >= 0 and (self._queries or client._waiters):
                self._report(client._dispatch(timeout))
                self._is_full = False
                self.changed()
        elif timeout >= 0:
            self._timer = self.loop.call_later(timeout / 1000, self._dispatch)
