#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs of older and newer headers run with the library that was built.

usage: sizes.py CC INCLUDE-DIR MAN FABRIC SYSFS PROGRAM.c... LIBRARY... [FLAG...]

The program is compiled with three sets of headers: those of INCLUDE-DIR; copies in
which the last member of each struct is missing, with -DSMALLER; and copies in which
each has a further member, new_member or new_operation, with -DLARGER. The structs
that keep their size, which MAN, the page ibsa(7), lists, are not changed. PortInfo
loses its last field, or gets a field in reserved bits; NodeRecord and the records of
forwarding tables get a field. Each program runs with LIBRARY on FABRIC, with the
devices of the tree SYSFS. FLAGs are those that the libraries were built with.

Also checks that each function that takes a struct has a NAME_sized(), unless the
library hands out the struct or it keeps its size; and that the program calls each
NAME() for which there is a NAME_sized().
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from interface import headers

FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]

# What the library hands out, whose last member programs need.
LARGER_ONLY = ["device", "device_list", "trace", "trace_branch", "trace_tree",
               "gid_list"]
HANDED_OUT = ["mad", "packet", "port", "reply", *LARGER_ONLY]

# It grows with its last member.
NOT_CHANGED = ["fabric_port"]

# Needs a device file; test responder-request calls it with both sizes.
NOT_CALLED = ["ibsa_responder_info_get"]

OPERATION = "int (*new_operation)(struct ibsa_transport *transport);"


def bare(text):
    """A header without comments."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def members(body):
    """The declarations of a struct without inner braces."""
    return [one.strip() for one in body.split(";") if one.strip()]


def changed(name, body, way):
    lines = [one for one in members(body)
             if not re.search(r" reserved\d*\[", one)]
    if way == "SMALLER":
        if len(lines) > 1:
            lines.pop()
    elif name == "transport_ops":
        lines.append(OPERATION.rstrip(";"))
    else:
        lines = [*members(body), "uint64_t new_member"]
    return "".join(f"\t{one};\n" for one in lines)


def table_change(text, name, way):
    """A record without the last field of its table, or with another."""
    table = re.search(rf"#define IBSA_{name}_FIELDS(?:.*\\\n)*.*\n", text)[0]
    rows = table.rstrip("\n").split("\n")
    if way == "LARGER" and name == "PORT_INFO":
        rows = [row.replace("PAD(resv2,", "PAD(new_member,") for row in rows]
        rows[-1] += " LATE(u64, new_member, 1, IBSA_NO_BIT, dec)"
    elif way == "LARGER":
        rows[-1] += " F(u64, new_member, 64, IBSA_NO_BIT, dec)"
    else:
        last = max(at for at, row in enumerate(rows) if "\tF(" in row)
        rows[last] = "\t\\" if last < len(rows) - 1 else ""
    return text.replace(table, "\n".join(rows) + "\n")


def headers_change(folder, way, growing):
    """Change the structs in @growing in copies of headers. Return: those that were
    found."""
    found = set()

    def struct(match):
        if match[1] not in growing:
            return match[0]
        found.add(match[1])
        return f"struct ibsa_{match[1]} {{\n{changed(*match.groups(), way)}}};"

    for name in os.listdir(folder):
        if not name.endswith(".h"):
            continue
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            text = bare(file.read())
        text = re.sub(r"struct ibsa_(\w+) \{\n([^{}]*)\n\};", struct, text)
        if name == "records.h":
            for record in ("PORT_INFO", "NODE", "LFT", "MFT"):
                if way == "LARGER" or record == "PORT_INFO":
                    text = table_change(text, record, way)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return found


def structs_defined(include):
    return {name for _, text in headers.headers(include)
            for name in re.findall(r"^struct ibsa_(\w+) \{", text, re.M)}


def structs_fixed(page):
    """The structs that keep their size."""
    with open(page, encoding="utf-8") as file:
        text = file.read().partition(".Ss How the interface grows")[2]
    kept = re.search(r"These structures keep their size:(.*?)and those of", text, re.S)
    return set(re.findall(r"struct ibsa_(\w+)", kept[1]))


def unsized(names, growing):
    """Yield the functions that take a struct without its size."""
    for name, function in names.items():
        if function.is_callback or name.endswith("_sized") or \
                f"{name}_sized" in names or name == "ibsa_port_has_sm":
            continue
        for argument in function.arguments:
            found = re.match(r"(?:const )?struct ibsa_(\w+) \*+\w", argument)
            if found and found[1] in growing:
                yield f"{name}: {argument}"


def uncalled(names, programs):
    """Yield the functions with a size that the program does not call."""
    text = ""
    for program in programs:
        with open(program, encoding="utf-8") as file:
            text += file.read()
    for name in names:
        called = headers.called(name)
        if called != name and called not in NOT_CALLED and \
                not re.search(rf"\b{called}\(", text):
            yield f"{called}(): the program does not call it"


def run(way, include, growing, build, fabric, sysfs):
    """Build and run the program with headers in which the structs in @growing are
    changed. Return: whether all is right."""
    with tempfile.TemporaryDirectory() as folder:
        copies = os.path.join(folder, "include")
        shutil.copytree(include, copies)
        if way:
            growing = growing - (set(LARGER_ONLY) if way == "SMALLER" else set())
            found = headers_change(os.path.join(copies, "ibsa"), way, growing)
            if found != growing:
                print(f"{way}: structs not found: {sorted(growing - found)}")
                return False
        binary = os.path.join(folder, "program")
        if subprocess.run([*build, *([f"-D{way}"] if way else []), "-I", copies,
                           "-o", binary], check=False).returncode:
            return False
        done = subprocess.run([binary, fabric], check=False, timeout=120,
                              env={**os.environ, "SYSFS_PATH": sysfs})
        print(f"{way or 'SAME'}: exit status {done.returncode}", flush=True)
        return done.returncode == 0


def main():
    compiler, include, page, fabric, sysfs, *rest = sys.argv[1:]
    programs = [name for name in rest if name.endswith(".c")]
    library = next(name for name in rest if ".so" in name)
    build = [compiler, *FLAGS, "-Wl,--as-needed", *rest, "-pthread",
             f"-Wl,-rpath,{os.path.dirname(os.path.abspath(library))}"]
    growing = structs_defined(include) - structs_fixed(page)
    names = headers.declared(include)
    wrong = [*unsized(names, growing - {*HANDED_OUT}), *uncalled(names, programs)]
    print("\n".join(wrong))
    good = [run(way, include, growing - {*NOT_CHANGED}, build, fabric, sysfs)
            for way in ("", "SMALLER", "LARGER")]
    return 0 if all(good) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
