#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests ibsa metrics, to standard output and to a file.

usage: metrics.py IBSA FABRIC LARGE SYSFS PAGE

Each value is compared with the output of another command. LARGE is a fabric of
10,000 hosts, SYSFS has trees of /sys, PAGE is the manual page. Debian's parser
of OpenMetrics reads all output.
"""
import collections
import os
import stat
import subprocess
import sys
import tempfile

from metrics_support import (PORT_SERIES, SERIES, Server, Test, labels_of, of)

KINDS = ("link-down", "link-degraded", "one-end", "same-guid", "same-lid",
         "no-name", "hidden", "rail-missing", "rail-crossed", "rail-apart",
         "rail-slow")
EXPECTED_KINDS = ("missing", "new", "moved", "slower")
NODE_KINDS = ("port-down", "rate-low", "no-pkey", "no-sm", "no-sa",
              "peer-unreachable")
PORT_STATES = {1: "down", 2: "init", 3: "armed", 4: "active"}
SM_STATES = ("not-active", "discovering", "standby", "master")


def counted(rows, kinds):
    counts = collections.Counter(row["finding"] for row in rows)
    return {kind: counts[kind] for kind in kinds}


def compare_ports(test, samples):
    """Compare the values of ports with the output of ibsa devices."""
    ports = test.rows("devices")
    infos = labels_of(samples, "ibsa_port_info")
    test.same([(i["device"], i["port"], i["gid"], i["lid"], i["link_layer"])
               for i in infos],
              [(p["device"], str(p["port"]), p["gid"], str(p["lid"]),
                p["link_layer"]) for p in ports], "ports")
    for port in ports:
        labels = (("device", port["device"]), ("port", str(port["port"])))
        for state in PORT_STATES.values():
            test.same(samples["ibsa_port_state", *labels, ("state", state)],
                      state == PORT_STATES[port["state"]], f"{labels} {state}")
        gigabits = float(port["rate"].split()[0])
        test.same(samples["ibsa_port_rate_bytes_per_second", *labels],
                  gigabits * 1e9 / 8, f"rate of {labels}")


def compare_fabric(test, samples, *expect):
    """Compare the values of the fabric with the output of ibsa topology and
    ibsa check. Return the number of findings of each kind."""
    links = test.rows("topology")
    nodes = collections.Counter(
        row["node_type"] for row in test.rows("query", "table", "NR"))
    test.same(of(samples, "ibsa_fabric_nodes", "type"),
              {"ca": len({row["node_guid"] for row in
                          test.rows("query", "table", "NR", "node_type=1")}),
               "switch": nodes[2], "router": nodes[3]}, "nodes")
    test.same(samples["ibsa_fabric_links"],
              sum(row["peer"] is not None for row in links), "links")
    kinds = KINDS + (EXPECTED_KINDS if expect else ())
    rows = test.rows("check", *expect, status=None)
    found = counted(rows, kinds)
    test.same(of(samples, "ibsa_fabric_findings", "kind"), found, "findings")
    rows = [row for row in rows if row["finding"] in kinds]
    test.same(sorted((named["kind"], named["severity"], named["guid"],
                      named["port"], named["what"])
                     for named in labels_of(samples, "ibsa_fabric_finding")),
              sorted((row["finding"], row["severity"], row["node_guid"],
                      str(row["port"] or 0), row["what"]) for row in rows),
              "named findings")
    return found


def compare_sm(test, samples):
    """Compare the values of SMs with SMInfoRecords and the SM's NodeRecord."""
    sms = test.rows("query", "table", "SMIR")
    lid = test.rows("devices")[0]["sm_lid"]
    own = next(sm for sm in sms if sm["lid"] == lid)
    node, = test.rows("query", "table", "NR", f"lid={lid}")
    test.same(labels_of(samples, "ibsa_sm_info"),
              [{"lid": str(lid), "guid": own["guid"],
                "node": node["node_description"],
                "priority": str(own["priority"]),
                "state": SM_STATES[own["sm_state"]]}], "SM")
    counts = collections.Counter(SM_STATES[sm["sm_state"]] for sm in sms)
    test.same(of(samples, "ibsa_sms", "state"),
              {state: counts[state] for state in SM_STATES}, "SMs")


def compare_peers(test, samples, peers):
    """Compare the values of peers with the output of ibsa reach."""
    wanted = {row["target"]: row["reach"] == "yes"
              for row in test.rows("reach", *peers, status=None)}
    test.same(of(samples, "ibsa_peer_reachable", "peer"), wanted, "peers")
    test.same(of(samples, "ibsa_peers", "result"),
              {"reachable": sum(wanted.values()),
               "unreachable": len(wanted) - sum(wanted.values()),
               "unknown": 0}, "peers by result")


def check_answers(test, samples, status):
    """All answers of the collection have the status."""
    answers = of(samples, "ibsa_collect_answers", "status")
    test.same(len(answers), 18, "number of statuses")
    test.same([name for name, value in answers.items() if value], [status],
              "statuses")


def values_are_those_of_other_commands(test, fabric):
    with Server(test, fabric) as server:
        samples = test.metrics()
        compare_ports(test, samples)
        compare_sm(test, samples)
        test.same(sum(compare_fabric(test, samples).values()), 0, "findings")
        check_answers(test, samples, "success")
        test.same(samples["ibsa_collect_complete"], 1, "complete")
        test.expect(0 < samples["ibsa_collect_duration_seconds"] < 30,
                    "duration")
        test.same(list(of(samples, "ibsa_sa_up", "port").values()), [1, 1],
                  "SA up")
        for rtt in of(samples, "ibsa_sa_round_trip_seconds", "port").values():
            test.expect(0 < rtt < samples["ibsa_collect_duration_seconds"],
                        f"round trip {rtt}")
        version = test.run("-V")[0].split()[1]
        test.same(labels_of(samples, "ibsa_build_info"),
                  [{"version": version}], "version")
        whole = os.path.join(server.folder.name, "whole")
        with open(whole, "w", encoding="utf-8") as file:
            file.write(test.run("topology", "--format=net")[0])
        server.change("link", "speed", "leaf one/8", "4xSDR")
        samples = test.metrics("--expect", whole)
        found = compare_fabric(test, samples, "--expect", whole)
        test.same(found["slower"], 1, "slower links")
        found = compare_fabric(test, test.metrics())
        test.same(found["link-degraded"], 1, "degraded links")
        compare_ports(test, samples)
        server.change("link", "down", "node1 mlx5_0/2")
        samples = test.metrics("node")
        compare_ports(test, samples)
        test.same(samples["ibsa_sa_up", ("device", "ibsa0"), ("port", "2")],
                  0, "SA up of a port that is down")


def peers_are_those_of_reach(test, fabric, folder):
    with Server(test, fabric) as server:
        peers = ["node2", "nope", "fe80::99", "lid:1"]
        path = os.path.join(folder, "peers")
        with open(path, "w", encoding="utf-8") as file:
            file.write("# peers\n" + "\n".join(peers[1:]) + "\n")
        samples = test.metrics("node", "node2", "--peers", path)
        compare_peers(test, samples, peers)
        test.expect(not of(samples, "ibsa_fabric_nodes", "type"),
                    "node reads the fabric")
        test.same(of(samples, "ibsa_node_findings", "kind"),
                  counted(test.rows("check", "node", "node2", "--peers", path,
                                    status=1), NODE_KINDS), "findings")
        rest = ("--rate", ">=400", "--pkey", "0x8123")
        samples = test.metrics("--peers", path, *rest)
        compare_peers(test, samples, peers[1:])
        test.same(of(samples, "ibsa_node_findings", "kind"),
                  counted(test.rows("check", "node", "--peers", path, *rest,
                                    status=1), NODE_KINDS), "findings")
        server.change("fault", "silence=100")
        samples = test.metrics("node", "node2", "-t", "200")
        test.same(of(samples, "ibsa_peers", "result"),
                  {"reachable": 0, "unreachable": 0, "unknown": 1},
                  "peers of a silent SA")
        test.same(of(samples, "ibsa_peer_reachable", "peer"), {},
                  "a peer of a silent SA")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"fe80::{i:x}\n" for i in range(1, 1026))
        out, error = test.run("metrics", "--peers", path, status=2)
        test.same(out, "", "output with too many peers")
        test.expect("more than 1024 peers" in error, error)


def the_fabric_is_unread(test, samples):
    """If the SA answers at no port, ibsa metrics reports that the fabric
    could not be read. "ibsa metrics node" does not need the SA."""
    test.same(samples["ibsa_collect_complete"], 0, "complete without fabric")
    out, error = test.run("metrics", "-t", "200")
    test.same(test.samples(out)["ibsa_collect_complete"], 0, "complete")
    test.same(error.count("\n"), 1, f"sentences: {error}")
    test.expect("cannot read the fabric: no port of this machine receives"
                in error, error)
    out, error = test.run("metrics", "node", "-t", "200")
    test.same(test.samples(out)["ibsa_collect_complete"], 1, "complete of node")
    test.same(error, "", "messages of node")


def an_sa_that_fails_is_told(test, fabric):
    with Server(test, fabric) as server:
        for fault, status, kind in (("lose=100", "no answer", "no-sa"),
                                    ("silence=100", "no answer", "no-sa"),
                                    ("busy=100", "busy", "no-sa")):
            server.change("fault", "none")
            server.change("fault", fault)
            samples = test.metrics("-t", "200")
            check_answers(test, samples, status)
            test.same(of(samples, "ibsa_sa_up", "port"), {"1": 0, "2": 0},
                      "SA up")
            test.same(of(samples, "ibsa_node_findings", "kind")[kind], 2, kind)
            test.same(of(samples, "ibsa_fabric_findings", "kind"), {},
                      "findings")
            the_fabric_is_unread(test, samples)
        server.change("fault", "none")
        server.change("sm", "stop")
        samples = test.metrics()
        the_fabric_is_unread(test, samples)
        test.same(of(samples, "ibsa_node_findings", "kind")["no-sm"], 2,
                  "no SM")
        test.same(labels_of(samples, "ibsa_sm_info"), [], "no SM")
        server.change("sm", "start")
        compare_sm(test, test.metrics())


def no_device_and_no_permission_are_told(test, sysfs):
    out, error = test.run("metrics", status=4, env={
        **test.env, "SYSFS_PATH": os.path.join(sysfs, "ib_one_port/sys")})
    samples = test.samples(out)
    test.expect("umad0" in error, error)
    test.same(list(of(samples, "ibsa_sa_up", "device").values()), [0], "SA up")
    test.same(samples["ibsa_collect_complete"], 0, "complete")
    out, error = test.run("metrics", status=4, env={
        **test.env, "SYSFS_PATH": "/nowhere"})
    test.expect("no sysfs at /sys, or at SYSFS_PATH" in error, error)
    test.same(test.samples(out)["ibsa_collect_complete"], 0, "complete")


def a_user_without_rights(folder):
    """Return the start of a command line that runs a command without the right
    to write to the folder.

    Root needs another user for this; for other users, the folder's mode is
    changed.
    """
    if os.getuid() == 0:
        return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    os.chmod(folder, 0o500)
    return []


def a_file_is_replaced_as_a_whole(test, fabric, folder):
    path = os.path.join(folder, "ibsa.prom")
    os.symlink("nothing", path)
    test.same(test.run("metrics", "--fabric", fabric, "-o", path)[0], "",
              "output with -o")
    test.same(stat.S_IMODE(os.lstat(path).st_mode), 0o644, "mode")
    test.expect(not os.path.islink(path), "the link is still there")
    with open(path, encoding="utf-8") as file:
        first = file.read()
    test.same(test.samples(first)["ibsa_collect_complete"], 1, "file")
    with open(path, encoding="utf-8") as old:
        test.run("metrics", "node", "--fabric", fabric, "-o", path)
        test.same(old.read(), first, "the old file")
    test.same(os.listdir(folder), ["ibsa.prom"], "folder")
    with open(path, encoding="utf-8") as file:
        first = file.read()
    run = subprocess.run(
        [*a_user_without_rights(folder), test.ibsa, "metrics", "--fabric",
         fabric, "-o", path], env=test.env, check=False, capture_output=True)
    test.same(run.returncode, 4, f"a folder without rights: {run.stderr}")
    test.expect(b"cannot write" in run.stderr, run.stderr)
    for target in ("/nowhere/x", "/dev/null/x", folder):
        _, error = test.run("metrics", "--fabric", fabric, "-o", target,
                            status=4)
        test.expect("cannot write" in error, error)
    with open(path, encoding="utf-8") as file:
        test.same(file.read(), first, "the file after failures")
    test.same(os.listdir(folder), ["ibsa.prom"], "folder after failures")
    test.samples(test.run("metrics", "--fabric", fabric, "-o", "-")[0])


def what_is_no_regular_file_stays(test, fabric, folder):
    """If FILE of -o is a FIFO or a link to one, it is written to and not
    replaced, even by root: otherwise, /dev/null or /dev/stdout would be
    replaced."""
    pipe = os.path.join(folder, "pipe")
    link = os.path.join(folder, "link")
    os.mkfifo(pipe)
    os.symlink("pipe", link)
    for path in (pipe, link):
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
        test.run("metrics", "--fabric", fabric, "-o", path)
        test.samples(reader.communicate(timeout=10)[0].decode())
        test.expect(stat.S_ISFIFO(os.stat(pipe).st_mode), "the pipe is gone")
    test.expect(os.path.islink(link), "the link is gone")


def hostile_names_are_escaped(test, folder):
    name = b'h"\\\x1b[31m\n{a="b"} 1'.replace(b'"', b"'").replace(b"\n", b"")
    path = os.path.join(folder, "hostile.net")
    with open(path, "wb") as file:
        file.write(b'Switch 2 "s"\n[1] "' + name + b'\xff"[1]\n[2] "b"[1]\n'
                   b'Ca 1 "' + name + b'\xff"\nCa 1 "b"\n')
    peer = 'no"\\\n# EOF\n'
    samples = test.metrics("--fabric", path, "node", peer)
    clean = name.decode().replace("\x1b", "\\x1b") + "\\xff"
    test.same(labels_of(samples, "ibsa_sm_info")[0]["node"], clean, "SM")
    test.same(list(of(samples, "ibsa_peer_reachable", "peer")),
              ['no"\\\\x0a# EOF\\x0a'], "peer")


def series_are_bounded(test, large, folder):
    path = os.path.join(folder, "peers")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"fe80::{i:x}\n" for i in range(1, 1025))
    samples = test.metrics("--fabric", large, "--peers", path, "--expect",
                           large)
    ports = len(labels_of(samples, "ibsa_port_info"))
    test.same(samples["ibsa_fabric_nodes", ("type", "ca")], 10000, "hosts")
    test.expect(len(samples) - 1024 <= SERIES + PORT_SERIES * ports,
                f"{len(samples)} series")


def help_and_page_list_all_metrics(test, page):
    names = [line.strip() for line in
             test.run("metrics", "--help")[0].splitlines()
             if line.startswith("  ibsa_")]
    test.expect(len(names) > 20 and names == sorted(names), "names of --help")
    with open(page, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    listed = [line[2] for line in lines
              if line[:2] == [".It", "Li"] and line[2].startswith("ibsa_")]
    test.same(listed, names, "names of the page")


def a_label_is_added(test, fabric, peers):
    """--label adds a label to each sample, so that the files of two fabrics
    have no sample in common. A label that a sample has already is refused."""
    peer = ("--peers", peers)
    plain = test.metrics("--fabric", fabric, *peer)
    value = 'a"\\=b c'
    named = test.metrics("--fabric", fabric, *peer, "--label",
                         "fabric=" + value)
    test.same(set(named), {
        (key, ("fabric", value)) if isinstance(key, str) else
        (key[0], *sorted([*key[1:], ("fabric", value)])) for key in plain},
        "samples with a label")
    own = {name for key in plain if isinstance(key, tuple)
           for name, _ in key[1:]}
    test.expect(len(own) > 10, "labels")
    for name in own:
        _, error = test.run("metrics", "--fabric", fabric, "--label",
                            name + "=x", status=2)
        test.expect(f"have a label '{name}'" in error, error)


def a_peer_has_one_sample(test, fabric):
    out, _ = test.run("metrics", "--fabric", fabric, "node", "node2", "lid:1",
                      "node2")
    test.same(out.count('ibsa_peer_reachable{peer="node2"}'), 1, "samples")
    test.same(out.count("ibsa_peer_reachable{"), 2, "samples of peers")


def wrong_command_lines(test, fabric):
    for args in (("what",), ("node", "--expect", fabric), ("-j",), ("--format=csv",),
                 ("-v",), ("--format=ndjson",), ("--fields", "a"), ("-o",),
                 ("--peers", "/nowhere"), ("node", "guid:x"),
                 ("--expect", "/nowhere"), ("--lease", "5"), ("-o", ""),
                 ("--label", "fabric"), ("--label", "fabric="),
                 ("--label", "=x"), ("--label", "1a=x"), ("--label", "a-b=x"),
                 ("--label", "__a=x"), ("--label", "a" * 64 + "=x")):
        out, error = test.run("metrics", "--fabric", fabric, *args, status=2)
        test.same(out, "", f"output of {args}")
        test.same(error.count("\n"), 1, f"sentences of {args}")


def main(ibsa, fabric, large, sysfs, page):
    test = Test(ibsa)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        own = os.path.join(folder, "own")
        os.mkdir(own)
        values_are_those_of_other_commands(test, fabric)
        peers_are_those_of_reach(test, fabric, folder)
        an_sa_that_fails_is_told(test, fabric)
        no_device_and_no_permission_are_told(test, sysfs)
        a_file_is_replaced_as_a_whole(test, fabric, own)
        what_is_no_regular_file_stays(test, fabric, folder)
        hostile_names_are_escaped(test, folder)
        series_are_bounded(test, large, folder)
        lone = os.path.join(folder, "lone")
        with open(lone, "w", encoding="utf-8") as file:
            file.write("node2\n")
        a_label_is_added(test, fabric, lone)
        a_peer_has_one_sample(test, fabric)
        help_and_page_list_all_metrics(test, page)
        wrong_command_lines(test, fabric)
    return test.finish()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
