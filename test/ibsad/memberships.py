#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Memberships of users in multicast groups, and alias GUIDs, at ibsad.

usage: memberships.py IBSAD IBSA TOPOLOGY [DROP-IN]

With DROP-IN, the library libibumad, the SA is OpenSM, which runs on it;
otherwise the embedded one. What the SA has is read by the command ibsa, at the
fabric itself. Needs root, to connect as other users.
"""
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

from hostile import DELETE, DENIED, GET, SET, Client, expect, mad
from registrations import ALICE, BOB, Test, connect, run_all

DROP_IN = sys.argv.pop(4) if len(sys.argv) > 4 and \
    __name__ == "__main__" else None
MEMBER = 0x0038
# Components: MGID, PortGID and JoinState; with the others, a join creates.
JOIN = 1 << 0 | 1 << 1 | 1 << 16
CREATE = JOIN | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13
FULL, SEND_ONLY = 1, 4
GROUP, OWN, OTHER = "ff15:7::1", "ff15:7::2", "ff15:8::1"
BROADCAST = "ff12:401b:ffff::ffff:ffff"


def raw(gid):
    return socket.inet_pton(socket.AF_INET6, gid)


def membership_mad(client, mgid, method=SET, state=FULL, mask=JOIN):
    body = struct.pack(">16s16sIHBBHBBIBB2x", raw(mgid), client.gid, 0x11, 0, 0,
                       0, 0xffff, 0, 0, 0, 0x20 | state, 0)
    client.tid = getattr(client, "tid", 0) + 1
    return mad(method, MEMBER, mask=mask, body=body, tid=client.tid)


def membership(client, *args, **options):
    return client.ask(membership_mad(client, *args, **options))


def block_mad(client, number, index, guid=0, method=SET, lid=None):
    """A request for one GUID of a block."""
    body = struct.pack(">HB5x", client.lid if lid is None else lid, number)
    body += bytes(8 * index) + struct.pack(">Q", guid)
    client.tid = getattr(client, "tid", 0) + 1
    return mad(method, 0x0030, mask=3 | 1 << (4 + index), body=body,
               tid=client.tid)


def block(client, *args, **options):
    return client.ask(block_mad(client, *args, **options))


def guids(client, number):
    """The GUIDs of a block, but for the port GUID."""
    client.send(mad(GET, 0x0030, mask=3,
                    body=struct.pack(">HB", client.lid, number)))
    status, reply = client.answer()
    expect((status, reply[4:6]), (0, b"\0\0"), "a query for a block")
    return [guid for guid in struct.unpack_from(">8Q", reply, 56 + 8)
            if guid][not number:]


class Memberships(Test):
    def __init__(self, ibsad, ibsa, topology, folder):
        super().__init__(ibsad, ibsa, topology, folder,
                         *(["--sa", "none"] if DROP_IN else []))
        if DROP_IN:
            self.opensm_start(folder, DROP_IN)
        self.gid = self.gid_of("node1")

    def root(self, action, mgid, *fields, node=None):
        environment = dict(self.environment)
        if node:
            environment["IBSA_NODE"] = node
        return subprocess.run(
            [self.ibsa, "query", action, "MCMR", f"mgid={mgid}", *fields],
            env=environment, check=False, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL).returncode

    def has(self, mgid):
        """Whether the port of ibsad is a member."""
        return self.root("table", mgid, f"port_gid={self.gid}") == 0

    def users_join_groups(self):
        values = ["qkey=0x11", "pkey=0xffff", "sl=0", "flow_label=0",
                  "tclass=0"]
        for mgid in (GROUP, OTHER):
            expect(self.root("set", mgid, f"port_gid={self.gid_of('node2')}",
                             "join_state=1", *values, node="node2"), 0,
                   "a group of another node")
        alice, bob = connect(self.path, ALICE), connect(self.path, BOB)
        for mgid, mask, what in ((OTHER, JOIN, "another prefix"),
                                 (GROUP, CREATE, "a join that could create"),
                                 (GROUP, JOIN - 2, "no PortGID"),
                                 (GROUP, JOIN - 1, "no MGID"),
                                 (GROUP, 3, "no JoinState")):
            expect(membership(alice, mgid, mask=mask), (0, DENIED), what)
        expect(membership(alice, GROUP, state=0), (0, DENIED), "no state")
        expect(membership(alice, GROUP, DELETE), (0, DENIED), "no member")
        expect(membership(alice, GROUP), (0, 0), "a join")
        expect(self.has(GROUP), True, "the membership")
        for method in (SET, DELETE):
            expect(membership(bob, GROUP, method), (0, DENIED), "another user")
        expect(membership(alice, GROUP, state=SEND_ONLY), (0, 0), "a state")
        expect(membership(alice, GROUP, DELETE, FULL), (0, 0), "its end")
        expect(self.has(GROUP), True, "the membership with one state")
        expect(membership(alice, GROUP, DELETE, SEND_ONLY), (0, 0), "leave")
        expect(self.has(GROUP), False, "the membership")
        expect(membership(bob, GROUP, state=FULL | SEND_ONLY), (0, 0), "join")
        for client in (alice, bob):
            client.close()
        self.await_(lambda: self.has(GROUP), False)
        expect(self.root("table", GROUP), 0, "the group of the other node")

    def the_broadcast_group_survives(self):
        """Root has joined it at this port, as the kernel's IPoIB does."""
        expect(self.root("set", BROADCAST, f"port_gid={self.gid}",
                         "join_state=1"), 0, "a join of root")
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            client = connect(self.path, ALICE)
            answers = [membership(client, BROADCAST, method, state)
                       for method in (SET, DELETE)
                       for state in (FULL, SEND_ONLY)]
            os.write(writer, bytes(answer == (0, DENIED)
                                   for answer in answers))
            time.sleep(60)
        expect(os.read(reader, 4), b"\1" * 4, "a member before")
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        bob = connect(self.path, BOB)
        expect(membership(bob, GROUP, DELETE), (0, DENIED), "leave")
        bob.close()
        expect(self.has(BROADCAST), True, "the membership of root")
        expect(self.root("delete", BROADCAST, f"port_gid={self.gid}",
                         "join_state=1"), 0, "the end of it")

    def users_create_groups(self):
        self.stop()
        self.start("--multicast", "ff15:7::2/128", "--multicast-create")
        alice = connect(self.path, ALICE)
        expect(membership(alice, GROUP, mask=CREATE), (0, DENIED), "a group")
        expect(membership(alice, OWN, mask=CREATE), (0, 0), "a new group")
        expect(self.has(OWN), True, "the membership")
        if not DROP_IN:
            self.run("fabric", "sm", "stop")
            self.run("fabric", "sm", "start")
            self.await_(lambda: self.has(OWN), True)
        alice.close()
        self.await_(lambda: self.root("table", OWN), 1)


    def users_have_alias_guids(self):
        alice = connect(self.path, ALICE)
        expect(block(alice, 0, 1, 0x1234), (0, DENIED), "without the option")
        alice.close()
        self.stop()
        self.start("--guid-info")
        root = Client(self.environment["IBSA_FABRIC"][len("unix:"):])
        alice, bob = connect(self.path, ALICE), connect(self.path, BOB)
        expect(block(alice, 0, 0, 0x1234), (0, DENIED), "the port GUID")
        expect(block(alice, 0, 1, 0x1234, lid=alice.lid + 1), (0, DENIED),
               "another port")
        expect(block(root, 1, 0, 0x5678), (0, 0), "an alias GUID of root")
        for method in (SET, DELETE):
            expect(block(alice, 1, 1, 0x1234, method), (0, DENIED),
                   "a block of another program")
        expect(block(alice, 0, 1, 0x1234), (0, 0), "an alias GUID")
        expect(block(alice, 0, 2, 0x1235), (0, 0), "another one")
        for method in (SET, DELETE):
            expect(block(bob, 0, 3, 0x1236, method), (0, DENIED),
                   "a block of another user")
        expect(guids(root, 0), [0x1234, 0x1235], "GUIDs")
        expect(block(alice, 0, 1, 0, DELETE), (0, 0), "Delete")
        expect(guids(root, 0), [0x1235], "GUIDs")
        for client in (alice, bob):
            client.close()
        self.await_(lambda: guids(root, 0), [])
        expect(guids(root, 1), [0x5678], "GUIDs of root")
        expect(block(root, 1, 0, 0, DELETE), (0, 0), "Delete")
        root.close()


    def alias_guids_that_the_sa_chose_stay(self):
        """After a restart of the SM, too, and in the order of their Sets."""
        self.stop()
        self.start("--guid-info")
        root = Client(self.environment["IBSA_FABRIC"][len("unix:"):])
        alice = connect(self.path, ALICE)
        expect(block(alice, 0, 3, 0), (0, 0), "a GUID of the SA")
        expect(block(alice, 0, 2, 0), (0, 0), "another one")
        chosen = guids(root, 0)
        expect(len(chosen), 2, "GUIDs")
        if not DROP_IN:
            self.run("fabric", "sm", "stop")
            self.run("fabric", "sm", "start")
            self.await_(lambda: len(guids(root, 0)), 2)
            expect(guids(root, 0), chosen, "GUIDs after the restart")
        alice.close()
        self.await_(lambda: guids(root, 0), [])
        root.close()

    def alias_guids_stay_at_the_port(self):
        """Another port has the LID by now that this port had."""
        folder = os.path.dirname(self.path)
        self.environment["RUNTIME_DIRECTORY"] = folder
        self.stop()
        self.start("--guid-info")
        root = Client(self.environment["IBSA_FABRIC"][len("unix:"):])
        alice = connect(self.path, ALICE)
        expect(block(alice, 0, 1, 0x1234), (0, 0), "an alias GUID")
        other = root.lid + 1
        expect(block(root, 0, 1, 0x5678, lid=other), (0, 0), "of another port")
        self.daemon.kill()
        self.daemon.wait(30)
        os.unlink(self.path)
        with open(folder + "/registrations", encoding="ascii") as file:
            text = file.read()
        with open(folder + "/registrations", "w", encoding="ascii") as file:
            file.write(text.replace(f" {root.lid:04x}00", f" {other:04x}00"))
        self.start("--guid-info")
        alice.close()
        alice = connect(self.path, ALICE)
        expect(block(alice, 0, 2, 0x1235), (0, 0), "another one")
        alice.close()
        self.await_(lambda: guids(root, 0), [])
        expect(block(root, 0, 1, 0, DELETE, lid=other), (0, 0), "Delete")
        root.close()
        del self.environment["RUNTIME_DIRECTORY"]


if __name__ == "__main__":
    if DROP_IN and not shutil.which("opensm"):
        print("skipped: opensm is not installed")
        sys.exit(77)
    sys.exit(run_all(Memberships, (
        Memberships.users_join_groups,
        Memberships.the_broadcast_group_survives,
        Memberships.users_create_groups,
        Memberships.users_have_alias_guids,
        Memberships.alias_guids_that_the_sa_chose_stay,
        Memberships.alias_guids_stay_at_the_port,
    ), ("--multicast", "ff15:7::/32", "--multicast", "ff12:401b::/32")))
