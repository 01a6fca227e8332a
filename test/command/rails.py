#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that ibsa names each fault of a pod of 64 hosts with eight rails, and
nothing but the fault and its consequences.

usage: rails.py [--pods N] [--seed SEED] [--opensm DROP-IN] IBSA

Makes N pods (5) of different names, GUIDs, sizes of leaf groups and cables, and
in each a healthy fabric and nine faults, one by one:

  dead       the cable of an adapter is out: at any host, and at this one
  crossed    one cable, or two, of a host is in the leaf switch of another rail
  slow       a link has lost speed or lanes; or its cable or adapter is an old one
  apart      a cable is in the leaf switch of another group, or in a spine
  partition  a host, or a rail of it, is in another partition than the job
  host       a host is down
  leaf       a leaf switch is down
  leaf alone the same without --expect, which four groups of hosts tell, but not two

The three before it are found by --expect with the healthy fabric. What each command
must tell follows from the fault alone. status, check, page and path each have to
name what is wrong, check and page at the right node and port; a finding too many
or too few, or a message that is not expected, fails the case. With DROP-IN, the
library that replaces libibumad, the SA is OpenSM instead of the embedded one.
"""
import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

HOSTS = 64
RAILS = 8
# Starts OpenSM in the environment that the words before it set.
OPENSM = """opensm -F opensm.conf -f opensm.log >opensm.out 2>&1 &
sm=$!
trap 'kill -KILL $sm; wait $sm 2>/dev/null' EXIT
timeout 60 sh -c 'until grep -q "SUBNET UP" opensm.log; do sleep 0.05; done' 2>/dev/null ||
    { echo 'OpenSM does not start'; exit 1; }
"""
CRITICAL = {"rail-missing", "missing", "moved", "no-path"}
RATE = {"4xNDR": 400, "4xHDR": 200, "1xNDR": 100, "4xEDR": 100, "4xFDR": 56,
        "4xQDR": 40, "1xEDR": 25}


class Rates(NamedTuple):
    """Rates of cables: of rails, of storage, and of slow rails."""

    full: str
    storage: str
    slow: tuple


RATES = Rates("4xNDR", "4xHDR", ("4xHDR", "1xNDR", "4xEDR"))
# OpenSM 3.3.23 does not support NDR.
RATES_OPENSM = Rates("4xEDR", "4xFDR", ("4xFDR", "1xEDR", "4xQDR"))


class Pod:
    """A healthy pod; ends maps a port, (node, number), to its far end."""

    def __init__(self, seed, rates):
        self.random = random.Random(seed)
        self.speeds = rates
        self.group = (32, 16, 64, 32, 16)[seed % 5]
        name = ("gpu{:02}", "dgx-a-{:03}", "n{}", "pod1gpu{:04}", "GPU-{}")[seed % 5]
        self.hosts = [name.format(i + 1) for i in range(HOSTS)]
        first = self.random.choice((0, 0, 2))
        self.rails = [f"mlx5_{first + i + 2 * (seed % 5 == 1 and i > 3)}"
                      for i in range(RAILS)]
        self.groups = HOSTS // self.group
        self.spines = [f"spine{i + 1}" for i in range(self.random.choice((4, 8)))]
        self.leaves = {(g, r): f"leaf{g * RAILS + r + 1}"
                       for g in range(self.groups) for r in range(RAILS)}
        self.ends = {}
        self.rates = {}
        self.guids = {}
        self.cable_all()
        self.storage_add(seed % 5 in (1, 3))

    def guid_add(self, node):
        while node not in self.guids:
            guid = 0xb83fd203 << 32 | self.random.randrange(1 << 28) << 4
            if guid not in self.guids.values():
                self.guids[node] = guid

    def cable(self, a, b, rate=None):
        self.ends[a], self.ends[b] = b, a
        self.rates[a] = self.rates[b] = rate or self.speeds.full
        for node, _ in (a, b):
            self.guid_add(node)

    def cable_all(self):
        for index, host in enumerate(self.hosts):
            for number, rail in enumerate(self.rails):
                leaf = self.leaves[index // self.group, number]
                self.cable((f"{host} {rail}", 1), (leaf, index % self.group + 1))
        for index, leaf in enumerate(self.leaves.values()):
            for number, spine in enumerate(self.spines):
                self.cable((leaf, self.group + 1 + number), (spine, index + 1))

    def storage_add(self, has_storage):
        """An adapter of each host for storage, in the same subnet, with a lower rate."""
        if not has_storage:
            return
        racks = self.random.choice((1, 4))
        for index, host in enumerate(self.hosts):
            self.cable((f"{host} mlx5_storage", 1),
                       (f"storage{index * racks // HOSTS}", index + 1),
                       self.speeds.storage)
        for rack in range(racks):
            for number, spine in enumerate(self.spines):
                self.cable((f"storage{rack}", HOSTS + 1 + number),
                           (spine, len(self.leaves) + 1 + rack))

    def copy(self):
        other = object.__new__(Pod)
        other.__dict__ = {**self.__dict__, "ends": dict(self.ends),
                          "rates": dict(self.rates)}
        return other

    def uncable(self, port):
        far = self.ends.pop(port)
        del self.ends[far], self.rates[port], self.rates[far]
        return far

    def adapters(self, host):
        return sorted(n for n in self.guids if n.startswith(host + " "))

    def group_of(self, host):
        return self.hosts.index(host) // self.group

    def leaf_of(self, node):
        return self.ends[node, 1][0]

    def port_guid(self, node):
        return self.guids[node] + 1

    def text(self):
        """The topology file, as ibnetdiscover prints it."""
        lines = []
        for node, guid in sorted(self.guids.items(), key=lambda item: item[1]):
            ports = sorted(n for name, n in self.ends if name == node)
            if not ports:
                continue
            is_host = " " in node
            lines += ["", f"{'ca' if is_host else 'switch'}guid=0x{guid:x}",
                      f'{"Ca" if is_host else "Switch"}\t{1 if is_host else 128} '
                      f'"{"H" if is_host else "S"}-{guid:016x}"\t\t# "{node}"']
            for number in ports:
                far, far_number = self.ends[node, number]
                far_id = f'{"H" if " " in far else "S"}-{self.guids[far]:016x}'
                own = f"({guid + 1:x})" if is_host else ""
                lines.append(f'[{number}]{own}\t"{far_id}"[{far_number}]'
                             f'\t# {self.rates[node, number]}')
        return "\n".join(lines) + "\n"


class Finding:
    """An expected finding: at one of these ports, with these words."""

    def __init__(self, kind, nodes, port, *words):
        self.kind, self.nodes, self.port, self.words = kind, nodes, port, words
        self.is_cause = True

    def is_like(self, got, guids):
        kind, guid, port, what = got
        return (kind == self.kind and all(word in what for word in self.words) and
                any(guid == guids.get(node, 0) and (self.port is None or port == self.port)
                    for node in self.nodes))

    def __str__(self):
        return f"{self.kind} at {self.nodes[0]}: {' ... '.join(self.words)}"


class Pair:
    """Two hosts, and what ibsa path must tell: absent maps a device to the words of its
    row, notes maps one to the words of a message, rates to another rate."""

    def __init__(self, src, dst, absent=None, notes=None, rates=None):
        self.src, self.dst = src, dst
        self.absent, self.notes = absent or {}, notes or {}
        self.rates = rates or {}


class Case:
    """A fault: a fabric, changes while it runs, and what the commands must tell."""

    def __init__(self, kind, pod, here):
        self.kind, self.pod, self.here = kind, pod, here
        self.now = pod.copy()
        self.changes = []
        self.partitions = ""
        self.options = []
        self.findings = []
        self.plain = []  # the findings without --expect
        self.pairs = []
        self.place = ""
        self.broken = ""  # the host or switch at which the SM cannot be

    def others(self, *hosts, groups=None):
        """Choose two hosts that are not affected."""
        pod = self.pod
        return pod.random.sample(
            [h for h in pod.hosts if h not in hosts and
             (groups is None or pod.group_of(h) in groups)], 2)

    def expect(self):
        self.options += ["--expect", "healthy.net"]

    def find(self, kind, node, port, *words):
        nodes = node if isinstance(node, list) else [node]
        self.findings.append(Finding(kind, nodes, port, *words))
        return self.findings[-1]


def healthy(pod, here):
    case = Case("healthy", pod, here)
    case.pairs = [Pair(*case.others()), Pair(here, case.others(here)[0])]
    return case


def healthy_expected(pod, here):
    case = healthy(pod, here)
    case.expect()
    return case


def dead(pod, here, host, rail):
    case = Case("dead", pod, here)
    node = f"{host} {rail}"
    case.place, case.broken = node, host
    if pod.random.random() < 0.5:
        case.changes = [["link", "down", f"{node}/1"]]
    else:
        case.now.uncable((node, 1))
    words = f"{host} has no {rail}, but {HOSTS - 1} of {HOSTS} hosts like it have"
    case.find("rail-missing", pod.adapters(host), 0, words)
    a, b = case.others(host)
    absent = {rail: words}
    case.pairs = [Pair(a, host, absent), Pair(host, b, absent), Pair(a, b)]
    return case


def dead_there(pod, here):
    host = pod.random.choice([h for h in pod.hosts if h != here])
    return dead(pod, here, host, pod.random.choice(pod.rails))


def dead_here(pod, here):
    return dead(pod, here, here, pod.rails[pod.random.choice((0, 0, 7))])


def crossed(pod, here):
    """Both cables of two rails are exchanged, or one is in the other's leaf."""
    case = Case("crossed", pod, here)
    host = pod.random.choice(pod.hosts)
    rails = pod.random.sample(pod.rails, 2)
    ports = [(f"{host} {rail}", 1) for rail in rails]
    fars = [case.now.uncable(port) for port in ports]
    both = pod.random.random() < 0.7
    case.place, case.broken = f"{host} {rails} {both}", host
    case.now.cable(ports[0], fars[1] if both else (fars[1][0], 100))
    case.now.cable(ports[1], fars[0] if both else fars[1])
    notes = {}
    for i in (0, 1) if both else (0,):
        words = (f"{host} {rails[i]} port 1 is connected to {fars[1 - i][0]}, "
                 f"but {pod.group - 1} of {pod.group} hosts like it to {fars[i][0]}")
        notes[rails[i]] = words
        case.find("rail-crossed", ports[i][0], 1, words)
    a, b = case.others(host)
    case.pairs = [Pair(a, host, notes=notes), Pair(host, b, notes=notes), Pair(a, b)]
    return case


def slow(pod, here):
    case = Case("slow", pod, here)
    host = pod.random.choice(pod.hosts)
    rail = pod.random.choice(pod.rails)
    node = f"{host} {rail}"
    rate = pod.random.choice(pod.speeds.slow)
    far = pod.ends[node, 1]
    case.place, case.broken = f"{node} {rate}", host
    if pod.random.random() < 0.5:
        case.changes = [["link", "speed", f"{node}/1", rate]]
        words = f"runs at {rate}, but both ends support {pod.speeds.full}"
        case.find("link-degraded", [node, far[0]], None, words, node, far[0])
    else:
        case.now.cable((node, 1), far, rate)
        words = (f"runs at {rate}, but at {HOSTS - 1} of {HOSTS} hosts like it at "
                 f"{pod.speeds.full}")
        case.find("rail-slow", node, 1, node, words)
    a, b = case.others(host)
    notes, rates = {rail: f"{node} port 1"}, {rail: RATE[rate]}
    case.pairs = [Pair(a, host, notes=notes, rates=rates),
                  Pair(host, b, notes=notes, rates=rates), Pair(a, b)]
    return case


def apart(pod, here):
    case = Case("apart", pod, here)
    host = pod.random.choice(pod.hosts)
    number = pod.random.randrange(RAILS)
    node = f"{host} {pod.rails[number]}"
    leaf = case.now.uncable((node, 1))[0]
    groups = [g for g in range(pod.groups) if g != pod.group_of(host)]
    other = (pod.leaves[pod.random.choice(groups), number] if groups
             else pod.random.choice(pod.spines))
    case.place, case.broken = f"{node} at {other}", host
    case.now.cable((node, 1), (other, 100))
    words = (f"{node} port 1 is connected to {other}, but {pod.group - 1} of "
             f"{pod.group} hosts like it to {leaf}")
    case.find("rail-apart", node, 1, words)
    a, b = case.others(host)
    notes = {pod.rails[number]: words}
    case.pairs = [Pair(a, host, notes=notes), Pair(host, b, notes=notes), Pair(a, b)]
    return case


def members(pod, nodes):
    """Adapters of a partition, one a line: OpenSM does not read long lines."""
    return ",".join(f"\n 0x{pod.port_guid(n):x}=full" for n in sorted(nodes) if " " in n)


def partition(pod, here):
    """All hosts run a job in a partition; the ports of one are in another."""
    case = Case("partition", pod, here)
    case.expect()
    host = pod.random.choice([h for h in pod.hosts if h != here])
    whole = pod.random.random() < 0.7
    adapters = pod.adapters(host)
    wrong = adapters if whole else [f"{host} {pod.random.choice(pod.rails[1:])}"]
    switches = pod.random.random() < 0.5
    case.broken = host
    case.place = f"{wrong}, switches are shown: {switches}"
    case.partitions = (
        f"Default=0x7fff, ipoib : ALL=limited, "
        f"{'ALL_SWITCHES=full, ' if switches else ''}SELF=full ;\n"
        f"job=0x1 :{members(pod, set(pod.guids) - set(wrong))} ;\n"
        f"other=0x2 :{members(pod, wrong)} ;\n")
    if not switches:
        # This port sees no switch, thus no link.
        case.find("hidden", [n for n in pod.guids if " " in n], None,
                  "the SA does not show their other ends").is_cause = False
        case.plain = case.findings[:]
    if not whole:
        case.plain.append(Finding(
            "rail-missing", pod.adapters(host), 0,
            f"{host} has no {wrong[0].split()[1]}, or the SA does not show it, but "
            f"{HOSTS - 1} of {HOSTS} hosts like it have"))
    absent = {}
    for node in wrong:
        rail = node.split()[1]
        leaf, number = pod.ends[node, 1]
        absent[rail] = f"{node}: expected at {leaf} port {number};"
        why = "in no partition of this port" if switches else "the SA does not show it"
        case.find("missing", node, 0, f"{node} is missing, or {why} "
                  f"(port 1 to {leaf} port {number})")
    b = case.others(host, here)[0]
    case.pairs = [Pair(here, host, absent), Pair(here, b)]
    return case


def host_down(pod, here):
    case = Case("host", pod, here)
    case.expect()
    host = pod.random.choice([h for h in pod.hosts if h != here])
    case.place = case.broken = host
    absent = {}
    for node in pod.adapters(host):
        leaf, number = pod.ends[node, 1]
        case.changes.append(["link", "down", f"{node}/1"])
        case.find("missing", node, 0,
                  f"{node} is missing (port 1 to {leaf} port {number})")
        absent[node.split()[1]] = (f"{node}: expected at {leaf} port {number}; "
                                   "that port is Down")
    a, b = case.others(host)
    case.pairs = [Pair(a, host, absent), Pair(here, host, absent), Pair(a, b)]
    return case


def leaf_findings(pod, rail, hosts):
    """What follows of a leaf switch without --expect: at no node, and at each host."""
    cause = Finding("rail-missing", [None], 0, f"the leaf switch of {rail} of {hosts[0]}",
                    f"the hosts of {pod.groups - 1} of {pod.groups} groups have")
    findings = [cause]
    for host in hosts:
        findings.append(Finding("rail-missing", pod.adapters(host), 0, f"{host} has no {rail}, "
                                f"nor has any of the {len(hosts)} hosts"))
        findings[-1].is_cause = False
    return findings


def leaf_down(pod, here):
    case = Case("leaf", pod, here)
    case.expect()
    group, number = pod.random.choice(list(pod.leaves))
    leaf = pod.leaves[group, number]
    case.place = case.broken = leaf
    case.changes = [["node", "remove", leaf]]
    case.find("missing", leaf, 0, f"{leaf} is missing")
    rail = pod.rails[number]
    hosts = [h for h in pod.hosts if pod.group_of(h) == group]
    for host in hosts:
        case.find("missing", f"{host} {rail}", 0, f"{host} {rail} is missing", leaf,
                  "which is missing, too").is_cause = False
    at = "{0} {1}: expected at {2} port {3}; {2} is missing"
    if pod.groups > 3:
        case.plain = leaf_findings(pod, rail, hosts)
    words = {h: {rail: at.format(h, rail, leaf, i + 1)} for i, h in enumerate(hosts)}
    a, b = pod.random.sample(hosts, 2)
    case.pairs = [Pair(a, b, {rail: [words[a][rail], words[b][rail]]})]
    if pod.groups > 1:
        groups = {g for g in range(pod.groups) if g != group}
        c, d = case.others(groups=groups)
        case.pairs += [Pair(c, a, words[a]), Pair(c, d)]
    return case


def leaf_alone(pod, here):
    """A leaf switch is down, and no file tells what is expected: if there are three
    other groups of hosts, they do."""
    case = leaf_down(pod, here)
    case.kind, case.options, case.findings = "leaf alone", [], case.plain
    if not case.plain:
        case.pairs = [pair for pair in case.pairs if not pair.absent]
    for pair in case.pairs:
        for rail in pair.absent:
            hosts = [h for h in (pair.src, pair.dst)
                     if pod.ends[f"{h} {rail}", 1][0] == case.place]
            pair.absent[rail] = [f"{h} has no {rail}, nor has any" for h in hosts]
    return case


FAULTS = (dead_there, dead_here, crossed, slow, apart, partition, host_down,
          leaf_down, leaf_alone)


class Run:
    """The commands in a case, and their judge."""

    def __init__(self, ibsa, drop_in, case):
        self.ibsa, self.drop_in, self.case = ibsa, drop_in, case
        self.errors = []
        self.guids = case.pod.guids

    def wrong(self, text):
        self.errors.append(text)

    def commands(self):
        """Name of the output, and arguments, of each command."""
        case = self.case
        yield "check", ["check", "-j", *case.options]
        if "--expect" in case.options:
            yield "plain", ["check", "-j"]
        yield "status", ["status", "-j", *case.options]
        yield "screen", ["status", *case.options]
        yield "page", ["page", "-o", "page.html", *case.options]
        for i, pair in enumerate(case.pairs):
            yield f"path{i}", ["path", "-j", pair.src, pair.dst, *case.options]

    def run(self, folder):
        """Run all commands at one fabric server, and judge their outputs."""
        case = self.case
        script = ['quietly() { "$@" >/dev/null || echo "$*"; }']
        for change in case.changes:
            words = " ".join(f"'{word}'" for word in change)
            script.append(f'quietly "$0" fabric {words}')
        if self.drop_in:
            script.append(f"LD_LIBRARY_PATH='{self.drop_in}' OSM_TMP_DIR=. "
                          f"OSM_CACHE_DIR=. IBSA_NODE='{case.sm.replace(' ', '/')}' "
                          f"PATH=$PATH:/usr/sbin {OPENSM}")
        for name, arguments in self.commands():
            words = " ".join(f"'{word}'" for word in arguments)
            script.append(f'"$0" {words} >{name}.out 2>{name}.err; '
                          f'echo $? >{name}.status')
        (folder / "healthy.net").write_text(case.pod.text())
        (folder / "now.net").write_text(case.now.text())
        (folder / "partitions.conf").write_text(case.partitions)
        with open(folder / "opensm.conf", "w", encoding="utf-8") as conf:
            conf.write("force_log_flush TRUE\n")
            if case.partitions:
                conf.write("partition_config_file partitions.conf\n")
        options = ["--partitions", "partitions.conf"] if case.partitions else []
        options = ["--sa", "none"] if self.drop_in else ["--sa-at", case.sm, *options]
        result = subprocess.run(
            [self.ibsa, "fabric", "exec", "now.net", *options, "--",
             "sh", "-c", "\n".join(script), self.ibsa],
            cwd=folder, env={**os.environ, "IBSA_NODE": case.here}, text=True,
            capture_output=True, timeout=300, check=False)
        if result.stdout or result.stderr or result.returncode:
            self.wrong(f"the fabric: {result.stdout}{result.stderr}")
            return
        self.judge_check("check", case.findings,
                         self.output(folder, "check", json.loads))
        if "--expect" in case.options:
            self.judge_check("check without --expect", case.plain,
                             self.output(folder, "plain", json.loads))
        self.judge_status(self.output(folder, "status", json.loads),
                          self.output(folder, "screen", str))
        self.judge_page(folder)
        for i, pair in enumerate(case.pairs):
            self.judge_path(pair, self.output(folder, f"path{i}", json.loads))

    def output(self, folder, name, parse):
        read = {end: (folder / f"{name}.{end}").read_text()
                for end in ("out", "err", "status")}
        try:
            return int(read["status"]), parse(read["out"]), read["err"]
        except ValueError:
            self.wrong(f"{name}: {read}")
            return int(read["status"]), [], read["err"]

    def messages(self, name, text, allowed=()):
        for line in text.splitlines():
            if not any(word in line for word in allowed):
                self.wrong(f"{name}: message: {line}")

    def judge_findings(self, name, wanted, got):
        """Each expected finding is there once, and no other."""
        left = list(got)
        for want in wanted:
            found = next((f for f in left if want.is_like(f, self.guids)), None)
            if found:
                left.remove(found)
            else:
                self.wrong(f"{name}: lacks {want}")
        for found in left:
            self.wrong(f"{name}: should not have {found}")

    # A port that shares no partition with switches has to learn that it does not see all.
    HIDDEN = ("the topology may lack links and nodes",)

    def judge_check(self, name, wanted, result):
        status, rows, err = result
        self.judge_findings(name, wanted, [
            (r["finding"], int(r["node_guid"] or "0", 16), r["port"] or 0, r["what"])
            for r in rows])
        if status != (1 if wanted else 0):
            self.wrong(f"{name}: exit status {status}")
        self.messages(name, err, self.HIDDEN)

    def judge_status(self, result, screen):
        status, rows, err = result
        kinds = [f.kind for f in self.case.findings]
        critical = [k for k in kinds if k in CRITICAL]
        got = rows[0] if rows else {"critical": None, "warnings": None}
        if (status, got["critical"], got["warnings"]) != (
                0, len(critical), len(kinds) - len(critical)):
            self.wrong(f"status: {status}, {got['critical']} critical, "
                       f"{got['warnings']} warnings")
        self.messages("status", err, self.HIDDEN)
        lines = screen[1].splitlines()
        if len(lines) > 12:
            self.wrong(f"status: {len(lines)} lines")
        self.judge_screen(kinds, lines)
        # The finding that it shows is a cause, not a consequence.
        causes = [f for f in self.case.findings if f.is_cause]
        if causes and not any(all(word in screen[1] for word in f.words)
                              for f in causes):
            self.wrong(f"status: does not name {causes[0]}")

    def judge_screen(self, kinds, lines):
        for title, of in (("critical", [k for k in kinds if k in CRITICAL]),
                          ("warnings", [k for k in kinds if k not in CRITICAL])):
            counts = {k: of.count(k) for k in of}
            names = {f"{n} {k}" if n > 1 else k for k, n in counts.items()}
            line = [x for x in lines if x.startswith(title)]
            got = line[0].partition(": ")[2].split(", ") if line else []
            if set(got) != names:
                self.wrong(f"status: {line} instead of {names}")

    def judge_page(self, folder):
        status, _, err = self.output(folder, "page", str)
        page = (folder / "page.html").read_text() if status == 0 else ""
        found = re.search('<script id="data"[^>]*>(.*?)</script>', page, re.S)
        if not found:
            self.wrong(f"page: {err}")
            return
        data = json.loads(found[1])
        guids = [int(guid, 16) for guid in data["nodes"]["guid"]]
        findings = []
        for kind, _, index, port, what, *expected in data["findings"]:
            guid = guids[index] if index is not None else next(
                (g for n, g in self.guids.items() if expected and n == expected[0]), 0)
            findings.append((kind, guid, port, what))
        self.judge_findings("page", self.case.findings, findings)
        self.messages("page", err, (*self.HIDDEN, "PKeyTableRecord"))

    def judge_path(self, pair, result):
        status, rows, err = result
        name = f"path {pair.src} {pair.dst}"
        rails = {n.split()[1] for n in self.case.pod.adapters(pair.src)}
        got = {r["dst_device"]: r for r in rows}
        speeds = self.case.pod.speeds
        if len(rows) != len(rails) or set(got) != rails:
            self.wrong(f"{name}: {len(rows)} rows, {sorted(map(str, got))}")
            return
        if status != (1 if len(pair.absent) == len(rails) else 0):
            self.wrong(f"{name}: exit status {status}")
        words = []
        for rail, row in got.items():
            absent, note = pair.absent.get(rail), pair.notes.get(rail)
            told = absent if isinstance(absent, list) else [absent or note]
            rate = pair.rates.get(rail, RATE[
                speeds.storage if rail == "mlx5_storage" else speeds.full])
            if bool(row["reason"]) != bool(absent):
                self.wrong(f"{name}: {rail}: reason {row['reason']}")
            elif not absent and row["rate_gbps"] != rate:
                self.wrong(f"{name}: {rail}: {row['rate_gbps']} Gb/s")
            if bool(row["detail"]) != bool(told[0]) or \
                    not any((w or "") in (row["detail"] or "") for w in told):
                self.wrong(f"{name}: {rail}: detail {row['detail']}")
            words += filter(None, told)
        lines = err.splitlines()
        for word in words:
            found = next((line for line in lines if word in line), None)
            if found is None:
                self.wrong(f"{name}: no message: {word}")
            else:
                lines.remove(found)
        self.messages(name, "\n".join(lines))


def cases(pods, seed, rates):
    for i in range(pods):
        pod = Pod(seed + i, rates)
        for fault in (healthy, healthy_expected, *FAULTS):
            here = pod.random.choice(pod.hosts)
            case = fault(pod, here)
            case.sm = pod.random.choice(
                [f"{h} {r}" for h in pod.hosts if h not in (here, case.broken)
                 for r in pod.rails if pod.leaf_of(f"{h} {r}") != case.broken])
            yield i, case


def main():
    parser = argparse.ArgumentParser(description="tests the faults of rails")
    parser.add_argument("ibsa")
    parser.add_argument("--pods", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--opensm")
    options = parser.parse_args()
    ibsa = os.path.realpath(options.ibsa)
    drop_in = options.opensm and os.path.dirname(os.path.realpath(options.opensm))
    for name in ("IBSA_FABRIC", "IBSA_ROLES", "SYSFS_PATH"):
        os.environ.pop(name, None)
    failed = passed = 0
    for i, case in cases(options.pods, options.seed,
                         RATES_OPENSM if drop_in else RATES):
        run = Run(ibsa, drop_in, case)
        with tempfile.TemporaryDirectory() as folder:
            run.run(pathlib.Path(folder))
        is_fault = not case.kind.startswith("healthy")
        failed += bool(run.errors)
        passed += is_fault and not run.errors
        if run.errors:
            print(f"pod {i}, {case.kind} {case.place}, seen from {case.here}:")
            print("".join(f"  {line}\n" for line in run.errors[:12]), end="")
    print(f"{passed} of {options.pods * len(FAULTS)} faults named, and nothing else")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
