#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ibsad is killed at random moments, and started again.

usage: restart.py IBSAD IBSA TOPOLOGY [KILLS [SEED]]

Clients have services that renew, watch for events, and query without a pause.
After each start, the services are at the SA within two seconds, each once, and
the watch tells of a gap. Then, services whose users do not come back are
deleted, and only these. Needs root, to connect as other users.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

from registrations import ALICE, BOB, Test, connect, run_all, service
from hostile import expect

SEED = int(sys.argv.pop(5)) if len(sys.argv) > 5 else 33
KILLS = int(sys.argv.pop(4)) if len(sys.argv) > 4 else 4
BACK_S = 2


class Restart(Test):
    def start(self, *options):
        folder = os.path.dirname(self.path) + "/state"
        os.makedirs(folder, exist_ok=True)
        self.environment["RUNTIME_DIRECTORY"] = folder
        super().start(*options)

    def kill(self):
        self.daemon.kill()
        self.daemon.wait(30)
        os.unlink(self.path)

    def command(self, *args, **options):
        """A command of a user at ibsad."""
        environment = {**os.environ, "IBSA_FABRIC": "unix-any-user:" +
                       self.path}
        return subprocess.Popen([self.ibsa, *args], env=environment,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True,
                                **options)

    def await_services(self, want, what):
        start = time.monotonic()
        while self.services() != want:
            if time.monotonic() > start + 20:
                raise AssertionError(f"{what}: {self.services()}, not {want}")
            time.sleep(0.02)
        return time.monotonic() - start

    def killed_under_load(self):
        random.seed(SEED)
        registered = [self.command("service", "register", f"{number:#x}",
                                   f"test{number}", "--lease", "60", "--renew")
                      for number in (1, 2, 3)]
        watch = self.command("watch", "gid", "--format", "ndjson")
        self.await_services([1, 2, 3], "before")
        expect(json.loads(watch.stdout.readline())["event"], "subscribed",
               "watch")
        slowest = 0
        for _ in range(KILLS):
            self.load_for(random.uniform(0.05, 0.5))
            self.kill()
            self.start()
            slowest = max(slowest, self.await_services([1, 2, 3], "after"))
            kinds = set()
            while "gap" not in kinds:
                kinds.add(json.loads(watch.stdout.readline())["event"])
        print(f"{KILLS} kills, services are back within {slowest:.2f} s")
        if slowest > BACK_S:
            raise AssertionError("the services are back too late")
        for process in (*registered, watch):
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        self.await_services([], "at the end")

    def load_for(self, seconds):
        """Queries without a pause, which the kill interrupts."""
        end = time.monotonic() + seconds
        queries = [self.command("query", "table", "NR") for _ in range(3)]
        while time.monotonic() < end:
            time.sleep(0.01)
        for query in queries:
            query.kill()
            query.communicate()

    def users_who_do_not_come_back_lose_their_services(self):
        alice, bob = connect(self.path, ALICE), connect(self.path, BOB)
        gid = ":".join(f"{alice.gid[i]:02x}{alice.gid[i + 1]:02x}"
                       for i in range(0, 16, 2))
        self.run("query", "set", "SR", "service_id=7", f"service_gid={gid}",
                 "service_lease=infinite", "service_name=root")
        expect(service(alice, 1), (0, 0), "a service of Alice")
        expect(service(bob, 2), (0, 0), "a service of Bob")
        self.kill()
        for client in (alice, bob):
            client.close()
        self.start()
        alice = connect(self.path, ALICE)
        time.sleep(1)
        expect(self.services(), [1, 2, 7], "soon after the start")
        self.await_services([1, 7], "later")
        alice.close()
        self.await_services([7], "when Alice has gone, too")
        self.run("query", "delete", "SR", "service_id=7",
                 f"service_gid={gid}")


if __name__ == "__main__":
    sys.exit(run_all(Restart, (
        Restart.killed_under_load,
        Restart.users_who_do_not_come_back_lose_their_services,
    )))
