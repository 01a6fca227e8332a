#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fails each allocation of commands that write a file or a whole text.

usage: fail_malloc.py [--sample N] IBSA FAIL-MALLOC FABRIC RAILS

FAIL-MALLOC is the preload of fail_malloc.c, FABRIC a topology file, and RAILS one
whose hosts have several adapters, for ibsa status. Each command runs once for
each of its allocations, which fails alone, and once more with all later ones.
With exit status 0 its output has to be that of a run without failures, apart
from times. With another status it prints a message, and a file has its old text
or a whole new one. With --sample, only every N-th of these runs.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

OLD = b"old\n"
# Arguments, and the end of a whole text; a command without FILE writes to
# standard output.
COMMANDS = (
    (("metrics", "-o", "FILE"), b"# EOF\n"),
    (("page", "-o", "FILE"), b"</html>\n"),
    (("topology", "--format=dot"), b"}\n"),
    (("reach", "--matrix", "--format=svg"), b"</svg>\n"),
    (("topology", "--format=slurm"), b"\n"),
    (("topology", "--format=net"), b"\n"),
    (("check", "-j"), b"]\n"),
    (("status", "-j"), b"]\n"),
)
STATUSES = range(1, 6)
# Without memory, the embedded SA does not answer: the run takes this long.
SHORT = ("--timeout", "2000")
# Metrics and a page say themselves that values are missing.
INCOMPLETE = re.compile(rb'ibsa_collect_complete 0|"why":"the SA refused: no resources')


class Command:
    def __init__(self, args, words, end, folder):
        self.args, self.words, self.end = args, words, end
        self.file = os.path.join(folder, "out") if "FILE" in words else None
        self.fabric = args.rails if "status" in words else args.fabric
        self.good, self.count = None, 0

    def run(self, **fail):
        """Return: the exit status, the messages and the output."""
        if self.file:
            with open(self.file, "wb") as file:
                file.write(OLD)
        environment = dict(os.environ, LD_PRELOAD=self.args.preload, **fail)
        out = subprocess.run(
            [self.args.ibsa, "--fabric", self.fabric, *SHORT,
             *(self.file if word == "FILE" else word for word in self.words)],
            env=environment, capture_output=True, check=False, timeout=60)
        text = out.stdout
        if self.file:
            with open(self.file, "rb") as file:
                text = file.read()
        return out.returncode, out.stderr, text

    def measure(self):
        """Run without a failure, and count the allocations."""
        read, write = os.pipe()
        os.set_inheritable(write, True)
        environment = {"FAIL_COUNT_FD": str(write)}
        run = subprocess.Popen
        subprocess.Popen = lambda *a, **k: run(*a, pass_fds=(write,), **k)
        status, messages, self.good = self.run(**environment)
        subprocess.Popen = run
        os.close(write)
        with os.fdopen(read) as counts:
            self.count = int(counts.read().split()[-1])
        if status or not self.good.endswith(self.end) or self.count < 20:
            sys.exit(f"{self.words}: {status}, {messages}")

    def wrong(self, status, messages, text):
        """Return: what is wrong with a run, or None."""
        if status == 0 and not (messages and INCOMPLETE.search(text)):
            return None if same(text, self.good) else "an output with holes"
        if status and status not in STATUSES:
            return "an exit status that is not documented"
        if not messages:
            return "no message"
        if self.file and text != OLD and not text.endswith(self.end):
            return "a file that is cut"
        return None


def same(one, other):
    """Compare texts without their numbers, some of which are times, but with
    the number of hosts."""
    number = re.compile(rb'("hosts":[0-9]+)|[0-9][0-9.e+-]*')
    return number.sub(rb"\1", one) == number.sub(rb"\1", other)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=1)
    for name in ("ibsa", "preload", "fabric", "rails"):
        parser.add_argument(name, type=os.path.abspath)
    args = parser.parse_args()
    runs = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for words, end in COMMANDS:
            command = Command(args, words, end, folder)
            command.measure()
            for number in range(1, command.count + 1):
                for later in ({}, {"FAIL_ALL": "1"}):
                    if (runs := runs + 1) % args.sample:
                        continue
                    got = command.run(FAIL_AT=str(number), **later)
                    why = command.wrong(*got)
                    if why:
                        failed += 1
                        print(f"FAIL: {' '.join(words)}, allocation {number}"
                              f"{' and later' if later else ''}: {why}: status "
                              f"{got[0]}, {len(got[2])} bytes, {got[1]!r}")
    print(f"{runs // args.sample} runs, {failed} failed")
    return 1 if failed or runs < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
