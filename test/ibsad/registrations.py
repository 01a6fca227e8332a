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
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from hostile import (DELETE, DENIED, GET, SET, Client, expect, mad,
                     service_mad, socket_await)

ALICE, BOB = 65533, 65534
BUSY, NO_RECORDS = 0x0001, 0x0300


def connect(path, user, **options):
    """The credentials of a connection are those at the time of connect()."""
    os.seteuid(user)
    try:
        return Client(path, **options)
    finally:
        os.seteuid(0)


def service(client, *args, **options):
    return client.ask(service_mad(client, *args, **options))


def service_send(client, *args):
    client.send(service_mad(client, *args))


class Test:
    def __init__(self, ibsad, ibsa, topology, folder, *options):
        self.ibsad, self.ibsa = ibsad, ibsa
        self.path = folder + "/ibsad"
        fabric = folder + "/fabric"
        self.environment = {**os.environ, "IBSA_FABRIC": "unix:" + fabric}
        self.fabric = subprocess.Popen(
            [ibsa, "fabric", "run", topology, "--socket", fabric, *options],
            stdout=subprocess.DEVNULL)
        socket_await(fabric, self.fabric)
        self.processes = [self.fabric]
        self.daemon = None

    def opensm_start(self, folder, drop_in):
        os.mkdir(folder + "/lib")
        shutil.copy(drop_in, folder + "/lib/libibumad.so.3")
        log, config = folder + "/opensm.log", folder + "/opensm.conf"
        with open(config, "w", encoding="ascii") as file:
            file.write("force_log_flush TRUE\nsweep_interval 0\n")
        opensm = subprocess.Popen(
            ["opensm", "-F", config, "-f", log], cwd=folder, stdout=subprocess.DEVNULL,
            env={**self.environment, "LD_LIBRARY_PATH": folder + "/lib",
                 "OSM_TMP_DIR": folder, "OSM_CACHE_DIR": folder})
        self.processes.append(opensm)
        self.await_(lambda: os.path.exists(log) and
                    "SUBNET UP" in open(log, encoding="ascii").read(), True)

    def start(self, *options):
        self.daemon = subprocess.Popen(
            [self.ibsad, "--standalone", "--socket", self.path, *options,
             "ibsa0"], env=self.environment)
        socket_await(self.path, self.daemon)

    def start_by_systemd(self, listener, **options):
        """As systemd does: the socket is passed, and outlives each ibsad."""
        self.daemon = subprocess.Popen(
            ["sh", "-c", 'exec 3<&"$0"; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"',
             str(listener.fileno()), self.ibsad, "--standalone", "--socket",
             self.path, "ibsa0"],
            env=self.environment, pass_fds=[listener.fileno()], **options)

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

    def counters(self):
        """Of ibsad --status."""
        text = subprocess.run([self.ibsad, "--status", "--socket", self.path,
                               "ibsa0"], check=True, stdout=subprocess.PIPE,
                              env=self.environment).stdout.decode()
        return {name: int(value) for name, value in
                (line.split() for line in text.splitlines())}

    def gid_of(self, node):
        """The GID of a node's first port."""
        text = subprocess.run([self.ibsa, "devices", "-j"], check=True,
                              env={**self.environment, "IBSA_NODE": node},
                              stdout=subprocess.PIPE, text=True).stdout
        return text[text.index("fe80:"):].split('"', 1)[0]

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

    def keys_have_the_mask(self):
        """A Delete without the P_Key's component is not of a service with."""
        client = connect(self.path, ALICE)
        expect(service(client, 1, pkey=0xffff), (0, DENIED),
               "a P_Key that the mask does not select")
        pkey_mask = 0x57
        expect(service(client, 1, mask=pkey_mask, pkey=0xffff), (0, 0), "Set")
        expect(service(client, 1, DELETE, pkey=0xffff), (0, DENIED),
               "Delete without the component")
        expect(service(client, 1, DELETE, mask=pkey_mask, pkey=0xffff), (0, 0),
               "Delete")
        client.close()
        self.await_(self.services, [])

    def set_after_delete_is_the_users(self):
        """The answer to a Delete does not end what was set after it."""
        client = connect(self.path, ALICE)
        expect(service(client, 1), (0, 0), "Set")
        service_send(client, 1, DELETE)
        service_send(client, 1)
        expect(sorted(client.answer()[1][3] for _ in range(2)),
               [0x81, 0x95], "answers")
        expect(self.services(), [1], "services")
        client.close()
        self.await_(self.services, [])

    def delete_is_repeated(self):
        """An SA that does not answer gets the Delete later."""
        client = connect(self.path, ALICE)
        expect(service(client, 1), (0, 0), "Set")
        self.run("fabric", "sm", "stop")
        client.close()
        time.sleep(0.1)
        self.run("fabric", "sm", "start")
        self.await_(self.services, [])

    def leases_are_renewed(self):
        """While the client that has set the service is connected."""
        client, other = connect(self.path, ALICE), connect(self.path, ALICE)
        expect(service(client, 1, lease=1), (0, 0), "Set")
        end = time.monotonic() + 2
        while time.monotonic() < end:
            expect(self.services(), [1], "the service with a lease")
            time.sleep(0.05)
        client.close()
        self.await_(self.services, [])
        expect(service(other, 1), (0, 0), "Set after the end of the lease")
        other.close()
        self.await_(self.services, [])

    def leases_of_any_length_are_noted(self):
        """The longest lease is that before the infinite one."""
        client = connect(self.path, ALICE)
        for lease in (0xfffffffd, 0xfffffffe):
            expect(service(client, 1, lease=lease), (0, 0), "Set")
            expect(service(client, 1, DELETE), (0, 0), f"Delete, {lease:#x}")
        client.close()

    def a_set_that_fails_ends_no_lease(self):
        """The SA still has what the Set before it has registered."""
        client = connect(self.path, ALICE)
        expect(service(client, 1), (0, 0), "Set")
        self.run("fabric", "fault", "busy=100,1")
        expect(service(client, 1, lease=0), (0, BUSY), "Set that fails")
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            expect(client.ask(mad(GET, 0x0001)), (0, 0), "a query")
            time.sleep(0.1)
        expect(service(client, 1, DELETE), (0, 0), "Delete")
        client.close()

    def sm_restart(self):
        """ibsad sets again what it is to renew."""
        self.run("fabric", "sm", "stop")
        self.run("fabric", "sm", "start")

    def a_set_that_fails_is_not_renewed(self):
        """What the SA has accepted before is."""
        client = connect(self.path, ALICE)
        expect(service(client, 1, name=b"good"), (0, 0), "Set")
        self.run("fabric", "fault", "busy=100,1")
        expect(service(client, 1, name=b"bad"), (0, BUSY), "Set that fails")
        self.sm_restart()
        self.await_(lambda: [row["service_name"]
                             for row in self.records("SR")], ["good"])
        client.close()
        self.await_(self.services, [])

    def a_delete_that_fails_ends_no_renewal(self):
        """One of what the SA does not have does."""
        client = connect(self.path, ALICE)
        for number in (1, 2):
            expect(service(client, number), (0, 0), "Set")
        self.run("fabric", "fault", "busy=100,1")
        expect(service(client, 1, DELETE), (0, BUSY), "Delete that fails")
        self.run("query", "delete", "SR", "service_id=2",
                 f"service_gid={self.gid_of('node1')}")
        expect(service(client, 2, DELETE), (0, NO_RECORDS), "Delete of nothing")
        self.sm_restart()
        self.await_(self.services, [1])
        client.close()
        self.await_(self.services, [])

    def a_set_that_arrives_late_is_deleted(self):
        """The Delete waits for the Set of a process that has ended."""
        client, other = connect(self.path, ALICE), connect(self.path, ALICE)
        expect(service(client, 1), (0, 0), "Set")
        self.run("fabric", "fault", "reorder=100,1,200")
        service_send(client, 1)
        client.close()
        expect(service(other, 1, DELETE), (0, BUSY), "Delete")
        other.close()
        self.await_(lambda: self.counters()["registrations"], 0)
        expect(self.services(), [], "services")

    def one_set_at_a_time(self):
        """A copy of a Set, which the kernel repeats, may follow the Delete."""
        client = connect(self.path, ALICE)
        expect(service(client, 1), (0, 0), "Set")
        self.run("fabric", "fault", "silence=100,1")
        client.send(service_mad(client, 1), timeout=1000)
        for method in (SET, DELETE):
            expect(service(client, 1, method), (0, BUSY), "before its answer")
        expect(client.answer()[0], errno.ETIMEDOUT, "its end")
        expect(service(client, 1, DELETE), (0, 0), "Delete")
        client.close()

    def answers_are_of_their_requests(self):
        """A request that waits for no answer gets none of another request."""
        client = connect(self.path, ALICE)
        for number in (1, 2):
            expect(service(client, number), (0, 0), "Set")
        self.run("fabric", "fault", "busy=100,1")
        client.send(service_mad(client, 1, DELETE), timeout=0)
        client.tid -= 1
        expect(service(client, 2, DELETE), (0, 0), "Delete")
        expect(service(client, 1, DELETE), (0, 0), "Delete")
        client.close()

    def a_set_that_waits_has_no_answer_yet(self):
        """The answer to another request with its TransactionID is none."""
        client = connect(self.path, ALICE)
        self.run("fabric", "fault", "delay=100,0,20")
        payload = service_mad(client, 1)
        client.data.sendall(
            client.packet(mad(GET, 0x0031, mask=1, tid=client.tid)) +
            client.packet(payload))
        for _ in range(2):
            expect(client.answer()[1][3], 0x81, "answers")
        self.run("fabric", "fault", "none")
        expect(self.services(), [1], "services")
        expect(service(client, 1, DELETE), (0, 0), "Delete")
        client.close()

    def answers_are_of_their_agents(self):
        """Two agents of a client may use a TransactionID at the same time."""
        client = connect(self.path, ALICE)
        for number in (2, 1):
            expect(service(client, number), (0, 0), "Set")
        other = client.register()
        self.run("fabric", "fault", "busy=100,1")
        first = client.packet(service_mad(client, 1, DELETE))
        client.tid -= 1
        client.data.sendall(first + client.packet(
            service_mad(client, 2, DELETE), agent=other))
        expect([struct.unpack_from(">H", client.answer()[1], 4)[0]
                for _ in range(2)], [BUSY, 0], "answers")
        expect(self.services(), [1], "services")
        expect(service(client, 1, DELETE), (0, 0), "Delete")
        expect(service(client, 2, DELETE), (0, DENIED), "Delete of nothing")
        client.close()

    def set_again_after_a_restart_of_the_sm(self):
        client = connect(self.path, ALICE)
        expect(service(client, 1), (0, 0), "Set")
        expect(service(client, 2), (0, 0), "Set")
        expect(service(client, 2, DELETE), (0, 0), "Delete")
        self.sm_restart()
        self.await_(self.services, [1])
        client.close()
        self.await_(self.services, [])

    def settings_are_read_again(self):
        """SIGHUP changes quotas, and ends neither clients nor services."""
        config = os.path.dirname(self.path) + "/config"

        def write(text):
            with open(config, "w", encoding="ascii") as file:
                file.write(text)
        self.stop()
        write("# one service\nquota registrations=1\n")
        self.start("--config", config)
        client = connect(self.path, ALICE)
        expect(service(client, 1), (0, 0), "a service")
        expect(service(client, 2), (0, DENIED), "one too many")
        write("quota registrations=2\nperformances\n")
        self.daemon.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        expect(service(client, 2), (0, DENIED), "after a mistake in the file")
        write("quota registrations=2")
        self.daemon.send_signal(signal.SIGHUP)
        end = time.monotonic() + 20
        while service(client, 2) != (0, 0):
            if time.monotonic() > end:
                raise AssertionError("the quota has not changed")
        expect(self.services(), [1, 2], "services")
        client.close()
        self.await_(self.services, [])

    def registrations_have_a_quota(self):
        client = connect(self.path, ALICE)
        for number in range(1, 4):
            expect(service(client, number), (0, 0), "a service")
        expect(service(client, 4), (0, DENIED), "one too many")
        expect(service(client, 1, DELETE), (0, 0), "Delete")
        expect(service(client, 4), (0, 0), "after the Delete")
        client.close()
        self.await_(self.services, [])

    def root_has_no_quota(self):
        """And what it has registered counts in no quota of users."""
        self.stop()
        self.start("--quota", "registrations=1/2")
        root = Client(self.path)
        for number in range(1, 4):
            expect(service(root, number), (0, 0), "a service of root")
        alice, bob = connect(self.path, ALICE), connect(self.path, BOB)
        expect(service(alice, 4), (0, 0), "a service of a user")
        expect(service(bob, 5), (0, 0), "a service of another user")
        for client in (root, alice, bob):
            client.close()
        self.await_(self.services, [])

    def a_missing_server_is_no_missing_device(self):
        """Its socket is there before it listens, and when it was killed."""
        path = os.path.dirname(self.path) + "/silent"
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(path)
            ended = subprocess.run(
                [self.ibsad, "--standalone", "--socket", path + ".ibsad",
                 "ibsa0"], env={**os.environ, "IBSA_FABRIC": "unix:" + path},
                stderr=subprocess.PIPE, text=True, check=False)
        expect(ended.returncode, 1, "exit status")
        if "the fabric server does not answer" not in ended.stderr:
            raise AssertionError(ended.stderr)

    def end_deletes_everything(self):
        client = connect(self.path, BOB)
        expect(service(client, 5), (0, 0), "a service")
        self.stop()
        expect(self.services(), [], "services")
        client.close()


def run_all(make, cases, options=()):
    """Run each case, a method of the test, with an ibsad of its own."""
    if os.geteuid():
        print("skipped: only root can connect as other users")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as end:
        os.chmod(folder, 0o755)
        test = make(*sys.argv[1:], folder)
        for process in test.processes:
            end.callback(process.wait)
            end.callback(process.terminate)
        for case in cases:
            test.start(*options)
            try:
                case(test)
                print("OK:", case.__name__)
            except Exception as err:  # the next case runs nevertheless
                failed += 1
                print(f"FAILED: {case.__name__}: {type(err).__name__} {err}")
            if test.daemon.poll() is None:
                test.stop()
    return 1 if failed else 0


def main():
    return run_all(Test, (
        Test.services_belong_to_users,
        Test.services_end_with_the_last_process,
        Test.services_of_other_programs_stay,
        Test.keys_have_the_mask,
        Test.set_after_delete_is_the_users,
        Test.delete_is_repeated,
        Test.leases_are_renewed,
        Test.leases_of_any_length_are_noted,
        Test.a_set_that_fails_ends_no_lease,
        Test.a_set_that_fails_is_not_renewed,
        Test.a_delete_that_fails_ends_no_renewal,
        Test.a_set_that_arrives_late_is_deleted,
        Test.one_set_at_a_time,
        Test.answers_are_of_their_requests,
        Test.a_set_that_waits_has_no_answer_yet,
        Test.answers_are_of_their_agents,
        Test.set_again_after_a_restart_of_the_sm,
        Test.settings_are_read_again,
        Test.registrations_have_a_quota,
        Test.root_has_no_quota,
        Test.a_missing_server_is_no_missing_device,
        Test.end_deletes_everything,
    ), ("--quota", "registrations=3"))


if __name__ == "__main__":
    sys.exit(main())
