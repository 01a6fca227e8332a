#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Identical queries of many clients of ibsad, and the answers that it keeps.

usage: cache.py IBSAD IBSA TOPOLOGY [ANSWERS [DROP-IN]]

The fabric's SA counts the requests that it receives. Ground truth is the same
query at the fabric itself; ANSWERS: how many are compared, default 400. With
DROP-IN, the SA is OpenSM, of which only the paths that are preloaded are
compared. Needs root, to connect as other users.
"""
import collections
import errno
import random
import select
import shutil
import struct
import subprocess
import sys
import time

from hostile import CONTROL, GET, TABLE, Client, expect, mad
from registrations import ALICE, BOB, NO_RECORDS, connect, run_all
from reports import SWITCH, Reports, reader

PATH, NODE, PORT_INFO, SERVICE = 0x0035, 0x0011, 0x0012, 0x0031
DGID, SGID, DLID, SLID, REVERSIBLE, NUMB_PATH, PKEY = (
    1 << bit for bit in (2, 3, 4, 5, 11, 12, 13))
PRELOAD_S = 10.1  # from one table to the next, at least
DROP_IN = sys.argv.pop(5) if len(sys.argv) > 5 else None
ANSWERS = int(sys.argv.pop(4)) if len(sys.argv) > 4 else 400


def path(client, slid, dlid, mask=0, method=GET):
    client.tid = getattr(client, "tid", 0) + 1
    body = struct.pack(">Q16s16sHHIBB", 0, bytes(16), bytes(16), dlid, slid, 0,
                       0, 0x80 | 1)
    return mad(method, PATH, mask=DLID | SLID | NUMB_PATH | mask, body=body,
               tid=client.tid)


def path_to(client, dgid, mask=REVERSIBLE | NUMB_PATH, sgid=None,
            method=GET):
    client.tid = getattr(client, "tid", 0) + 1
    body = struct.pack(">Q16s16sHHIBBH", 0, dgid, sgid or client.gid, 0, 0, 0,
                       0, 0x80 | 1, 0xffff if mask & PKEY else 0)
    return mad(method, PATH, mask=DGID | SGID | mask, body=body,
               tid=client.tid)


def reply_of(client, request):
    """The reply without its TransactionID."""
    client.send(request)
    status, reply = client.answer()
    return status, reply[:8] + reply[16:]


def answer_of(client, request, **options):
    """The status and the record of the answer."""
    client.send(request, **options)
    while True:
        status, reply = client.answer()
        if status:
            return status, b""
        if reply[3] & 0x80 and reply[12:20][4:] == request[12:20][4:]:
            return struct.unpack_from(">H", reply, 4)[0], reply[56:120]


class Cache(Reports):
    def __init__(self, ibsad, ibsa, topology, folder):
        super().__init__(ibsad, ibsa, topology, folder,
                         *(["--sa", "none"] if DROP_IN else []))
        if DROP_IN:
            self.opensm_start(folder, DROP_IN)

    def start(self, *options):
        super().start("--preload", "3", *options)
        self.direct = Client(self.environment["IBSA_FABRIC"][len("unix:"):])

    def requests(self):
        """How many requests the SA has received."""
        err, text = self.control.client.request(CONTROL, b"stats")
        expect(err, 0, text)
        return int(dict(line.split() for line in
                        text.decode().splitlines())["requests"])

    def client(self, user=ALICE):
        """A client, when ibsad has subscribed, and keeps answers."""
        client = connect(self.path, user)
        end = time.monotonic() + 20
        self.lids = [client.lid] + [lid for lid in range(1, 8)
                                    if lid != client.lid]
        while not self.counters()["cache_hits"]:
            expect(answer_of(client, path(client, client.lid, client.lid))[0],
                   0, "path")
            if time.monotonic() > end:
                raise AssertionError("no answer is kept")
        self.gids = [client.gid[:8] + int(row["port_guid"], 16).to_bytes(8)
                     for row in self.records("NR")]
        self.other = next(lid for lid in self.lids[1:] if not answer_of(
            self.direct, path(self.direct, client.lid, lid))[0])
        return client

    def asked(self, run):
        """Requests while run() runs; the fabric counts OpenSM's replies, too."""
        before = self.requests()
        run()
        return (self.requests() - before) / (2 if DROP_IN else 1)

    def identical_queries_are_one_request(self):
        clients = [self.client() if not i else connect(self.path, BOB)
                   for i in range(50)]

        def run():
            for _ in range(20):
                for client in clients:
                    client.send(path(client, client.lid, self.other))
                for client in clients:
                    status, reply = client.answer()
                    expect((status, reply[3]), (0, 0x81), "answer")
                    expect(struct.unpack_from(">I", reply, 12)[0], client.tid,
                           "TransactionID")
        expect(self.asked(run), 1, "requests for 1000 queries")
        for client in clients:
            client.close()

    def waiting_queries_are_one_request(self):
        first = self.client()
        others = [connect(self.path, BOB) for _ in range(20)]
        self.control.run("fault silence=100,1")

        def run():
            first.send(path(first, first.lid, self.other), timeout=500,
                       retries=3)
            for client in others:
                client.send(path(client, client.lid, self.other))
            for client in [first, *others]:
                status, reply = client.answer()
                expect((status, reply[3]), (0, 0x81), "answer")
        # The SA does not count the first try, about which it was silent.
        expect(self.asked(run), 1, "requests of 21 queries")
        for client in [first, *others]:
            client.close()

    def time_of_each_query_is_its_own(self):
        client, other = self.client(), connect(self.path, BOB)
        self.control.run("fault silence=100")
        start = time.monotonic()
        client.send(path(client, client.lid, self.other), timeout=1000)
        other.send(path(other, other.lid, self.other), timeout=200)
        expect(other.answer()[0], errno.ETIMEDOUT, "shorter time")
        if time.monotonic() - start > 0.9:
            raise AssertionError("the shorter time is not the query's own")
        other.send(path(other, other.lid, self.other), timeout=1000)
        expect(client.answer()[0], errno.ETIMEDOUT, "longer time")
        if time.monotonic() - start < 0.9:
            raise AssertionError("the longer time is not the query's own")
        expect(other.answer()[0], errno.ETIMEDOUT, "time of the last")
        self.control.run("fault none")
        if time.monotonic() - start < 1.1:
            raise AssertionError("the time of the last is not its own")
        client.close()
        other.close()

    def a_long_wait_delays_no_other(self):
        """The request of a client that waits for ever is lost."""
        client, other = self.client(), connect(self.path, BOB)
        self.control.run("fault silence=100")
        client.send(path(client, client.lid, self.other), timeout=50)
        other.send(path(other, other.lid, self.other), timeout=1 << 31)
        expect(client.answer()[0], errno.ETIMEDOUT, "a short wait")
        self.control.run("fault none")
        expect(answer_of(client, path(client, client.lid, self.other),
                         timeout=10000)[0], 0, "the path")
        client.close()
        other.close()

    def other_questions_are_sent(self):
        client = self.client()
        known = path(client, client.lid, client.lid)
        fresh = bytearray(client.packet(known))
        fresh[58] = 1
        expect(self.asked(lambda: answer_of(client, known)), 0, "kept")
        for what, ask in (
                ("a whole table",
                 lambda: client.ask(mad(TABLE, NODE))),
                ("a service",
                 lambda: client.ask(mad(GET, SERVICE, mask=1))),
                ("that is to be fresh",
                 lambda: (client.data.sendall(fresh), client.answer())),
                ("without a timeout",
                 lambda: (client.send(known, timeout=0),
                          client.ask(mad(GET, 0x0001))))):
            if not self.asked(ask) or not self.asked(ask):
                raise AssertionError(f"a query {what} is not sent")
        expect(self.asked(lambda: answer_of(client, known)), 0, "kept")
        client.close()

    def other_bytes_spoil_nothing(self):
        """The first of identical queries has bytes that an SA may refuse."""
        client, innocent = self.client(), connect(self.path, BOB)
        spoiled = bytearray(path(client, client.lid, self.other))
        spoiled[4:8] = b"\xff\xff\xff\xff"  # status, class specific
        spoiled[24:26] = b"\x09\x07"  # RMPP version and type
        spoiled[27:36] = b"\xff" * 9  # RMPP status to length
        spoiled[44:46] = b"\xff\xff"  # AttributeOffset
        misses = self.counters()["cache_misses"]
        self.control.run("fault silence=100")
        client.send(bytes(spoiled), timeout=200, retries=50)
        self.await_(lambda: self.counters()["cache_misses"], misses + 1)
        innocent.send(path(innocent, client.lid, self.other), timeout=10000)
        self.await_(lambda: self.counters()["cache_joined"], 1)
        self.control.run("fault none")
        want = answer_of(self.direct, path(self.direct, client.lid, self.other))
        for each in (innocent, client):
            status, reply = each.answer()
            expect((status, struct.unpack_from(">H", reply, 4)[0],
                    reply[56:120]), (0, *want), "answer")
        client.close()
        innocent.close()

    def paths_are_preloaded(self):
        client = self.client()
        self.await_(lambda: self.preloads(client), 1)

        def replies(of, **options):
            return [reply_of(of, path_to(of, gid, **options))
                    for gid in self.gids]
        got = []
        expect(self.asked(lambda: got.extend(replies(client))), 0, "requests")
        expect(got, replies(self.direct), "replies")
        for what, options in (("other components", {"mask": NUMB_PATH}),
                              ("a P_Key", {"mask": PKEY}),
                              ("another source", {"sgid": self.gids[-1]})):
            got.clear()
            expect(self.asked(lambda: got.extend(replies(client, **options))),
                   len(self.gids), f"requests with {what}")
            expect(got, replies(self.direct, **options), what)
        unknown = client.gid[:8] + bytes(8)
        expect(self.asked(lambda: reply_of(client, path_to(client, unknown))),
               1, "requests for an unknown destination")
        if not DROP_IN:
            self.preloads_end_with_an_event(client, replies)
        client.close()

    def preloads_end_with_an_event(self, client, replies):
        self.control.run("link down switch1/4")
        self.control.run("link up switch1/4")
        self.await_hits(client)
        expect(self.asked(lambda: replies(client)), len(self.gids),
               "requests after an event")

    def negative_answers_end_soon(self):
        client = self.client()
        query = lambda: expect(answer_of(
            client, path(client, client.lid, 0x700))[0], NO_RECORDS, "path")
        expect(self.asked(query), 1, "first")
        expect(self.asked(query), 0, "kept")
        time.sleep(2.1)
        expect(self.asked(query), 1, "after two seconds")
        client.close()

    def link_changes(self, _, events):
        """A link goes down, or up again."""
        port = random.choice(sorted(self.links))
        self.links[port] = not self.links[port]
        self.control.run(f"link {'up' if self.links[port] else 'down'} {port}")
        if events:
            self.await_traps(events, [(SWITCH, 128)])

    def link_flaps(self, client, events):
        """A link goes down and up, and ends as it was or not."""
        for _ in range(random.randint(2, 5)):
            self.link_changes(client, events)

    def await_sm(self, clients, is_new):
        """Until all clients have the event of the port."""
        for each in (*clients, self.direct):
            self.await_(lambda each=each: is_new(self.sm_lid(each)), True)

    def sm_restarts(self, client, events):
        """Links change meanwhile, of which no Report tells."""
        self.control.run("sm stop")
        self.await_sm((client, events), lambda lid: not lid)
        self.link_flaps(client, None)
        self.control.run("sm start")
        self.await_sm((client, events), bool)

    def sm_moves(self, client, events):
        before = self.sm_lid(client)
        self.sm_nodes.reverse()
        self.control.run(f"sm move {self.sm_nodes[0]}")
        self.await_sm((client, events), lambda lid: lid != before)

    def await_hits(self, client):
        """Until ibsad has subscribed again, and keeps answers."""
        before = self.counters()["cache_hits"]
        while self.counters()["cache_hits"] == before:
            answer_of(client, path(client, client.lid, client.lid))

    def preloads(self, client):
        """An event that arrives meanwhile makes the queries necessary again."""
        for gid in self.gids[:3]:
            reply_of(client, path_to(client, gid))
        return self.counters()["cache_preloads"]

    def await_preload(self, client, events):
        """Until paths are preloaded after an event."""
        before = self.counters()["cache_preloads"]
        self.link_changes(client, events)
        self.await_(lambda: self.preloads(client), before + 1)

    def changes(self):
        """Most are of links; the SM changes in every tenth."""
        while True:
            yield from (self.link_changes, self.link_flaps, self.sm_restarts,
                        self.link_changes, self.sm_moves)
            for _ in range(random.randint(10, 20)):
                yield random.choice((self.link_changes, self.link_flaps))

    def answers_are_true_after_each_event(self):
        """
        A client that has received the Report of a change, or the event of its
        port, gets what the SA has.
        """
        client = self.client()
        events = reader(self.path, BOB, producer=SWITCH)
        random.seed(33)
        self.links = {port: True
                      for port in ("switch1/4", "node3/1", "node4/2")}
        self.sm_nodes = ["node1", "node2"]
        pairs = [(one, other) for one in self.lids for other in self.lids]
        compared, counts = 0, collections.Counter()
        preload_s = 0
        for change in self.changes():
            if time.monotonic() > preload_s:
                self.await_preload(client, events)
                preload_s = time.monotonic() + PRELOAD_S
            for ends in pairs:
                answer_of(client, path(client, *ends))
            for gid in self.gids:
                reply_of(client, path_to(client, gid))
            change(client, events)
            counts[change.__name__] += 1
            for ends in pairs:
                expect(answer_of(client, path(client, *ends)),
                       answer_of(self.direct, path(self.direct, *ends)),
                       f"path {ends} after {change.__name__}, {self.links}")
                compared += 1
            for gid in self.gids:
                expect(reply_of(client, path_to(client, gid)),
                       reply_of(self.direct, path_to(self.direct, gid)),
                       f"path to {gid.hex()} after {change.__name__}")
                compared += 1
            if change in (self.sm_restarts, self.sm_moves):
                self.await_hits(client)
            if compared >= ANSWERS and len(counts) == 4:
                break
        counters = self.counters()
        print(compared, "answers are true;", counters["cache_hits"], "hits;",
              counters["cache_preloads"], "preloads;",
              ", ".join(f"{name} {count}" for name, count in counts.items()))
        for port, is_up in self.links.items():
            if not is_up:
                self.control.run(f"link up {port}")
        self.control.run("sm move node1")
        client.close()
        events.close()

    def answers_end_with_the_sm(self):
        client = self.client()
        query = lambda: answer_of(client, path(client, client.lid,
                                               self.other), timeout=300)
        expect(query()[0], 0, "path")
        self.control.run("sm stop")
        self.control.run("sm move node2")
        self.control.run("sm start")
        end = time.monotonic() + 20
        while query()[0]:
            client.sm_lid = self.sm_lid(client)
            if time.monotonic() > end:
                raise AssertionError("no answer of the new SM")
        self.control.run("sm move node1")
        client.close()

    def sm_lid(self, client):
        while select.select([client.connection], [], [], 0)[0]:
            length, _, _ = struct.unpack("=IIi", client.receive(12))
            client.sm_lid = struct.unpack_from("=I", client.receive(length),
                                               20)[0]
        return client.sm_lid

    def cache_can_be_off(self):
        self.stop()
        self.start("--no-cache")
        client = connect(self.path, ALICE)
        query = lambda: answer_of(client, path(client, client.lid,
                                               client.lid))
        query()
        expect(self.asked(query), 1, "without a cache")
        expect(self.counters()["subscriptions"], 0, "subscriptions")
        client.close()


if __name__ == "__main__":
    if DROP_IN and not shutil.which("opensm"):
        print("skipped: opensm is not installed")
        sys.exit(77)
    sys.exit(run_all(Cache, (
        Cache.paths_are_preloaded,
    ) if DROP_IN else (
        Cache.identical_queries_are_one_request,
        Cache.waiting_queries_are_one_request,
        Cache.time_of_each_query_is_its_own,
        Cache.a_long_wait_delays_no_other,
        Cache.other_questions_are_sent,
        Cache.other_bytes_spoil_nothing,
        Cache.paths_are_preloaded,
        Cache.negative_answers_end_soon,
        Cache.answers_are_true_after_each_event,
        Cache.answers_end_with_the_sm,
        Cache.cache_can_be_off,
    )))
