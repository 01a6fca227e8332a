#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Print the manual page ibsa_records(3): the tables of <ibsa/records.h>.

usage: records.py RECORDS-H PAGE-IN

Replaces the line @RECORDS@ of PAGE-IN by one section for each record: the comment
before its table, its structure, the requests that name it, its mask macro and its
members.
"""

import re
import sys

TYPES = {"nib": "uint8_t", "u8": "uint8_t", "u16": "uint16_t",
         "u32": "uint32_t", "u64": "uint64_t", "gid": "struct ibsa_gid",
         "chr": "char"}

SHOWN = {"dec": "decimal", "hex": "hex", "gid": "GID", "guid": "GUID",
         "text": "text", "blob": "hex digits", "mtu": "MTU bytes",
         "rate": "rate", "node_type": "node type",
         "port_state": "port state", "phys_state": "phys. state",
         "sm_state": "SM state", "lease": "lease",
         "vl_weight": "VL:weight"}

# By what changes the record. Source: IBA vol 1, 15.2.5.
METHODS = {"SM": "Get and GetTable",
           "CLIENTS": "Get, GetTable, Set and Delete"}
METHODS_OF = {
    "ClassPortInfo": "Get", "OpaClassPortInfo": "Get",
    "InformInfo": "Set, which subscribes", "InformInfoRecord": METHODS["SM"],
    "Notice": "none; the SA sends it in Reports",
    "MultiPathRecord": "GetMulti; the reply has PathRecords"}


def arguments(text):
    """Split at the commas outside of parentheses and quotes."""
    found = re.findall(r'(?:"[^"]*"|\([^()]*\)|[^,()"])+', text)
    return [one.strip() for one in found]


def rows(text, names):
    """The rows of a table: the macro's name and its arguments."""
    pattern = rf'\b({names})\(((?:"[^"]*"|\([^()]*\)|[^()"])*)\)'
    return [(name, arguments(row)) for name, row in re.findall(pattern, text)]


def define(text, name):
    """The body of a macro, in one line."""
    body = re.search(rf"^#define {name}\(.*?\)((?:.*\\\n)*.*)", text, re.M)[1]
    return re.sub(r"/\*.*?\*/", "", body.replace("\\\n", " "))


def comment(text, table):
    """The sentences before the source in the comment of a table."""
    before = text.partition(f"#define IBSA_{table}_FIELDS(")[0]
    words = " ".join(re.sub(r"^ \*", "", before.rpartition("/*")[2],
                            flags=re.M).split())
    return re.split(r" ?(?:Source: |\*/)", words)[0]


def roff(text):
    """Sentences as roff text, each on a line of its own."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?<=[.;:]) (?=[A-Z])", "\n", text)


def component_bits(mask, values):
    two = re.fullmatch(r"IBSA_TWO\((\d+)\)", mask)
    if two:
        return f"{two[1]}, {int(two[1]) + 1}"
    if not mask.isdigit():
        return "always" if mask == "IBSA_UNMASKED" else "none"
    return mask if values == 1 else f"{mask}-{int(mask) + values - 1}"


def member(kind, row):
    """The columns of a member in a record's table."""
    field_type, name, bits, *rest = row
    count = int(rest.pop(0)) if kind == "ARR" else 1
    mask, shown = rest
    is_one_value = shown in ("text", "blob")
    elements = ""
    if kind == "ARR":
        elements = f"[{count + (field_type == 'chr')}]"
    return (name, TYPES[field_type] + elements, bits,
            component_bits(mask, 1 if is_one_value else count), SHOWN[shown])


def members(text, table):
    head = ("member", "C type", "bits", "mask", "shown as")
    lines = [member(kind, row) for kind, row in
             rows(define(text, f"IBSA_{table}_FIELDS"), "F|ARR|LATE")]
    widest = [max(column, key=len) for column in zip(head, *lines)]
    yield ".Bl -column " + " ".join(f'"{one}"' for one in widest)
    yield ".It " + " Ta ".join(f"Sy {one}" for one in head)
    for name, c_type, *others in lines:
        columns = " Ta ".join(f'"{one}"' for one in others)
        yield f'.It Fa {name} Ta Vt "{c_type}" Ta {columns}'
    yield ".El"


def section(text, name, table, title, requests):
    yield f".Ss {title}"
    yield roff(comment(text, table))
    yield ".Pp"
    yield "Structure:"
    yield f".Vt struct ibsa_{name} ."
    yield f"Object:\n.Va ibsa_{name}_record ."
    if requests:
        yield f"Requests: {requests}."
        macro = f"IBSA_{name.upper()}_CM"
        yield ("Mask macro:\n.Fn " + macro + " member ."
               if f"#define {macro}(" in text else
               "Mask macro: none, because the SA compares no member.")
    yield from members(text, table)


def sections(text):
    for _, row in rows(define(text, "IBSA_RECORDS"), "R"):
        name, table, _, title, short = (one.strip('"') for one in row[:5])
        yield from section(text, name, table, f"{title} ({short})",
                           METHODS_OF.get(title, METHODS[row[7]]))
    yield from section(text, "sa_header", "SA_HEADER", "Header of an SA MAD",
                       None)


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        text = file.read()
    with open(sys.argv[2], encoding="utf-8") as file:
        page = file.read()
    print(page.replace("@RECORDS@\n", "\n".join(sections(text)) + "\n"), end="")


if __name__ == "__main__":
    main()
