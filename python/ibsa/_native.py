# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The C library: where it is, its structs and its functions.

The structs are those of include/ibsa/*.h; python/test/layout.py compares them.
"""

import ctypes
import errno
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p,
                    c_double, c_int, c_size_t, c_uint, c_uint8, c_uint16,
                    c_uint32, c_uint64, c_void_p)
from typing import Any, List, Optional, Tuple

from . import _build


class Gid(Structure):
    _fields_ = [("raw", c_uint8 * 16)]


class ErrorText(Structure):
    _fields_ = [("text", c_char * 256)]

    def __str__(self) -> str:
        return bytes(self.text).decode("utf-8", "backslashreplace")


class FieldTable(Structure):
    _fields_ = [("name", c_char_p), ("bit_offset", c_uint16),
                ("host_offset", c_uint16), ("count", c_uint16),
                ("nbits", c_uint8), ("host_size", c_uint8), ("cm", c_uint8),
                ("show", c_int)]


class RecordTable(Structure):
    pass


RecordTable._fields_ = [
    ("name", c_char_p), ("short_name", c_char_p), ("brief", c_char_p),
    ("attribute", c_uint16), ("class_version", c_uint8), ("writer", c_int),
    ("size", c_uint16), ("host_size", c_uint16),
    ("reply", POINTER(RecordTable)), ("mask", c_uint64),
    ("fields", POINTER(FieldTable)), ("field_count", c_uint),
    ("decode", c_void_p), ("encode", c_void_p)]


class SaAccess(Structure):
    _fields_ = [("sa", c_void_p), ("grh", c_int), ("sm_key", c_uint64)]


class Options(Structure):
    _fields_ = [("device", c_char_p), ("port", c_uint), ("context", c_void_p),
                ("fabric", c_char_p), ("on", c_void_p),
                ("transport", c_void_p), ("access", SaAccess),
                ("window", c_uint), ("queue", c_uint),
                ("reply_bytes", c_size_t), ("deadline_ms", c_uint),
                ("first_interval_ms", c_uint), ("max_interval_ms", c_uint),
                ("jitter_percent", c_int), ("seed", c_uint64),
                ("no_sharing", c_bool), ("no_environment", c_bool),
                ("reserved", c_uint8 * 6), ("window_min", c_uint)]


class Query(Structure):
    _fields_ = [("record", POINTER(RecordTable)), ("match", c_void_p),
                ("match_size", c_size_t),
                ("mask", c_uint64), ("method", c_int),
                ("attribute_modifier", c_uint32), ("deadline_ms", c_uint),
                ("queue_ms", c_uint), ("first_interval_ms", c_uint),
                ("max_interval_ms", c_uint), ("jitter_percent", c_int),
                ("no_sharing", c_bool), ("reserved", c_uint8 * 3),
                ("bulk", c_bool)]


class ReplyStruct(Structure):
    _fields_ = [("id", c_uint64), ("record", POINTER(RecordTable)),
                ("err", c_int), ("status", c_uint16), ("redirects", c_uint8),
                ("tries", c_uint), ("rtt_ns", c_uint64), ("records", c_void_p),
                ("stride", c_size_t), ("count", c_size_t),
                ("redirect", c_void_p)]


class Stats(Structure):
    """Counters of a client since it was opened."""

    _fields_ = [(name, c_uint64) for name in (
        "queries", "shared", "sent", "retries", "retargeted", "replies",
        "busy", "timeouts", "canceled", "send_errors", "ignored_id",
        "ignored_source", "ignored_kind", "ignored_malformed", "redirected")]

    def __repr__(self) -> str:
        values = ", ".join(f"{field[0]}={getattr(self, field[0])}"
                           for field in self._fields_)
        return f"Stats({values})"


class PortStruct(Structure):
    _fields_ = [("gid", Gid), ("lid", c_uint32), ("sm_lid", c_uint32),
                ("pkey_index", c_uint16), ("sm_sl", c_uint8),
                ("lmc", c_uint8), ("port_state", c_int),
                ("phys_state", c_uint8), ("link", c_int),
                ("port_num", c_uint8), ("needs_grh", c_bool),
                ("reregisters", c_uint32)]


class ReachOptions(Structure):
    _fields_ = [("from", Gid), ("timeout_ms", c_uint), ("why", c_int)]


class ReachStruct(Structure):
    _fields_ = [("gid", Gid), ("index", c_size_t), ("left", c_size_t),
                ("reach", c_int), ("err", c_int), ("status", c_uint16),
                ("redirects", c_uint8), ("tries", c_uint),
                ("rtt_ns", c_uint64), ("redirect", c_void_p),
                ("reason", c_int), ("is_certain", c_bool),
                ("detail", c_char * 256)]


class EventOptions(Structure):
    _fields_ = [("kinds", c_uint), ("gids", POINTER(Gid)),
                ("gid_count", c_size_t), ("audit_ms", c_uint),
                ("deadline_ms", c_uint), ("audit_nodes", c_bool)]


class EventStruct(Structure):
    _fields_ = [("watch", c_void_p), ("kind", c_int), ("err", c_int),
                ("status", c_uint16), ("trap", c_uint16), ("gid", Gid),
                ("lid", c_uint32), ("port_num", c_uint8),
                ("sequence", c_uint64), ("time_ns", c_uint64),
                ("notice", c_void_p), ("audited", c_bool),
                ("holder", c_char_p)]


class RegistrationOptions(Structure):
    _fields_ = [("service", c_void_p), ("mask", c_uint64),
                ("audit_ms", c_uint), ("deadline_ms", c_uint)]


class RegistrationStruct(Structure):
    _fields_ = [("registration", c_void_p), ("event", c_int), ("err", c_int),
                ("status", c_uint16), ("service", c_void_p)]


class FabricOptions(Structure):
    _fields_ = [("virtual_clock", c_bool), ("seed", c_uint64),
                ("sa_node", c_char_p), ("latency_us", c_uint),
                ("gid_prefix", c_uint64), ("opa", c_bool),
                ("no_opa_paths", c_bool), ("first_lid", c_uint32),
                ("check", c_bool), ("no_sa", c_bool),
                ("partitions", c_char_p), ("profile", c_int)]


class FabricInfo(Structure):
    """How many nodes, links and LIDs a fabric has."""

    _fields_ = [(name, c_size_t) for name in (
        "nodes", "adapters", "switches", "links", "lids")]


class FabricPortStruct(Structure):
    _fields_ = [("node", c_char_p), ("id", c_char_p), ("number", c_uint),
                ("guid", c_uint64), ("rate", c_char_p), ("state", PortStruct)]


class Fault(Structure):
    _fields_ = [("kind", c_int), ("percent", c_double), ("count", c_uint),
                ("delay_ms", c_uint), ("hops", c_uint), ("by_gid", c_bool)]


class PortChange(Structure):
    _fields_ = [("mask", c_uint32), ("link_up", c_bool),
                ("needs_grh", c_bool), ("sm_sl", c_uint8), ("lmc", c_uint8),
                ("lid", c_uint32), ("pkeys", c_void_p),
                ("pkey_count", c_size_t), ("capability_mask", c_uint32),
                ("rate", c_char_p)]


class TopologyInfo(Structure):
    """How many nodes, links and islands a topology has."""

    _fields_ = [("nodes", c_size_t), ("adapters", c_size_t),
                ("switches", c_size_t), ("links", c_size_t),
                ("islands", c_size_t), ("levels", c_uint),
                ("unmatched", c_size_t), ("hidden", c_size_t)]


class TopologyNodeStruct(Structure):
    _fields_ = [("name", c_char_p), ("guid", c_uint64),
                ("system_guid", c_uint64), ("vendor_id", c_uint32),
                ("device_id", c_uint32), ("revision", c_uint32),
                ("type", c_int), ("port_count", c_uint8),
                ("has_enhanced_port0", c_bool), ("level", c_uint),
                ("island", c_size_t)]


class TopologyPortStruct(Structure):
    _fields_ = [("number", c_uint), ("guid", c_uint64), ("lid", c_uint32),
                ("lmc", c_uint8), ("has_info", c_bool), ("state", c_int),
                ("phys_state", c_uint8), ("mtu", c_uint8), ("rate", c_uint8),
                ("lanes", c_uint8), ("speed", c_char_p),
                ("lanes_supported", c_uint8), ("speed_supported", c_char_p),
                ("has_link", c_bool), ("is_one_end", c_bool),
                ("far_node", c_size_t), ("far_port", c_uint),
                ("lanes_common", c_uint8), ("speed_common", c_char_p)]


class FindingStruct(Structure):
    _fields_ = [("kind", c_int), ("severity", c_int), ("name", c_char_p),
                ("guid", c_uint64), ("port", c_uint), ("what", ErrorText),
                ("reserved", c_uint8 * 4), ("missing_device", c_char_p),
                ("missing_port", c_uint), ("reserved2", c_uint8 * 4)]


class TraceHopStruct(Structure):
    _fields_ = [("node", c_size_t), ("port", c_uint), ("far_node", c_size_t),
                ("far_port", c_uint), ("is_narrowest", c_bool)]


class TraceStruct(Structure):
    _fields_ = [("end", c_int), ("node", c_size_t), ("port", c_uint),
                ("count", c_size_t), ("stride", c_size_t),
                ("hops", c_void_p)]


# The name of each struct in the headers.
STRUCTS = {
    "ibsa_gid": Gid, "ibsa_error": ErrorText, "ibsa_field": FieldTable,
    "ibsa_record": RecordTable, "ibsa_sa_access": SaAccess,
    "ibsa_options": Options, "ibsa_query": Query, "ibsa_reply": ReplyStruct,
    "ibsa_stats": Stats, "ibsa_port_state": PortStruct,
    "ibsa_reach_options": ReachOptions, "ibsa_reach_answer": ReachStruct,
    "ibsa_event_options": EventOptions, "ibsa_event": EventStruct,
    "ibsa_service_options": RegistrationOptions,
    "ibsa_registration_report": RegistrationStruct,
    "ibsa_fabric_options": FabricOptions, "ibsa_fabric_info": FabricInfo,
    "ibsa_fabric_port": FabricPortStruct, "ibsa_fault": Fault,
    "ibsa_fabric_port_change": PortChange,
    "ibsa_topology_info": TopologyInfo,
    "ibsa_topology_node": TopologyNodeStruct,
    "ibsa_topology_port": TopologyPortStruct, "ibsa_finding": FindingStruct,
    "ibsa_trace_hop": TraceHopStruct, "ibsa_trace": TraceStruct}

# All callbacks: a pointer to a struct, and the argument of the caller.
Callback = CFUNCTYPE(None, c_void_p, c_void_p)

_RECORD = POINTER(RecordTable)
_FIELD = POINTER(FieldTable)
_ERROR = POINTER(ErrorText)
_OUT = POINTER(c_void_p)
_OUT_U64 = POINTER(c_uint64)

# Functions that wait. The calling thread gives up the interpreter's lock.
_WAITING: List[Tuple[str, Any, List[Any]]] = [
    ("ibsa_open_sized", c_int, [POINTER(Options), c_size_t, _ERROR, _OUT]),
    ("ibsa_close", c_int, [c_void_p]),
    ("ibsa_topology_load", c_int, [c_char_p, _ERROR, _OUT]),
    ("ibsa_topology_check", c_int, [c_void_p, c_void_p]),
    ("ibsa_topology_finish", c_int, [c_void_p]),
    ("ibsa_server_command", c_int,
     [c_char_p, c_char_p, c_char_p, c_size_t, _ERROR]),
]

# Functions that never wait for another process. The calling thread does not
# give up the interpreter's lock, so that a thousand callbacks of a dispatch do
# not wait for other threads a thousand times.
_SHORT: List[Tuple[str, Any, List[Any]]] = [
    ("ibsa_version", c_char_p, []),
    ("ibsa_record_at", _RECORD, [c_uint]),
    ("ibsa_record_decode", c_int,
     [_RECORD, c_void_p, c_size_t, c_void_p, c_size_t]),
    ("ibsa_field_values", c_uint, [_FIELD]),
    ("ibsa_field_cm", c_uint64, [_FIELD, c_uint]),
    ("ibsa_field_get", c_uint64, [_FIELD, c_uint, c_void_p]),
    ("ibsa_field_set", c_int, [_FIELD, c_uint, c_uint64, c_void_p]),
    ("ibsa_field_name_format", c_int, [_FIELD, c_uint, c_char_p, c_size_t]),
    ("ibsa_field_format", c_int,
     [_FIELD, c_uint, c_void_p, c_char_p, c_size_t]),
    ("ibsa_field_find", _FIELD, [_RECORD, c_char_p, POINTER(c_uint)]),
    ("ibsa_field_parse", c_int, [_FIELD, c_uint, c_char_p, c_void_p]),
    ("ibsa_gid_format", c_int, [POINTER(Gid), c_char_p, c_size_t]),
    ("ibsa_gid_parse", c_int, [c_char_p, POINTER(Gid)]),
    ("ibsa_status_text", c_char_p, [c_uint16]),
    ("ibsa_code_name", c_char_p, [c_int, c_uint64]),
    ("ibsa_show_is_code", c_bool, [c_int]),
    ("ibsa_mtu_bytes", c_uint, [c_uint8]),
    ("ibsa_rate_mbps", c_uint, [c_uint8]),
    ("ibsa_event_name", c_char_p, [c_int]),
    ("ibsa_registration_event_name", c_char_p, [c_int]),
    ("ibsa_reply_outcome", c_int, [c_void_p]),
    ("ibsa_reply_explain", None, [c_void_p, _ERROR]),
    ("ibsa_query_start_sized", c_int,
     [c_void_p, POINTER(Query), c_size_t, Callback, c_void_p, _OUT_U64]),
    ("ibsa_cancel", c_int, [c_void_p, c_uint64]),
    ("ibsa_fd", c_int, [c_void_p]),
    ("ibsa_timeout_ms", c_int, [c_void_p]),
    ("ibsa_dispatch", c_int, [c_void_p]),
    # On a virtual clock only, where it does not wait.
    ("ibsa_wait", c_int, [c_void_p, c_int]),
    ("ibsa_port_get_sized", c_int,
     [c_void_p, c_bool, POINTER(PortStruct), c_size_t]),
    ("ibsa_stats_get_sized", None, [c_void_p, POINTER(Stats), c_size_t]),
    ("ibsa_reach_start_sized", c_int,
     [c_void_p, POINTER(ReachOptions), c_size_t, POINTER(Gid), c_size_t,
      Callback,
      c_void_p, _OUT]),
    ("ibsa_reach_stop", c_int, [c_void_p]),
    ("ibsa_event_watch_start_sized", c_int,
     [c_void_p, POINTER(EventOptions), c_size_t, Callback, c_void_p, _ERROR,
      _OUT]),
    ("ibsa_event_watch_stop", None, [c_void_p]),
    ("ibsa_service_register_sized", c_int,
     [c_void_p, POINTER(RegistrationOptions), c_size_t, c_size_t, Callback,
      c_void_p, _OUT]),
    ("ibsa_service_release", c_int, [c_void_p]),
    ("ibsa_topology_new", c_int, [_OUT]),
    ("ibsa_topology_free", None, [c_void_p]),
    ("ibsa_topology_add", c_int, [c_void_p, _RECORD, c_void_p, c_size_t]),
    ("ibsa_topology_info_get_sized", None,
     [c_void_p, POINTER(TopologyInfo), c_size_t]),
    ("ibsa_topology_node_at_sized", c_int,
     [c_void_p, c_size_t, POINTER(TopologyNodeStruct), c_size_t]),
    ("ibsa_topology_port_at_sized", c_int,
     [c_void_p, c_size_t, c_uint, POINTER(TopologyPortStruct), c_size_t]),
    ("ibsa_topology_finding_at_sized", c_int,
     [c_void_p, c_size_t, POINTER(FindingStruct), c_size_t]),
    ("ibsa_topology_trace_sized", c_int,
     [c_void_p, c_uint32, c_uint32, c_char_p, c_size_t, c_size_t,
      POINTER(POINTER(TraceStruct))]),
    ("ibsa_trace_free", None, [POINTER(TraceStruct)]),
    ("ibsa_trace_end_text", c_char_p, [c_int]),
]


# The same for the library of the embedded fabric, which a program loads with
# its first fabric.
_FABRIC_WAITING: List[Tuple[str, Any, List[Any]]] = [
    ("ibsa_fabric_load_sized", c_int,
     [c_char_p, POINTER(FabricOptions), c_size_t, _ERROR, _OUT]),
    ("ibsa_fabric_parse_sized", c_int,
     [c_char_p, c_size_t, POINTER(FabricOptions), c_size_t, _ERROR, _OUT]),
    ("ibsa_fabric_put", None, [c_void_p]),
]
_FABRIC_SHORT: List[Tuple[str, Any, List[Any]]] = [
    ("ibsa_fabric_advance", c_int, [c_void_p, c_uint64]),
    ("ibsa_fabric_info_get_sized", None,
     [c_void_p, POINTER(FabricInfo), c_size_t]),
    ("ibsa_fabric_port_at_sized", c_int,
     [c_void_p, c_size_t, POINTER(FabricPortStruct), c_size_t]),
    ("ibsa_fabric_fault_sized", c_int,
     [c_void_p, POINTER(Fault), c_size_t]),
    ("ibsa_fault_parse_sized", c_int,
     [c_char_p, POINTER(Fault), c_size_t, _ERROR]),
    ("ibsa_fabric_sa_set", None, [c_void_p, c_bool]),
    ("ibsa_fabric_sa_move", c_int, [c_void_p, c_char_p]),
    ("ibsa_fabric_port_set_sized", c_int,
     [c_void_p, c_char_p, c_uint, POINTER(PortChange), c_size_t]),
]


def library_name(soname: str) -> str:
    """The library beside this module, or else the one the system finds."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          _build.FOLDER, soname)
    return beside if _build.FOLDER and os.path.exists(beside) else soname


class Library:
    """The functions of libibsa and libibsa-fabric as attributes."""

    def __init__(self) -> None:
        self._load(_build.SONAME, _WAITING, _SHORT)

    def _load(self, soname: str, waiting: List[Tuple[str, Any, List[Any]]],
              short: List[Tuple[str, Any, List[Any]]]) -> None:
        name = library_name(soname)
        for cdll, table in ((ctypes.CDLL(name), waiting),
                            (ctypes.PyDLL(name), short)):
            for function, result, arguments in table:
                entry = getattr(cdll, function)
                entry.restype = result
                entry.argtypes = arguments
                setattr(self, function, entry)

    def __getattr__(self, name: str) -> Any:
        if name not in {row[0] for row in _FABRIC_WAITING + _FABRIC_SHORT}:
            raise AttributeError(f"libibsa: no declaration of {name}")
        try:
            self._load(_build.FABRIC_SONAME, _FABRIC_WAITING, _FABRIC_SHORT)
        except OSError as reason:
            raise OSError(
                errno.EOPNOTSUPP,
                f"an embedded fabric needs {_build.FABRIC_SONAME}, which "
                f"cannot be loaded: {reason}; install the package "
                "libibsa-fabric1") from reason
        return getattr(self, name)


lib = Library()


def c_text(value: str, what: str = "text") -> bytes:
    """A string for C, which must not end earlier than in Python."""
    if "\0" in value:
        raise ValueError(f"the {what} {value!r} contains a NUL")
    return value.encode("utf-8", "surrogateescape")


def filled(struct: Any, **values: Any) -> Any:
    """A struct with members, whose numbers must fit: ctypes would cut them."""
    out = struct()
    for name, value in values.items():
        setattr(out, name, value)
        if isinstance(value, int) and getattr(out, name) not in (value, None):
            raise ValueError(f"{name}: {value} is out of range")
    return out


def c_path(value: Optional[str], what: str) -> Optional[bytes]:
    return None if value is None else c_text(value, what)
