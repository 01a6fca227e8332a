#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the files that the option -o names: their mode, and links.

usage: output_file.py IBSA FABRIC

Links of other users are tested only by root, which can make them.
"""

import os
import stat
import subprocess
import sys
import tempfile

OTHER = 12345  # a user id
COMMANDS = (("metrics", "-o"), ("page", "-o"))


class Test:
    def __init__(self, ibsa, fabric):
        self.ibsa, self.fabric = os.path.abspath(ibsa), os.path.abspath(fabric)
        self.failed = self.count = 0

    def expect(self, is_met, what):
        self.count += 1
        if not is_met:
            self.failed += 1
            print("FAIL:", what)

    def write(self, words, path, status, why=""):
        """Run a command that writes a file; return whether it did."""
        run = subprocess.run(
            [self.ibsa, "--fabric", self.fabric, *words, path],
            capture_output=True, check=False, text=True)
        self.expect(run.returncode == status and why in run.stderr,
                    f"{words} {path}: {run.returncode}, {run.stderr}")
        return run.returncode == 0


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def the_mode_is_kept_or_by_umask(test, folder):
    for words in COMMANDS:
        path = os.path.join(folder, "new")
        for mask, wanted in ((0o022, 0o644), (0o077, 0o600)):
            os.umask(mask)
            test.write(words, path, 0)
            test.expect(mode_of(path) == wanted,
                        f"{words}, umask {mask:o}: {mode_of(path):o}")
            os.umask(0o022)
            os.unlink(path)
        with open(path, "w", encoding="ascii"):
            os.chmod(path, 0o640)
        test.write(words, path, 0)
        test.expect(mode_of(path) == 0o640, f"{words}: {mode_of(path):o}")
        os.unlink(path)


def folder_make(parent, name, mode, owner):
    path = os.path.join(parent, name)
    os.mkdir(path)
    os.chown(path, owner, -1)
    os.chmod(path, mode)
    return path


def links_of_others_are_not_followed(test, folder):
    """In a folder such as /tmp, unless it is theirs."""
    cases = (("sticky", 0o1777, 0, OTHER, False),
             ("own-link", 0o1777, 0, 0, True),
             ("own-folder", 0o1777, OTHER, OTHER, True),
             ("not-sticky", 0o777, 0, OTHER, True),
             ("not-shared", 0o1755, 0, OTHER, True))
    victim = os.path.join(folder, "victim")
    for words in COMMANDS:
        for name, mode, owner, link_owner, is_followed in cases:
            where = folder_make(folder, name, mode, owner)
            link, second = (os.path.join(where, at) for at in ("a", "b"))
            os.symlink(victim, link)
            os.lchown(link, link_owner, -1)
            os.symlink("a", second)
            for path in (link, second):
                with open(victim, "w", encoding="ascii") as file:
                    file.write("old")
                if is_followed:
                    test.write(words, path, 0)
                else:
                    test.write(words, path, 4, "belongs to another user")
                with open(victim, encoding="utf-8") as file:
                    test.expect((file.read() == "old") != is_followed,
                                f"{words}, {name}: the file behind the link")
                test.expect(os.path.islink(path), f"{name}: the link")
                test.expect(sorted(os.listdir(where)) == ["a", "b"],
                            f"{name}: {os.listdir(where)}")
            os.unlink(link)
            os.unlink(second)
            os.rmdir(where)


def main():
    test = Test(*sys.argv[1:])
    os.environ.pop("IBSA_FABRIC", None)
    with tempfile.TemporaryDirectory() as folder:
        the_mode_is_kept_or_by_umask(test, folder)
        if os.geteuid() == 0:
            links_of_others_are_not_followed(test, folder)
    print(f"{test.count} checks, {test.failed} failed")
    return 1 if test.failed else 0


if __name__ == "__main__":
    sys.exit(main())
