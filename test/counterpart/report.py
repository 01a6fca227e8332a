#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks the reports of ibsa doctor --report of the fabric of this process.

usage: report.py IBSA KEY...

KEY are bytes, in hexadecimal, that the keys of the SM have; the SA key is that
of the third and fourth. A service with a key and data is registered first.
What commands print on the fabric, they print on the report; no report has a
byte of a key, and an anonymous one no GUID or name of the fabric.
"""

import json
import os
import re
import subprocess
import sys
import tarfile
import time

IBSA, KEYS = sys.argv[1], sys.argv[2:]
SA_KEY = "0x" + KEYS[2] + KEYS[3]
SERVICE_KEY, DATA = "5ec4e7075ec4e708", "5ec4e709"
# Where the report is read, there is no fabric.
ELSEWHERE = {name: value for name, value in os.environ.items()
             if name not in ("IBSA_FABRIC", "IBSA_NODE")}
BYTES_MAX, SECONDS_MAX = 5_000_000, 10
RATE_MAX = 10  # queries in a second

# Commands whose queries a report has; {} is a host with a path in it.
ANSWERED = """
topology
topology --format net
check
status
page -o -
query get ClassPortInfo
query table NodeRecord
query table PortInfoRecord
query table SwitchInfoRecord
query table LinkRecord
query table GUIDInfoRecord
query table PKeyTableRecord
query table MCMemberRecord
query table InformInfoRecord
query table LFTR
query table MFTR
query table SL2VL
query table VLAR
query table NodeRecord node_type=switch
query table PIR port_state=Active
query get NodeRecord lid={lid}
query table LinkRecord from_lid={lid}
service list
service lookup printer
path self {guid}
path -j self {guid}
reach {guid}
reach --all
trace self {guid}
""".strip().splitlines()

# Commands with others.
UNANSWERED = """
query get PathRecord slid={lid} dlid={lid}
query set ServiceRecord service_id=5 service_gid=self service_pkey=0xffff service_name=x
path --all self {guid}
""".strip().splitlines()

# What differs: times, keys, and the host, of which a report has one port.
OTHERS = re.compile(r"(?m)^(host|compute|uncabled) .*\n| --fabric '[^']*'"
                    r"|ibsa: the table leaves out fields .*")
VARYING = re.compile(
    r"[0-9.]+ ms|\"(min|median|max)_ns\":\d+|\d+-\d+-\d+T[0-9:.]+Z"
    r"|generated on .*")


def run(*args, **options):
    return subprocess.run([IBSA, *args], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, **options)


def ask(*args, **options):
    return json.loads(run("-j", *args, check=True, **options).stdout)


def fail(*words):
    sys.exit("report.py: " + " ".join(map(str, words)))


def plain(result):
    return result.returncode, *(VARYING.sub("*", OTHERS.sub("", text))
                                for text in (result.stdout, result.stderr))


def register():
    result = run("query", "set", "ServiceRecord", "service_id=0x1234",
                 "service_gid=self", "service_pkey=0xffff",
                 "service_lease=0xffffffff", "service_name=printer",
                 f"service_key={2 * SERVICE_KEY}", f"service_data32_1=0x{DATA}",
                 "--sm-key", SA_KEY)
    if result.returncode:
        fail("cannot register a service:", result.stderr)


def report(path, *options):
    start = time.monotonic()
    result = run("doctor", "--report", path, "--sm-key", SA_KEY, *options)
    took = time.monotonic() - start
    if result.returncode or "the report has" not in result.stderr:
        fail("doctor --report:", result.returncode, result.stderr)
    count = int(re.search(r"\((\d+) queries", result.stderr).group(1))
    if took < (count - 1) / RATE_MAX:
        fail(f"{count} queries in {took:.1f} s")
    with open(path, "rb") as file:
        data = file.read()
    print(f"{path}: {len(data)} bytes in {took:.1f} s")
    if len(data) > BYTES_MAX or took > SECONDS_MAX:
        fail(f"the limits are {BYTES_MAX} bytes and {SECONDS_MAX} s")
    return data


def dissected(path):
    """The keys that tshark shows in the packets of a report. It takes each
    segment of a table for the start of a record, so only the first counts."""
    with tarfile.open(path) as archive:
        with open("mads.pcap", "wb") as file:
            file.write(archive.extractfile("mads.pcap").read())
    names = ["infiniband.sa.smkey", "infiniband.portinfo.m_key",
             "infiniband.linkrecord.servicekey",
             "infiniband.sminfo.sm_key", "infiniband.linkrecord.servicename",
             "infiniband.rmpp.segmentnumber"]
    command = ["tshark", "-r", "mads.pcap", "-T", "fields"]
    for name in names:
        command += ["-e", name]
    lines = subprocess.run(command, check=True, capture_output=True,
                           text=True).stdout.splitlines()
    packets = [line.split("\t") for line in lines]
    return [keys for *keys, segment in packets
            if not segment or int(segment, 0) <= 1]


def check_keys(data, path):
    for key in [*KEYS, SERVICE_KEY[:8], SERVICE_KEY[8:], DATA]:
        if bytes.fromhex(key) in data:
            fail(path, "has the key", key)
    seen = dissected(path)
    if not all(any(column) for column in zip(*seen)):
        fail("tshark does not show each kind of key in", path)
    for *keys, _ in seen:
        if re.search("[1-9a-f]", "".join(keys).replace("0x", "")):
            fail(path, "has a key:", *keys)


def check_answers(path, host):
    for line in ANSWERED:
        args = line.format(**host).split()
        live = plain(run(*args, "--sm-key", SA_KEY))
        replayed = plain(run(*args, "--fabric", path, env=ELSEWHERE))
        if live != replayed:
            fail("ibsa", *args, "\non the fabric:", *live, "\non the report:",
                 *replayed)
    for line in UNANSWERED:
        args = line.format(**host).split()
        result = run(*args, "--fabric", path, env=ELSEWHERE)
        if result.returncode != 5 or \
                "report does not hold the answer" not in result.stderr:
            fail("ibsa", *args, plain(result))


def check_anonymous(data, path, nodes, guids):
    tables = [run("-j", "-v", "--fabric", path, "query", "table", name,
                  env=ELSEWHERE).stdout
              for name in ("NodeRecord", "GUIDInfoRecord", "SMInfoRecord",
                           "PathRecord", "MCMemberRecord", "ServiceRecord",
                           "PortInfoRecord")]
    text = "".join(tables)
    for guid in guids:
        if guid.to_bytes(8, "big") in data or f"{guid:016x}" in text or \
                f"{guid:x}".encode() in data:
            fail(path, f"has the GUID {guid:#x}")
    for node in nodes:
        name = node["node_description"].split()[0]
        if name.encode() in data or f'"{name}' in text:
            fail(path, "has the name", name)
    if b"printer" in data or "printer" in text:
        fail(path, "has the name of the service")


def shape(rows):
    """The links of a topology, by LIDs."""
    return sorted((row["port"], row["peer_port"], row["width"], row["speed"])
                  for row in rows)


def check_same_shape(path, nodes):
    """An anonymous report has the same fabric by other names."""
    again = ask("query", "table", "NodeRecord", "--fabric", path,
                env=ELSEWHERE)
    of = {row["lid"]: row for row in again}
    pairs = set()
    for node in nodes:
        other = of[node["lid"]]
        if node["node_type"] != other["node_type"]:
            fail("another node at LID", node["lid"])
        pairs.add((node["node_description"], other["node_description"]))
    for column in (0, 1):
        if len({pair[column] for pair in pairs}) != len(pairs):
            fail("names are not replaced one by one:", sorted(pairs))
    if shape(ask("topology")) != shape(ask("topology", "--fabric", path,
                                              env=ELSEWHERE)):
        fail("another topology in", path)


def main():
    register()
    nodes = ask("query", "table", "NodeRecord", "--sm-key", SA_KEY, "-v")
    guids = {int(node[name], 0) for node in nodes
             for name in ("node_guid", "port_guid", "system_image_guid")} - {0}
    adapters = [node for node in nodes if node["node_type"] == 1]
    host = {"guid": adapters[-1]["port_guid"], "lid": adapters[-1]["lid"]}
    data = report("full.tar")
    check_keys(data, "full.tar")
    check_answers("full.tar", host)
    data = report("anonymous.tar", "--anonymous")
    check_keys(data, "anonymous.tar")
    check_anonymous(data, "anonymous.tar", nodes, guids)
    check_same_shape("anonymous.tar", nodes)


main()
