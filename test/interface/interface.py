#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares headers, exported names and manual pages.

usage: interface.py CC INCLUDE-DIR MAN-DIR LIBRARY... MAP... NAME.SECTION...

Every function that a header of ibsa declares is exported by one library, under
a node with a number in its map, and has a manual page or an alias of
one, whose LIBRARY names that library; every exported name is declared, there or
in a header of rdma-core that ibsa implements; ibsa(7) names each page of section 3,
and the examples of these pages compile. There are as many maps as libraries, in the
same order; their names end in ".map", and those of libraries contain ".so".
"""

import fnmatch
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../man"))

import headers  # noqa: E402 pylint: disable=wrong-import-position

# Compiler flags for an example. A page shows one function of a program, so that
# nothing calls this function.
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror",
         "-Wno-unused-function", "-fsyntax-only"]

# Headers for an example that includes no header itself.
HEADERS = "".join(f"#include <{name}>\n" for name in (
    "errno.h", "poll.h", "stdio.h", "stdlib.h", "string.h", "sys/epoll.h",
    "ibsa/device.h", "ibsa/event.h", "ibsa/fabric.h", "ibsa/ib_sa.h",
    "ibsa/ibsa.h", "ibsa/reach.h", "ibsa/responder.h", "ibsa/server.h",
    "ibsa/service.h", "ibsa/text.h", "ibsa/topology.h",
    "ibsa/verbs.h"))


# Headers of others whose functions we export. Their package has pages of these
# names too, so that to be among the names of one of ours is enough.
BORROWED = ["infiniband/umad.h", "infiniband/umad_str.h"]


def run(*command, text=None):
    return subprocess.run(command, input=text, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def own_lines(compiler, include, header, folder="/ibsa/"):
    """Yield the preprocessed lines of the header itself, without those of
    headers that it includes."""
    done = run(compiler, "-E", "-I", include, "-x", "c", "-",
               text=f"#include <{header}>\n")
    if done.returncode:
        sys.exit(done.stderr)
    here = False
    for line in done.stdout.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            here = os.path.basename(marker[1]) == os.path.basename(header) \
                and folder in marker[1]
        elif here:
            yield line


def functions_of(lines):
    """Pairs of a function's name and whether it is defined there."""
    text = " ".join(lines)
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", ";", text)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", text)
    for statement in text.split(";"):
        found = re.match(r"\s*(?!typedef)([\w\s*]*?)(\w+)\s*\(", statement)
        if found and found[1].strip() and found[2] != "void":
            yield found[2], "inline" in found[1]


def declared(compiler, include):
    """Functions that the headers declare, and those that they define."""
    functions, inlines = set(), set()
    for name in sorted(os.listdir(os.path.join(include, "ibsa"))):
        if not name.endswith(".h"):
            continue
        lines = own_lines(compiler, include, f"ibsa/{name}")
        for function, inline in functions_of(lines):
            (inlines if inline else functions).add(function)
    return functions, {name for name in inlines if "__" not in name}


def borrowed(compiler, include):
    names = set()
    for header in BORROWED:
        lines = own_lines(compiler, include, header, "/infiniband/")
        names |= {name for name, inline in functions_of(lines) if not inline}
    return names


def names_of(folder, pages):
    """What the NAME sections of the pages list."""
    for page in pages:
        path = os.path.join(folder, page)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                head = file.read().partition(".Sh NAME")[2]
            head = head.partition("\n.Sh ")[0]
            yield from re.findall(r"^\.Nm (\w+)", head, re.M)


def defined(library):
    done = run("nm", "-D", "--defined-only", library)
    if done.returncode:
        sys.exit(done.stderr)
    return {line.split()[-1].split("@")[0]: line.split()[-2]
            for line in done.stdout.splitlines()}


def examples(path):
    """The code of a page's EXAMPLES."""
    with open(path, encoding="utf-8") as file:
        text = file.read().partition(".Sh EXAMPLES")[2].partition("\n.Sh ")[0]
    for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text,
                            re.S | re.M):
        yield block.replace("\\e", "\\").replace("\\-", "-").replace("\\&", "")


def examples_check(compiler, include, folder, pages):
    for page in pages:
        path = os.path.join(folder, page)
        if not page.endswith(".3") or not os.path.exists(path):
            continue
        for number, code in enumerate(examples(path), 1):
            # A command and its output, which man_examples.py checks.
            if code.startswith("$ "):
                continue
            if "#include" not in code:
                code = HEADERS + code
            done = run(compiler, *FLAGS, "-I", include, "-x", "c", "-",
                       text=code)
            if done.returncode:
                yield f"{page}: example {number}: {done.stderr.strip()}"


def references_check(folder, pages):
    for page in pages:
        path = os.path.join(folder, page)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            named = re.findall(r"\bXr (\S+) (\d)", file.read())
        for name, section in named:
            other = f"{name}.{section}"
            if re.match("ib_|ibsa|opa_|rdma_|sa_", name) and other not in pages:
                yield f"{page}: names {name}({section}), which is no page"


def overview_check(folder, pages):
    """ibsa(7) names each page of functions; an alias is no page of its own."""
    with open(os.path.join(folder, "ibsa.7"), encoding="utf-8") as file:
        named = set(re.findall(r"\bXr (\S+) 3", file.read()))
    for page in pages:
        path = os.path.join(folder, page)
        if not page.endswith(".3") or not os.path.exists(path) or page[:-2] in named:
            continue
        with open(path, encoding="utf-8") as file:
            if not file.read().startswith(".so "):
                yield f"ibsa.7: does not name {page}"


def exports_check(library, map_path, functions, documented):
    """Compare the exported names of a library with its map."""
    symbols = defined(library)
    for pattern in headers.exported(map_path):
        names = fnmatch.filter(symbols, pattern)
        if not names:
            yield f"{pattern}: in the map, but not in the library"
        for name in names:
            if symbols[name] == "T" and name not in functions:
                yield f"{name}: exported, but no header declares it"
            if headers.called(name) not in documented:
                yield f"{name}: has no manual page"


def library_check(folder, pages, exported):
    """Compare the LIBRARY of each page with the libraries that export the
    functions of the page: @exported has the patterns of each library."""
    for page in pages:
        path = os.path.join(folder, page)
        if not page.endswith(".3") or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            part = file.read().partition(".Sh LIBRARY")[2]
        shown = set(re.findall(r"\((\S+, \S+)\)", part.partition("\n.Sh ")[0]))
        names = list(names_of(folder, [page]))
        # The drop-in comes last: libibsa has two of its names, for ibsim.
        owners = {name: library for library, patterns in exported.items()
                  for one in map(headers.called, patterns)
                  for name in fnmatch.filter(names, one)}
        wanted = {f"{library}, \\-l{library[3:]}"
                  for library in owners.values()}
        if wanted and shown != wanted:
            yield (f"{page}: LIBRARY has {sorted(shown)}, functions are "
                   f"in {sorted(wanted)}")


def problems(compiler, include, folder, libraries, maps, pages):
    functions, inlines = declared(compiler, include)
    others = borrowed(compiler, include)
    documented = {page.rpartition(".")[0] for page in pages}
    documented |= others & set(names_of(folder, pages))
    exported = {}
    for library, map_path in zip(libraries, maps, strict=True):
        name = os.path.basename(library).partition(".so")[0]
        exported[name] = list(headers.exported(map_path))
        yield from exports_check(library, map_path, functions | others,
                                 documented)
    patterns = sum(exported.values(), [])
    yield from library_check(folder, pages, exported)
    for name in sorted(functions):
        count = sum(fnmatch.fnmatch(name, pattern) for pattern in patterns)
        if count != 1:
            yield f"{name}: declared, but in {count} maps"
        if name.endswith("_sized") and headers.called(name) not in inlines:
            yield f"{name}: no inline function calls it"
    for name in sorted({*map(headers.called, functions), *inlines} -
                       documented):
        yield f"{name}: has no manual page"
    yield from examples_check(compiler, include, folder, pages)
    yield from references_check(folder, pages)
    yield from overview_check(folder, pages)


def main():
    compiler, include, folder, *rest = sys.argv[1:]
    libraries = [name for name in rest if ".so" in name]
    maps = [name for name in rest if name.endswith(".map")]
    pages = rest[len(libraries) + len(maps):]
    found = sorted(set(problems(compiler, include, folder, libraries, maps,
                                pages)))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
