#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Damages what a fabric server and its clients send to each other.

usage: between.py [--seconds N] [--seed N] IBSA QUERY-BOTH FABRIC [DROPIN]

IBSA is the command, QUERY-BOTH the program of query_both.c, FABRIC the topology
file four-hosts.net, DROPIN the library in libibumad's place, for saquery. Their
connections lead through a relay that flips, drops, delays and truncates bytes
in both directions; the seed chooses where. No client and no server may crash,
each client has to end in its time with an exit status that it documents, no
reply may be another query's, and each frame or header that fails a check has to
end its connection. Bytes of a MAD are never flipped: a MAD has no checksum.

The last line counts what was done. Exits with 1 if something was wrong, or if
no reply was right.
"""

import argparse
import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import damage

# Time limit in seconds of each client, from its start to its end.
LIMIT_S = 30
INTERRUPT_S = 5
CLIENTS = 3         # at a time
IBSA_STATUS = {0, 1, 3, 4, 5}


class Client:
    """A client program that connects through the relay.

    @runs_s: seconds until the program gets SIGINT; None: it gets none.
    """

    replies = collections.Counter()

    def __init__(self, name, arguments, statuses, environment, runs_s=None):
        self.name, self.statuses = name, statuses
        self.start = time.monotonic()
        self.interrupt_at = self.start + runs_s if runs_s else None
        self.limit = self.start + LIMIT_S
        self.is_interrupted = False
        self.output = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(
            arguments, env=environment, stdin=subprocess.DEVNULL,
            stdout=self.output, stderr=subprocess.STDOUT,
            preexec_fn=signals_default)

    def step(self, now):
        """Return: None while the program runs; afterwards the error, or ""
        if it ended as it should."""
        status = self.process.poll()
        if status is None:
            if self.interrupt_at and now >= self.interrupt_at:
                self.interrupt_at = None
                self.is_interrupted = True  # perhaps before it catches it
                self.limit = now + INTERRUPT_S
                self.process.send_signal(signal.SIGINT)
            if now < self.limit:
                return None
            self.process.kill()
            self.process.wait()
            return self.told(f"does not end, {now - self.start:.0f} s after "
                             "its start")
        is_early = status == -signal.SIGINT and self.is_interrupted
        if status in self.statuses or is_early:
            self.count()
            return ""
        return self.told(f"ends with status {status}")

    def count(self):
        """Add the counts that query-both has printed to those of all its
        runs."""
        self.output.seek(0)
        if self.name == "query-both":
            for count, kind in re.findall(r"(\d+) (\w+)", self.output.read()):
                self.replies[kind] += int(count)
        self.output.close()

    def told(self, what):
        self.output.seek(0)
        text = self.output.read()[-1500:]
        self.output.close()
        return f"{self.name} {what}: {text.strip()}"

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.output.close()


def signals_default():
    """Restore the default action of SIGINT: a command that is started with
    SIGINT ignored would keep ignoring it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Clients:
    """Starts clients one after another, by seed."""

    def __init__(self, args, direct, via):
        self.args, self.direct, self.via = args, direct, via
        self.random = random.Random(args.seed)
        self.environment = dict(os.environ, LC_ALL="C", IBSA_FABRIC=via,
                                IBSA_NODE="node1")
        self.makers = [self.ask, self.ask, self.command, self.watch]
        if args.dropin and shutil.which("saquery"):
            self.makers.append(self.saquery)
        self.count = 0

    def next(self):
        self.count += 1
        return self.random.choice(self.makers)()

    def ask(self):
        return Client("query-both", [self.args.query_both, self.direct, self.via,
                                   "8"], {0, 3}, self.environment)

    def command(self):
        words = self.random.choice((["path", "node1", "node4"],
                                    ["query", "table", "NR"], ["devices"],
                                    ["reach", "node2", "node3"], ["doctor"]))
        return Client("ibsa " + words[0],
                      [self.args.ibsa, "-t", "1000", *words], IBSA_STATUS,
                      self.environment)

    def watch(self):
        return Client("ibsa watch", [self.args.ibsa, "-t", "1000", "watch"],
                      IBSA_STATUS | {128 + signal.SIGINT}, self.environment,
                      self.random.uniform(0.2, 4))

    def saquery(self):
        path = os.path.dirname(self.args.dropin)
        words = self.random.choice((["NR"], ["PR", "--slid", "1", "--dlid",
                                             "2"], ["--list", "-D"]))
        return Client("saquery", ["saquery", "-t", "500", *words],
                      set(range(256)), dict(self.environment,
                                            LD_LIBRARY_PATH=path))


class Server:
    """A fabric server, whose messages go to a temporary file."""

    def __init__(self, args, folder):
        self.path = os.path.join(folder, "server")
        self.notes = tempfile.TemporaryFile("w+", errors="replace")
        # The relay sees only what is sent through sockets, so rings are
        # switched off; fuzz/ring.c damages rings.
        self.process = subprocess.Popen(
            [args.ibsa, "fabric", "run", args.fabric, "--socket", self.path],
            env=dict(os.environ, IBSA_RING="0"), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self.notes, text=True)
        if not self.process.stdout.readline().startswith("unix:"):
            sys.exit("between.py: the fabric server does not start")

    def close(self):
        """End the server. Return: its error, or ""."""
        status = self.process.poll()
        if status is None:
            self.process.terminate()
            try:
                status = self.process.wait(INTERRUPT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.notes.seek(0)
        notes = self.notes.read()
        self.notes.close()
        if status:
            return f"the server ends with status {status}: {notes[-1500:]}"
        return ""


def relay(proxy, ends):
    while not ends.is_set():
        try:
            proxy.step()
        except Exception as error:  # clients would only wait for a dead relay
            proxy.wrong.append(f"the relay fails: {error!r}")
            traceback.print_exc()
            return


def run(args, server, clients, proxy):
    """Run clients until the time is over. Return: the errors."""
    wrong = []
    running = []
    until = time.monotonic() + args.seconds
    while running or time.monotonic() < until:
        now = time.monotonic()
        while now < until and len(running) < CLIENTS and len(wrong) < 20:
            running.append(clients.next())
        if server.process.poll() is not None:
            break
        for client in list(running):
            what = client.step(now)
            if what is not None:
                running.remove(client)
                wrong += [what] if what else []
        if len(wrong) >= 20 and not running:
            break
        time.sleep(0.02)
    for client in running:
        client.end()
    return wrong + proxy.wrong


def counted(counts):
    return ", ".join(f"{count} {kind}" for kind, count
                     in sorted(counts.items()))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    for name in ("ibsa", "query_both", "fabric"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("dropin", type=os.path.abspath, nargs="?")
    args = parser.parse_args()
    for name in ("IBSA_FABRIC", "IBSA_NODE", "SYSFS_PATH"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(args, folder)
        path = os.path.join(folder, "relay")
        proxy = damage.Proxy(path, server.path, args.seed)
        ends = threading.Event()
        thread = threading.Thread(target=relay, args=(proxy, ends))
        thread.start()
        clients = Clients(args, "unix:" + server.path, "unix:" + path)
        wrong = run(args, server, clients, proxy)
        ends.set()
        thread.join()
        proxy.close()
        told = server.close()
        wrong += [told] if told else []
    # Each damaged MAD shows in one reply at most: more damaged replies than the
    # relay damaged MADs is an error.
    if Client.replies["damaged"] > proxy.counts["in MADs"]:
        wrong.append("replies are damaged that the relay did not damage")
    for one in wrong:
        print(one)
    print(f"seed {args.seed}: {clients.count} clients; "
          f"relay: {counted(proxy.counts)}; "
          f"replies: {counted(Client.replies)}; {len(wrong)} wrong")
    return 1 if wrong or not Client.replies["right"] else 0


if __name__ == "__main__":
    sys.exit(main())
