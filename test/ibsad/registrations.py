#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Services and subscriptions of several users at ibsad.

usage: registrations.py IBSAD IBSA TOPOLOGY

Needs root, to connect as other users. What the SA has is read by the command
ibsa, at the fabric itself.
"""
import contextlib
import errno
import json
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time

from hostile import (DELETE, DENIED, GET, SET, Client, expect, mad,
                     socket_await)

ALICE, BOB = 65533, 65534
SERVICE, INFORM_INFO, NOTICE = 0x0031, 0x0003, 0x0002
BUSY = 0x0001
REPORT_METHODS = 1 << 6


def connect(path, user, **options):
    """The credentials of a connection are those at the time of connect()."""
    os.seteuid(user)
    try:
        return Client(path, **options)
    finally:
        os.seteuid(0)


def service(client, number, method=SET, gid=None, mask=0x53, name=b"test"):
    body = struct.pack(">Q16sHHI16s64s", number, gid or client.gid, 0, 0,
                       0xffffffff, b"", name)
    return client.ask(mad(method, SERVICE, mask=mask, body=body))


def inform_info(subscribe, trap=0xffff):
    """All traps of switches."""
    return struct.pack(">16sHHHBBHHII", bytes(16), 0xffff, 0, 0, 1, subscribe,
                       0xffff, trap, (0 if subscribe else 1) << 8 | 19, 2)


def subscribe(client, on=1):
    mask = 0x1572 | (0 if on else 1 << 8)
    return client.ask(mad(SET, INFORM_INFO, mask=mask, body=inform_info(on)))


class Test:
    def __init__(self, ibsad, ibsa, topology, folder):
        self.ibsad, self.ibsa = ibsad, ibsa
        self.path = folder + "/ibsad"
        fabric = folder + "/fabric"
        self.environment = {**os.environ, "IBSA_FABRIC": "unix:" + fabric}
        self.fabric = subprocess.Popen(
            [ibsa, "fabric", "run", topology, "--socket", fabric],
            stdout=subprocess.DEVNULL)
        socket_await(fabric, self.fabric)
        self.daemon = None

    def start(self, *options):
        self.daemon = subprocess.Popen(
            [self.ibsad, "--standalone", "--socket", self.path, *options,
             "ibsa0"], env=self.environment)
        socket_await(self.path, self.daemon)

    def stop(self):
        self.daemon.send_signal(signal.SIGTERM)
        expect(self.daemon.wait(30), 0, "exit status of ibsad")

    def run(self, *args):
        subprocess.run([self.ibsa, *args], env=self.environment, check=True,
                       stdout=subprocess.DEVNULL)

    def records(self, name):
        """Exit status 1 means that there are none."""
        return json.loads(subprocess.run(
            [self.ibsa, "query", "table", name, "-j"], env=self.environment,
            check=False, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL).stdout)

    def services(self):
        return sorted(int(row["service_id"], 16)
                      for row in self.records("SR"))

    def subscriptions(self):
        return len(self.records("IIR"))

    def await_(self, read, want):
        end = time.monotonic() + 20
        while read() != want:
            if time.monotonic() > end:
                raise AssertionError(f"{read()} instead of {want}")
            time.sleep(0.05)

    def services_belong_to_users(self):
        alice, bob = connect(self.path, ALICE), connect(self.path, BOB)
        expect(service(alice, 1), (0, 0), "a service")
        expect(self.services(), [1], "services")
        expect(service(alice, 1), (0, 0), "the service again")
        for method in (SET, DELETE):
            expect(service(bob, 1, method), (0, DENIED), "of another user")
        expect(service(bob, 2, DELETE), (0, DENIED), "that does not exist")
        expect(service(bob, 2, gid=bytes(16)), (0, DENIED), "of another port")
        expect(service(bob, 2, mask=0x51), (0, DENIED), "without a GID")
        other = connect(self.path, ALICE)
        expect(service(other, 1), (0, 0), "of another process of the user")
        expect(service(other, 1, DELETE), (0, 0), "Delete")
        expect(self.services(), [], "services")
        expect(service(bob, 1), (0, 0), "what another user has deleted")
        expect(service(alice, 1), (0, DENIED), "what is another's now")
        for client in (alice, bob, other):
            client.close()
        self.await_(self.services, [])

    def services_end_with_the_last_process(self):
        one, two = connect(self.path, ALICE), connect(self.path, ALICE)
        bob = connect(self.path, BOB)
        expect(service(one, 1), (0, 0), "a service")
        expect(service(two, 2), (0, 0), "a service")
        expect(service(bob, 3), (0, 0), "a service of another user")
        one.close()
        expect(two.ask(mad(GET, 0x0001)), (0, 0), "a query")
        expect(self.services(), [1, 2, 3], "services")
        two.close()
        self.await_(self.services, [3])
        bob.close()
        self.await_(self.services, [])

    def services_of_other_programs_stay(self):
        client = connect(self.path, ALICE)
        gid = ":".join(f"{word:x}"
                       for word in struct.unpack(">8H", client.gid))
        self.run("query", "set", "SR", "service_id=7", f"service_gid={gid}",
                 "service_lease=infinite", "service_name=root")
        expect(service(client, 7), (0, DENIED), "a service of root")
        expect(service(client, 7, DELETE), (0, DENIED), "Delete of it")
        client.close()
        expect(self.services(), [7], "services")
        self.run("query", "delete", "SR", "service_id=7",
                 f"service_gid={gid}")

    def subscriptions_belong_to_the_receiver(self):
        alice, bob = connect(self.path, ALICE), connect(self.path, BOB)
        expect(subscribe(alice), (0, DENIED), "without an agent")
        err, agent = alice.register_try(methods=REPORT_METHODS)
        expect(err, 0, "agent for Reports")
        err, why = bob.register_try(methods=REPORT_METHODS)
        expect(err, errno.EINVAL, "a second agent for Reports")
        if b"already receives" not in why:
            raise AssertionError(why)
        expect(subscribe(alice), (0, 0), "subscription")
        expect(self.subscriptions(), 1, "subscriptions")
        expect(subscribe(bob, 0), (0, DENIED), "another's subscription")
        self.report_is_answered(alice, struct.unpack_from("=I", agent)[0])
        expect(subscribe(alice, 0), (0, 0), "end of the subscription")
        expect(self.subscriptions(), 0, "subscriptions")
        expect(subscribe(alice), (0, 0), "subscription again")
        alice.close()
        self.await_(self.subscriptions, 0)
        err, _ = bob.register_try(methods=REPORT_METHODS)
        expect(err, 0, "agent for Reports, later")
        bob.close()

    def report_is_answered(self, client, agent):
        self.run("fabric", "link", "down", "node3/1")
        status, report = client.answer()
        expect((status, report[3], report[17]), (0, 0x06, NOTICE), "Report")
        answer = bytearray(report)
        answer[3] = 0x86
        client.send(bytes(answer), agent=agent, timeout=0)
        if select.select([client.data], [], [], 0.3)[0]:
            raise AssertionError(f"after the answer: {client.answer()}")
        self.run("fabric", "link", "up", "node3/1")
        while select.select([client.data], [], [], 0.5)[0]:
            status, report = client.answer()
            answer = bytearray(report)
            answer[3] = 0x86
            client.send(bytes(answer), agent=agent, timeout=0)

    def registrations_have_a_quota(self):
        client = connect(self.path, ALICE)
        for number in range(1, 4):
            expect(service(client, number), (0, 0), "a service")
        expect(service(client, 4), (0, DENIED), "one too many")
        expect(service(client, 1, DELETE), (0, 0), "Delete")
        expect(service(client, 4), (0, 0), "after the Delete")
        client.close()
        self.await_(self.services, [])

    def end_deletes_everything(self):
        client = connect(self.path, BOB)
        expect(service(client, 5), (0, 0), "a service")
        self.stop()
        expect(self.services(), [], "services")
        client.close()


def main():
    if os.geteuid():
        print("skipped: only root can connect as other users")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as end:
        os.chmod(folder, 0o755)
        test = Test(*sys.argv[1:], folder)
        end.callback(test.fabric.wait)
        end.callback(test.fabric.terminate)
        for run in (Test.services_belong_to_users,
                    Test.services_end_with_the_last_process,
                    Test.services_of_other_programs_stay,
                    Test.subscriptions_belong_to_the_receiver,
                    Test.registrations_have_a_quota,
                    Test.end_deletes_everything):
            test.start("--quota", "registrations=3")
            try:
                run(test)
                print("OK:", run.__name__)
            except Exception as err:  # the next case runs nevertheless
                failed += 1
                print(f"FAILED: {run.__name__}: {type(err).__name__} {err}")
            if test.daemon.poll() is None:
                test.stop()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
