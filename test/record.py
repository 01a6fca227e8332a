#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a query printed, and what tshark sees in the record of it.

usage: record.py IBSA FABRIC

Asks for nodes with --record, puts the segments that tshark shows together
again, and compares field by field; then looks at a Get, which is one MAD, as
tshark dissects it. Exits with 77 where there is no tshark.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HEADER, SEGMENT, NODE = 56, 200, 112


def ask(ibsa, fabric, pcap, *args):
    run = subprocess.run([ibsa, "--fabric", fabric, "--record", pcap, "-j",
                          *args], check=True, capture_output=True)
    return json.loads(run.stdout)


def dissect(pcap):
    """A packet of tshark each, its fields by name; malformed ones fail."""
    run = subprocess.run(["tshark", "-r", pcap, "-T", "json", "-x",
                          "--no-duplicate-keys"],
                         check=True, capture_output=True)
    packets = [p["_source"]["layers"] for p in json.loads(run.stdout)]
    for packet in packets:
        assert "_ws.malformed" not in packet, packet
        assert "infiniband" in packet, packet
    return packets


def fields(tree, found=None):
    """Of a packet, name to shown value, however deep."""
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


def table(ibsa, fabric, folder):
    pcap = os.path.join(folder, "table.pcap")
    rows = ask(ibsa, fabric, pcap, "query", "table", "NodeRecord")
    packets = dissect(pcap)
    data = b""
    for number, packet in enumerate(packets[1:], 1):
        seen = fields(packet)
        check("method", 0x92, int(seen["mad.method"], 0))
        check("segment", number, int(seen["rmpp.segmentnumber"], 0))
        data += raw_mad(packet)[HEADER:]
    length = int(seen["rmpp.payloadlength"], 0)
    data = data[:(len(packets) - 2) * SEGMENT + length - 20]
    check("bytes", len(rows) * NODE, len(data))
    for i, row in enumerate(rows):
        record = data[i * NODE:]
        check("lid", row["lid"], int.from_bytes(record[:2], "big"))
        check("node_guid", int(row["node_guid"], 0),
              int.from_bytes(record[16:24], "big"))
        check("node_description", row["node_description"],
              record[44:108].rstrip(b"\0").decode())


def single(ibsa, fabric, folder):
    pcap = os.path.join(folder, "get.pcap")
    row, = ask(ibsa, fabric, pcap, "path", "node1", "node2")
    request, answer = (fields(p) for p in dissect(pcap)[-2:])
    check("transaction", request["mad.transactionid"],
          answer["mad.transactionid"])
    check("LIDs", [request["lrh.slid"], request["lrh.dlid"]],
          [answer["lrh.dlid"], answer["lrh.slid"]])
    check("slid", row["slid"], int(answer["pathrecord.slid"], 0))
    check("dlid", row["dlid"], int(answer["pathrecord.dlid"], 0))
    check("pkey", row["pkey"], int(answer["pathrecord.p_key"], 0))
    check("rate", row["rate"], int(answer["pathrecord.rate"], 0))


def main():
    if not shutil.which("tshark"):
        print("needs tshark")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        table(*sys.argv[1:3], folder)
        single(*sys.argv[1:3], folder)


main()
