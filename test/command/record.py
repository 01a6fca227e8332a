#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares what a program printed with what tshark sees in the recording.

usage: record.py IBSA FABRIC [DROP-IN]

Without a DROP-IN, ibsa query and ibsa path run with --record. For a table of
nodes, the test reassembles the segments that tshark shows, and compares field
by field; for a Get, which is one MAD, it compares the fields that tshark shows.
With a DROP-IN, saquery runs on the fabric of ibsa fabric exec, and on its
recording; then OpenSM brings up a fabric, and none of its packets may be
missing. Exits with 77 if a program is missing.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEADER, SEGMENT, NODE = 56, 200, 112
SET, RESPONSE, TRAP, ACTIVE = 0x02, 0x80, 0x05, 4


def ask(ibsa, fabric, pcap, *args):
    run = subprocess.run([ibsa, "--fabric", fabric, "--record", pcap, "-j",
                          *args], check=True, capture_output=True)
    return json.loads(run.stdout)


def dissect(pcap):
    """Return the packets that tshark shows, each with its fields by name.
    Fail if one is malformed."""
    run = subprocess.run(["tshark", "-r", pcap, "-T", "json", "-x",
                          "--no-duplicate-keys"],
                         check=True, capture_output=True)
    packets = [p["_source"]["layers"] for p in json.loads(run.stdout)]
    for packet in packets:
        assert "_ws.malformed" not in packet, packet
        assert "infiniband" in packet, packet
    return packets


def fields(tree, found=None):
    """Return the fields of a packet, with those inside other fields: the
    shown value by name."""
    found = {} if found is None else found
    for name, value in tree.items():
        if isinstance(value, dict):
            fields(value, found)
        elif not name.endswith("_raw"):
            found.setdefault(name.removeprefix("infiniband."), value)
    return found


def raw_mad(packet):
    frame = bytes.fromhex(packet["frame_raw"][0])
    return frame[-6 - 256:-6]


def check(what, ours, theirs):
    if ours != theirs:
        sys.exit(f"record.py: {what}: {ours!r}, and tshark has {theirs!r}")


def reassemble(packets):
    """Return the data of a table from the packets of the reply."""
    data = b""
    for number, packet in enumerate(packets, 1):
        seen = fields(packet)
        check("method", 0x92, int(seen["mad.method"], 0))
        check("segment", number, int(seen["rmpp.segmentnumber"], 0))
        data += raw_mad(packet)[HEADER:]
    length = int(seen["rmpp.payloadlength"], 0)
    return data[:(len(packets) - 1) * SEGMENT + length - 20]


def node_records(packets, count):
    data = reassemble(packets)
    check("bytes", count * NODE, len(data))
    return [data[i:i + NODE] for i in range(0, len(data), NODE)]


def number(record, first, size):
    return int.from_bytes(record[first:first + size], "big")


def description(record):
    return record[44:108].rstrip(b"\0").decode()


def table(ibsa, fabric, folder):
    pcap = os.path.join(folder, "table.pcap")
    rows = ask(ibsa, fabric, pcap, "query", "table", "NodeRecord")
    for row, record in zip(rows, node_records(dissect(pcap)[1:], len(rows))):
        check("lid", row["lid"], number(record, 0, 2))
        check("node_guid", int(row["node_guid"], 0), number(record, 16, 8))
        check("node_description", row["node_description"],
              description(record))


def single(ibsa, fabric, folder):
    pcap = os.path.join(folder, "get.pcap")
    row, = ask(ibsa, fabric, pcap, "path", "self", "node2")
    request, answer = (fields(p) for p in dissect(pcap)[-2:])
    check("transaction", request["mad.transactionid"],
          answer["mad.transactionid"])
    check("LIDs", [request["lrh.slid"], request["lrh.dlid"]],
          [answer["lrh.dlid"], answer["lrh.slid"]])
    check("slid", row["slid"], int(answer["pathrecord.slid"], 0))
    check("dlid", row["dlid"], int(answer["pathrecord.dlid"], 0))
    check("pkey", int(row["pkey"], 0), int(answer["pathrecord.p_key"], 0))
    check("rate", row["rate"], int(answer["pathrecord.rate"], 0))


def exec_recorded(ibsa, fabric, pcap, *command, options=()):
    """Run a command on its own fabric, which is recorded. Return the output."""
    libraries = os.path.dirname(os.path.realpath(sys.argv[3]))
    run = subprocess.run([ibsa, "fabric", "exec", "--record", pcap, *options,
                          fabric, "--", "env", f"LD_LIBRARY_PATH={libraries}",
                          *command],
                         check=True, capture_output=True, text=True)
    return run.stdout


def dumps(text):
    """Return the records that saquery has printed, each as values by name."""
    found = []
    for line in text.splitlines():
        if line.endswith("dump:"):
            found.append({})
        elif match := re.match(r"\s+(\w+?)\.+(.*)", line):
            found[-1][match[1]] = match[2]
    return found


def saquery_table(ibsa, fabric, folder):
    pcap = os.path.join(folder, "nodes.pcap")
    rows = dumps(exec_recorded(ibsa, fabric, pcap, "saquery", "NR"))
    records = node_records(dissect(pcap)[1:], len(rows))
    for row, record in zip(rows, records):
        for name, first, size in [("lid", 0, 2), ("base_version", 4, 1),
                                  ("class_version", 5, 1),
                                  ("num_ports", 7, 1), ("sys_guid", 8, 8),
                                  ("node_guid", 16, 8), ("port_guid", 24, 8),
                                  ("partition_cap", 32, 2),
                                  ("device_id", 34, 2), ("revision", 36, 4),
                                  ("port_num", 40, 1), ("vendor_id", 41, 3)]:
            check(name, int(row[name], 0), number(record, first, size))
        check("NodeDescription", row["NodeDescription"], description(record))


def saquery_path(ibsa, fabric, folder):
    pcap = os.path.join(folder, "path.pcap")
    row, = dumps(exec_recorded(ibsa, fabric, pcap, "saquery", "-p",
                               "--src-to-dst", "1:2"))
    answer = fields(dissect(pcap)[-1])
    for ours, theirs in [("dgid", "dgid"), ("sgid", "sgid")]:
        check(ours, row[ours], answer["pathrecord." + theirs])
    for ours, theirs in [("slid", "slid"), ("dlid", "dlid"),
                         ("pkey", "p_key"), ("tclass", "tclass")]:
        check(ours, int(row[ours], 0), int(answer["pathrecord." + theirs], 0))
    # saquery prints selector and value as one number.
    for ours, theirs in [("mtu", "mtu"), ("rate", "rate"),
                         ("pkt_life", "packetlifetime")]:
        check(ours, int(row[ours], 0) & 0x3f,
              int(answer["pathrecord." + theirs], 0))


def replayed(ibsa, fabric, folder):
    """saquery prints the same on a replayed recording as on the fabric."""
    pcap = os.path.join(folder, "nodes.pcap")
    again = os.path.join(folder, "again.pcap")
    ask_nodes = ["saquery", "NR"]
    check("saquery NR", exec_recorded(ibsa, fabric, pcap, *ask_nodes),
          exec_recorded(ibsa, pcap, again, *ask_nodes))
    check("packets", len(dissect(pcap)), len(dissect(again)))


def bring_up(ibsa, fabric, folder):
    """If OpenSM brings up a fabric, the recording has all packets of OpenSM
    and all replies."""
    pcap = os.path.join(folder, "opensm.pcap")
    stats, = json.loads(exec_recorded(
        ibsa, fabric, pcap, "sh", "-c",
        'cd "$1"; export OSM_TMP_DIR=. OSM_CACHE_DIR=.; '
        'opensm -o -f opensm.log >opensm.out 2>&1; "$0" fabric stats -j',
        ibsa, folder, options=["--sa", "none"]))
    seen = [fields(packet) for packet in dissect(pcap)]
    methods = [int(packet["mad.method"], 0) for packet in seen]
    check("requests", stats["packets_in"], sum(
        not method & RESPONSE and method != TRAP for method in methods))
    check("answers", stats["packets_out"], sum(
        bool(method & RESPONSE) or method == TRAP for method in methods))
    states = [int(packet["portinfo.portstate"], 0)
              for packet, method in zip(seen, methods)
              if method == SET and "portinfo.portstate" in packet]
    if ACTIVE not in states:
        sys.exit("record.py: no port is set to Active")


def main():
    is_shared = len(sys.argv) > 3
    for tool in ["tshark"] + ["saquery", "opensm"] * is_shared:
        if not shutil.which(tool):
            print(f"needs {tool}")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for test in ([saquery_table, saquery_path, replayed, bring_up] if is_shared
                     else [table, single]):
            test(os.path.realpath(sys.argv[1]), sys.argv[2], folder)


main()
