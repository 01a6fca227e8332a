#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The clients of a soak; as a program, a client of the Python module.

usage: soak_clients.py HOST

Queries paths, reachability and nodes by many tasks until SIGTERM, and writes a
line for each answer: start, end, kind, host, result. The last line has the
numbers of started and ended queries.
"""

import asyncio
import ipaddress
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

HOSTS = [f"Hca{i}" for i in range(1, 49)]
MORTALS = HOSTS[:36]
DEADLINE_MS = 8000
# The SA or the port did not answer, or refused while it starts.
LOST = {3, 4, 5}
TASKS = 16
METRICS_AGE_S = 6   # the values of a page are at most 5 s old


def port_guid(host):
    return 0x0002c90300100001 + 16 * (int(host[3:]) - 1)


def gid(host):
    guid = f"{port_guid(host):016x}"
    return "fe80::" + ":".join(guid[i:i + 4] for i in range(0, 16, 4))


HOST_OF = {port_guid(host): host for host in HOSTS}


def host_of_gid(text):
    return HOST_OF.get(int(ipaddress.IPv6Address(text)) - (0xfe80 << 112))


class Loop:
    """Runs a command again and again at the port of a host."""

    name = host = None
    pause_s = 0.05
    env_name = "env"

    def __init__(self, site, truth, ended):
        self.site, self.truth, self.ended = site, truth, ended
        self.random = random.Random(f"{site.seed} {self.name}")
        self.env = dict(getattr(site, self.env_name), IBSA_NODE=self.host)
        self.thread = threading.Thread(target=self.loop)
        self.thread.start()

    def loop(self):
        while not self.ended.wait(self.pause_s):
            self.step()

    def run(self, *words):
        """Return: start, exit status, output, end."""
        start = time.monotonic()
        run = subprocess.run(words, env=self.env, capture_output=True,
                             check=False, text=True, timeout=60)
        end = time.monotonic()
        if run.returncode < 0 or "Sanitizer" in run.stderr:
            self.truth.fail(f"{self.name}: {run.returncode}, {run.stderr}")
        return start, run.returncode, run.stdout, end

    def ibsa(self, *words):
        return self.run(self.site.args.ibsa, "-t", str(DEADLINE_MS), *words)

    def finish(self):
        self.thread.join(90)
        if self.thread.is_alive():
            self.truth.fail(f"{self.name} does not end")


class Path(Loop):
    name, host = "ibsa path", "Hca37"

    def step(self):
        host = self.random.choice(MORTALS)
        start, status, _, end = self.ibsa("path", "self", gid(host))
        if status in LOST:
            self.truth.answer(self.name, host, "lost", start, end)
        elif status in (0, 1):
            self.truth.answer(self.name, host, "no" if status else "yes",
                              start, end)
        else:
            self.truth.fail(f"{self.name}: exit status {status}")


class Reach(Loop):
    name, host = "ibsa reach", "Hca38"

    def step(self):
        hosts = self.random.sample(MORTALS, 5)
        start, status, out, end = self.ibsa("reach", "-j", *map(gid, hosts))
        rows = json.loads(out) if out else []
        words = {"yes": "yes", "no": "no"}
        for row in rows:
            host = host_of_gid(row["gid"])
            self.truth.answer(self.name, host,
                              words.get(row["reach"], "lost"), start, end)
        if len(rows) not in (0, 5) or (not rows and status not in LOST):
            self.truth.fail(f"{self.name}: {status}, {len(rows)} rows")


class Topology(Loop):
    name, host = "ibsa topology", "Hca39"

    def step(self):
        start, status, out, end = self.ibsa("topology", "-j")
        hosts = None
        if status == 0:
            hosts = {row[end] for row in json.loads(out)
                     for end in ("node", "peer")}
        self.truth.table(self.name, hosts, MORTALS, start, end)
        start, status, _, end = self.ibsa("check", "--nagios")
        if status not in (0, 1, 2, 3):
            self.truth.fail(f"ibsa check: exit status {status}")
        self.truth.answer("ibsa check", "the fabric",
                          "lost" if status == 3 else "yes", start, end)


class Saquery(Loop):
    name, host, env_name = "saquery", "Hca40", "drop"

    def step(self):
        start, _, out, end = self.run("saquery", "-t", str(DEADLINE_MS), "NR")
        guids = [int(guid, 16) for guid in
                 re.findall(r"port_guid\.+0x([0-9a-f]+)", out)]
        if len(guids) != len(set(guids)):
            self.truth.count("saquery: a record twice, in a changed answer")
            if self.truth.is_quiet(start - self.truth.settle_s, end):
                self.truth.fail("saquery: a record twice")
        hosts = {HOST_OF.get(guid) for guid in guids}
        self.truth.table(self.name, hosts if guids else None, MORTALS, start,
                         end)


class Lookup(Loop):
    """Looks for the service of Renew."""
    name, host, pause_s = "ibsa service lookup", "Hca41", 0.2

    def step(self):
        start, status, _, end = self.ibsa("service", "lookup", "soak")
        result = {0: "yes", 1: "no"}.get(status, "lost")
        # The service is registered again some time after an SM restart.
        if result == "no" and not self.truth.is_quiet(start - 30, end):
            self.truth.count(f"{self.name}: not judged")
            return
        self.truth.answer(self.name, "the service", result, start, end)


CLIENTS = (Path, Reach, Topology, Saquery, Lookup)


class Lasting:
    """A client that runs all the time, and whose lines are read."""

    name = host = words = None

    def __init__(self, site, truth, ended):
        self.site, self.truth, self.ended = site, truth, ended
        self.errors = os.path.join(site.folder, self.name + ".err")
        self.start()

    def start(self):
        with open(self.errors, "a", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                self.command(), env=self.environment(), stderr=errors,
                stdout=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def kill(self):
        """End the process in the middle of its work, and start another."""
        self.process.kill()
        self.process.wait()
        self.thread.join()
        self.start()

    def environment(self):
        return dict(self.site.env, IBSA_NODE=self.host)

    def command(self):
        return [self.site.args.ibsa, *self.words]

    def read(self):
        for line in self.process.stdout:
            self.line(line)

    def line(self, line):
        pass

    def finish(self):
        if self.process.poll() is not None:
            self.truth.fail(f"{self.name} has ended: {self.process.returncode}")
        self.process.terminate()
        try:
            status = self.process.wait(30)
            if status not in (0, -signal.SIGTERM, 128 + signal.SIGTERM):
                self.truth.fail(f"{self.name}: exit status {status}")
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.truth.fail(f"{self.name} does not end")
        self.thread.join(30)


class Watch(Lasting):
    name, host, words = "watch", "Hca42", ("watch", "--format=ndjson", "gid")

    def line(self, line):
        event = json.loads(line)
        self.truth.count(f"watch: {event['event']}")
        host = host_of_gid(event["gid"]) if event.get("gid") else None
        self.truth.event(self.name, event["event"], host)


class Renew(Lasting):
    name, host = "renew", "Hca43"
    words = ("service", "register", "--renew", "7", "soak")


class Metrics(Lasting):
    """Serves metrics, which are scraped each second."""

    name, host, words = "metrics", "Hca44", ("metrics", "--listen", "0")

    def line(self, line):
        url = line.strip()
        while not self.ended.wait(1):
            start = time.monotonic()
            try:
                with urllib.request.urlopen(url, timeout=60) as reply:
                    text = reply.read().decode()
            except (OSError, urllib.error.URLError) as error:
                self.truth.fail(f"a scrape: {error}")
                continue
            found = re.search(r'ibsa_fabric_nodes\{type="ca"\} (\d+)', text)
            if found and "ibsa_collect_complete 1" in text:
                self.truth.number("metrics", int(found[1]), HOSTS,
                                  start - METRICS_AGE_S, time.monotonic())
            else:
                self.truth.answer("metrics", "the fabric", "lost",
                                  start - METRICS_AGE_S, time.monotonic())


class Answers(Lasting):
    """Writes a line for each answer, and at its end for each kind of query how
    many were started, and how many ended."""

    kinds = 1

    def line(self, line):
        start, end, kind, host, result = line.split()
        if result == "event":
            self.truth.count(f"{self.name} {start}: {kind}")
            self.truth.event(f"{self.name} {start}", kind, host)
        elif kind == "ended":
            self.count_ends(f"{self.name} {host}", int(start), int(end))
        elif result == "wrong":
            if self.truth.is_quiet(float(start), float(end), ("corrupt",)):
                self.truth.fail(f"{self.name} {kind}: wrong for {host}")
        elif result != "cancelled":
            self.truth.answer(f"{self.name} {kind}", host, result,
                              float(start), float(end))

    def count_ends(self, what, started, ended):
        self.kinds -= 1
        self.truth.count(f"{what}: started", started)
        self.truth.count(f"{what}: ended", ended)
        if started != ended:
            self.truth.fail(f"{what}: {started} started, {ended} ended")

    def finish(self):
        super().finish()
        if self.process.returncode or self.kinds:
            with open(self.errors, encoding="utf-8") as errors:
                self.truth.fail(f"{self.name} has not ended in order: "
                                f"{errors.read()[-2000:]}")


class Worker(Answers):
    """The client of the Python module below."""

    name, host = "asyncio", "Hca45"

    def command(self):
        return [sys.executable, __file__, self.host]

    def environment(self):
        return dict(super().environment(), PYTHONPATH=self.site.args.python)


class C(Answers):
    """The client in C, which has its verbs context at another host."""

    name, host, verbs_host, kinds = "C", "Hca46", "Hca37", 5

    def command(self):
        return [self.site.args.client, self.host, self.verbs_host]


class Mortal(C):
    """A client that is killed: not all its events are read."""

    name, host, verbs_host = "killed C", "Hca47", "Hca38"


class AsyncWorker:
    def __init__(self, module):
        self.ibsa = module
        self.started = self.ended = 0
        self.stops = False

    async def path(self, client, host):
        try:
            path = await client.path_async(gid(host), deadline_ms=DEADLINE_MS)
        except self.ibsa.Error as error:
            return "no" if error.errno == 2 else "lost"
        return "yes" if host_of_gid(path.dgid) == host else "wrong"

    async def reach(self, client, host):
        answer = await client.reach_async(gid(host))
        return {"YES": "yes", "NO": "no"}.get(answer.reach.name, "lost")

    async def node(self, client, host):
        nodes = await client.query_async(self.ibsa.NodeRecord,
                                         port_guid=port_guid(host),
                                         deadline_ms=DEADLINE_MS)
        if any(node.port_guid != port_guid(host) for node in nodes) or \
                len(nodes) > 1:
            return "wrong"
        return "yes" if nodes else "no"

    async def task(self, client):
        kinds = (self.path, self.reach, self.node)
        while not self.stops:
            kind, host = random.choice(kinds), random.choice(MORTALS)
            start = time.monotonic()
            self.started += 1
            try:
                result = await kind(client, host)
            except self.ibsa.Error as error:
                result = "lost"
                print(error, file=sys.stderr)
            self.ended += 1
            print(start, time.monotonic(), kind.__name__, host, result)
            await asyncio.sleep(0.05 if result != "lost" else 0.5)

    def stop(self):
        self.stops = True

    async def run(self):
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.stop)
        async with self.ibsa.open() as client:
            await asyncio.gather(*(self.task(client) for _ in range(TASKS)))
        print(self.started, self.ended, "ended", "-", "-", flush=True)


def main():
    import ibsa  # only in the client's process
    sys.stdout.reconfigure(line_buffering=True)
    asyncio.run(AsyncWorker(ibsa).run())


if __name__ == "__main__":
    main()
