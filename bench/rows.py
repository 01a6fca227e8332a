# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is measured, and what is wanted of it."""
from dataclasses import dataclass
from typing import Optional


@dataclass
class Row:
    """One line: the case that is ours, the peer's, and what is wanted.

    ratio is "speed" for peer / ours in time, "time" for ours / peer, "rate"
    for ours / peer of what is better when larger, "more" for ours - peer, ""
    for our value alone, "alone" if it is better when larger. At least the
    target is wanted of "speed", "rate" and "alone", at most of the others.
    floor is the case that is a lower bound of ours, or "". clang_target is the
    target in a build with clang, if it is another one.
    """
    name: str
    what: str
    unit: str
    ours: str
    peer: str
    ratio: str
    target: float
    floor: str = ""
    clang_target: Optional[float] = None

    def target_of(self, compiler):
        has_other = compiler == "clang" and self.clang_target is not None
        return self.clang_target if has_other else self.target


ROWS = [
    Row("B1", "decode a PathRecord, against libibmad's 6 fields", "ns",
        "decode-ibsa", "decode-libibmad", "speed", 4.5,
        "decode-copy"),
    Row("B1", "decode a PathRecord, against plain loads", "ns",
        "decode-ibsa", "decode-plain", "time", 1.05,
        "decode-copy"),
    Row("B2", "read 3 fields of each of 1M records, against plain loads", "ns",
        "read-ibsa", "read-plain", "time", 1.15,
        "read-word"),
    Row("B4", "encode a whole Get, against libibmad", "ns",
        "encode-ibsa", "encode-libibmad", "speed", 8,
        "encode-copy", 6),
    Row("B4", "encode a whole Get, against umad structs", "ns",
        "encode-ibsa", "encode-structs", "speed", 2,
        "encode-copy", 1),
    Row("B5", "query to callback, 64 in flight", "ns",
        "engine-64", "", "", 75,
        "engine-floor-64"),
    Row("B5", "query to callback, against one system call", "ns",
        "engine-64", "engine-syscall", "time", 1.1,
        "engine-floor-64"),
    Row("B5", "query to callback", "instructions",
        "engine-64 instructions", "", "", 850,
        "engine-floor-64 instructions"),
    Row("B5", "500,000 queries", "allocations",
        "engine-allocations", "", "", 0),
    Row("B6", "query to callback, 1M in flight, against 64", "ns",
        "engine-million", "engine-64", "time", 3,
        "engine-floor-million"),
    Row("B6", "memory of a query in flight", "bytes",
        "engine-bytes", "", "", 640,
        "engine-floor-bytes"),
    Row("B7", "embedded SA answers a path, 11,664 hosts", "ns",
        "embedded-path", "", "", 300,
        "embedded-floor"),
    Row("B8", "one path at a time, against libibmad", "us p50",
        "path-client 1 p50", "path-mad 1 p50", "time", 1.02,
        "path-umad 1 p50"),
    Row("B8", "one path at a time, above libibumad", "instructions",
        "path-client 1 instructions", "path-umad 1 instructions", "more",
        800,
        "path-umad 1 instructions"),
    Row("B9", "16 paths in flight, against libibumad", "1/s",
        "path-client 16 rate", "path-umad 16 rate", "rate", 0.98,
        "path-umad 16 rate"),
    Row("B9", "16 paths in flight, against libibmad's one", "1/s",
        "path-client 16 rate", "path-mad 1 rate", "rate", 2.2,
        "path-umad 16 rate"),
    Row("B9", "64 paths in flight, against libibumad", "1/s",
        "path-client 64 rate", "path-umad 64 rate", "rate", 0.98,
        "path-umad 64 rate"),
    Row("B9", "64 paths in flight, against libibmad's one", "1/s",
        "path-client 64 rate", "path-mad 1 rate", "rate", 2.6,
        "path-umad 64 rate"),
    Row("B10", "paths for 8 threads, against a client in one", "ns",
        "ib-sa-threads", "ib-sa-client", "time", 2,
        "ib-sa-handover"),
    Row("B10", "paths for 8 threads, above a client in one", "instructions",
        "ib-sa-threads instructions", "ib-sa-client instructions", "more",
        900,
        "ib-sa-handover instructions"),
    Row("B10", "512,000 queries", "allocations",
        "ib-sa-allocations", "", "", 0),
    Row("B11", "one path at a time, of a fabric server, against a datagram",
        "us p50", "shared 1 p50", "socket-round-trip us", "time", 1.25,
        "ring-round-trip us"),
    Row("B12", "64 paths in flight, of a fabric server, against an echo",
        "1/s", "shared 64 rate", "socket-window rate", "rate", 1.5,
        "ring-window rate"),
    Row("B15", "492,804 paths of a fabric server, decoded", "s",
        "shared table", "", "", 0.35,
        "shared copy"),
    Row("B19", "a process for one path, against saquery on ibsim", "ms",
        "shared process", "ibsim process", "time", 0.35,
        "empty process"),
    Row("B19", "a process for one path", "system calls",
        "shared calls", "", "", 120,
        "empty calls"),
    Row("B26", "50 clients of one server, 4 paths in flight each", "1/s",
        "shared many", "", "alone", 300000,
        "ring-many rate"),
    Row("B26", "the slowest of them, against their mean", "1/s",
        "shared slowest", "shared mean", "rate", 0.5),
    Row("B25", "a server loads 11,664 hosts", "s",
        "up 11664 ours load", "", "", 0.2,
        "up 11664 ours read"),
    Row("B25", "a server loads 11,664 hosts, against ibsim", "s",
        "up 11664 ours load", "up 11664 ibsim load", "time", 1,
        "up 11664 ours read"),
    Row("B25", "OpenSM up, 648 hosts, against ibsim", "s",
        "up 648 ours up", "up 648 ibsim up", "time", 0.75,
        "up 648 ours cpu"),
    Row("B25", "OpenSM up, 11,664 hosts, against ibsim", "s",
        "up 11664 ours up", "up 11664 ibsim up", "time", 0.75,
        "up 11664 ours cpu"),
    Row("B25", "the server's memory, 648 hosts, against ibsim", "MB",
        "up 648 ours memory", "up 648 ibsim memory", "time", 1),
    Row("B25", "the server's memory, 11,664 hosts, against ibsim", "MB",
        "up 11664 ours memory", "up 11664 ibsim memory", "time", 1),
    Row("B20", "Report to callback, above one read by hand", "us p50",
        "report-ibsa p50", "report-hand p50", "more", 5, "report-hand p50"),
    Row("B20", "Report to callback, above one read by hand", "us p99",
        "report-ibsa p99", "report-hand p99", "more", 30, "report-hand p99"),
    Row("B30", "umad_poll() of a file with nothing, against libibumad", "ns",
        "umad-poll-ours", "umad-poll-theirs", "time", 1.1,
        "umad-poll-floor"),
    Row("B30", "umad_recv() of a file with nothing, against libibumad", "ns",
        "umad-recv-ours", "umad-recv-theirs", "time", 1.1,
        "umad-recv-floor"),
    Row("B30", "umad_send() and umad_recv() of a MAD, against libibumad", "ns",
        "umad-packet-ours", "umad-packet-theirs", "time", 1.1,
        "umad-packet-floor"),
    Row("B31", "one path in-process, 648 hosts, against a system call", "ns",
        "in-process 648 path", "in-process 648 syscall", "time", 9,
        "in-process 648 floor"),
    Row("B31", "one path in-process, 648 hosts", "instructions",
        "in-process 648 path instructions", "", "", 6600,
        "in-process 648 floor instructions"),
    Row("B31", "one path in-process, 10,000 hosts, against a system call",
        "ns", "in-process 10000 path", "in-process 10000 syscall", "time", 12,
        "in-process 10000 floor"),
    Row("B31", "one path in-process, 10,000 hosts", "instructions",
        "in-process 10000 path instructions", "", "", 6600,
        "in-process 648 floor instructions"),
    Row("B31", "100,000 paths in-process, 10,000 hosts", "allocations",
        "in-process 10000 allocations", "", "", 0),
    Row("B32", "ibsa topology --format net, 10,000 hosts, against ibnetdiscover",
        "s", "topology net", "ibnetdiscover", "time", 0.1,
        "topology cat"),
    Row("B32", "ibsa check --expect, 10,000 hosts, against topology --format net",
        "s", "topology check", "topology net", "time", 2,
        "topology cat"),
    Row("B32", "ibsa check --expect of JSON, against topology --format net",
        "s", "topology check json", "topology net", "time", 2,
        "topology cat json"),
    Row("B33", "63,206 PortInfoRecords as JSON, against saquery", "s",
        "json table", "saquery table", "time", 0.5,
        "json cat"),
    Row("B34", "ten seconds of an idle ibsa watch", "ms of CPU",
        "idle client", "", "", 10),
    Row("B34", "ten seconds of its idle fabric server", "ms of CPU",
        "idle server", "", "", 10),
    Row("B35", "10,000 paths at once, no loss", "s", "loss 0 seconds", "",
        "", 0.14),
    Row("B35", "10,000 paths at once, 1 % of the MADs lost", "s",
        "loss 1 seconds", "", "", 0.8),
    Row("B35", "10,000 paths at once, 5 % of the MADs lost", "timeouts",
        "loss 5 timeouts", "", "", 0),
]

NAMES = sorted({row.name for row in ROWS}, key=lambda name: int(name[1:]))
