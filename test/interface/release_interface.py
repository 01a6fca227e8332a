#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the headers of an earlier release with those of this version.

usage: release_interface.py CC RELEASE-INCLUDE INCLUDE-DIR MAN

Each function of the release has the same arguments, each struct the same members at
the same places, and each constant the same value. Structs may grow at their ends,
but not those that MAN, the page ibsa(7), lists.
"""

import os
import re
import subprocess
import sys
import tempfile

from interface import headers
from sizes import structs_fixed

# The last constants of enumerations, which are the numbers of the others.
COUNTS = {"IBSA_FAULT_KINDS", "IBSA_SM_PROFILES"}

# Macros that are not the same in each release.
CHANGING = r"IBSA_(VERSION_NUMBER$|DEFAULT_|_)"

PROGRAM = r"""
%s
#include <stdio.h>
#define SHOW(value) printf("%%s\t%%lld\n", #value, (long long)(value))
#define PLACE(type, member) printf("%%s: %%s\t%%zu bytes at %%zu\n", #type, #member, \
	sizeof(((type *)0)->member), offsetof(type, member))
int main(void) { %s return 0; }
"""


def run(*command, text=None):
    return subprocess.run(command, input=text, text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def included(include):
    return "".join(f"#include <{name}>\n" for name, _ in headers.headers(include))


def preprocessed(compiler, include, option):
    return run(compiler, "-std=c11", "-E", option, "-I", include, "-x", "c", "-",
               text=included(include))


def own(include):
    """The tags of structs and enumerations that the headers define."""
    return {name for _, text in headers.headers(include)
            for name in re.findall(r"^(?:struct|enum) (\w+) \{", text, re.M)}


def bodies(text, keyword):
    """Yield the tag of each struct or enumeration, and its text between braces."""
    for found in re.finditer(rf"\b{keyword} (\w+) \{{", text):
        depth, end = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield found[1], text[found.end():end - 1]


def members(body):
    """The names of the members of a struct, without those of inner ones."""
    while re.search(r"\{[^{}]*\}", body):
        body = re.sub(r"\{[^{}]*\}", "", body)
    for one in body.split(";"):
        if not re.fullmatch(r"\s*(union|struct)?\s*", one):
            yield from headers.names_of(headers.split_arguments(
                re.sub(r"__attribute__\s*\(\(.*?\)\)", "", one)))


def constants(body):
    return [re.match(r"\s*(\w+)", one)[1] for one in body.split(",") if one.strip()]


def program(compiler, include):
    """A program that prints the places of all members and the values of all
    constants, each with its name."""
    text = preprocessed(compiler, include, "-P")
    named = own(include)
    lines = []
    for tag, body in bodies(text, "struct"):
        if tag not in named and not tag.startswith("ibsa_"):
            continue
        lines.append(f"SHOW(sizeof(struct {tag}));")
        lines += [f"PLACE(struct {tag}, {one});" for one in members(body)]
    for tag, body in bodies(text, "enum"):
        if tag in named or tag.startswith("ibsa_"):
            lines += [f"SHOW({one});" for one in constants(body)]
    return PROGRAM % (included(include), "\n".join(lines))


def layout(compiler, include):
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "program")
        run(compiler, "-std=gnu11", "-I", include, "-x", "c", "-", "-o", binary,
            text=program(compiler, include))
        return dict(line.split("\t") for line in run(binary).splitlines())


def macros(compiler, include):
    """The macros that stand for numbers."""
    text = preprocessed(compiler, include, "-dM")
    return {name: value for name, value in
            re.findall(r"^#define (IBSA_\w+) (.*)", text, re.M)
            if re.match(r"[-(\d]|UINT", value) and not re.match(CHANGING, name)}


def unnamed(argument):
    """The type of an argument."""
    name = headers.last_name(argument)
    return re.sub(rf"\b{name}\b", "", argument) if name else argument


def functions(include):
    return {name: (one.returns, [*map(unnamed, one.arguments)])
            for name, one in headers.declared(include).items()
            if "__" not in name}


def differences(before, after):
    """Yield what was removed or has changed."""
    for name, value in before.items():
        if name not in after:
            yield f"{name}: is missing"
        elif after[name] != value:
            yield f"{name}: was {value}, is {after[name]}"


def places_compare(before, after, fixed):
    """Yield the differences of two layouts; sizes and counts may grow."""
    for name, value in before.items():
        sized = re.match(r"sizeof\(struct ibsa_(\w+)", name)
        may_grow = name in COUNTS or (sized and sized[1] not in fixed)
        if may_grow and int(after.get(name, 0)) > int(value):
            continue
        yield from differences({name: value}, after)


def main():
    compiler, release, include, page = sys.argv[1:]
    before, after = layout(compiler, release), layout(compiler, include)
    wrong = [*differences(functions(release), functions(include)),
             *differences(macros(compiler, release), macros(compiler, include)),
             *places_compare(before, after, structs_fixed(page))]
    print("\n".join(wrong))
    print(f"{len(functions(release))} functions, {len(macros(compiler, release))} "
          f"macros, {len(before)} members and constants: {len(wrong)} differences")
    return 1 if wrong or len(before) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
