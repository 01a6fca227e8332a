# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The topology of a fabric: nodes, links, findings and traces."""

import ctypes
import os
import weakref
from typing import (Any, Dict, Iterable, Iterator, List, NamedTuple, Optional,
                    Tuple, Union)

from ._native import (ErrorText, FindingStruct, TopologyInfo,
                      TopologyNodeStruct, TopologyPortStruct, TraceHopStruct,
                      TraceStruct, c_text, lib)
from ._records import Record, Value, record_class
from .errors import check

# The records of a topology, and the values that their queries match.
TABLES: Tuple[Tuple[str, Dict[str, Value]], ...] = (
    ("NodeRecord", {}), ("PortInfoRecord", {"options": 0x80}),
    ("LinkRecord", {}), ("SwitchInfoRecord", {}))


class TopologyNode(NamedTuple):
    """A node, and its number in the topology.

    The other members are those of struct ibsa_topology_node.
    """

    number: int
    name: str
    guid: int
    type: int
    port_count: int
    level: int
    island: int


class TopologyPort(NamedTuple):
    """A port, and the other end of its link; None: it has no link.

    The members are those of struct ibsa_topology_port.
    """

    number: int
    guid: int
    lid: int
    lmc: int
    state: int
    mtu: int
    rate: int
    lanes: int
    speed: str
    far_node: Optional[int]
    far_port: Optional[int]


class Finding(NamedTuple):
    """One finding of a check; guid and port are 0 if it is about none.

    missing_device and missing_port are the adapter and the port of rail-missing.
    """

    name: str
    is_critical: bool
    guid: int
    port: int
    what: str
    missing_device: Optional[str] = None
    missing_port: int = 0


class TraceHop(NamedTuple):
    """A link of a trace, from a port of one node to a port of another."""

    node: int
    port: int
    far_node: int
    far_port: int
    is_narrowest: bool


def _text(value: Optional[bytes]) -> str:
    return (value or b"").decode("utf-8", "backslashreplace")


def _hop(trace: TraceStruct, index: int) -> TraceHop:
    hop = TraceHopStruct.from_address(trace.hops + index * trace.stride)
    return TraceHop(hop.node, hop.port, hop.far_node, hop.far_port,
                    hop.is_narrowest)


class Topology:
    """The nodes and links of a fabric, of the SA or of a file."""

    def __init__(self) -> None:
        handle = ctypes.c_void_p()
        check(lib.ibsa_topology_new(handle))
        self._own(handle)

    def _own(self, handle: ctypes.c_void_p) -> None:
        self._handle = handle.value
        weakref.finalize(self, lib.ibsa_topology_free, self._handle)

    @classmethod
    def load(cls, path: "Union[str, os.PathLike[str]]") -> "Topology":
        """Read a file, such as output of ibnetdiscover."""
        handle, error = ctypes.c_void_p(), ErrorText()
        check(lib.ibsa_topology_load(c_text(os.fspath(path), "path"), error,
                                     handle), error)
        topology = cls.__new__(cls)
        topology._own(handle)
        return topology

    def _add(self, records: Iterable[Record[Any]]) -> None:
        for record in records:
            check(lib.ibsa_topology_add(self._handle, record._table,
                                        record._host,
                                        ctypes.sizeof(record._host)))

    def _finish(self) -> "Topology":
        check(lib.ibsa_topology_finish(self._handle))
        return self

    @property
    def info(self) -> TopologyInfo:
        """The size; see struct ibsa_topology_info."""
        info = TopologyInfo()
        lib.ibsa_topology_info_get_sized(self._handle, info,
                                         ctypes.sizeof(info))
        return info

    def nodes(self) -> Iterator[TopologyNode]:
        """All nodes, in the order of their GUIDs."""
        node, index = TopologyNodeStruct(), 0
        while not lib.ibsa_topology_node_at_sized(self._handle, index, node,
                                                  ctypes.sizeof(node)):
            yield TopologyNode(index, _text(node.name), node.guid, node.type,
                               node.port_count, node.level, node.island)
            index += 1

    def port(self, node: int, number: int) -> Optional[TopologyPort]:
        """A port of a node, by the number of the node; None: unknown."""
        port = TopologyPortStruct()
        if lib.ibsa_topology_port_at_sized(self._handle, node, number, port,
                                           ctypes.sizeof(port)):
            return None
        far: Tuple[Optional[int], Optional[int]] = (None, None)
        if port.has_link:
            far = port.far_node, port.far_port
        return TopologyPort(port.number, port.guid, port.lid, port.lmc,
                            port.state, port.mtu, port.rate, port.lanes,
                            _text(port.speed), *far)

    def ports(self, node: TopologyNode) -> Iterator[TopologyPort]:
        """The known ports of a node; port 0 is the end port of a switch."""
        for number in range(node.port_count + 1):
            port = self.port(node.number, number)
            if port is not None:
                yield port

    def check(self, expected: "Optional[Topology]" = None) -> List[Finding]:
        """Check the topology, also against an expected one."""
        check(lib.ibsa_topology_check(
            self._handle, None if expected is None else expected._handle))
        findings: List[Finding] = []
        found = FindingStruct()
        while not lib.ibsa_topology_finding_at_sized(
                self._handle, len(findings), found, ctypes.sizeof(found)):
            findings.append(Finding(_text(found.name), bool(found.severity),
                                    found.guid, found.port, str(found.what),
                                    found.missing_device and
                                    _text(found.missing_device),
                                    found.missing_port))
        return findings

    def trace(self, slid: int, dlid: int,
              tables: Iterable[Record[Any]]) -> \
            Tuple[List[TraceHop], str]:
        """The links between two LIDs, and "" or why the trace ends early.

        tables are all LinearForwardingTableRecords of the SA.
        """
        table = record_class("LinearForwardingTableRecord")
        blocks = list(tables)
        for lid in (slid, dlid):
            if not 0 < lid < 1 << 32:
                raise ValueError(f"{lid} is not a LID")
        for block in blocks:
            if not isinstance(block, table):
                raise TypeError(f"not a {table.name}: {block!r}")
        size = table._table.contents.host_size
        hosts = b"".join(bytes(one._host)[:size] for one in blocks)
        out = ctypes.POINTER(TraceStruct)()
        err = lib.ibsa_topology_trace_sized(self._handle, slid, dlid, hosts,
                                            size, len(blocks), out)
        check(err, f"no port has the LID {slid}, or none has {dlid}")
        trace = out.contents
        try:
            return [_hop(trace, index) for index in range(trace.count)], \
                _text(lib.ibsa_trace_end_text(trace.end)) if trace.end else ""
        finally:
            lib.ibsa_trace_free(out)
