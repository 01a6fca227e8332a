#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reports of one port for many programs, by ibsad.

usage: reports.py IBSAD IBSA TOPOLOGY

Needs root, to connect as other users. Links of the fabric go down and up.
"""
import errno
import json
import os
import select
import struct
import subprocess
import sys
import time

from hostile import (CONTROL, DENIED, EVENT, GET, SET, Client, expect, mad)
from registrations import ALICE, BOB, BUSY, Test, connect, run_all

INFORM_INFO, NOTICE, REPORT = 0x0003, 0x0002, 0x06
REPORT_METHODS = 1 << REPORT
ANY, ANY_PRODUCER = 0xffff, 0xffffff
CA, SWITCH, SM = 1, 2, 4
KEPT = 1024


def subscribe_send(client, on=1, producer=SWITCH, trap=ANY, lids=(ANY, 0),
                   generic=1):
    body = struct.pack(">16sHHHBBHHII", bytes(16), *lids, 0, generic, on, ANY,
                       trap, (0 if on else 1) << 8 | 19, producer)
    client.tid = getattr(client, "tid", 0) + 1
    client.send(mad(SET, INFORM_INFO, body=body, tid=client.tid,
                    mask=0x15f6 | (0 if on else 1 << 8)))


def answer_status(client):
    """The status of the next answer that is no Report."""
    while True:
        status, reply = client.answer()
        expect(status, 0, "status of the packet")
        if reply[3] != REPORT:
            return struct.unpack_from(">H", reply, 4)[0]


def subscribe(client, *args, **options):
    subscribe_send(client, *args, **options)
    return 0, answer_status(client)


def reader(path, user, *args, **options):
    """A client with an agent for Reports and a subscription."""
    client = connect(path, user)
    err, agent = client.register_try(methods=REPORT_METHODS)
    expect(err, 0, "agent for Reports")
    client.reports = struct.unpack_from("=I", agent)[0]
    expect(subscribe(client, *args, **options), (0, 0), "subscription")
    return client


def notices(client, wait_s=0.0):
    """The Notices that have arrived, as they are answered."""
    while select.select([client.data], [], [], wait_s)[0]:
        status, report = client.answer()
        expect((status, report[3], report[17]), (0, REPORT, NOTICE), "Report")
        yield report[56:]
        client.send(report[:3] + b"\x86" + report[4:], agent=client.reports,
                    timeout=0)


def trap_of(notice):
    return struct.unpack_from(">H", notice, 4)[0]


def traps(client, wait_s=0.0):
    return [(notice[3], trap_of(notice))
            for notice in notices(client, wait_s)]


def reregisters(client):
    """As the last state of the port has it that has arrived."""
    count = None
    while select.select([client.connection], [], [], 0)[0]:
        length, kind, _ = struct.unpack("=IIi", client.receive(12))
        state = client.receive(length)
        expect(kind, EVENT, "event")
        count = struct.unpack_from("=I", state, 24)[0]
    return count


class Fabric:
    """A connection of the fabric's server for commands."""

    def __init__(self, environment):
        self.client = Client(environment["IBSA_FABRIC"][len("unix:"):],
                             agent=False)

    def run(self, line):
        err, answer = self.client.request(CONTROL, line.encode())
        expect(err, 0, answer)


class Reports(Test):
    def start(self, *options):
        super().start(*options)
        self.control = Fabric(self.environment)

    def link(self, state, port="node3/1"):
        self.control.run(f"link {state} {port}")

    def subscriptions(self):
        return len(self.records("IIR"))

    def await_traps(self, client, want):
        found = []
        end = time.monotonic() + 20
        while not set(want) <= set(found):
            if time.monotonic() > end:
                raise AssertionError(f"{found} instead of {want}")
            found += traps(client, 0.1)
        return found

    def programs_have_their_own_filters(self):
        links = reader(self.path, ALICE)
        ports = reader(self.path, ALICE, producer=SM)
        leaving = reader(self.path, BOB, producer=SM, trap=65)
        nothing = reader(self.path, BOB, producer=SM, lids=(0x700, 0x7ff))
        expect(self.subscriptions(), 4, "subscriptions at the SA")
        self.link("down")
        self.link("up")
        found = self.await_traps(links, [(SWITCH, 128)])
        expect(set(found), {(SWITCH, 128)}, "traps of switches")
        self.await_traps(ports, [(SM, 64), (SM, 65)])
        expect(self.await_traps(leaving, [(SM, 65)]), [(SM, 65)], "trap 65")
        expect(traps(nothing, 0.2), [], "another range of LIDs")
        expect(subscribe(leaving, on=0, producer=SM, trap=65), (0, 0), "end")
        expect(subscribe(leaving, on=0, producer=SM, trap=65), (0, DENIED),
               "a second end")
        self.link("down")
        self.await_traps(ports, [(SM, 65)])
        expect(traps(leaving, 0.2), [], "after the end")
        self.link("up")
        for client in (links, ports, leaving, nothing):
            client.close()
        self.await_(self.subscriptions, 0)

    def subscription_needs_an_agent(self):
        client = connect(self.path, ALICE)
        expect(subscribe(client), (0, DENIED), "without an agent")
        err, agent = client.register_try(methods=REPORT_METHODS)
        expect(err, 0, "agent for Reports")
        err, why = client.register_try(methods=REPORT_METHODS)
        expect(err, errno.EINVAL, "a second one of this client")
        if b"receives Reports already" not in why:
            raise AssertionError(why)
        expect(subscribe(client, generic=0), (0, DENIED), "vendor traps")
        expect(subscribe(client), (0, 0), "subscription")
        expect(client.request(6, agent[:4])[0], 0, "end of the agent")
        self.await_(self.subscriptions, 0)
        expect(subscribe(client), (0, DENIED), "after the end of the agent")
        client.close()

    def slow_reader_is_told_of_a_gap(self):
        slow = reader(self.path, ALICE, producer=SM)
        fast = reader(self.path, BOB, producer=SM)
        got = 0
        reregisters(slow)
        before = None
        end = time.monotonic() + 60
        while not before and time.monotonic() < end:
            self.link("down")
            self.link("up")
            got += len(traps(fast))
            before = reregisters(slow)
        if not before:
            raise AssertionError("no gap")
        expect(reregisters(fast), None, "gap of another client")
        got += len(traps(fast, 0.5))
        late = traps(slow, 0.5)
        if not KEPT / 4 < len(late) < got:
            raise AssertionError(f"{len(late)} and {got} Reports")
        self.link("down")
        self.await_traps(slow, [(SM, 65)])
        self.link("up")
        slow.close()
        fast.close()

    def gap_at_the_sa_is_every_clients(self):
        clients = [reader(self.path, user, producer=SM)
                   for user in (ALICE, BOB)]
        for client in clients:
            reregisters(client)
        self.control.run("sm stop")
        self.control.run("sm start")
        end = time.monotonic() + 20
        for client in clients:
            while not reregisters(client):
                if time.monotonic() > end:
                    raise AssertionError("no gap")
                time.sleep(0.05)
            expect(subscribe(client, producer=SM), (0, 0), "subscription")
        self.link("down")
        for client in clients:
            self.await_traps(client, [(SM, 65)])
        self.link("up")
        for client in clients:
            client.close()

    def each_set_is_answered(self):
        """Also one that is repeated, or ended, while it waits."""
        client = connect(self.path, ALICE)
        expect(client.register_try(methods=REPORT_METHODS)[0], 0, "agent")
        self.control.run("fault silence=100")
        for on in (1, 1):
            subscribe_send(client, on)
        expect(answer_status(client), BUSY, "the first Set")
        subscribe_send(client, 0)
        expect(answer_status(client), BUSY, "the second Set")
        expect(answer_status(client), 0, "its end")
        self.control.run("fault none")
        client.close()

    def another_receiver_is_named(self):
        path = self.environment["IBSA_FABRIC"][len("unix:"):]
        other = Client(path)
        expect(other.register_try(methods=REPORT_METHODS)[0], 0, "agent")
        client = connect(self.path, ALICE)
        err, why = client.register_try(methods=REPORT_METHODS)
        expect(err, errno.EINVAL, "agent beside another receiver")
        if str(os.getpid()).encode() not in why:
            raise AssertionError(why)
        expect(client.ask(mad(GET, 0x0001)), (0, 0), "a query")
        other.close()
        end = time.monotonic() + 20
        while client.register_try(methods=REPORT_METHODS)[0]:
            if time.monotonic() > end:
                raise AssertionError("no agent after the receiver has gone")
            time.sleep(0.1)
        expect(subscribe(client), (0, 0), "subscription")
        client.close()

    def commands_watch_together(self):
        environment = {**os.environ, "IBSA_FABRIC": "unix:" + self.path}
        watches = [subprocess.Popen(
            [self.ibsa, "watch", "gid", "--format", "ndjson"],
            env=environment, stdout=subprocess.PIPE) for _ in range(3)]
        for watch in watches:
            expect(json.loads(watch.stdout.readline())["event"], "subscribed",
                   "first line")
        self.link("down")
        for watch in watches:
            expect(json.loads(watch.stdout.readline())["event"], "gid-out",
                   "event")
            watch.terminate()
            expect(watch.wait(30), 0, "exit status")
        self.link("up")


if __name__ == "__main__":
    sys.exit(run_all(Reports, (
        Reports.subscription_needs_an_agent,
        Reports.programs_have_their_own_filters,
        Reports.slow_reader_is_told_of_a_gap,
        Reports.gap_at_the_sa_is_every_clients,
        Reports.each_set_is_answered,
        Reports.another_receiver_is_named,
        Reports.commands_watch_together,
    )))
