#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Nothing of users stays at the SA, though their requests are late.

usage: storm.py IBSAD IBSA TOPOLOGY [ROUNDS [SEED]]

In each round, processes of two users set and delete services, join and leave
groups, and are killed while packets overtake one another. Round n has the seed
SEED + n - 1: with ROUNDS 1, it is repeated alone. Needs root, to run as other
users.
"""
import os
import random
import signal
import sys
import time

from hostile import DELETE, SET, Client, as_user, mad
from memberships import CREATE, FULL, Memberships, SEND_ONLY, membership_mad
from registrations import ALICE, BOB, run_all, service_mad

SEED = int(sys.argv.pop(5)) if len(sys.argv) > 5 else 33
ROUNDS = int(sys.argv.pop(4)) if len(sys.argv) > 4 else 4
PROCESSES = 2
NUMBERS = {ALICE: range(1, 3), BOB: range(3, 5)}
REORDER = "reorder=30,0,30"


def requests(path, seed):
    """Send requests of all kinds, and wait for the answer to some."""
    generator = random.Random(seed)
    client = Client(path)
    while True:
        method = generator.choice((SET, SET, DELETE))
        number = generator.choice(NUMBERS[os.geteuid()])
        if generator.random() < 0.5:
            packet = service_mad(client, number, method)
        else:
            packet = membership_mad(client, f"ff15:7::{number}", method,
                                    generator.choice((FULL, SEND_ONLY)),
                                    mask=CREATE)
        client.send(packet, timeout=200, retries=2)
        if generator.random() < 0.7:
            client.answer()


class Storm(Memberships):
    def port_groups(self):
        return sorted(row["mgid"] for row in self.records("MCMR")
                      if row["port_gid"] == self.gid)

    def nothing_stays(self):
        before = self.port_groups()
        for number in range(1, ROUNDS + 1):
            seed = SEED + number - 1
            generator = random.Random(seed)
            self.run("fabric", "fault", REORDER)
            children = [as_user(ALICE if process % 2 else BOB, requests,
                                self.path, seed + process)
                        for process in range(PROCESSES)]
            for child in children:
                time.sleep(generator.uniform(0.02, 0.1))
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            time.sleep(0.1)
            self.run("fabric", "fault", "none")
            try:
                self.await_(self.services, [])
                self.await_(self.port_groups, before)
            except AssertionError:
                print(f"round {number}, seed {seed}", flush=True)
                raise


if __name__ == "__main__":
    sys.exit(run_all(Storm, (Storm.nothing_stays,),
                     ("--multicast", "ff15:7::/32", "--multicast-create")))
