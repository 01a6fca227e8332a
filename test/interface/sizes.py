#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs of older and newer headers run with the library that was built.

usage: sizes.py CC INCLUDE-DIR PROGRAM.c FABRIC LIBRARY... [FLAG...]

PROGRAM.c is compiled with three sets of headers: those of INCLUDE-DIR; copies in
which the last member of each struct that crosses the interface is missing, with
-DSMALLER; and copies in which each has a further member, new_member or
new_operation, with -DLARGER. PortInfo loses its last field, or gets a field. Each
program runs with LIBRARY on FABRIC. FLAGs are those that the libraries were built
with.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]

# struct ibsa_fabric_port grows with its last member.
STRUCTS = """
    options query stats port_state path_options reach_options reach_answer
    reason event event_options service_options registration_report reply
    topology_options topology_info topology_node topology_port finding
    trace_hop fabric_options fabric_info fabric_stats fabric_node fabric_end
    fabric_finding fabric_port_change fault transport_ops fabric_server_options
    fabric_server_stats responder_options responder_info
""".split()

OPERATION = "int (*new_operation)(struct ibsa_transport *transport);"


def bare(text):
    """A header without comments."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def members(body):
    """The declarations of a struct without inner braces."""
    return [one.strip() for one in body.split(";") if one.strip()]


def changed(name, body, way):
    lines = members(body)
    if way == "SMALLER":
        if len(lines) > 1:
            lines.pop()
    elif name == "transport_ops":
        lines.append(OPERATION.rstrip(";"))
    else:
        lines.append("uint64_t new_member")
    return "".join(f"\t{one};\n" for one in lines)


def port_info(text, way):
    """The table of PortInfo without its last field, or with another."""
    table = re.search(r"#define IBSA_PORT_INFO_FIELDS(?:.*\\\n)*.*\n", text)[0]
    rows = table.rstrip("\n").split("\n")
    if way == "LARGER":
        rows[-1] += " F(u64, new_field, 64, IBSA_NO_BIT, dec)"
    else:
        last = max(at for at, row in enumerate(rows) if "\tF(" in row)
        rows[last] = "\t\\" if last < len(rows) - 1 else ""
    return text.replace(table, "\n".join(rows) + "\n")


def headers_change(folder, way):
    """Change the copies of headers. Return: the structs that were found."""
    found = []

    def struct(match):
        if match[1] not in STRUCTS:
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
            text = port_info(text, way)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return found


def run(way, compiler, include, program, fabric, libraries, flags):
    """Build and run the program. Return: whether all is right."""
    with tempfile.TemporaryDirectory() as folder:
        headers = os.path.join(folder, "include")
        shutil.copytree(include, headers)
        if way:
            found = headers_change(os.path.join(headers, "ibsa"), way)
            missing = set(STRUCTS) - set(found)
            if missing or len(found) != len(STRUCTS):
                print(f"{way}: structs not found: {sorted(missing)}")
                return False
        binary = os.path.join(folder, "program")
        build = subprocess.run(
            [compiler, *FLAGS, *flags, *([f"-D{way}"] if way else []),
             "-I", headers, program, "-Wl,--as-needed", *libraries,
             f"-Wl,-rpath,{os.path.dirname(os.path.abspath(libraries[0]))}",
             "-pthread", "-o", binary], check=False)
        if build.returncode:
            return False
        done = subprocess.run([binary, fabric], check=False, timeout=120)
        print(f"{way or 'SAME'}: exit status {done.returncode}", flush=True)
        return done.returncode == 0


def main():
    compiler, include, program, fabric, *rest = sys.argv[1:]
    libraries = [name for name in rest if not name.startswith("-")]
    flags = rest[len(libraries):]
    good = [run(way, compiler, include, program, fabric, libraries, flags)
            for way in ("", "SMALLER", "LARGER")]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
