#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Clients of many kinds at a fabric server that changes, and all answers judged.

usage: soak.py [--seconds N] [--seed N] [--sa SA] [--keep FOLDER]
               IBSA DROPIN PYTHON CLIENT

IBSA is the command, DROPIN the library in libibumad's place, PYTHON the folder
of the Python module, CLIENT the program of soak_client.c. SA is embedded or
opensm, which runs on the drop-in. Clients query, watch, renew services, join
and leave a group, read topologies and serve metrics, while links of hosts go
down and up, and one client is killed now and then. In disturbed phases, the SM
stops, starts and moves, the server and OpenSM are killed and started again,
they and the clients are stopped for a while, and faults lose, delay, duplicate,
reorder and corrupt packets.

Each answer is compared with the log of these changes, unless a disturbance
explains it: nothing may be wrong, lost or doubled, and no process may grow or
keep descriptors. A failure has its time, and the times of the last changes of
what it is about, in s since the start. The last line is "soak passed" or "soak
failed"; the exit status is 0 or 1, or 77 if a program is missing. After a
failure, --keep leaves the logs of the server, OpenSM and the clients in FOLDER.
"""

import argparse
import collections
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from soak_clients import C, CLIENTS, Metrics, Mortal, Renew, Watch, Worker
from soak_truth import Counts, History, Truth

HOSTS = 48
MORTALS = 36        # hosts whose links go down; clients and SMs are at others
DOWN_MAX = 6
FAULTS = ("lose=5", "delay=10,0,20", "duplicate=10", "reorder=10", "corrupt=2")
DELAY_S = 1         # after it, no packet with a fault is on its way
READY_S = 60
# OpenSM drops an answer with another attribute, modifier or method than its
# request has, and with it the request. Its sweeps then wait for ever, until an
# administrator starts it again.
HANGS = (b"ERR 541A", b"ERR 3112")
# Descriptors and kB that a process may have more in the second half of its life
# than in the first: pools grow to the highest use so far.
FILES_MORE, GROWTH_KB = 8, 3072


class Site:
    """A fabric server, its SA, and the programs at it."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.is_opensm = args.sa == "opensm"
        self.net = os.path.join(folder, "net")
        self.socket = os.path.join(folder, "s")
        self.sm_log = os.path.join(folder, "opensm.log")
        self.sm_log_from = 0
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith("IBSA_")}
        self.env.update(IBSA_FABRIC="unix:" + self.socket, LC_ALL="C")
        self.drop = dict(self.env, LD_LIBRARY_PATH=os.path.dirname(args.dropin))
        self.server = self.sm = None
        self.seed = args.seed

    def server_start(self):
        sa = ["--sa", "none"] if self.is_opensm else ["--sa-at", "Hca48"]
        log = open(os.path.join(self.folder, "server.log"), "a")
        self.server = subprocess.Popen(
            [self.args.ibsa, "fabric", "run", self.net, "--socket", self.socket,
             "--seed", str(self.seed), *sa], env=self.env,
            stdout=subprocess.PIPE, stderr=log)
        log.close()
        if not self.server.stdout.readline():
            raise RuntimeError("the fabric server does not start")

    def sm_start(self):
        """Start OpenSM; return when it has configured the fabric."""
        with open(self.sm_log, "ab") as log:
            self.sm_log_from = log.tell()
        lids = os.path.join(self.folder, "guid2lid")
        if os.path.exists(lids):
            os.unlink(lids)
        with open(os.path.join(self.folder, "opensm.conf"), "w") as conf:
            conf.write("force_log_flush TRUE\n")
        with open(os.path.join(self.folder, "opensm.out"), "a") as out:
            self.sm = subprocess.Popen(
                ["opensm", "-F", "opensm.conf", "-f", self.sm_log],
                cwd=self.folder,
                env=dict(self.drop, IBSA_NODE="Hca48", OSM_TMP_DIR=".",
                         OSM_CACHE_DIR="."), stdout=out, stderr=out)
        end = time.monotonic() + READY_S
        while time.monotonic() < end:
            time.sleep(0.1)
            if self.sm_has_logged(b"SUBNET UP"):
                return
        raise RuntimeError("OpenSM does not start")

    def sm_has_logged(self, *words):
        """Whether OpenSM has logged one of these since its start."""
        with open(self.sm_log, "rb") as log:
            log.seek(self.sm_log_from)
            text = log.read()
        return any(word in text for word in words)

    def sm_kill(self):
        self.sm.kill()
        self.sm.wait()

    def command(self, *words):
        subprocess.run([self.args.ibsa, "fabric", *words], env=self.env,
                       check=True, timeout=30, stdout=subprocess.DEVNULL)

    def start(self):
        self.server_start()
        if self.is_opensm:
            self.sm_start()

    def stop(self):
        for process in (self.sm, self.server):
            if process and process.poll() is None:
                process.terminate()
                process.wait(30)


class Driver:
    """Changes the fabric, and notes each change in the log."""

    def __init__(self, site, history, counts):
        self.site, self.history, self.counts = site, history, counts
        self.random = random.Random(site.seed)
        self.down = set()
        self.clients = []
        # Phases in s: quiet ones are long enough for events to be judged.
        self.quiet_s, self.loud_s = (70, 25) if site.is_opensm else (12, 12)

    def host_toggle(self):
        host = f"Hca{self.random.randint(1, MORTALS)}"
        if len(self.down) >= DOWN_MAX:
            host = self.random.choice(sorted(self.down))
        goes = host not in self.down
        with self.history.change(host, goes):
            self.site.command("link", "down" if goes else "up", host + "/1")
        (self.down.add if goes else self.down.remove)(host)
        self.counts["links changed"] += 1

    def pause(self, low, high):
        time.sleep(self.random.uniform(low, high))

    def spell(self, thing, lose, restore, seconds):
        """Lose a thing for some time."""
        with self.history.change(thing, True):
            lose()
        self.pause(*seconds)
        with self.history.change(thing, False):
            restore()

    def faults(self):
        kinds = self.random.sample(FAULTS, 2)
        thing = "corrupt" if any("corrupt" in kind for kind in kinds) else \
            "faults"
        self.counts["faults"] += 1
        self.spell(thing, lambda: [self.site.command("fault", kind)
                                   for kind in kinds],
                   lambda: self.site.command("fault", "none"), (2, 5))
        if thing == "corrupt" and self.site.is_opensm:
            time.sleep(DELAY_S)
            if self.site.sm_has_logged(*HANGS):
                self.counts["OpenSM hung"] += 1
                self.spell("sm", self.site.sm_kill, self.site.sm_start, (0, 0))

    def server_restart(self):
        """All links of the new server are up."""
        site = self.site

        def lose():
            site.server.kill()
            site.server.wait()
            for host in sorted(self.down):
                with self.history.change(host, False):
                    self.down.remove(host)
            if site.sm:
                site.sm_kill()

        self.counts["server killed"] += 1
        self.spell("server", lose, site.start, (0.2, 1))

    def process_stop(self, process, name):
        self.counts[f"{name} stopped"] += 1
        self.spell("server", lambda: process.send_signal(signal.SIGSTOP),
                   lambda: process.send_signal(signal.SIGCONT), (0.5, 2))

    def client_kill(self):
        """Kill the last client. This explains nothing: no other may notice."""
        self.counts["client killed"] += 1
        self.clients[-1].kill()

    def sm_change(self):
        site = self.site
        self.counts["SM changed"] += 1
        if site.is_opensm:
            self.spell("sm", site.sm_kill, site.sm_start, (0.5, 2))
        elif self.random.random() < 0.5:
            self.spell("sm", lambda: site.command("sm", "stop"),
                       lambda: site.command("sm", "start"), (0.5, 2))
        else:
            host = f"Hca{self.random.randint(MORTALS + 8, HOSTS)}"
            self.spell("sm", lambda: site.command("sm", "move", host),
                       lambda: None, (0, 0))

    def disturb(self):
        choice = self.random.random()
        if choice < 0.4:
            self.faults()
        elif choice < 0.75:
            self.sm_change()
        elif choice < 0.9:
            name, process = self.random.choice(
                [("server", self.site.server)] +
                [("OpenSM", self.site.sm)] * self.site.is_opensm +
                [("client", client.process) for client in self.clients])
            self.process_stop(process, name)
        else:
            self.server_restart()

    def run(self, end):
        while time.monotonic() < end:
            quiet = min(end, time.monotonic() + self.quiet_s)
            while time.monotonic() < quiet:
                self.host_toggle()
                if self.random.random() < 0.05:
                    self.client_kill()
                self.pause(0.2, 1.5)
            loud = min(end, time.monotonic() + self.loud_s)
            while time.monotonic() < loud:
                self.host_toggle()
                self.disturb()
                self.pause(0.5, 2)


class Leaks:
    """Samples descriptors and memory of processes."""

    def __init__(self):
        self.samples = collections.defaultdict(list)

    def sample(self, name, pid):
        try:
            files = len(os.listdir(f"/proc/{pid}/fd"))
            with open(f"/proc/{pid}/status", encoding="ascii") as status:
                fields = dict(line.split(":", 1) for line in status)
            self.samples[name, pid].append(
                (files, int(fields["RssAnon"].split()[0])))
        except (OSError, KeyError):
            pass  # the process has ended

    def grown(self, least):
        """Return texts about the processes with at least so many samples."""
        for (name, pid), all_samples in self.samples.items():
            half = len(all_samples) // 2
            if len(all_samples) < least or half < 2:
                continue
            # Clients come and go, and with the server some descriptors: their
            # usual number must not rise.
            first, second = (
                [statistics.median(files for files, _ in part),
                 max(kb for _, kb in part)]
                for part in (all_samples[:half], all_samples[half:]))
            print(f"  {name}: {first[0]:.0f} files, {first[1]} kB; then "
                  f"{second[0]:.0f} files, {second[1]} kB")
            if second[0] > first[0] + FILES_MORE or \
                    second[1] > first[1] + GROWTH_KB:
                yield f"{name} {pid} grows"


def soak(args, folder):
    site = Site(args, folder)
    counts = Counts()
    history, start = History(), time.strftime("%T")
    truth = Truth(history, counts, 20 if site.is_opensm else 1)
    threading.excepthook = lambda hook: truth.fail(
        f"{hook.thread.name} has ended: {hook.exc_value!r}")
    subprocess.run([os.path.join(os.path.dirname(__file__),
                                 "../../scripts/gen-fabric"), str(HOSTS),
                    "--radix", "12", "--style", "plain", "-o", site.net],
                   check=True)
    driver, leaks = Driver(site, history, counts), Leaks()
    ended = threading.Event()
    lasting = []
    try:
        site.start()
        lasting = [kind(site, truth, ended)
                   for kind in (Watch, Renew, Metrics, Worker, C, Mortal)]
        driver.clients = lasting
        loops = [kind(site, truth, ended) for kind in CLIENTS]
        end = time.monotonic() + args.seconds
        changer = threading.Thread(target=driver.run, args=(end,))
        changer.start()
        while changer.is_alive():
            changer.join(1)
            leaks.sample("server", site.server.pid)
            for client in lasting:
                leaks.sample(client.name, client.process.pid)
        ended.set()
        for client in loops + lasting:
            client.finish()
    finally:
        ended.set()
        site.stop()
    truth.conclude()
    truth.require(args.seconds)
    print(f"{args.sa}, seed {args.seed}, {args.seconds} s from {start}")
    for text in leaks.grown(args.seconds // 3):
        truth.fail(text)
    for name, count in sorted(counts.items()):
        print(f"  {name:45} {count:9}")
    return truth.report()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sa", choices=("embedded", "opensm"),
                        default="embedded")
    parser.add_argument("--keep")
    for name in ("ibsa", "dropin", "python", "client"):
        parser.add_argument(name, type=os.path.abspath)
    args = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [name for name in ("opensm", "saquery")
               if not shutil.which(name)]
    if missing:
        print("needs", *missing, file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as folder:
        is_good = False
        try:
            is_good = soak(args, folder)
        finally:
            if args.keep and not is_good:
                shutil.copytree(folder, args.keep, dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns("s"))
    print("soak passed" if is_good else "soak failed")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
