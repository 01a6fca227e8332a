#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests redirections of the embedded SA, with tshark.

usage: redirect.py IBSA MANY-HOSTS TWO-HOSTS

The SA of the topology MANY-HOSTS redirects by LID and by GID, once, three and
four times; that of TWO-HOSTS in a circle. tshark shows in the recording of the
fabric to which LID, QPN, P_Key and SL each request went: these must be the
values in the redirection before it. Exits with 77 if tshark is missing.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

GET, GET_RESP, REDIRECT = 0x01, 0x81, 0x0002
SA_CLASS, CLASS_PORT_INFO, PATH = 0x03, 0x0001, 0x0035
PARTITIONS = "Default=0x7fff : ALL=full;\np1=0x1 : ALL=full;\n"


def fields(tree, found=None):
    """Return the fields of a packet, with those inside other fields: the
    shown value by name."""
    found = {} if found is None else found
    for name, value in tree.items():
        if isinstance(value, dict):
            fields(value, found)
        else:
            found.setdefault(name.removeprefix("infiniband."), value)
    return found


def number(packet, name):
    return int(packet[name], 0)


def dissect(pcap):
    """Return the SA's MADs: the fields that tshark shows, and the bytes.
    Fail if one is malformed."""
    run = subprocess.run(["tshark", "-r", pcap, "-T", "json", "-x",
                          "--no-duplicate-keys"],
                         check=True, capture_output=True)
    found = []
    for packet in (p["_source"]["layers"] for p in json.loads(run.stdout)):
        assert "_ws.malformed" not in packet, packet
        seen = fields(packet)
        if int(seen.get("mad.mgmtclass", "0"), 0) == SA_CLASS:
            frame = bytes.fromhex(packet["frame_raw"][0])
            seen["mad"] = frame[-6 - 256:-6]
            found.append(seen)
    return found


def check(what, ours, wanted):
    if ours != wanted:
        sys.exit(f"redirect.py: {what}: {ours!r}, and not {wanted!r}")


def address(request):
    """Return the destination of a request, as tshark shows it."""
    return {"lid": number(request, "lrh.dlid"),
            "qpn": number(request, "bth.destqp"),
            "pkey": number(request, "bth.p_key"),
            "sl": number(request, "lrh.sl")}


def target(answer):
    """Return the destination, as address() does, and the GID in the
    ClassPortInfo of a redirection. tshark dissects it as a record of the
    requested kind, so its bytes are read here. Source: IBA vol 1, 13.4.8.1."""
    info = answer["mad"][56:]
    return {"lid": int.from_bytes(info[28:30], "big"),
            "qpn": int.from_bytes(info[33:36], "big"),
            "pkey": int.from_bytes(info[30:32], "big"),
            "sl": info[25] >> 4}, info[8:24]


def run(ibsa, topology, folder, fault):
    """Run a client that sends one Get on a fabric with the fault. Return how
    it ended, and the recorded MADs."""
    pcap = os.path.join(folder, fault + ".pcap")
    partitions = os.path.join(folder, "partitions.conf")
    with open(partitions, "w", encoding="ascii") as file:
        file.write(PARTITIONS)
    done = subprocess.run(
        [ibsa, "fabric", "exec", "--partitions", partitions, "--fault", fault,
         "--record", pcap, topology, "--", ibsa, "query", "get", "CPI"],
        env=dict(os.environ, IBSA_NODE="node2"), check=False, text=True,
        capture_output=True)
    return done, dissect(pcap)


def exchanges(packets):
    """Yield each Get with its reply. Requests with other methods, which the
    program sends first, are left out."""
    asked = {}
    for packet in packets:
        method = number(packet, "mad.method")
        name = packet["mad.transactionid"]
        if method == GET:
            asked[name] = packet
        elif method == GET_RESP and name in asked:
            yield asked[name], packet


def follow(what, packets):
    """Check each request against the redirection before it. Return: the
    target of the last redirection, or None if the request was answered; and
    the number of redirections."""
    wanted, count, gid = None, 0, None
    for request, answer in exchanges(packets):
        attribute = number(request, "mad.attributeid")
        if attribute == PATH:
            mad = request["mad"]
            check(f"{what}: GID of the path", mad[56 + 8:56 + 24], gid)
            check(f"{what}: status of the path",
                  number(answer, "mad.status"), 0)
            wanted["lid"] = number(answer, "pathrecord.dlid")
            continue
        check(f"{what}: attribute", attribute, CLASS_PORT_INFO)
        if wanted:
            check(f"{what}: request {count}", address(request), wanted)
        else:
            check(f"{what}: the first", address(request)["qpn"], 1)
        if number(answer, "mad.status") == 0:
            return None, count
        check(f"{what}: status", number(answer, "mad.status"), REDIRECT)
        wanted, gid = target(answer)
        check(f"{what}: P_Key", wanted["pkey"], 0x8001)
        count += 1
    return wanted, count


def keeps(ibsa, topology):
    """If a watch, a registration or a batch is redirected too often, the
    command prints the last target."""
    for command in (["watch"], ["service", "register", "--renew", "7", "here"],
                    ["reach", "node1"]):
        done = subprocess.run(
            [ibsa, "fabric", "exec", "--fault", "redirect=100,0,9", topology,
             "--", ibsa, *command],
            env=dict(os.environ, IBSA_NODE="node2"), check=False, text=True,
            capture_output=True, timeout=60)
        check(f"{command}: exit status", done.returncode, 5)
        if not re.search("redirected the request to LID 1, .* too often",
                         done.stderr):
            sys.exit(f"redirect.py: {command}: {done.stderr}")


def main():
    ibsa, many, two = sys.argv[1:]
    if not shutil.which("tshark"):
        print("no tshark: install it to see what is sent")
        return 77
    ibsa = os.path.realpath(ibsa)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("redirect", "redirect-gid"):
            for hops, topology in ((1, many), (3, many), (4, many), (9, two)):
                what = f"{kind} {hops}"
                done, packets = run(ibsa, topology, folder,
                                    f"{kind}=100,0,{hops}")
                last, count = follow(what, packets)
                check(f"{what}: redirections", count, min(hops, 4))
                if hops <= 3:
                    check(f"{what}: {done.stderr}", done.returncode, 0)
                    check(f"{what}: an answer", last, None)
                    continue
                check(f"{what}: exit status", done.returncode, 5)
                name = f"LID {last['lid']}," if last["lid"] else "GID fe80::"
                if name not in done.stderr:
                    sys.exit(f"redirect.py: {what}: no '{name}' in "
                             f"{done.stderr}")
                print(f"{what}: {done.stderr.strip()}")
    keeps(ibsa, two)
    print("redirections are followed as tshark sees them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
