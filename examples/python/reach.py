# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Paths to GIDs: python3 reach.py GID..."""

import sys

import ibsa


def main() -> int:
    if len(sys.argv) == 1:
        sys.exit("usage: reach.py GID...")
    with ibsa.open() as client:
        answers = client.reach_each(sys.argv[1:])
        for answer in answers:
            print(answer.gid, answer.reach.name)
            if answer.reach == ibsa.Reach.YES:
                path = client.path(answer.gid)
                print(f"  LID {path.dlid}, {path.text('rate')}")
    return 0 if all(one.reach == ibsa.Reach.YES for one in answers) else 1


try:
    sys.exit(main())
except ibsa.Error as error:
    sys.exit(f"reach.py: {error}")
