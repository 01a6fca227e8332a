#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the fields in the page ibsa_records(3) with those of the library.

usage: records_page.py COMMAND PAGE

Compares, for each record, the members on the page with the fields in the help of
the command: names, order, bits, and whether the SA can select by them. No line
of the page is wider than a terminal of 80 columns.
"""

import re
import subprocess
import sys


def help_of(command, *record):
    return subprocess.run([command, "query", *record, "--help"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def records(command):
    """Name and short name of each record of the library."""
    return re.findall(r"^(\w+) +(\w+) +0x\w{4}$", help_of(command), re.M)


def fields(command, record):
    """Name, bits and selection of each field, by the help of the command."""
    text = help_of(command, "get", record)
    found = re.findall(r"^(\w+)(?: to _\d+)? +(\d+) +(yes|no|sent) ", text,
                       re.M)
    return [(re.sub(r"_1$", "", name) if f"{name} to _" in text else name,
             int(bits), matches)
            for name, bits, matches in found]


def members(page, name, short):
    """Yield name, bits and selection of each field, by the page."""
    section = page.partition(f"\n.Ss {name} ({short})\n")[2]
    section = section.partition("\n.Ss ")[0]
    for name, kind, bits, mask, shown in re.findall(
            r'^\.It Fa (\w+) Ta Vt "(.*?)" Ta "(\d+)" Ta "(.*?)" Ta "(.*)"$',
            section, re.M):
        length = int((re.findall(r"\[(\d+)\]", kind) or [1])[0])
        length -= kind.startswith("char[")
        one_value = shown in ("text", "hex digits")
        yield (name, int(bits) * (length if one_value else 1),
               {"none": "no", "always": "sent"}.get(mask, "yes"))


def wide_lines(path):
    done = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=78", path],
                          check=True, stdout=subprocess.PIPE, text=True)
    text = re.sub(r".\x08", "", done.stdout)
    return [line for line in text.splitlines() if len(line) > 80]


def main():
    command, path = sys.argv[1:]
    with open(path, encoding="ascii") as file:
        page = file.read()
    wide = wide_lines(path)
    print("\n".join(wide))
    wrong = len(wide)
    all_records = records(command)
    for name, short in all_records:
        has, shows = fields(command, name), list(members(page, name, short))
        if has != shows:
            wrong += 1
            print(f"{name}: the library has\n{has}\nthe page shows\n{shows}")
    print(f"{len(all_records)} records, {wrong} differ")
    return 1 if wrong or not all_records else 0


if __name__ == "__main__":
    sys.exit(main())
