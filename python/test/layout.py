#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compare the module's structs, enums and functions with the headers.

usage: layout.py CC INCLUDE

The compiler preprocesses the headers, for the names, and checks offsets, sizes
and values by static assertions.
"""

import ctypes
import re
import subprocess
import sys
import tempfile

from ibsa import _native, _records, _selector, constants

HEADERS = "".join(f"#include <ibsa/{name}.h>\n" for name in (
    "ibsa", "event", "fabric", "reach", "server", "service", "text",
    "topology"))

# Our enum, the enum of C, and the start of its constants.
ENUMS = [
    (constants.Method, "ibsa_method", "IBSA_METHOD_"),
    (constants.Outcome, "ibsa_outcome", "IBSA_OUTCOME_"),
    (constants.Reach, "ibsa_reach", "IBSA_REACH_"),
    (constants.Why, "ibsa_why", "IBSA_WHY_"),
    (constants.Reason, "ibsa_reason_code", "IBSA_REASON_"),
    (constants.Grh, "ibsa_grh", "IBSA_GRH_"),
    (constants.EventKind, "ibsa_event_kind", "IBSA_EVENT_"),
    (constants.RegistrationEvent, "ibsa_registration_event",
     "IBSA_REGISTRATION_"),
    (constants.FaultKind, "ibsa_fault_kind", "IBSA_FAULT_"),
    (constants.SmProfile, "ibsa_sm_profile", "IBSA_SM_PROFILE_"),
    (constants.LinkLayer, "ibsa_link_layer", "IBSA_LINK_"),
    (constants.Change, "ibsa_fabric_change_bit", "IBSA_CHANGE_")]

# The last constants of enums, which are the numbers of the others.
COUNTS = {"IBSA_FAULT_KINDS", "IBSA_SM_PROFILES"}

SCALARS = {"int": ctypes.c_int, "unsigned int": ctypes.c_uint,
           "size_t": ctypes.c_size_t, "bool": ctypes.c_bool,
           "_Bool": ctypes.c_bool, "uint8_t": ctypes.c_uint8,
           "uint16_t": ctypes.c_uint16, "uint32_t": ctypes.c_uint32,
           "uint64_t": ctypes.c_uint64, "void": None}

wrong = []


def expect(is_right, what):
    if not is_right:
        wrong.append(what)


def compile_text(cc, include, text, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
        file.write(text)
        file.flush()
        return subprocess.run(
            [cc, f"-I{include}", "-std=gnu11", *options, file.name],
            capture_output=True, text=True, check=False)


def body(text, kind, name):
    found = re.search(rf"\b{kind} {name}\s*{{([^}}]*)}}", text)
    expect(found, f"no {kind} {name} in the headers")
    return found[1] if found else ""


def members(text, name):
    """Names of the members of a struct of C, without those for padding."""
    lines = [one.strip() for one in body(text, "struct", name).split(";")]
    names = []
    for line in filter(None, lines):
        pointer = re.search(r"\(\*(\w+)\)\(", line)
        names.append(pointer[1] if pointer else
                     re.search(r"(\w+)\s*(?:\[[^]]*\])?$", line)[1])
    return [one for one in names if not one.startswith("reserved")]


def struct_assertions(text):
    for name, ours in _native.STRUCTS.items():
        fields = [one[0] for one in ours._fields_
                  if not one[0].startswith("reserved")]
        expect(fields == members(text, name),
               f"struct {name} has {members(text, name)}, ours {fields}")
        yield f"sizeof(struct {name}) == {ctypes.sizeof(ours)}"
        for field in fields:
            place = getattr(ours, field)
            yield f"offsetof(struct {name}, {field}) == {place.offset}"
            yield f"sizeof(((struct {name} *)0)->{field}) == {place.size}"


def enum_assertions(text):
    for ours, name, start in ENUMS:
        found = re.findall(r"\b(IBSA_\w+)\b(?=\s*(?:=|,|$))",
                           body(text, "enum", name).strip())
        theirs = {one for one in found if one not in COUNTS}
        names = {start + one for one in ours.__members__}
        expect(names == theirs, f"enum {name}: {sorted(names ^ theirs)} differ")
        for one in ours:
            yield f"{start}{one.name} == {one.value}"
    for name in ("gid", "text", "blob", "mtu", "rate"):
        yield f"IBSA_SHOW_{name} == {getattr(_selector, 'SHOW_' + name.upper())}"
    for name in ("NO_BIT", "UNMASKED", "SELECT_GREATER", "SELECT_LESS",
                 "SELECT_EXACTLY"):
        yield f"IBSA_{name} == {getattr(_selector, name)}"
    yield f"IBSA_VALUE_TEXT <= {_records._VALUE_TEXT}"


def matches(declared, ours):
    """Whether a parameter or a result of C is of our type."""
    declared = re.sub(r"\bconst\b|__attribute__.*", "", declared).strip()
    is_pointer = "*" in declared or declared.startswith("ibsa_")
    if ours is not None and (ours in (ctypes.c_void_p, ctypes.c_char_p) or
                             hasattr(ours, "contents") or
                             ours is _native.Callback):
        return is_pointer
    if re.match(r"enum \w+", declared) and not is_pointer:
        return ours is ctypes.c_int
    bare = re.sub(r"\s+\w+$", "", declared)
    return not is_pointer and ours in (SCALARS.get(declared, 0),
                                       SCALARS.get(bare, 0))


def check_functions(text):
    for name, result, arguments in _native._WAITING + _native._SHORT:
        found = re.search(rf"([\w ]+[ *]){name}\(([^)]*)\)", text)
        if not found:
            expect(False, f"no function {name} in the headers")
            continue
        theirs = [one for one in found[2].split(",") if one.strip() != "void"]
        expect(matches(found[1], result), f"{name}: result is {found[1]}")
        expect(len(theirs) == len(arguments) and
               all(map(matches, theirs, arguments)),
               f"{name}: parameters are {theirs}")


def main():
    cc, include = sys.argv[1:]
    done = compile_text(cc, include, HEADERS, "-E", "-P")
    text = " ".join(done.stdout.split())
    check_functions(text)
    assertions = [*struct_assertions(text), *enum_assertions(text)]
    expect(len(assertions) > 300, f"only {len(assertions)} assertions")
    source = HEADERS + "#include <stddef.h>\n" + "".join(
        f'_Static_assert({one}, "Python");\n' for one in assertions)
    done = compile_text(cc, include, source, "-fsyntax-only")
    expect(done.returncode == 0, done.stderr)
    print("\n".join(wrong) or f"{len(assertions)} assertions hold")
    return bool(wrong)


sys.exit(main())
