#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A new ibsad takes the socket over from an old one.

usage: upgrade.py IBSAD IBSA TOPOLOGY PYTHON [UPGRADES]

By SIGUSR2, the program is executed again: services stay at the SA all the time,
queries fail with ENODEV only, and for at most two seconds.
By systemd, which keeps the socket: a client that connects between two programs
waits. Needs root, to connect as other users.
"""
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from hostile import GET, TABLE, Client, expect, mad, socket_await
from registrations import ALICE, Test, connect, run_all, service

UPGRADES = int(sys.argv.pop(5)) if len(sys.argv) > 5 else 5
sys.path.insert(0, sys.argv.pop(4))
import ibsa  # noqa: E402  the module that was built


class Asker(threading.Thread):
    """
    A program that queries without a pause; the kinds of its errors, and the
    longest time without an answer.
    """

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.errors, self.answers = path, set(), 0
        self.is_ending, self.longest = False, 0

    def run(self):
        answered = time.monotonic()
        with ibsa.open(fabric="unix:" + self.path) as client:
            while not self.is_ending:
                try:
                    client.query("NodeRecord", no_sharing=True)
                except OSError as err:
                    self.errors.add(err.errno)
                    continue
                before, answered = answered, time.monotonic()
                self.longest = max(self.longest, answered - before)
                self.answers += 1

    def end(self):
        self.is_ending = True
        self.join(60)


class Upgrade(Test):
    def start(self, *options):
        folder = os.path.dirname(self.path) + "/state"
        os.makedirs(folder, exist_ok=True)
        self.environment["RUNTIME_DIRECTORY"] = folder
        super().start(*options)

    def replaced_under_load(self):
        alice = connect(self.path, ALICE)
        expect(service(alice, 1), (0, 0), "a service")
        askers = [Asker(self.path) for _ in range(4)]
        for asker in askers:
            asker.start()
        for _ in range(UPGRADES):
            before = self.answered(askers, [-1] * len(askers))
            self.daemon.send_signal(signal.SIGUSR2)
            # A connection that is not greeted yet may end once.
            alice = self.connect_again(alice)
            self.answered(askers, before)
            expect(self.services(), [1], "services")
            expect(service(alice, 1), (0, 0), "the service again")
        for asker in askers:
            asker.end()
            expect(asker.errors - {errno.ENODEV}, set(), "other errors")
        longest = max(asker.longest for asker in askers)
        print(f"{UPGRADES} upgrades, {sum(a.answers for a in askers)} answers,"
              f" queries fail for at most {longest * 1000:.0f} ms")
        if longest > 2:
            raise AssertionError("too long without an answer")
        expect(self.daemon.poll(), None, "the process")
        alice.close()
        self.await_(self.services, [])

    def answered(self, askers, before):
        """Wait until each has an answer more than before; the counts."""
        self.await_(lambda: all(asker.answers > count + 1 for asker, count
                                in zip(askers, before)), True)
        return [asker.answers for asker in askers]

    def connect_again(self, client):
        """Wait for the end of a connection; the next one is accepted."""
        while client.connection.recv(4096):
            pass
        client.close()
        return connect(self.path, ALICE)

    def socket_of_systemd(self):
        self.stop()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen()
        for number in range(3):
            waiting = socket.socket(socket.AF_UNIX)
            waiting.connect(self.path)
            self.start_by_systemd(listener)
            client = Client(self.path)
            expect(client.ask(mad(TABLE, 0x0011)), (0, 0), f"query {number}")
            self.daemon.send_signal(signal.SIGUSR2)
            while client.connection.recv(4096):
                pass
            expect(Client(self.path).ask(mad(GET, 0x0001)), (0, 0),
                   "after the upgrade")
            self.stop()
            expect(os.path.exists(self.path), True, "the socket's file")
            waiting.close()
        listener.close()
        os.unlink(self.path)

    def a_program_that_cannot_be_executed(self):
        """The ibsad that runs goes on."""
        self.stop()
        copy = os.path.dirname(self.path) + "/copy"
        subprocess.run(["cp", self.ibsad, copy], check=True)
        self.daemon = subprocess.Popen(
            [copy, "--standalone", "--socket", self.path, "ibsa0"],
            env=self.environment, stderr=subprocess.PIPE, text=True)
        socket_await(self.path, self.daemon)
        client = Client(self.path)
        os.unlink(copy)
        self.daemon.send_signal(signal.SIGUSR2)
        while "cannot execute" not in self.daemon.stderr.readline():
            expect(self.daemon.poll(), None, "exit status")
        expect(client.ask(mad(TABLE, 0x0011)), (0, 0), "a query")
        client.close()


if __name__ == "__main__":
    sys.exit(run_all(Upgrade, (
        Upgrade.replaced_under_load,
        Upgrade.socket_of_systemd,
        Upgrade.a_program_that_cannot_be_executed,
    )))
