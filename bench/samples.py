# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of one build, measured."""
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parent.parent
RIG = ROOT / "bench" / "fabric.sh"
UP = ROOT / "bench" / "up.sh"
IDENTICAL = ROOT / "bench" / "identical.sh"
# A port of the fabrics of scripts/gen-fabric.
GID = "fe80::2:c903:10:{}".format
# At most this many rounds run ibnetdiscover, which takes ten times as long as
# everything else in its round.
TOPOLOGY_ROUNDS = 3
# B34 waits for SETTLE_S until both programs are idle, and then measures for
# IDLE_S.
IDLE_S, SETTLE_S = 10, 2
# Directory in memory, where ibsim's clients write their simulated sysfs without
# using a disk.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Failed(Exception):
    """Something could not be measured."""


def run(*command, seconds=600):
    """Run a program. Return what it printed."""
    command = [str(word) for word in command]
    done = subprocess.run(command, text=True, capture_output=True,
                          timeout=seconds, stdin=subprocess.DEVNULL,
                          check=False)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def instructions(count, *command, prefix=()):
    """What one more turn costs: two lengths under callgrind, subtracted."""
    total = []
    for turns in (count, 2 * count):
        with tempfile.NamedTemporaryFile(dir=MEMORY) as out:
            words = [str(turns) if word is None else word for word in command]
            run(*prefix, "valgrind", "--tool=callgrind",
                f"--callgrind-out-file={out.name}", *words)
            text = pathlib.Path(out.name).read_text(encoding="ascii")
        total.append(int(re.search(r"^(?:totals|summary): (\d+)", text,
                                   re.MULTILINE)[1]))
    return (total[1] - total[0]) / count


def compiler_of(build):
    """The C compiler of a build directory: "gcc" or "clang"."""
    targets = json.loads((build / "meson-info/intro-targets.json").read_text(
        encoding="utf-8"))
    return targets[0]["target_sources"][0]["compiler"][-1]


def cpu_ms(process):
    """Processor time of a running process, all threads, in milliseconds."""
    # The number of another process's CPU clock, as clock_getcpuclockid()
    # computes it.
    return time.clock_gettime(~process.pid << 3 | 2) * 1000


class Samples:
    """The values of each case of one build, measured when needed.

    build is a build directory of scripts/build. Without peers, only our own
    cases are measured where those of the peers and the lower bounds take long.
    """

    def __init__(self, rounds, build=ROOT / "build", has_peers=True):
        self.rounds = rounds
        self.build = build
        self.programs = build / "bench"
        self.has_peers = has_peers
        # The programs of build/ are installed in stage/; other builds are not
        # installed.
        self.command = (build.parent / "stage/bin/ibsa"
                        if build.name == "build" else build / "command/ibsa")
        self.values = defaultdict(list)

    def count(self, case, *command, prefix=()):
        """Instructions of one more turn: the same each time, so once."""
        if not self.values[case]:
            self.values[case].append(
                instructions(*command, prefix=prefix))

    def read(self, output, prefix=""):
        for line in output.splitlines():
            case, value = line.rsplit(None, 1)
            self.values[prefix + case].append(float(value))

    def cases(self, ours, *others):
        return (ours, *others) if self.has_peers else (ours,)

    def codec(self, program):
        self.read(run(self.programs / f"bench-{program}", "-r", self.rounds))

    def umad_calls(self):
        """Short turns, so that other work meets both sides alike."""
        self.read(run(self.programs / "bench-umad-calls", "-r", 30 * self.rounds))

    def engine(self):
        self.codec("engine")
        for case in self.cases("engine-64", "engine-floor-64"):
            self.count(f"{case} instructions", 25600,
                       self.programs / "bench-engine", "-c", case, None)

    def embedded(self):
        with tempfile.NamedTemporaryFile(dir=MEMORY, suffix=".net") as net:
            run(ROOT / "scripts" / "gen-fabric", 11664, "-o", net.name)
            self.read(run(self.programs / "bench-embedded", net.name,
                          "-r", self.rounds))

    def ib_sa(self):
        program = self.programs / "bench-ib-sa"
        with tempfile.NamedTemporaryFile(dir=MEMORY, suffix=".net") as net:
            run(ROOT / "scripts" / "gen-fabric", 648, "-o", net.name)
            self.read(run(program, net.name, "-r", self.rounds))
            for case in self.cases("ib-sa-threads", "ib-sa-client",
                                   "ib-sa-handover"):
                self.count(f"{case} instructions", 25600, program, net.name,
                           "-c", case, None)

    def in_process(self):
        program = self.programs / "bench-in-process"
        for hosts in (648, 10000):
            with tempfile.NamedTemporaryFile(dir=MEMORY, suffix=".net") as net:
                run(ROOT / "scripts" / "gen-fabric", hosts, "-o", net.name)
                self.read(run(program, net.name, "-r", self.rounds),
                          f"in-process {hosts} ")
                # The floor's instructions do not depend on the fabric.
                for case in self.cases("path", *["floor"] * (hosts == 648)):
                    self.count(f"in-process {hosts} {case} instructions", 25600,
                               program, net.name, "-c", case, None)

    def paths(self):
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            try:
                run(RIG, "up", folder, 648)
                self.paths_on(folder)
            finally:
                run(RIG, "down", folder)

    def paths_on(self, folder):
        peers = {"client", "mad", "umad"} if self.has_peers else {"client"}
        cases = [(peer, window) for peer, window in (
            ("client", 1), ("mad", 1), ("umad", 1), ("client", 16),
            ("umad", 16), ("client", 64), ("umad", 64)) if peer in peers]
        for _ in range(self.rounds):
            for peer, window in cases:
                self.read(run(RIG, "run", folder,
                              self.programs / f"bench-path-{peer}", window,
                              10000 if window == 1 else 20000, 648),
                          f"path-{peer} {window} ")
        for peer in sorted(peers & {"client", "umad"}):
            self.count(f"path-{peer} 1 instructions", 1000,
                       self.programs / f"bench-path-{peer}", "1", None, "648",
                       prefix=(RIG, "run", folder))

    def shared(self):
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            for _ in range(self.rounds):
                self.shared_round(folder)
            self.calls(folder)
            if not self.has_peers:
                return
            try:
                run(RIG, "up", folder + "/ibsim", 648)
                for _ in range(self.rounds):
                    self.processes(folder)
            finally:
                run(RIG, "down", folder + "/ibsim")

    def shared_round(self, folder):
        if self.has_peers:
            self.exchanges("bench-socket")
            self.exchanges("bench-ring")
        client = self.programs / "bench-path-client"
        with Shared(folder, self.build, core=0):
            self.read(run(client, 1, 20000, 648), "shared 1 ")
        with Shared(folder, self.build, core=1):
            self.read(run(client, 64, 100000, 648), "shared 64 ")
            self.many_clients(50, 10000)
            table = dict(line.split() for line in
                         run(self.programs / "bench-table").splitlines())
            if table["records"] != "492804":
                raise Failed(f"the table has {table['records']} paths")
            self.values["shared table"].append(float(table["seconds"]))
            if "copy" in table:
                self.values["shared copy"].append(float(table["copy"]))

    def exchanges(self, program):
        for line in run(self.programs / program, "-r", 1).splitlines():
            case, ns = line.rsplit(None, 1)
            self.values[case + " us"].append(float(ns) / 1000)
            self.values[case + " rate"].append(1e9 / float(ns))

    def many_clients(self, clients, queries):
        command = [self.programs / "bench-path-client", "4", str(queries), "648",
                   "free"]
        start = time.perf_counter()
        running = [subprocess.Popen(command, text=True, stdout=subprocess.PIPE)
                   for _ in range(clients)]
        said = [each.communicate()[0] for each in running]
        seconds = time.perf_counter() - start
        if any(each.returncode for each in running):
            raise Failed("a client of many failed")
        rates = [float(re.search(r"^rate (\S+)", text, re.MULTILINE)[1])
                 for text in said]
        self.values["shared many"].append(clients * queries / seconds)
        self.values["shared slowest"].append(min(rates))
        self.values["shared mean"].append(statistics.mean(rates))

    def ibsad(self):
        """A path of the server by its sockets, as ibsad's, one by its rings,
        and one of ibsad."""
        command = (self.programs / "bench-path-client", 1, 20000, 648, "shared")
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            for _ in range(self.rounds):
                # The server reads the variable when it starts.
                with environment(IBSA_RING="0"), \
                        Shared(folder, self.build, core=0):
                    self.read(run(*command), "ibsad sockets 1 ")
                with Shared(folder, self.build, core=0):
                    self.read(run(*command), "ibsad rings 1 ")
                    with self.daemon(folder + "/ibsad"):
                        self.read(run(*command), "ibsad 1 ")
                    self.identical(folder + "/ibsad")
        self.read(run(IDENTICAL, self.build), "ibsad opensm ")

    @contextlib.contextmanager
    def daemon(self, path):
        """ibsad at a port of the fabric in IBSA_FABRIC, which it becomes."""
        daemon = subprocess.Popen(["taskset", "-c", "0",
                                   self.build / "ibsad/ibsad", "--standalone",
                                   "--socket", path, "ibsa0"])
        while not os.path.exists(path):
            if daemon.poll() is not None:
                raise Failed("ibsad does not start")
            time.sleep(0.01)
        try:
            with environment(IBSA_FABRIC="unix:" + path):
                yield
        finally:
            daemon.terminate()
            daemon.wait()

    def requests(self):
        """How many requests the SA of the fabric in IBSA_FABRIC has had."""
        return int(re.search(r"^requests +(\d+)",
                             run(self.command, "fabric", "stats"),
                             re.MULTILINE)[1])

    def hits(self, path):
        return int(re.search(r"^cache_hits +(\d+)",
                             run(self.build / "ibsad/ibsad", "--status",
                                 "--socket", path, "ibsa0"), re.MULTILINE)[1])

    def identical(self, path):
        fabric = os.environ["IBSA_FABRIC"]
        with self.daemon(path):
            # ibsad keeps answers after it has subscribed.
            while not self.hits(path):
                run(self.command, "query", "get", "NR", "lid=1")
            with environment(IBSA_FABRIC=fabric):
                before = self.requests()
            command = [self.programs / "bench-path-client", "1", "200", "1",
                       "shared"]
            running = [subprocess.Popen(command, stdout=subprocess.DEVNULL)
                       for _ in range(50)]
            if any(each.wait() for each in running):
                raise Failed("a client of ibsad failed")
            with environment(IBSA_FABRIC=fabric):
                self.values["ibsad requests"].append(self.requests() - before)

    def calls(self, folder):
        """System calls of a process: the same each time, so once."""
        with Shared(folder, self.build, core=0):
            for case, *command in self.cases(
                    ("shared calls", self.command, "path", "self", GID("31")),
                    ("empty calls", self.programs / "bench-empty")):
                calls = run("sh", "-c", 'strace -fco "$0" "$@" >/dev/null; '
                            'awk \'$NF == "total" { print $4 }\' "$0"',
                            folder + "/strace", *command)
                self.values[case].append(float(calls))

    def processes(self, folder):
        """A hundred of each, begun by a shell: milliseconds for one."""
        loop = 'for i in $(seq 100); do "$@" >/dev/null || exit 1; done'
        pinned = ("taskset", "-c", 0, "sh", "-c", loop, "sh")
        with Shared(folder, self.build, core=0):
            self.timed("shared process", *pinned, self.command, "path", "self",
                       GID("31"))
        self.timed("empty process", *pinned, self.programs / "bench-empty")
        self.timed("ibsim process", RIG, "run", folder + "/ibsim", "sh", "-c",
                   loop, "sh", "saquery", "--sgid-to-dgid",
                   GID("21") + "-" + GID("31"))

    def topology(self):
        """Programs that read a whole fabric, one after the other."""
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder, \
                Shared(folder, self.build, core=0, hosts=10000):
            for _ in range(min(self.rounds, TOPOLOGY_ROUNDS)):
                self.topology_round(folder)
                self.json_round(folder)

    def json_round(self, folder):
        """Output to no file, so that only the programs are measured."""
        query = (self.build / "command/ibsa", "query", "table", "PIR")
        records = len(run(*query, "--format=ndjson", "--fields", "lid").splitlines())
        if records != 63206:
            raise Failed(f"the table has {records} PortInfoRecords")
        self.silent("json table", *query, "-j")
        if not self.has_peers:
            return
        self.silent("saquery table", "env", "LD_LIBRARY_PATH="
                    f"{self.build}/libibumad/dropin", "saquery", "PIR")
        run("sh", "-c", '"$@" >"$0"', folder + "/table.json", *query, "-j")
        self.silent("json cat", "cat", folder + "/table.json")

    def silent(self, case, *command):
        start = time.perf_counter()
        run("sh", "-c", '"$@" >/dev/null', "sh", *command)
        self.values[case].append(time.perf_counter() - start)

    def read_by(self, case, *command):
        """Output through a pipe; in seconds."""
        begin = time.perf_counter()
        text = run(*command)
        self.values[case].append(time.perf_counter() - begin)
        return text

    def expect_round(self, ibsa, path, text, suffix):
        pathlib.Path(path).write_text(text, encoding="utf-8")
        self.read_by("topology check" + suffix, ibsa, "check", "--expect", path)
        if self.has_peers:
            self.read_by("topology cat" + suffix, "cat", path)

    def topology_round(self, folder):
        ibsa = self.build / "command/ibsa"
        path = folder + "/expected"
        text = self.read_by("topology net", ibsa, "topology", "--format=net")
        self.expect_round(ibsa, path, text, "")
        self.expect_round(ibsa, path, run(ibsa, "topology", "-j"), " json")
        if not self.has_peers:
            return
        other = self.read_by("ibnetdiscover", "env", "LD_LIBRARY_PATH="
                             f"{self.build}/libibumad/dropin",
                             "ibnetdiscover")
        if len(text.splitlines()) != len(other.splitlines()):
            raise Failed("ibsa topology is not as long as ibnetdiscover")

    def up(self):
        """The largest once: it takes minutes."""
        for hosts, rounds in ((648, self.rounds), (11664, 1)):
            for _ in range(rounds):
                # Time limit for a process; the script usually ends its
                # programs by itself before that time.
                only = () if self.has_peers else ("ours",)
                self.read(run(UP, "-b", self.build, hosts, *only,
                              seconds=3600), f"up {hosts} ")

    def idle(self):
        """A client that waits for events, and its server."""
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder, \
                Shared(folder, self.build, core=0) as server, \
                subprocess.Popen([self.build / "command/ibsa", "watch"],
                                 stdout=subprocess.DEVNULL) as client:
            time.sleep(SETTLE_S)
            before = cpu_ms(client), cpu_ms(server)
            time.sleep(IDLE_S)
            self.values["idle client"].append(cpu_ms(client) - before[0])
            self.values["idle server"].append(cpu_ms(server) - before[1])
            if client.poll() is not None:
                raise Failed("ibsa watch ended")
            client.terminate()

    def loss(self):
        """All queries of a client at once, to a server that loses MADs."""
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder, \
                Shared(folder, self.build, core=0):
            for _ in range(self.rounds):
                for percent in (0, 1, 5):
                    run(self.build / "command/ibsa", "fabric", "fault",
                        f"lose={percent}")
                    self.read(run(self.programs / "bench-loss"),
                              f"loss {percent} ")

    def attach(self):
        """Ports that processes open at once: of 16 hosts with 8 adapters each,
        of 128 with one, and of 1,000 in a large fabric."""
        for _ in range(self.rounds):
            for case in (*self.cases("hosts", "single"), "thousand"):
                self.attach_round(case, *ATTACH[case])

    def tcp(self):
        """One path at a time over TCP, and through a Unix socket without rings;
        1,000 ports in a large fabric that processes open at once over TCP."""
        client = self.programs / "bench-path-client"
        for _ in range(self.rounds):
            for case, over_tcp in self.cases(("tcp", True), ("unix", False)):
                with tempfile.TemporaryDirectory(dir=MEMORY) as folder, \
                        Shared(folder, self.build, core=0, over_tcp=over_tcp), \
                        environment(IBSA_RING="0"):
                    self.read(run(client, 1, 20000, 648, "shared"), case + " 1 ")
            self.attach_round("tcp", *ATTACH["thousand"], over_tcp=True)

    def attach_round(self, case, write, *args, over_tcp=False):
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            write(folder + "/shared.net")
            with Shared(folder, self.build, 0, connections=2048,
                        over_tcp=over_tcp) as server, \
                    subprocess.Popen([self.programs / "bench-attach", *args],
                                     text=True, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE) as clients:
                words = clients.stdout.readline().split()
                if not words:
                    raise Failed("a port cannot be opened")
                self.values[f"attach {case} ms"].append(float(words[1]) * 1000)
                self.values[f"attach {case} MB"].append(resident_mb(server))

    def timed(self, case, *command):
        start = time.perf_counter()
        run(*command)
        self.values[case].append((time.perf_counter() - start) * 1000 / 100)


def resident_mb(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text(
        encoding="ascii")
    return int(re.search(r"^VmRSS:\s+(\d+)", status, re.MULTILINE)[1]) / 1024


def star(path, names):
    """Write a topology file with adapters that one switch connects."""
    lines = [f'Switch {len(names)} "switch"']
    lines += [f'[{i + 1}] "n{i}"[1] # 4xNDR' for i in range(len(names))]
    lines += [f'Ca 1 "n{i}" # "{name}"' for i, name in enumerate(names)]
    pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="ascii")


# The cases of B36: what writes the topology file, and arguments of bench-attach.
ATTACH = {
    "hosts": (lambda path: star(path, [
        f"h{i // 8 + 1} mlx5_{i % 8}" for i in range(128)]),
              "16", "h", "mlx5_"),
    "single": (lambda path: star(path, [f"s{i + 1}" for i in range(128)]),
               "16", "s"),
    "thousand": (lambda path: run(ROOT / "scripts" / "gen-fabric", 10000, "-o",
                                  path), "125", "Hca"),
}


@contextlib.contextmanager
def environment(**values):
    """Variables that are set for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class Shared:
    """A fabric that a server has on a core; IBSA_FABRIC is it."""

    def __init__(self, folder, build, core, hosts=648, connections=1024,
                 over_tcp=False):
        self.build = build
        self.token = folder + "/token" if over_tcp else None
        self.connections = connections
        self.hosts = hosts
        self.net = folder + "/shared.net"
        self.socket = folder + "/s"
        self.core = core
        self.server = None

    def __enter__(self):
        if not os.path.exists(self.net):
            run(ROOT / "scripts" / "gen-fabric", self.hosts, "-o", self.net)
        listen = ["--listen=tcp:0", "--token=" + self.token] if self.token else []
        self.server = subprocess.Popen(
            ["taskset", "-c", str(self.core), self.build / "command/ibsa",
             "fabric", "run", self.net, "--socket", self.socket,
             f"--connections={self.connections}", *listen],
            text=True, stdout=subprocess.PIPE)
        words = self.server.stdout.readline().split()
        if not words or not words[0].startswith("unix:"):
            raise Failed("ibsa fabric run does not start")
        os.environ["IBSA_FABRIC"] = f"{words[2]},token={self.token}" \
            if self.token else "unix:" + self.socket
        os.environ["IBSA_NODE"] = "Hca2"
        return self.server

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        self.server.stdout.close()
        del os.environ["IBSA_FABRIC"], os.environ["IBSA_NODE"]


MEASURE = {
    "B1": ("decode", lambda samples: samples.codec("decode")),
    "B2": ("decode", lambda samples: samples.codec("decode")),
    "B4": ("encode", lambda samples: samples.codec("encode")),
    "B5": ("engine", Samples.engine),
    "B6": ("engine", Samples.engine),
    "B7": ("embedded", Samples.embedded),
    "B8": ("paths", Samples.paths),
    "B9": ("paths", Samples.paths),
    "B10": ("ib_sa", Samples.ib_sa),
    "B11": ("shared", Samples.shared),
    "B12": ("shared", Samples.shared),
    "B15": ("shared", Samples.shared),
    "B19": ("shared", Samples.shared),
    "B25": ("up", Samples.up),
    "B26": ("shared", Samples.shared),
    "B20": ("report", lambda samples: samples.codec("report")),
    "B30": ("umad-calls", Samples.umad_calls),
    "B31": ("in_process", Samples.in_process),
    "B32": ("topology", Samples.topology),
    "B33": ("topology", Samples.topology),
    "B34": ("idle", Samples.idle),
    "B35": ("loss", Samples.loss),
    "B36": ("attach", Samples.attach),
    "B37": ("ibsad", Samples.ibsad),
    "B38": ("tcp", Samples.tcp),
}
