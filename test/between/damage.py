# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Relays between a fabric server and its clients, with damage on the way.

The frames are those of lib/remote/protocol.h: on the control connection a head
of 12 bytes (length, type, err) and a body; on the data socket, which comes with
the answer to REMOTE_ATTACH, a umad header of 64 bytes and a MAD.
"""

import array
import collections
import os
import random
import select
import socket
import struct
import time

HEAD_BYTES, HEADER_BYTES = 12, 64
BODY_MAX, PACKET_MAX, PACKET_MIN = 65536, (256 << 20) + 64, 64 + 24
TYPES = 10                      # of questions
HELD_MAX = 1 << 20              # bytes that wait in one direction
REFUSE_S = 14                   # the end of a connection with an invalid head

# Kinds of damage to a frame or packet, with their relative frequencies.
KINDS = {"flip": 10, "drop": 4, "truncate": 2, "stall": 1, "delay": 6,
         "drip": 1}


def control_length(data):
    return HEAD_BYTES + struct.unpack_from("=I", data)[0]


def data_length(data):
    return struct.unpack_from("=I", data, 16)[0]


class Way:
    """Relays the frames from one socket to another, and damages some.

    @to_server: the direction; @is_data: the frames are packets of a data
    socket.
    """

    def __init__(self, session, source, target, to_server, is_data):
        self.session, self.source, self.target = session, source, target
        self.to_server, self.is_data = to_server, is_data
        self.came = b""
        self.passed = []                    # the descriptor that came with it
        self.goes = collections.deque()     # [due, bytes, descriptor]
        self.is_silent = False              # nothing more is relayed
        self.is_shifted = False             # bytes are missing
        self.is_closing = False             # after what waits is sent

    def name(self):
        return (f"{'packet' if self.is_data else 'frame'} to the "
                f"{'server' if self.to_server else 'client'}")

    def read(self):
        """Receive from the source. Return: False at the end of its data."""
        try:
            data, extra, _, _ = self.source.recvmsg(
                65536, socket.CMSG_SPACE(4), socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        for level, kind, what in extra:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds = array.array("i")
                fds.frombytes(what)
                self.passed.extend(fds)
        self.came += data
        self.split()
        return bool(data)

    def split(self):
        first = HEADER_BYTES if self.is_data else HEAD_BYTES
        length = data_length if self.is_data else control_length
        while len(self.came) >= first:
            size = length(self.came)
            if len(self.came) < size:
                return
            unit, self.came = self.came[:size], self.came[size:]
            self.pass_on(unit)

    def pass_on(self, unit):
        descriptor = None
        if self.passed and not self.to_server and not self.is_data:
            descriptor = self.session.attach(self.passed.pop(0))
        if self.is_silent:
            if descriptor is not None:
                os.close(descriptor)
            return
        start = max(time.monotonic(), self.goes[-1][0] if self.goes else 0)
        for delay, part in self.damage(unit):
            self.goes.append([start + delay, part, descriptor])
            descriptor = None
        if descriptor is not None:
            os.close(descriptor)

    def damage(self, unit):
        """Return what is sent instead of @unit: pairs of a delay and bytes."""
        chance = self.session.random
        if chance.random() >= self.session.rate:
            return [(0, unit)]
        kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
        self.session.proxy.counts[kind] += 1
        return getattr(self, kind)(unit, chance)

    def flip(self, unit, chance):
        first = HEADER_BYTES if self.is_data else HEAD_BYTES
        end = len(unit)
        # In a packet, change only the umad header: the receiver cannot detect a
        # change inside a MAD. In a frame, change the head more often than the
        # body.
        if self.is_data or chance.random() < 0.6:
            end = first
        # At least half of the changes hit the five numbers at the start of a
        # packet's header, one of which is the length.
        if self.is_data and chance.random() < 0.5:
            end = 20
        at = chance.randrange(end)
        changed = bytearray(unit)
        changed[at] ^= 1 << chance.randrange(8)
        if not self.is_shifted and self.is_refused(changed):
            self.session.refuse(f"{self.name()} with byte {at} changed")
        if self.is_data and data_length(changed) != len(unit):
            self.session.proxy.counts["in MADs"] += 1
        if changed[:first] != unit[:first]:
            # After a changed length, the receiver may expect the next frame
            # elsewhere: later frames cannot be judged.
            self.is_shifted = True
        return [(0, bytes(changed))]

    def is_refused(self, unit):
        """Whether the receiver must reject the frame's head or the packet's
        header."""
        if self.is_data:
            return not PACKET_MIN <= data_length(unit) <= PACKET_MAX
        length, kind, err = struct.unpack_from("=IIi", unit)
        if length > BODY_MAX or err > 0:
            return True
        return self.to_server and (kind >= TYPES or err != 0)

    def drop(self, unit, chance):
        count = min(len(unit), chance.choice((1, 2, 4, 8, 40)))
        at = chance.randrange(len(unit) - count + 1)
        self.is_shifted = True
        if self.is_data and not self.to_server:
            self.session.proxy.counts["in MADs"] += 1
        return [(0, unit[:at] + unit[at + count:])]

    def truncate(self, unit, chance):
        self.is_closing = self.is_silent = True
        return [(0, unit[:chance.randrange(len(unit))])]

    def stall(self, unit, chance):
        self.is_silent = self.is_shifted = True
        return [(0, unit[:chance.randrange(len(unit))])]

    def delay(self, unit, chance):
        return [(chance.choice((0.01, 0.1, 0.5, 1.5, 3)), unit)]

    def drip(self, unit, chance):
        pause = chance.choice((0.001, 0.01, 0.1))
        return [(at * pause, unit[at:at + 1]) for at in range(len(unit))]

    def write(self, now):
        """Send what is due. Return: False if the target is closed."""
        while self.goes and self.goes[0][0] <= now:
            due, data, descriptor = self.goes[0]
            extra = []
            if descriptor is not None:
                extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                          array.array("i", [descriptor]))]
            try:
                sent = self.target.sendmsg(
                    [data], extra, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL
                ) if data else 0
            except BlockingIOError:
                self.goes[0][0] = now + 0.01
                return True
            except OSError:
                return False
            if descriptor is not None and data:
                os.close(descriptor)
                descriptor = None
            if sent < len(data):
                self.goes[0] = [due, data[sent:], descriptor]
                continue
            if descriptor is not None:
                os.close(descriptor)
            self.goes.popleft()
        return bool(self.goes) or not self.is_closing

    def is_full(self):
        return len(self.came) + sum(len(one[1]) for one in self.goes) > HELD_MAX

    def close(self):
        fds = [one[2] for one in self.goes if one[2] is not None] + self.passed
        for fd in fds:
            os.close(fd)
        self.goes.clear()
        self.passed.clear()


class Session:
    """One connection of a client, and its data socket."""

    def __init__(self, proxy, client):
        self.proxy = proxy
        self.random = random.Random(proxy.random.random())
        # Some connections have no damage at first, so that most clients reach
        # their queries.
        self.rate = self.random.choice((0, 0.01, 0.03, 0.1, 0.3))
        self.refused = None         # what, and until when
        self.pairs = []
        self.ways = []
        server = socket.socket(socket.AF_UNIX)
        server.connect(proxy.server)
        self.relay(client, server, False)

    def relay(self, client, server, is_data):
        for one in (client, server):
            one.setblocking(False)
        self.ways += [Way(self, client, server, True, is_data),
                      Way(self, server, client, False, is_data)]
        self.pairs.append((client, server))

    def attach(self, fd):
        """Relay the data socket @fd that the server has passed. Return: the
        descriptor to pass to the client instead."""
        mine, theirs = socket.socketpair()
        theirs.setblocking(False)
        self.relay(mine, socket.socket(fileno=fd), True)
        return theirs.detach()

    def refuse(self, what):
        if not self.refused:
            self.refused = what, time.monotonic() + REFUSE_S
            self.proxy.counts["invalid"] += 1

    def step(self, now, readable):
        """Relay what has arrived and what is due. Return: False if the
        connection has ended, or must have ended."""
        for way in list(self.ways):
            if way.source in readable and not way.read():
                # The end of the connection is passed on only after the data
                # that were sent before it.
                way.is_closing = True
            if not way.write(now):
                return False
        if self.refused and now > self.refused[1]:
            self.proxy.wrong.append(f"a {self.refused[0]} is not refused")
            return False
        return True

    def close(self):
        for way in self.ways:
            way.close()
        for pair in self.pairs:
            for one in pair:
                one.close()


class Proxy:
    """Listens at @path for clients of the server at @server."""

    def __init__(self, path, server, seed):
        self.server = server
        self.random = random.Random(seed)
        self.sessions = []
        self.counts = collections.Counter()
        self.wrong = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)

    def accept(self):
        client, _ = self.listener.accept()
        self.counts["connections"] += 1
        self.sessions.append(Session(self, client))

    def sources(self):
        return [way.source for session in self.sessions
                for way in session.ways
                if not way.is_closing and not way.is_full()]

    def wait_s(self, now):
        dues = [way.goes[0][0] for session in self.sessions
                for way in session.ways if way.goes]
        return min([0.2] + [max(0, due - now) for due in dues])

    def step(self):
        wait = self.wait_s(time.monotonic())
        readable = set(select.select([self.listener] + self.sources(), [], [],
                                     wait)[0])
        now = time.monotonic()
        if self.listener in readable:
            self.accept()
        for session in list(self.sessions):
            if not session.step(now, readable):
                session.close()
                self.sessions.remove(session)

    def close(self):
        for session in self.sessions:
            session.close()
        self.listener.close()
