#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs in the EXAMPLES of manual pages print what the pages show.

usage: man_examples.py CC INCLUDE-DIR COMMAND FABRIC-DIR MAN-DIR LIBRARY...
                      [FLAG...]

An example that has main() is a program. Each literal block after it whose first
line starts with "$ " shows commands and their output. The commands of a block run
in one shell, those of a page of section 8 all in the same shell. The program is
called example there, COMMAND is in PATH, and the fabrics of examples/fabrics are
in the current directory. FLAGs are those that the libraries were built with. The
test interface compiles the other examples.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from interface import examples

FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
TIMEOUT_S = 60


def page_flags(path, include):
    """The flags of pkg-config for the library of a page."""
    with open(path, encoding="utf-8") as file:
        is_compat = "libibsa-compat" in file.read().partition(".Sh SYNOPSIS")[0]
    return ["-I", os.path.join(include, "ibsa/compat")] if is_compat else []


def build(code, compiler, include, libraries, flags, folder):
    """Compile a program. Return: what the compiler complains of."""
    source = os.path.join(folder, "example.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(code)
    done = subprocess.run(
        [compiler, *FLAGS, *flags, "-I", include, source, "-Wl,--as-needed",
         *libraries, "-pthread",
         f"-Wl,-rpath,{os.path.dirname(os.path.abspath(libraries[0]))}",
         "-o", os.path.join(folder, "example")],
        text=True, check=False, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    return done.stdout if done.returncode else ""


def sessions(block):
    """Pairs of a command and the output that the block shows for it."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\") or command.endswith("|"):
            rest, _, output = output.partition("\n")
            command += "\n" + rest
        yield command, output


def outputs(commands, folder, ibsa):
    """What each command prints; all of them run in one shell."""
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("IBSA_")}
    folder_of_ibsa = os.path.dirname(os.path.abspath(ibsa))
    environment["PATH"] = f"{folder_of_ibsa}:{environment['PATH']}"
    script = "trap 'kill $(jobs -p) 2>/dev/null' EXIT\n"
    for command in commands:
        script += f"{command}\nstatus=$?; printf '\\0'; (exit $status)\n"
    done = subprocess.run(["bash", "-c", script], text=True, check=False,
                          cwd=folder, env=environment, timeout=TIMEOUT_S,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.split("\0")


def session_check(block, folder, ibsa):
    shown = list(sessions(block))
    printed = outputs([command for command, _ in shown], folder, ibsa)
    if len(printed) <= len(shown):
        yield "the shell ended before its last command"
    for (command, expected), output in zip(shown, printed):
        if output != expected:
            yield f"'{command}' prints\n{output}instead of\n{expected}"
        else:
            yield ""


def page_check(path, arguments, fabrics):
    """What is wrong with the examples of a page: "" for one that is right."""
    compiler, include, libraries, ibsa, flags = arguments
    flags = flags + page_flags(path, include)
    has_program = is_command = path.endswith(".8")
    commands = ""
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(fabrics):
            shutil.copy(os.path.join(fabrics, name), folder)
        for block in examples(path):
            if re.search(r"\bmain\(", block):
                has_program = True
                wrong = build(block, compiler, include, libraries, flags, folder)
                if wrong:
                    yield wrong
            elif block.startswith("$ "):
                if not has_program:
                    yield "shows a command before any program"
                if is_command:
                    commands += block
                else:
                    yield from session_check(block, folder, ibsa)
        if commands:
            yield from session_check(commands, folder, ibsa)


def main():
    compiler, include, ibsa, fabrics, pages, *rest = sys.argv[1:]
    libraries = [name for name in rest if not name.startswith("-")]
    flags = rest[len(libraries):]
    count = failures = 0
    for page in sorted(os.listdir(pages)):
        if not re.search(r"\.[378]$", page):
            continue
        for wrong in page_check(os.path.join(pages, page),
                                (compiler, include, libraries, ibsa, flags),
                                fabrics):
            count += 1
            if wrong:
                failures += 1
                print(f"{page}: {wrong}")
    print(f"{count} commands, {failures} failed")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
