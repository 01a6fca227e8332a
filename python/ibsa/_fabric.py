# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Embedded fabrics: a simulated subnet with its SA, inside the process."""

import ctypes
import errno
import os
import weakref
from typing import Any, Iterator, NamedTuple, Optional, Sequence, Union

from . import _client
from ._callback import Port
from ._client import Client
from ._native import (ErrorText, FabricInfo, FabricOptions, FabricPortStruct,
                      Fault, PortChange, c_path, c_text,
                      filled, lib)
from .constants import Change, FaultKind, SmProfile
from .errors import Error, check


class FabricPort(NamedTuple):
    """One end port of the channel adapters of a fabric."""

    node: str
    number: int
    guid: int
    state: Port
    rate: str


class Fabric:
    """A simulated subnet with its own SA. Use load() or parse() to create one.

    With virtual_clock, time advances only in advance_ms() and while a client
    waits, so that a test of timeouts takes no time. The other arguments of
    load() and parse() are those of struct ibsa_fabric_options.
    """

    def __init__(self, handle: int) -> None:
        self._handle: Optional[int] = handle
        self._clients: "weakref.WeakSet[Client]" = weakref.WeakSet()
        self._is_closed = False
        self._release = weakref.finalize(self, lib.ibsa_fabric_put, handle)

    @classmethod
    def load(cls, path: "Union[str, os.PathLike[str]]",
             **options: Any) -> "Fabric":
        """Create a fabric from a topology file."""
        handle, error = ctypes.c_void_p(), ErrorText()
        check(lib.ibsa_fabric_load_sized(
            c_text(os.fspath(path), "path"), _options(**options),
            ctypes.sizeof(FabricOptions), error, handle), error)
        return cls(handle.value or 0)

    @classmethod
    def parse(cls, text: str, **options: Any) -> "Fabric":
        """Create a fabric from the text of a topology file."""
        handle, error = ctypes.c_void_p(), ErrorText()
        data = text.encode("utf-8", "surrogateescape")
        check(lib.ibsa_fabric_parse_sized(
            data, len(data), _options(**options),
            ctypes.sizeof(FabricOptions), error, handle), error)
        return cls(handle.value or 0)

    def _use(self) -> int:
        if self._handle is None or self._is_closed:
            raise Error(-errno.ESHUTDOWN, "the fabric is closed")
        return self._handle

    def open(self, device: Optional[str] = None, port: int = 0,
             **options: Any) -> Client:
        """Open a port of the fabric; the arguments are those of ibsa.open()."""
        return _client.open(device, port, fabric=self, **options)

    def close(self) -> None:
        """Release the fabric, or have its last client release it."""
        self._is_closed = True
        if self._handle is not None and not self._clients:
            self._handle = None
            self._release()

    def _client_closed(self, client: Client) -> None:
        self._clients.discard(client)
        if self._is_closed:
            self.close()

    def __enter__(self) -> "Fabric":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Time and faults.

    def advance_ms(self, milliseconds: int) -> None:
        """Advance a virtual clock. Clients dispatch afterwards, not by it."""
        check(lib.ibsa_fabric_advance(self._use(), milliseconds * 1000000),
              "the fabric has the real clock, or the time is out of range")
        for client in list(self._clients):
            if client._binding is not None:
                client._binding.advanced()

    def fault(self, text: str) -> None:
        """Start, change or end a fault: KIND=PERCENT[,COUNT[,DELAY_MS]].

        Such as "lose=10" or "delay=100,0,200"; "lose=0" ends it, and "none"
        ends all faults.
        """
        if text == "none":
            for kind in FaultKind:
                check(lib.ibsa_fabric_fault_sized(
                    self._use(), Fault(kind=kind), ctypes.sizeof(Fault)))
            return
        fault, error = Fault(), ErrorText()
        check(lib.ibsa_fault_parse_sized(c_text(text), fault,
                                         ctypes.sizeof(fault), error), error)
        check(lib.ibsa_fabric_fault_sized(self._use(), fault,
                                          ctypes.sizeof(fault)))

    # Changes.

    def _change(self, node: str, port: int, change: PortChange) -> None:
        err = lib.ibsa_fabric_port_set_sized(
            self._use(), c_text(node), port, change, ctypes.sizeof(change))
        check(err, _change_text(err, node, port))

    def link_down(self, node: str, port: int = 0) -> None:
        """Take the link of a port down; 0: the first port with a cable."""
        self._change(node, port, PortChange(mask=Change.LINK))

    def link_up(self, node: str, port: int = 0) -> None:
        """Take the link of a port up."""
        self._change(node, port, PortChange(mask=Change.LINK, link_up=True))

    def link_speed(self, node: str, port: int, rate: str) -> None:
        """Set the rate of a link as in a topology file, such as "1xSDR"."""
        self._change(node, port, PortChange(mask=Change.RATE,
                                            rate=c_text(rate)))

    def pkeys(self, node: str, port: int, pkeys: Sequence[int]) -> None:
        """Set the P_Key table of a port."""
        table = (ctypes.c_uint16 * len(pkeys))(*pkeys)
        if list(table) != list(pkeys):
            raise ValueError(f"P_Keys have 16 bits: {pkeys}")
        self._change(node, port, PortChange(
            mask=Change.PKEYS, pkeys=ctypes.addressof(table),
            pkey_count=len(pkeys)))

    def sm_start(self) -> None:
        """Start the SA again, without services and subscriptions."""
        lib.ibsa_fabric_sa_set(self._use(), True)

    def sm_stop(self) -> None:
        """Stop the SA: the ports have no SM."""
        lib.ibsa_fabric_sa_set(self._use(), False)

    def sm_move(self, node: str) -> None:
        """Move the SA to another node."""
        err = lib.ibsa_fabric_sa_move(self._use(), c_text(node))
        check(err, _change_text(err, node, 0))

    # Contents.

    @property
    def info(self) -> FabricInfo:
        """The numbers of nodes, adapters, switches, links and LIDs."""
        info = FabricInfo()
        lib.ibsa_fabric_info_get_sized(self._use(), info,
                                       ctypes.sizeof(info))
        return info

    def ports(self) -> Iterator[FabricPort]:
        """The end ports of the channel adapters, in the order of the file."""
        index, port = 0, FabricPortStruct()
        while lib.ibsa_fabric_port_at_sized(self._use(), index, port,
                                                ctypes.sizeof(port)) == 0:
            yield FabricPort(port.node.decode("utf-8", "replace"), port.number,
                             port.guid, Port(port.state), port.rate.decode())
            index += 1


def _change_text(err: int, node: str, port: int) -> str:
    """Why a port could not be changed, or the SA not be moved to a node."""
    texts = {
        errno.ENODEV: "the fabric has no such node",
        errno.ENXIO: f"the node has no port {port}",
        errno.ENETDOWN: "there is no cable" if port else
                        "no port of the node has a cable",
        errno.ERANGE: "an end of the link does not support the rate",
        errno.EINVAL: "a value is not valid for this port",
        errno.EOPNOTSUPP: "the fabric was loaded with no_sa",
    }
    return f"'{node}': {texts.get(-err, os.strerror(-err))}"


def _options(virtual_clock: bool = False, seed: int = 0,
             sa_node: Optional[str] = None, latency_us: int = 0,
             gid_prefix: int = 0, opa: bool = False,
             no_opa_paths: bool = False, first_lid: int = 0,
             check: bool = False, no_sa: bool = False,
             partitions: Optional[str] = None,
             profile: SmProfile = SmProfile.OPENSM) -> Any:
    return filled(
        FabricOptions, virtual_clock=virtual_clock, seed=seed,
        sa_node=c_path(sa_node, "node"), latency_us=latency_us,
        gid_prefix=gid_prefix, opa=opa, no_opa_paths=no_opa_paths,
        first_lid=first_lid, check=check, no_sa=no_sa,
        partitions=c_path(partitions, "path"), profile=profile)


def fabric_command(line: str, fabric: Optional[str] = None) -> str:
    """Send a command, such as "link down node1/1", to a fabric server.

    fabric is "unix:PATH"; default: $IBSA_FABRIC. Returns the result of "stats".
    """
    out, error = ctypes.create_string_buffer(65536), ErrorText()
    check(lib.ibsa_server_command(c_path(fabric, "fabric"), c_text(line), out,
                                  len(out), error), error)
    return out.value.decode("utf-8", "replace")
