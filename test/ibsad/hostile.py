#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A hostile client of ibsad, and an innocent one of another user.

usage: hostile.py IBSAD IBSA TOPOLOGY [LATENCY]

LATENCY: milliseconds by which attacks may delay 99.9 % of the innocent's
queries, with the attackers on the first core and all else on the second.

Lists the attacks, each of which ibsad must refuse, and fails below 200.

The clients use ibsad's protocol without a library of this project. Needs root,
to run as other users.
"""

import errno
import os
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time

MALLORY, INNOCENT = 65534, 65533
HELLO, FILE, FOLDER, ATTACH, DETACH, REGISTER, UNREGISTER, WATCH, ISSM, \
    CONTROL = range(10)
EVENT = 0x100
QKEY = 0x80010000
DENIED = 0x0700
GET, SET, REPORT, TABLE, DELETE = 0x01, 0x02, 0x06, 0x12, 0x15
SERVICE = 0x0031
SERVER_S = 60
# The quota of bytes of a user; what the connections of a user need besides.
BYTES_MB, OTHER_MB = 8, 8
ATTACKS_MIN = 200
# The pipe by which the processes of attackers report what was refused.
REFUSED = os.pipe()


class Gone(Exception):
    """The server has closed the connection."""


def mad(method, attribute, mgmt_class=3, version=2, base=1, tid=1, key=0,
        flags=0, mask=0, body=b""):
    head = struct.pack(">BBBBHHQHHI", base, mgmt_class, version, method, 0, 0,
                       tid, attribute, 0, 0)
    head += struct.pack(">BBBBIIQHHQ", 0, 0, flags, 0, 0, 0, key, 0, 0, mask)
    return (head + body).ljust(256, b"\0")


class Client:
    """A connection to port 1, with a umad file and an agent of the SA."""

    def __init__(self, path, agent=True):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(SERVER_S)
        self.connection.connect(path)
        hello = struct.pack("=II65s65s65sB", 4, 1, b"", b"", b"", 0)
        err, answer = self.request(HELLO, hello.ljust(204, b"\0"))
        if err:
            raise OSError(err, answer.decode())
        self.fds = []
        err, _ = self.request(ATTACH)
        assert not err and len(self.fds) == 1, (err, self.fds)
        self.data = socket.socket(fileno=self.fds[0])
        self.data.settimeout(SERVER_S)
        _, state = self.request(WATCH)
        self.gid = state[:16]
        self.lid, self.sm_lid = struct.unpack_from("=II", state, 16)
        self.agent = self.register() if agent else None

    def receive(self, count):
        got = b""
        while len(got) < count:
            more, fds, _, _ = socket.recv_fds(self.connection,
                                              count - len(got), 8)
            if not more:
                raise Gone
            got += more
            if fds:
                self.fds = fds
        return got

    def request(self, kind, body=b""):
        try:
            self.connection.sendall(struct.pack("=IIi", len(body), kind, 0) +
                                    body)
        except BrokenPipeError:
            pass
        try:
            length, answered, err = struct.unpack("=IIi", self.receive(12))
            while answered == EVENT:
                self.receive(length)
                length, answered, err = struct.unpack("=IIi", self.receive(12))
        except ConnectionResetError as gone:
            raise Gone from gone
        assert answered == kind, answered
        return -err, self.receive(length)

    def register_try(self, mgmt_class=3, version=2, methods=0, flags=0, qpn=1):
        body = struct.pack("=IIBBHIQQIB3x", 0, qpn, mgmt_class, version, 0,
                           flags, methods, 0, 0, 1)
        err, answer = self.request(REGISTER, body)
        return err, answer

    def register(self):
        err, answer = self.register_try()
        assert not err, answer
        return struct.unpack_from("=I", answer)[0]

    def packet(self, payload, lid=None, qpn=1, qkey=QKEY, agent=None,
               timeout=2000, retries=0, length=None):
        head = struct.pack("=5I", self.agent if agent is None else agent, 0,
                           timeout, retries,
                           64 + len(payload) if length is None else length)
        head += struct.pack(">IIH", qpn, qkey,
                            self.sm_lid if lid is None else lid)
        return head.ljust(64, b"\0") + payload

    def send(self, *args, **options):
        self.data.sendall(self.packet(*args, **options))

    def answer(self):
        """The status of the packet that is received, and its MAD."""
        got = b""
        while len(got) < 64 or len(got) < struct.unpack_from("=5I", got)[4]:
            want = 64 if len(got) < 64 else struct.unpack_from("=5I", got)[4]
            if not select.select([self.data], [], [], SERVER_S)[0]:
                raise AssertionError("no packet")
            more = self.data.recv(want - len(got))
            if not more:
                raise Gone
            got += more
        return struct.unpack_from("=5I", got)[1], got[64:]

    def ask(self, *args, **options):
        """The status of the packet, or else of the MAD."""
        self.send(*args, **options)
        status, reply = self.answer()
        return (status, None) if status else \
            (0, struct.unpack_from(">H", reply, 4)[0])

    def close(self):
        self.data.close()
        self.connection.close()


def service_mad(client, number, method=SET, gid=None, mask=0x53, name=b"test",
                pkey=0, lease=0xffffffff):
    body = struct.pack(">Q16sHHI16s64s", number, gid or client.gid, pkey, 0,
                       lease, b"", name)
    client.tid = getattr(client, "tid", 0) + 1
    return mad(method, SERVICE, mask=mask, body=body, tid=client.tid)


def expect(got, want, what):
    if got != want:
        raise AssertionError(f"{what}: {got} instead of {want}")


def refused(got, want, what):
    """An attack had the answer that it must have."""
    expect(got, want, what)
    os.write(REFUSED[1], (what + "\n").encode())


def attacks_list():
    """Return: the attacks that were refused, each once, in their order."""
    os.close(REFUSED[1])
    with open(REFUSED[0], encoding="ascii") as names:
        return list(dict.fromkeys(names.read().splitlines()))


def attack_agents(path):
    client = Client(path, agent=False)
    for mgmt_class in (0x01, 0x81, 0x04, 0x05, 0x06, 0x07, 0x09, 0x32, 0x4f):
        for version in (1, 2):
            err, _ = client.register_try(mgmt_class, version)
            refused(err, errno.EPERM,
                    f"agent of class {mgmt_class:#x} version {version}")
    for method in (GET, SET, TABLE, DELETE):
        err, _ = client.register_try(methods=1 << method)
        refused(err, errno.EPERM, f"agent for method {method:#x}")
    err, _ = client.register_try(flags=1)
    refused(err, errno.EINVAL, "RMPP by the program")
    err, _ = client.register_try(qpn=2)
    refused(err, errno.EINVAL, "queue pair of the agent")
    client.close()


def request_text(payload):
    """The header of a MAD, as far as it may be the reason of a refusal."""
    base, mgmt_class, version, method, _, _, _, attribute = \
        struct.unpack_from(">BBBBHHQH", payload)
    flags, = struct.unpack_from(">B", payload, 26)
    key, = struct.unpack_from(">Q", payload.ljust(256, b"\0"), 36)
    return f"class {mgmt_class:#04x}, base {base}, version {version:#x}, " \
        f"method {method:#04x}, attribute {attribute:#06x}, flags {flags}, " \
        f"SM_Key {key:#x}, {len(payload)} bytes"


def attack_requests(path):
    client = Client(path)
    not_sent, denied = (errno.EPERM, None), (0, DENIED)
    port_info, lft = 0x0015, 0x0019
    cases = [
        (mad(SET, port_info, 0x81, 1), {"lid": 0xffff}, not_sent),
        (mad(SET, lft, 0x81, 1), {"lid": 0xffff, "qpn": 0}, not_sent),
        (mad(GET, 0x0012, 0x04, 1), {}, not_sent),
        (mad(SET, 0x0012, 0x04, 1), {}, not_sent),
        (mad(GET, 0x0010, 0x07, 2), {}, not_sent),
        (mad(GET, 0x0035), {"qpn": 0}, not_sent),
        (mad(GET, 0x0035), {"qpn": 77}, not_sent),
        (mad(GET, 0x0035), {"qkey": 0x0b1b}, not_sent),
        (mad(GET, 0x0035, base=2), {}, not_sent),
        (mad(GET, 0x0035, version=0x80), {}, not_sent),
        (mad(GET, 0x0035, flags=1), {}, not_sent),
        (mad(0x81, 0x0035), {}, not_sent),
        (mad(0x86, 0x0002), {}, not_sent),
        (mad(0x92, 0x0035), {}, not_sent),
        (mad(GET, 0x0035)[:50], {}, not_sent),
        (mad(GET, 0x0035) + bytes(1), {}, not_sent),
        (mad(GET, 0x0035) + bytes(100000), {}, not_sent),
        (mad(GET, 0x0035), {"lid": 0xc000}, (errno.ETIMEDOUT, None)),
        (mad(GET, 0x0035), {"lid": 0}, (errno.ETIMEDOUT, None)),
        (mad(GET, 0x0035), {"agent": 77}, (errno.EINVAL, None)),
        (mad(GET, 0x0035), {"retries": 0xffffffff}, not_sent),
        (mad(SET, 0x0031), {}, denied),
        (mad(DELETE, 0x0031), {}, denied),
        (mad(SET, 0x0038), {}, denied),
        (mad(DELETE, 0x0038), {}, denied),
        (mad(SET, 0x0003), {}, denied),
        (mad(SET, 0x0030), {}, denied),
        (mad(DELETE, 0x0030), {}, denied),
        (mad(TABLE, 0x003b), {}, denied),
        (mad(REPORT, 0x0002), {}, denied),
        (mad(0x05, 0x0002), {}, denied),
        (mad(0x07, 0x0002), {}, denied),
        (mad(GET, 0x0011, key=1), {}, denied),
        (mad(TABLE, 0x0011, key=1 << 63), {}, denied),
    ]
    cases += [(mad(method, attribute, mgmt_class, 1), {}, not_sent)
              for mgmt_class in (0x01, 0x81) for method in (GET, SET)
              for attribute in (0x0010, 0x0011, 0x0012, 0x0014, port_info,
                                0x0016, 0x0017, 0x0018, lft, 0x001b, 0x0020,
                                0x0031)]
    cases += [(mad(method, attribute), {}, denied)
              for method in (SET, DELETE)
              for attribute in (0x0001, 0x0011, 0x0012, 0x0013, 0x0014, 0x0015,
                                0x0017, 0x0018, 0x0020, 0x0033, 0x0035, 0x0036,
                                0x0039, 0x00f3)]
    cases += [(mad(method, 0x0035), {}, denied) for method in range(32)
              if method not in (GET, SET, TABLE, DELETE)]
    for payload, options, want in cases:
        refused(client.ask(payload, **options), want,
                f"{request_text(payload)} {options or ''}".rstrip())
    expect(client.ask(mad(TABLE, 0x0011)), (0, 0), "a query afterwards")
    client.close()


def attack_registrations(path):
    """Services of others, and more than a user may have."""
    client = Client(path)
    for gid in (bytes(16), b"\xff" * 16, b"\xfe\x80" + bytes(13) + b"\1"):
        for method in (SET, DELETE):
            refused(client.ask(service_mad(client, 1, method, gid=gid)),
                    (0, DENIED), f"method {method:#x}: service of {gid.hex()}")
    for mask in (0, 1, 2, 4, 1 << 4, 1 << 6):
        refused(client.ask(service_mad(client, 1, mask=mask)), (0, DENIED),
                f"service with the mask {mask:#x}")
    answers = [client.ask(service_mad(client, number))
               for number in range(80)]
    refused((answers.count((0, 0)), answers.count((0, DENIED))), (64, 16),
            "services above the quota")
    for number in range(64, 80):
        refused(client.ask(service_mad(client, number, DELETE)), (0, DENIED),
                "Delete of a service that was refused")
    err, _ = client.register_try(methods=1 << REPORT)
    expect(err, 0, "agent for Reports")
    refused(client.ask(mad(SET, 0x0003, mask=0x15f6,
                           body=bytes(22) + b"\1\1" + bytes(12))),
            (0, DENIED), "a subscription above the quota")
    client.close()


def attack_files(path):
    client = Client(path, agent=False)
    for name in (b"/etc/passwd", b"../../etc/passwd", b"", b"class",
                 b"class/infiniband/../../../etc/passwd", b"class/net/lo/mtu",
                 b"class/infiniband_mad/../../kernel/kexec_loaded",
                 b"class/infiniband/-/device/config",
                 b"class/infiniband/-/device", b"class/infiniband/-/subsystem",
                 b"class/infiniband/-/device/uevent/../config",
                 b"class/infiniband_mad/umad0/device/driver"):
        for kind in (FILE, FOLDER):
            err, _ = client.request(kind, name)
            refused(err, errno.EACCES, f"file {name}, message {kind}")
    err, _ = client.request(FILE, b"class/infiniband/" + b"a" * 300)
    refused(err, errno.ENAMETOOLONG, "long name")
    err, _ = client.request(ISSM, struct.pack("=I", 0))
    refused(err, errno.EPERM, "issm file")
    for line in (b"stop", b"link down a/1", b""):
        err, _ = client.request(CONTROL, line)
        refused(err, errno.EINVAL, f"command {line}")
    client.close()


def ends(client, act):
    """Whether the server ends a connection after @act."""
    try:
        act()
    except (BrokenPipeError, ConnectionResetError):
        return True
    try:
        while client.connection.recv(4096):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def attack_frames(path):
    head = struct.Struct("=IIi")
    acts = {
        "type": lambda c: c.connection.sendall(head.pack(0, 77, 0)),
        "length": lambda c: c.connection.sendall(head.pack(1 << 20, FILE, 0)),
        "error": lambda c: c.connection.sendall(head.pack(0, FILE, -5)),
        "second hello": lambda c: c.connection.sendall(
            head.pack(204, HELLO, 0) + bytes(204)),
        "short packet": lambda c: c.data.sendall(
            c.packet(mad(GET, 0x0035), length=70)),
        "long packet": lambda c: c.data.sendall(
            c.packet(mad(GET, 0x0035), length=0xffffffff)),
        "descriptor": lambda c: socket.send_fds(
            c.connection, [head.pack(0, WATCH, 0)], [0]),
        "descriptor with packet": lambda c: socket.send_fds(
            c.data, [c.packet(mad(GET, 0x0035))], [0]),
    }
    for name, act in acts.items():
        client = Client(path)
        refused(ends(client, lambda act=act, client=client: act(client)), True,
                "frame: " + name)
        client.close()


def attack_tids(path):
    """Replies to one TransactionID go to the client that has asked."""
    one, two = Client(path), Client(path)
    for client in (one, two):
        client.send(mad(GET, 0x0001, tid=(two.agent + 1) << 32 | 5))
    for client in (one, two):
        status, reply = client.answer()
        expect((status, reply[3], reply[12:16]), (0, 0x81, b"\0\0\0\5"),
               "reply")
        refused(select.select([client.data], [], [], 0)[0], [],
                f"reply of another client, TransactionID of {client.agent}")
        client.close()


def attack_connections(path):
    """All connections that a user can have, some of them incomplete."""
    clients = []
    try:
        while len(clients) < 400:
            clients.append(Client(path, agent=False))
    except OSError as err:
        expect(err.errno, errno.EUSERS, "too many connections")
    except Gone:
        pass
    refused(1 < len(clients) < 400, True, "all connections")
    for number, client in enumerate(clients):
        if number % 2:
            client.data.send(b"\0" * 63)
        else:
            client.connection.send(b"\0" * 11)
    return clients


def connect_again(path):
    """Connect when connections that this user has closed no longer count."""
    end = time.monotonic() + SERVER_S
    while True:
        try:
            return Client(path)
        except OSError as err:
            if err.errno != errno.EUSERS or time.monotonic() > end:
                raise
        time.sleep(0.01)


def flood(path, kind, end):
    """Send as fast as possible, and read nothing."""
    client = connect_again(path)
    requests = {
        "queries": client.packet(mad(TABLE, 0x0011), timeout=100),
        "retries": client.packet(mad(TABLE, 0x0011), retries=0xffffffff),
        "SMPs": client.packet(mad(SET, 0x0015, 0x81, 1)),
        "services": client.packet(mad(SET, 0x0031)),
        "silent": client.packet(mad(GET, 0x0035), timeout=0),
    }
    sent = client.data
    data = requests.get(kind)
    if data is None:
        sent, data = client.connection, struct.pack("=IIi", 0, WATCH, 0)
    sent.setblocking(False)
    while time.monotonic() < end:
        try:
            sent.send(data * 20)
        except BlockingIOError:
            select.select([], [sent], [], 0.01)
        except (BrokenPipeError, ConnectionResetError):
            return


FLOODS = ("queries", "retries", "SMPs", "services", "silent", "requests")


def as_user(user, run, *args):
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        run(*args)
        status = 0
    except BaseException as err:  # the parent needs the status
        print(f"{run.__name__}: {type(err).__name__} {err}", file=sys.stderr)
    os._exit(status)


def finished(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def query_often(path, seconds=0, result=None):
    """
    Ask as the innocent, at once or for some seconds. The time of 99.9 % of the
    queries goes to the descriptor result.
    """
    end = time.monotonic() + seconds
    client = Client(path)
    times = []
    while len(times) < 50 or time.monotonic() < end:
        start = time.monotonic()
        expect(client.ask(mad(GET, 0x0001, tid=len(times) + 1)), (0, 0),
               "query")
        times.append((time.monotonic() - start) * 1000)
    client.close()
    times.sort()
    most = times[len(times) * 999 // 1000]
    print(f"innocent: {len(times)} queries, 99.9 % within {most:.1f} ms, "
          f"worst {times[-1]:.1f} ms")
    if times[-1] > 2000:
        raise AssertionError(f"a query took {times[-1]:.1f} ms")
    if result is not None:
        os.write(result, struct.pack("=d", most))


def hold_connections(path, ready, done):
    clients = attack_connections(path)
    os.write(ready, b"x")
    os.read(done, 1)
    for client in clients:
        client.close()


def attack_all(path, latency_ms):
    """Each attack as one user, and a query of another user after each."""
    failed = []
    for attack in (attack_agents, attack_requests, attack_registrations,
                   attack_files, attack_frames, attack_tids):
        if not finished(as_user(MALLORY, attack, path)):
            failed.append(attack.__name__)
        if not finished(as_user(INNOCENT, query_often, path)):
            failed.append("innocent after " + attack.__name__)
    ready, done = os.pipe(), os.pipe()
    holder = as_user(MALLORY, hold_connections, path, ready[1], done[0])
    os.close(ready[1])
    if os.read(ready[0], 1) != b"x":
        failed.append("attack_connections")
    if not finished(as_user(INNOCENT, query_often, path)):
        failed.append("innocent beside all connections")
    os.write(done[1], b"x")
    if not finished(holder):
        failed.append("hold_connections")
    return failed + attack_by_floods(path, latency_ms)


def innocent_ms(path):
    """The time of 99.9 % of the innocent's queries; None: one has failed."""
    result, write = os.pipe()
    child = as_user(INNOCENT, query_often, path, 3, write)
    os.close(write)
    most = os.read(result, 8)
    os.close(result)
    return struct.unpack("=d", most)[0] if finished(child) else None


def attack_by_floods(path, latency_ms):
    failed = []
    if latency_ms:
        alone_ms = innocent_ms(path)
        os.sched_setaffinity(0, {0})
    end = time.monotonic() + 4
    floods = [as_user(MALLORY, flood, path, kind, end) for kind in FLOODS]
    if latency_ms:
        os.sched_setaffinity(0, {1})
    beside_ms = innocent_ms(path)
    if beside_ms is None:
        failed.append("innocent beside floods")
    elif latency_ms and beside_ms > alone_ms + latency_ms:
        failed.append(f"99.9 % within {beside_ms:.1f} ms, alone {alone_ms:.1f}")
    for kind, child in zip(FLOODS, floods):
        if not finished(child):
            failed.append("flood of " + kind)
        else:
            refused(beside_ms is not None, True, "flood of " + kind)
    return failed


def socket_await(path, process):
    """The file is there before the server listens."""
    end = time.monotonic() + 30
    while True:
        with socket.socket(socket.AF_UNIX) as client:
            if not client.connect_ex(path):
                return
        if process.poll() is not None or time.monotonic() > end:
            sys.exit(f"no server is at {path}")
        time.sleep(0.05)


def is_sanitized(process):
    """Whether memory is used by a sanitizer, too."""
    with open(f"/proc/{process.pid}/maps", encoding="ascii") as maps:
        return re.search("lib[at]san", maps.read())


def end(process):
    process.terminate()
    return process.wait(30)


def memory_mb(process):
    """The largest resident size so far."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def main():
    ibsad, ibsa, topology, *latency = sys.argv[1:]
    latency_ms = float(latency[0]) if latency else 0
    if os.geteuid():
        print("skipped: only root can run other users")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        fabric_path, path = folder + "/fabric", folder + "/ibsad"
        if latency_ms:
            os.sched_setaffinity(0, {1})
        environment = {**os.environ, "IBSA_FABRIC": "unix:" + fabric_path}
        fabric = subprocess.Popen([ibsa, "fabric", "run", topology, "--socket",
                                   fabric_path], stdout=subprocess.DEVNULL)
        socket_await(fabric_path, fabric)

        def tables():
            return [subprocess.run([ibsa, "query", "table", name],
                                   env=environment, check=False,
                                   stdout=subprocess.PIPE).stdout
                    for name in ("PIR", "SR", "MCMR", "IIR", "GIR")]
        before = tables()
        daemon = subprocess.Popen(
            [ibsad, "--standalone", "--socket", path, "--quota",
             f"bytes={BYTES_MB << 20}/{2 * BYTES_MB << 20}", "ibsa0"],
            env=environment)
        socket_await(path, daemon)
        before_mb = memory_mb(daemon)
        failed = attack_all(path, latency_ms)
        used_mb = memory_mb(daemon) - before_mb
        print(f"memory of all clients: {used_mb:.1f} MiB")
        if used_mb > BYTES_MB + OTHER_MB and not is_sanitized(daemon):
            failed.append("too much memory")
        if tables() != before:
            failed.append("the fabric has changed")
        if end(daemon):
            failed.append("ibsad did not end with success")
        if end(fabric):
            failed.append("the fabric server did not end with success")
    attacks = attacks_list()
    for number, name in enumerate(attacks, 1):
        print(f"{number:3} {name}")
    if len(attacks) < ATTACKS_MIN:
        failed.append(f"only {len(attacks)} attacks were refused")
    for name in failed:
        print("FAILED:", name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
