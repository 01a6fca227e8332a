#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ibsad is killed at random moments under load, and started again.

usage: restart.py IBSAD IBSA TOPOLOGY [KILLS [SEED [SECONDS]]]

Kill n has the seed SEED + n - 1: with KILLS 1, it is repeated alone. With
SECONDS, all must be as before within this time after each kill:

- queries are answered;
- a service that a user set before is the user's: another user cannot delete
  it, this user can, and can set it, and it ends with the last connection;
- each watch reports one gap, and then each event once;
- the services of programs that renew them are at the SA, each once.

Clients of ibsad see the end of their connections, those of the library one
gap, and ENODEV ("device is gone") until they have connected again.

Needs root, to connect as other users.
"""
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time

from registrations import ALICE, BOB, Test, connect, run_all, service
from reports import SM, Fabric, notices, reader, trap_of
from hostile import (DELETE, DENIED, GET, SET, TABLE, Client, Gone, as_user,
                     expect, finished, mad)

WITHIN_S = float(sys.argv.pop(6)) if len(sys.argv) > 6 else None
SEED = int(sys.argv.pop(5)) if len(sys.argv) > 5 else 33
KILLS = int(sys.argv.pop(4)) if len(sys.argv) > 4 else 3
RESTART_S = 0.1  # systemd starts a service again after this time
WATCHES = 3
TRAPS = {64: "gid-in", 65: "gid-out"}
# Services: of programs that renew them, of Alice and of Bob before each kill,
# and those that Alice sets and deletes all the time.
RENEWED, KEPT, ENDING = [1, 2, 3], 0x10, 0x20
CHURN = range(0x100, 0x110)


def until_gone(run, *args):
    """Call run until the server ends the connection; nothing else may fail."""
    try:
        while True:
            run(*args)
    except (Gone, ConnectionResetError, BrokenPipeError):
        pass


def load_client(path, ready):
    """A client that is connected before the kill: others would wait for it."""
    client = Client(path)
    os.write(ready, b"x")
    return client


def churn(path, ready, seed):
    """Set and delete services without a pause."""
    client = load_client(path, ready)
    generator = random.Random(seed)
    known = set()

    def change():
        number = generator.choice(CHURN)
        method = DELETE if number in known else SET
        expect(service(client, number, method), (0, 0), "a change")
        known.symmetric_difference_update({number})
    until_gone(change)


def ask(path, ready, method, attribute):
    client = load_client(path, ready)
    until_gone(lambda: expect(client.ask(mad(method, attribute)), (0, 0),
                              "a query"))


class Lines:
    """The lines of a command, as they come."""

    def __init__(self, process, *fields):
        self.process, self.fields = process, fields
        self.rest, self.rows = b"", []
        os.set_blocking(process.stdout.fileno(), False)

    def start_again(self):
        """The command itself does this."""

    def read(self):
        while more := self.process.stdout.read():
            *lines, self.rest = (self.rest + more).split(b"\n")
            for line in lines:
                row = json.loads(line)
                self.rows.append(tuple(row[field] for field in self.fields))
        return self.rows

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        expect(self.process.wait(30), 0, "exit status")
        return self.read()


class Reader:
    """
    A subscription of root, which has each Report as ibsad passes it on: the
    library drops those that come twice.
    """

    def __init__(self, path):
        self.path, self.rows = path, []
        self.start()

    def start(self):
        self.client = reader(self.path, 0, producer=SM)
        self.rows.append(("subscribed", None))

    def start_again(self):
        self.read()
        self.client.close()
        self.rows.append(("lost", None))
        self.start()
        self.rows.append(("gap", None))

    def read(self):
        while True:
            try:
                for notice in notices(self.client):
                    gid = socket.inet_ntop(socket.AF_INET6, notice[16:32])
                    if trap_of(notice) in TRAPS:
                        self.rows.append((TRAPS[trap_of(notice)], gid))
                return self.rows
            except BrokenPipeError:  # the answer is not sent; others may follow
                pass
            except (Gone, ConnectionResetError):
                return self.rows


class Restart(Test):
    def __init__(self, ibsad, ibsa, topology, folder):
        super().__init__(ibsad, ibsa, topology, folder)
        os.mkdir(folder + "/state")
        self.environment["RUNTIME_DIRECTORY"] = folder + "/state"
        self.fabric_control = Fabric(self.environment)
        self.gids = {node: self.gid_of(node) for node in ("node2", "node3")}
        self.is_up = dict.fromkeys(self.gids, True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)
        self.listener.listen(1024)

    def start(self, **options):
        self.start_by_systemd(self.listener, **options)
        Client(self.path).close()

    def kill(self):
        self.daemon.kill()
        self.daemon.wait(30)

    def command(self, *args):
        """A command at ibsad."""
        environment = {**os.environ, "IBSA_FABRIC": "unix-any-user:" +
                       self.path}
        return subprocess.Popen([self.ibsa, *args], env=environment,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)

    def toggle(self, node):
        """Change a link. Return: the event."""
        self.is_up[node] = not self.is_up[node]
        self.fabric_control.run(
            f"link {'up' if self.is_up[node] else 'down'} {node}/1")
        return "gid-in" if self.is_up[node] else "gid-out", self.gids[node]

    def own(self, client):
        """Set the services that are a user's after the kill, too."""
        number = KEPT if client is self.alice else ENDING
        expect(service(client, number), (0, 0), "a service")

    def killed_under_load(self):
        programs = [self.command("service", "register", f"{number:#x}",
                                 f"test{number}", "--lease", "2", "--renew")
                    for number in RENEWED]
        self.watches = [Lines(self.command("watch", "gid", "--format",
                                           "ndjson"), "event", "gid")
                        for _ in range(WATCHES)]
        pings = [Lines(self.command("ping-sa", "1000000", "--format",
                                    "ndjson"), "status_text")
                 for _ in range(2)]
        self.await_(self.services, RENEWED)
        self.watches.append(Reader(self.path))
        for watch in self.watches:
            self.await_(watch.read, [("subscribed", None)])
            watch.rows.clear()
        subscriptions = self.subscriptions()
        self.alice, self.bob = (connect(self.path, user)
                                for user in (ALICE, BOB))
        slowest = 0
        for number in range(1, KILLS + 1):
            seed = SEED + number - 1
            moment_s, back_s = self.killed(seed)
            slowest = max(slowest, back_s)
            expect(self.subscriptions(), subscriptions, "subscriptions")
            print(f"kill {number}: seed {seed}, {moment_s * 1000:.0f} ms after "
                  f"the start of the load; back after {back_s * 1000:.0f} ms",
                  flush=True)
            if WITHIN_S and back_s > WITHIN_S:
                raise AssertionError(f"later than {WITHIN_S} s")
        print(f"{KILLS} kills, all is back within {slowest:.2f} s")
        self.end(programs, pings)

    def killed(self, seed):
        """Kill ibsad once. Return: the moment, and the time until back."""
        generator = random.Random(seed)
        for client in (self.alice, self.bob):
            self.own(client)
        moment_s = generator.uniform(0.02, 0.5)
        load = self.load_start((ALICE, churn, seed), (BOB, ask, TABLE, 0x0011),
                               (BOB, ask, GET, 0x0001))
        events = []
        end = time.monotonic() + moment_s
        while (left := end - time.monotonic()) > 0:
            events.append(self.toggle("node3"))
            time.sleep(min(left, generator.uniform(0, 0.05)))
        killed = time.monotonic()
        self.kill()
        time.sleep(max(0, killed + RESTART_S - time.monotonic()))
        self.start_by_systemd(self.listener)
        self.is_back(events)
        back_s = time.monotonic() - killed
        for child in load:
            expect(finished(child), True, "a client of the load")
        return moment_s, back_s

    def load_start(self, *clients):
        """Return: the processes, all of which have connected."""
        ready, write = os.pipe()
        load = [as_user(user, run, self.path, write, *args)
                for user, run, *args in clients]
        for _ in load:
            os.read(ready, 1)
        os.close(ready)
        os.close(write)
        return load

    def is_back(self, events):
        """Wait until all is as before. events: those before the kill."""
        for client in (self.alice, self.bob):
            client.close()
        self.alice, self.bob = (connect(self.path, user)
                                for user in (ALICE, BOB))
        expect(self.alice.ask(mad(TABLE, 0x0011)), (0, 0), "a query")
        expect(service(self.bob, KEPT, DELETE), (0, DENIED), "of Alice")
        expect(service(self.alice, KEPT, DELETE), (0, 0), "Alice's own")
        self.churn_is_known()
        self.own(self.bob)
        self.bob.close()
        self.await_(self.services, RENEWED)
        self.bob = connect(self.path, BOB)
        for watch in self.watches:
            watch.start_again()
            self.await_(lambda watch=watch: ("gap", None) in watch.read(), True)
        events.append(self.toggle("node2"))
        for watch in self.watches:
            self.await_(lambda watch=watch: events[-1] in watch.read(), True)
            watch_check(watch.rows, events)
            watch.rows.clear()

    def churn_is_known(self):
        """What the SA has is still Alice's."""
        for number in set(self.services()) & set(CHURN):
            expect(service(self.alice, number, DELETE), (0, 0), f"{number:#x}")

    def end(self, programs, pings):
        for client in (self.alice, self.bob):
            client.close()
        for ping in pings:
            expect(set(ping.end()) - {("device is gone",)}, {("success",)},
                   "queries")
        for process in programs:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        *watches, last = self.watches
        expect(last.read(), [], "after the last event")
        last.client.close()
        for watch in watches:
            expect(watch.end(), [("ended", None)], "after the last event")
        self.await_(self.services, [])
        self.await_(self.subscriptions, 0)
        for node, is_up in self.is_up.items():
            if not is_up:
                self.toggle(node)

    def users_who_do_not_come_back_lose_their_services(self):
        """
        The first connection that ends, of a short command, is not that of the
        program. A service whose user has set it again is renewed.
        """
        alice, bob = connect(self.path, ALICE), connect(self.path, BOB)
        gid = ":".join(f"{alice.gid[i]:02x}{alice.gid[i + 1]:02x}"
                       for i in range(0, 16, 2))
        self.run("query", "set", "SR", "service_id=7", f"service_gid={gid}",
                 "service_lease=infinite", "service_name=root")
        expect(service(alice, 1), (0, 0), "a service of Alice")
        expect(service(alice, 3, lease=2), (0, 0), "one with a lease")
        expect(service(bob, 2), (0, 0), "a service of Bob")
        self.kill()
        for client in (alice, bob):
            client.close()
        self.start()
        connect(self.path, ALICE).close()
        self.await_(lambda: self.counters()["clients"], 1)
        alice = connect(self.path, ALICE)
        expect(service(alice, 3, lease=2), (0, 0), "the one with a lease")
        time.sleep(1)
        expect(self.services(), [1, 2, 3, 7], "soon after the start")
        self.await_(self.services, [1, 3, 7])
        alice.close()
        self.await_(self.services, [7])
        self.run("query", "delete", "SR", "service_id=7",
                 f"service_gid={gid}")


    def a_line_that_was_cut_spoils_no_other(self):
        """As if the file system of the registrations was full for a moment."""
        path = self.environment["RUNTIME_DIRECTORY"] + "/registrations"
        self.stop()
        self.start(stderr=subprocess.DEVNULL)  # the limit is that of logs, too
        alice = connect(self.path, ALICE)
        before = os.stat(path).st_size
        expect(service(alice, 1), (0, 0), "a service")
        # Each Set has two lines: here, there is room for a part of the second.
        size = os.stat(path).st_size
        room = size + (size - before) * 3 // 4
        resource.prlimit(self.daemon.pid, resource.RLIMIT_FSIZE,
                         (room, resource.RLIM_INFINITY))
        expect(service(alice, 2), (0, 0), "a service")
        expect(os.stat(path).st_size < room, True, "no part of a line")
        resource.prlimit(self.daemon.pid, resource.RLIMIT_FSIZE,
                         (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        expect(service(alice, 1, DELETE), (0, 0), "Delete")
        self.kill()
        alice.close()
        self.start()
        alice = connect(self.path, ALICE)
        expect(service(alice, 1, DELETE), (0, DENIED), "a second Delete")
        expect(service(alice, 2, DELETE), (0, 0), "Delete of the other")
        alice.close()


    def end_deletes_what_was_taken_over(self):
        alice = connect(self.path, ALICE)
        expect(service(alice, 1), (0, 0), "a service")
        self.kill()
        alice.close()
        self.start()
        self.stop()
        expect(self.services(), [], "services")


def watch_check(rows, events):
    """
    rows: the events of a watch; events: those of the fabric, of which the last
    was after the gap. Before the gap, none is missing, and none is there twice.
    """
    before = rows[:rows.index(("lost", None))]
    expect(before, events[:len(before)], "events before the kill")
    expect([event for event, _ in rows[len(before):len(before) + 3]],
           ["lost", "subscribed", "gap"], "the restart")
    left = iter(events[len(before):])
    if not all(row in left for row in rows[len(before) + 3:]):
        raise AssertionError(f"{rows}, not {events}")


if __name__ == "__main__":
    sys.exit(run_all(Restart, (
        Restart.killed_under_load,
        Restart.a_line_that_was_cut_spoils_no_other,
        Restart.end_deletes_what_was_taken_over,
        Restart.users_who_do_not_come_back_lose_their_services,
    )))
