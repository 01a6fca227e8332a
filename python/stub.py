#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Print records.pyi: the classes of the records, for type checkers.

usage: stub.py MAN-FOLDER RECORDS-H

MAN-FOLDER has records.py, which reads the tables of RECORDS-H.
"""

import sys

TYPES = {"gid": "str", "chr": "str", "blob": "bytes"}

HEAD = '''\
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Made by the build from <ibsa/records.h>."""

from typing import Tuple

from ._records import Record, Value
'''


def member(kind, row):
    """The name of a field, its type, and the number of its values."""
    field_type, name, _, *rest = row
    count = int(rest.pop(0)) if kind == "ARR" else 1
    shown = rest[-1]
    if shown in ("text", "blob"):
        return name, TYPES["chr" if shown == "text" else "blob"], 1
    return name, TYPES.get(field_type, "int"), count


def selectors(name, count):
    return [name] if count == 1 else [f"{name}_{at + 1}" for at in range(count)]


def main():
    sys.path.insert(0, sys.argv[1])
    import records as tables

    with open(sys.argv[2], encoding="utf-8") as file:
        text = file.read()
    found = tables.rows(tables.define(text, "IBSA_RECORDS"), "R")
    names = {row[0]: row[3].strip('"') for _, row in found}
    print(HEAD)
    print(f"__all__ = {list(names.values())}")
    for _, row in found:
        fields = [member(*one) for one in tables.rows(
            tables.define(text, f"IBSA_{row[1]}_FIELDS"), "F|ARR|LATE")]
        print(f'\n\nclass {names[row[0]]}(Record["{names[row[2]]}"]):')
        print("    def __init__(")
        print("        self, *,")
        for name, _, count in fields:
            for one in selectors(name, count):
                print(f"        {one}: Value = ...,")
        print("    ) -> None: ...")
        for name, kind, count in fields:
            kind = kind if count == 1 else f"Tuple[{kind}, ...]"
            print(f"    @property\n    def {name}(self) -> {kind}: ...")


main()
