# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Services that stay registered while a block runs."""

import ctypes
import errno
from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Tuple

from ._callback import Entry, called
from ._client import Client
from ._native import RegistrationOptions, RegistrationStruct, filled, lib
from ._records import Record, Value, record_class
from .constants import RegistrationEvent
from .errors import Error, check, failure


class RegistrationReport(NamedTuple):
    """One event; see struct ibsa_registration_report in <ibsa/service.h>."""

    event: RegistrationEvent
    err: int
    status: int
    service: "Record[Any]"

    @property
    def name(self) -> str:
        """The name of the event, such as "registered"."""
        return str(lib.ibsa_registration_event_name(self.event).decode())


class RegistrationEntry(Entry):
    __slots__ = ()

    def take(self, address: int) -> Tuple[bool, Any]:
        report = RegistrationStruct.from_address(address)
        event = RegistrationEvent(report.event)
        service = record_class("ServiceRecord")._copy(report.service)
        return event == RegistrationEvent.RELEASED, RegistrationReport(
            event, report.err, report.status, service)


class Registration:
    """A registered service: use it in a with or async with block.

    The block begins when the SA has the record. At its end, the client deletes
    the record. report is the last event, with the record at the SA.
    """

    report: Optional[RegistrationReport] = None

    def __init__(self, client: Client, service: Mapping[str, Value],
                 audit_ms: int, deadline_ms: int,
                 on_report: Optional[Callable[[RegistrationReport], None]]
                 ) -> None:
        record = record_class("ServiceRecord")
        host, mask = record._match(service)
        self._client = client
        self._on_report = on_report
        self._waiters: List[Any] = []
        self._is_released = False
        options = filled(
            RegistrationOptions, service=ctypes.addressof(host), mask=mask,
            audit_ms=audit_ms, deadline_ms=deadline_ms)
        entry = RegistrationEntry(client, self._reported)
        handle = ctypes.c_void_p()
        try:
            with client._lock:
                check(lib.ibsa_service_register_sized(
                    client._use(), options, ctypes.sizeof(options),
                    record._table.contents.host_size, called, entry.token,
                    handle))
            self._handle: Any = handle.value
        except BaseException:
            if handle.value:  # a signal's handler; C has the registration
                lib.ibsa_service_release(handle)
            else:
                entry.forget()
            raise
        if client._binding is not None:
            client._binding.changed()

    def _reported(self, report: RegistrationReport) -> None:
        self.report = report
        if report.event == RegistrationEvent.RELEASED:
            self._handle = None
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()
        if self._on_report is not None:
            self._on_report(report)

    def _has_report(self) -> bool:
        return self.report is not None

    def _has_ended(self) -> bool:
        return self._handle is None

    def _check(self) -> None:
        """Raise an Error if the SA does not have the record."""
        report = self.report
        if report is None or report.event == RegistrationEvent.REGISTERED:
            return
        if not report.err and not report.status:
            raise Error(-errno.ECANCELED, "the service is not registered: "
                        "it was released, or the client was closed")
        raise failure(report.err, report.status, None)

    def _release(self) -> None:
        with self._client._lock:
            if self._handle is not None and not self._is_released and \
                    not self._client.closed:
                self._is_released = True
                lib.ibsa_service_release(self._handle)

    def release(self) -> None:
        """Delete the record from the SA, and wait for the SA."""
        self._release()
        self._client._wait_until(self._has_ended)

    async def release_async(self) -> None:
        """Delete the record from the SA, and wait for the SA."""
        self._release()
        await self._wait(self._has_ended)

    async def _wait(self, is_done: Callable[[], bool]) -> None:
        while not is_done():
            binding = self._client._attached()
            waiter = binding.waiter()
            self._waiters.append(waiter)
            await binding.wait(waiter)

    def __enter__(self) -> "Registration":
        try:
            self._client._wait_until(self._has_report)
            self._check()
        except BaseException:
            self.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    async def __aenter__(self) -> "Registration":
        try:
            await self._wait(self._has_report)
            self._check()
        except BaseException:
            self._release()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.release_async()
