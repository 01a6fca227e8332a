#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the records that the embedded SA supports with ibsa_fabric_load(3).

usage: sa_page.py SA_C RECORDS_H PAGE
"""
import pathlib
import re
import sys


def main():
    sa, records, page = (pathlib.Path(path).read_text("utf-8")
                         for path in sys.argv[1:])
    names = dict(re.findall(r'\bR\((\w+),\s[^"]*"(\w+)"', records))
    table = sa[sa.index("attributes[] = {"):sa.index("/* Attributes that have")]
    answered = {names.get(name, "") for name in
                re.findall(r"&ibsa_(\w+)_record", table)}
    section = page[page.index(".Ss Requests that the SA answers"):]
    listed = set(re.findall(r"\b\w+Record\b|\bClassPortInfo\b|\bInformInfo\b",
                            section[:section.index(".El")]))
    for name in sorted(answered ^ listed):
        print(f"FAIL: {name} is only in the {'SA' if name in answered else 'page'}")
    print(f"{len(answered)} attributes")
    return answered != listed or len(answered) < 10


if __name__ == "__main__":
    sys.exit(main())
