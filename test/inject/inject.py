#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fails each system call of a command in each way that its page lists.

usage: inject.py [--sample N] [--jobs N] IBSA AT-MAIN FABRIC TREE [NAME...]

IBSA is the command, AT-MAIN the preload of at_main.c, FABRIC a topology file,
TREE a folder that SYSFS_PATH can name. Each command in COMMANDS runs once under
strace, which lists its system calls from main() on. It then runs once more for
each call and each error that the call's manual page (section 2) lists, and
strace makes that one call fail. Every run has to end with an exit status that
ibsa(8) documents, and in time. With --sample, only every N-th of these runs.

A NAME selects commands: path, reach, doctor, watch, service. Exits with 77 where
there is no strace, or it may not trace.

brk, futex and rt_sigprocmask are left out. The C library ends the process itself
if brk or futex fails; if rt_sigprocmask fails in pthread_create(), it goes on,
and a thread takes signals that it has blocked.
"""

import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# The errors of each call: ERRORS of its page in section 2 of man-pages 6.03.
FILES = "EACCES ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EOVERFLOW "
SOCKET = "EBADF ENOTSOCK EFAULT "
ERRORS = {
    "access": FILES + "EROFS EFAULT EINVAL EIO ETXTBSY EPERM",
    "bind": SOCKET + "EACCES EADDRINUSE EINVAL EADDRNOTAVAIL ELOOP "
            "ENAMETOOLONG ENOENT ENOMEM ENOTDIR EROFS",
    "chmod": FILES + "EPERM EROFS EIO",
    "clock_gettime": "EACCES EFAULT EINVAL ENODEV ENOTSUP EOPNOTSUPP EPERM",
    "clock_nanosleep": "EFAULT EINTR EINVAL ENOTSUP",
    "clone": "EAGAIN EINVAL ENOMEM ENOSPC EPERM EUSERS",
    "clone3": "EACCES EAGAIN EBUSY EEXIST EINVAL ENOMEM ENOSPC EOPNOTSUPP "
              "EPERM ERESTART EUSERS ENOSYS",
    "close": "EBADF EINTR EIO ENOSPC EDQUOT",
    "connect": SOCKET + "EACCES EPERM EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT "
               "EAGAIN EALREADY ECONNREFUSED EINPROGRESS EINTR EISCONN "
               "ENETUNREACH EPROTOTYPE ETIMEDOUT",
    "dup": "EBADF EMFILE",
    "dup3": "EBADF EBUSY EINTR EINVAL EMFILE",
    "epoll_create1": "EINVAL EMFILE ENFILE ENOMEM",
    "epoll_ctl": "EBADF EEXIST EINVAL ELOOP ENOENT ENOMEM ENOSPC EPERM",
    "epoll_pwait": "EBADF EFAULT EINTR EINVAL",
    "epoll_wait": "EBADF EFAULT EINTR EINVAL",
    "eventfd2": "EINVAL EMFILE ENFILE ENODEV ENOMEM",
    "faccessat2": FILES + "EBADF EFAULT EINVAL EIO EPERM EROFS ETXTBSY",
    "fcntl": "EACCES EAGAIN EBADF EBUSY EDEADLK EFAULT EINTR EINVAL EMFILE "
             "ENOLCK ENOTDIR EPERM",
    "flock": "EBADF EINTR EINVAL ENOLCK EWOULDBLOCK",
    "fstat": "EBADF EFAULT ENOMEM EOVERFLOW",
    "fstatfs": "EBADF EFAULT EINTR EIO ENOMEM ENOSYS EOVERFLOW",
    "ftruncate": "EBADF EFBIG EINTR EINVAL EIO EISDIR EPERM EROFS",
    "getdents64": "EBADF EFAULT EINVAL ENOENT ENOTDIR",
    "getrandom": "EAGAIN EFAULT EINTR EINVAL ENOSYS",
    "getsockname": SOCKET + "EINVAL ENOBUFS",
    "getsockopt": SOCKET + "EINVAL ENOPROTOOPT",
    "inotify_add_watch": FILES + "EBADF EEXIST EFAULT EINVAL ENOSPC",
    "inotify_init1": "EINVAL EMFILE ENFILE ENOMEM",
    "ioctl": "EBADF EFAULT EINVAL ENOTTY",
    "listen": "EADDRINUSE EBADF ENOTSOCK EOPNOTSUPP",
    "lseek": "EBADF EINVAL ENXIO EOVERFLOW ESPIPE",
    "madvise": "EACCES EAGAIN EBADF EINVAL EIO ENOMEM EPERM",
    "mkdir": FILES + "EDQUOT EEXIST EFAULT EINVAL EMLINK ENOSPC EPERM EROFS",
    "mmap": "EACCES EAGAIN EBADF EEXIST EINVAL ENFILE ENODEV ENOMEM "
            "EOVERFLOW EPERM ETXTBSY",
    "mprotect": "EACCES EINVAL ENOMEM",
    "mremap": "EAGAIN EFAULT EINVAL ENOMEM",
    "munmap": "EINVAL ENOMEM",
    "newfstatat": FILES + "EBADF EFAULT EINVAL",
    "openat": FILES + "EBADF EBUSY EDQUOT EEXIST EFAULT EFBIG EINTR EINVAL "
              "EISDIR EMFILE ENFILE ENODEV ENOSPC ENXIO EOPNOTSUPP EPERM "
              "EROFS ETXTBSY EWOULDBLOCK",
    "pipe2": "EFAULT EINVAL EMFILE ENFILE ENOPKG",
    "poll": "EFAULT EINTR EINVAL ENOMEM",
    "ppoll": "EFAULT EINTR EINVAL ENOMEM",
    "prctl": "EACCES EBADF EBUSY EFAULT EINVAL ENODEV ENOTSUP EOPNOTSUPP "
             "EPERM",
    "pread64": "EAGAIN EBADF EFAULT EINTR EINVAL EIO EISDIR ENXIO EOVERFLOW "
               "ESPIPE",
    "prlimit64": "EFAULT EINVAL EPERM ESRCH",
    "read": "EAGAIN EBADF EFAULT EINTR EINVAL EIO EISDIR",
    "readlink": FILES + "EFAULT EINVAL EIO",
    "recvfrom": SOCKET + "EAGAIN ECONNREFUSED EINTR EINVAL ENOMEM ENOTCONN",
    "recvmsg": SOCKET + "EAGAIN ECONNREFUSED EINTR EINVAL ENOMEM ENOTCONN",
    "rt_sigaction": "EFAULT EINVAL",
    "rt_sigtimedwait": "EAGAIN EINTR EINVAL",
    "sendmsg": SOCKET + "EACCES EAGAIN EALREADY ECONNRESET EDESTADDRREQ "
               "EINTR EINVAL EISCONN EMSGSIZE ENOBUFS ENOMEM ENOTCONN "
               "EOPNOTSUPP EPIPE",
    "sendto": SOCKET + "EACCES EAGAIN EALREADY ECONNRESET EDESTADDRREQ EINTR "
              "EINVAL EISCONN EMSGSIZE ENOBUFS ENOMEM ENOTCONN EOPNOTSUPP "
              "EPIPE",
    "setsockopt": SOCKET + "EINVAL ENOPROTOOPT",
    "shutdown": "EBADF EINVAL ENOTCONN ENOTSOCK",
    "sigaltstack": "EFAULT EINVAL ENOMEM EPERM",
    "signalfd4": "EBADF EINVAL EMFILE ENFILE ENODEV ENOMEM",
    "socket": "EACCES EAFNOSUPPORT EINVAL EMFILE ENFILE ENOBUFS ENOMEM "
              "EPROTONOSUPPORT",
    "socketpair": "EAFNOSUPPORT EFAULT EMFILE ENFILE EOPNOTSUPP "
                  "EPROTONOSUPPORT",
    "statfs": FILES + "EFAULT EINTR EIO ENOSYS",
    "sysinfo": "EFAULT",
    "tgkill": "EAGAIN EINVAL EPERM ESRCH",
    "timer_create": "EAGAIN EINVAL ENOMEM ENOTSUP EPERM",
    "timer_settime": "EFAULT EINVAL",
    "timerfd_create": "EINVAL EMFILE ENFILE ENODEV ENOMEM EPERM",
    "timerfd_settime": "EBADF EFAULT EINVAL ECANCELED",
    "uname": "EFAULT",
    "unlink": FILES + "EBUSY EFAULT EIO EISDIR EPERM EROFS",
    "write": "EAGAIN EBADF EDESTADDRREQ EDQUOT EFAULT EFBIG EINTR EINVAL EIO "
             "ENOSPC EPERM EPIPE",
    "writev": "EAGAIN EBADF EDESTADDRREQ EDQUOT EFAULT EFBIG EINTR EINVAL "
              "EIO ENOSPC EPERM EPIPE",
}

# Calls that cannot fail, that do not return, or that are left out.
NO_ERRORS = set("brk exit exit_group futex getegid geteuid getgid getpid "
                "getppid gettid getuid restart_syscall rseq rt_sigprocmask "
                "rt_sigreturn sched_yield set_robust_list set_tid_address".split())

# What to run: name, arguments, whether it runs until it is interrupted.
COMMANDS = [
    ("path", ["path", "self", "node4"], False),
    ("reach", ["reach", "node4", "node2"], False),
    ("doctor", ["doctor", "--sm-key", "1"], False),
    ("watch", ["watch"], True),
    ("service", ["service", "register", "--renew", "0x1234", "printer"], True),
]

MARK = "getpriority(0x1b5a"
DOCUMENTED = {0, 1, 2, 3, 4, 5, 128 + signal.SIGINT}
USAGE = 2         # the exit status if the arguments are wrong
RUNS_S = 0.6      # until a command that does not end is interrupted
LIMIT_S = 30      # a default deadline is 10 s


class Rig:
    """The programs, and the environment of a command."""

    def __init__(self, ibsa, at_main, name, setting):
        self.ibsa = ibsa
        self.name = name
        self.environment = dict(os.environ, LC_ALL="C", **setting)
        self.strace = ["strace", "-f", "-qq", "-E", "LD_PRELOAD=" + at_main]

    def run(self, arguments, options, endless):
        """The exit status of one run, negative for a signal; None: too late."""
        process = subprocess.Popen(
            [*self.strace, *options, self.ibsa, *arguments],
            env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=signals_default)
        try:
            if endless:
                self.interrupt(process)
            return process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            signal_all(children(process.pid), signal.SIGKILL)
            process.wait()
            return None

    @staticmethod
    def interrupt(process):
        """Send SIGINT to the command, RUNS_S after it has a handler for SIGINT
        or blocks it.

        A command that never does gets SIGINT, too, after half of the time
        limit.
        """
        start = time.monotonic()
        deadline = start + LIMIT_S
        while process.poll() is None and time.monotonic() < deadline:
            pids = children(process.pid)
            if time.monotonic() < start + LIMIT_S / 2:
                pids = [pid for pid in pids if takes_sigint(pid)]
            try:
                process.wait(RUNS_S if pids else 0.05)
            except subprocess.TimeoutExpired:
                pass
            if pids and process.poll() is None:
                signal_all(pids, signal.SIGINT)
                return

    def calls(self, arguments, endless):
        """Return the exit status, and how often each call is made before
        main() and in all."""
        with tempfile.NamedTemporaryFile("r", encoding="utf-8",
                                         errors="replace") as log:
            status = self.run(arguments, ["-o", log.name], endless)
            lines = log.read().splitlines()
        before = {}
        made = collections.defaultdict(collections.Counter)
        for line in lines:
            match = re.match(r"(\d+)\s+(\w+)\(", line)
            if not match:
                continue
            pid, name = match.groups()
            if MARK in line:
                before = dict(made[pid])
            else:
                made[pid][name] += 1
        most = collections.Counter()
        for counts in made.values():
            for name, count in counts.items():
                most[name] = max(most[name], count)
        return status, before, most


def children(pid):
    """Return the process of the command that strace runs. Other children of
    strace, which it has before, are left out."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()
                    if os.path.basename(os.readlink(f"/proc/{word}/exe"))
                    == "ibsa"]
    except OSError:
        return []


def takes_sigint(pid):
    """Whether SIGINT does not end a process: it has a handler or blocks it."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii",
                  errors="replace") as status:
            masks = re.findall(r"^Sig(?:Cgt|Blk):\s*(\w+)", status.read(),
                               re.M)
    except OSError:
        return False
    return any(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in masks)


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def signals_default():
    """Restore the default action of SIGINT: a command that is started with
    SIGINT ignored would keep ignoring it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def injections(before, most):
    """Yield each call after the start of main(), by its name and number,
    with each of its errors."""
    for name in sorted(most):
        if name in NO_ERRORS or most[name] <= before.get(name, 0):
            continue
        if name not in ERRORS:
            sys.exit(f"inject.py: {name}() is not in the table ERRORS: add the "
                     "errors of its manual page")
        for number in range(before.get(name, 0) + 1, most[name] + 1):
            for error in dict.fromkeys(ERRORS[name].split()):
                yield name, number, error


def fault_of(status):
    """What is wrong with an exit status; None if nothing is."""
    if status is None:
        return f"did not end within {LIMIT_S} s"
    if status < 0:
        return f"was ended by signal {-status}"
    if status not in DOCUMENTED:
        return f"ended with status {status}, which ibsa(8) does not have"
    return None


def try_command(rig, command, sample, jobs):
    """Run a command with each error. Return how many runs, and how many
    were wrong."""
    name, arguments, endless = command
    status, before, most = rig.calls(arguments, endless)
    if fault_of(status) or status == USAGE:
        print(f"{name} {rig.name}: without an error it "
              + (fault_of(status) or "does not accept its arguments"))
        return 1, 1
    todo = list(injections(before, most))[::sample]

    def inject(one):
        call, number, error = one
        what = f"{call}:error={error}:when={number}"
        return fault_of(rig.run(arguments, ["-o", "/dev/null", "-e",
                                            "trace=" + call, "-e",
                                            "inject=" + what], endless))

    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for one, fault in zip(todo, pool.map(inject, todo)):
            if fault:
                wrong += 1
                print(f"{name} {rig.name}: {one[0]}() number {one[1]} failed "
                      f"with {one[2]}: it {fault}", flush=True)
    print(f"{name} {rig.name}: {len(todo)} runs, {wrong} wrong", flush=True)
    return len(todo), wrong


class Server:
    """A fabric server for the commands; keeps its socket in a folder."""

    def __init__(self, ibsa, fabric, folder):
        self.path = os.path.join(folder, "socket")
        self.process = subprocess.Popen(
            [ibsa, "fabric", "run", fabric, "--socket", self.path],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        if not self.process.stdout.readline().startswith("unix:"):
            sys.exit("inject.py: the fabric server does not start")
        return "unix:" + self.path

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def may_trace():
    if not shutil.which("strace"):
        print("inject.py: no strace: install it")
        return False
    done = subprocess.run(["strace", "-o", "/dev/null", "true"], check=False,
                          stderr=subprocess.DEVNULL)
    if done.returncode:
        print("inject.py: strace may not trace here")
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1))
    for name in ("ibsa", "at_main", "fabric", "tree"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if not may_trace():
        return 77
    start = time.monotonic()
    runs = wrong = 0
    os.environ.pop("IBSA_FABRIC", None)
    with tempfile.TemporaryDirectory() as folder, \
            Server(args.ibsa, args.fabric, folder) as server:
        rigs = [Rig(args.ibsa, args.at_main, "at a server",
                    {"IBSA_FABRIC": server}),
                Rig(args.ibsa, args.at_main, "on a device tree",
                    {"SYSFS_PATH": args.tree})]
        for command in COMMANDS:
            if args.names and command[0] not in args.names:
                continue
            for rig in rigs:
                counts = try_command(rig, command, args.sample, args.jobs)
                runs += counts[0]
                wrong += counts[1]
    print(f"{runs} runs, {wrong} wrong, "
          f"{time.monotonic() - start:.0f} s")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
