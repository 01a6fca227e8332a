#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs of older and newer headers run with the library that was built.

usage: sizes.py CC INCLUDE-DIR PROGRAM.c FABRIC SYSFS MAN LIBRARY... [FLAG...]

PROGRAM.c is compiled with three sets of headers: those of INCLUDE-DIR; copies in
which the last member of each struct that crosses the interface is missing, with
-DSMALLER; and copies in which each has a further member, new_member or
new_operation, with -DLARGER. PortInfo loses its last field, or gets a field in
reserved bits;
NodeRecord and LinearForwardingTableRecord get a field. Each program runs with
LIBRARY on FABRIC, with the devices of the tree SYSFS. FLAGs are those that the
libraries were built with.

Also checks that each function that takes a struct has a NAME_sized(), unless the
library hands out the struct, or MAN, the page ibsa(7), says that it keeps its size.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from interface import headers

FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]

# struct ibsa_fabric_port grows with its last member.
STRUCTS = """
    options query stats port_state path_options reach_options reach_answer
    reason event event_options service_options registration_report reply
    topology_options topology_info topology_node topology_port finding
    trace_hop fabric_options fabric_info fabric_stats fabric_node fabric_end
    fabric_finding fabric_port_change fault transport_ops fabric_server_options
    fabric_server_stats responder_options responder_info
    verbs_options ib_device_options port
""".split()

# What the library hands out, whose last member programs need.
LARGER_ONLY = ["device", "device_list", "trace", "trace_tree", "gid_list"]
HANDED_OUT = ["port", "reply", *LARGER_ONLY]

OPERATION = "int (*new_operation)(struct ibsa_transport *transport);"


def bare(text):
    """A header without comments."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def members(body):
    """The declarations of a struct without inner braces."""
    return [one.strip() for one in body.split(";") if one.strip()]


def changed(name, body, way):
    lines = [one for one in members(body) if " reserved[" not in one]
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
        rows = [row.replace("PAD(resv2,", "PAD(new_field,") for row in rows]
        rows[-1] += " LATE(u64, new_field, 1, IBSA_NO_BIT, dec)"
    elif way == "LARGER":
        rows[-1] += " F(u64, new_field, 64, IBSA_NO_BIT, dec)"
    else:
        last = max(at for at, row in enumerate(rows) if "\tF(" in row)
        rows[last] = "\t\\" if last < len(rows) - 1 else ""
    return text.replace(table, "\n".join(rows) + "\n")


def headers_change(folder, way):
    """Change the copies of headers. Return: the structs that were found."""
    found = []

    def struct(match):
        if match[1] not in STRUCTS and \
                (way == "SMALLER" or match[1] not in LARGER_ONLY):
            return match[0]
        found.append(match[1])
        return f"struct ibsa_{match[1]} {{\n{changed(*match.groups(), way)}}};"

    for name in os.listdir(folder):
        if not name.endswith(".h"):
            continue
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            text = bare(file.read())
        text = re.sub(r"struct ibsa_(\w+) \{\n([^{}]*)\n\};", struct, text)
        if name == "records.h":
            for record in ("PORT_INFO", "NODE", "LFT"):
                if way == "LARGER" or record == "PORT_INFO":
                    text = table_change(text, record, way)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return found


def unsized(include, page):
    """Yield the functions that take a struct without its size."""
    with open(page, encoding="utf-8") as file:
        text = file.read().partition(".Ss How the interface grows")[2]
    kept = re.search(r"These structures keep their size:(.*?)and those of", text, re.S)
    fixed = set(re.findall(r"struct ibsa_(\w+)", kept[1]))
    defined = set()
    for _, text in headers.headers(include):
        defined |= set(re.findall(r"^struct ibsa_(\w+) \{", text, re.M))
    names = headers.declared(include)
    for name, function in names.items():
        if function.is_callback or name.endswith("_sized") or \
                f"{name}_sized" in names or name == "ibsa_port_has_sm":
            continue
        for argument in function.arguments:
            found = re.match(r"(?:const )?struct ibsa_(\w+) \*+\w", argument)
            if found and found[1] in defined - fixed - {*HANDED_OUT}:
                yield f"{name}: {argument}"


def run(way, compiler, include, program, fabric, sysfs, libraries, flags):
    """Build and run the program. Return: whether all is right."""
    with tempfile.TemporaryDirectory() as folder:
        copies = os.path.join(folder, "include")
        shutil.copytree(include, copies)
        if way:
            found = headers_change(os.path.join(copies, "ibsa"), way)
            missing = set(STRUCTS) - set(found)
            if missing:
                print(f"{way}: structs not found: {sorted(missing)}")
                return False
        binary = os.path.join(folder, "program")
        build = subprocess.run(
            [compiler, *FLAGS, *flags, *([f"-D{way}"] if way else []),
             "-I", copies, program, "-Wl,--as-needed", *libraries,
             f"-Wl,-rpath,{os.path.dirname(os.path.abspath(libraries[0]))}",
             "-pthread", "-o", binary], check=False)
        if build.returncode:
            return False
        done = subprocess.run([binary, fabric], check=False, timeout=120,
                              env={**os.environ, "SYSFS_PATH": sysfs})
        print(f"{way or 'SAME'}: exit status {done.returncode}", flush=True)
        return done.returncode == 0


def main():
    compiler, include, program, fabric, sysfs, page, *rest = sys.argv[1:]
    libraries = [name for name in rest if not name.startswith("-")]
    flags = rest[len(libraries):]
    good = [run(way, compiler, include, program, fabric, sysfs, libraries,
                flags) for way in ("", "SMALLER", "LARGER")]
    wrong = list(unsized(include, page))
    print("\n".join(wrong))
    return 0 if all(good) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
