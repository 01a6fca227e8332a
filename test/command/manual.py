#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the manual page ibsa(8) with the command.

usage: manual.py IBSA SCHEMAS PAGE

Each option in --help has an entry in the page, and each entry is an option; the
synopsis of a command has the options of its --help. The page names each member of
the JSON objects, other than fields of records.
"""
import json
import pathlib
import re
import subprocess
import sys

# Options that the help of several commands shows, but the manual page
# describes once.
OF_MANY = {"record"}


def options(text):
    """The long options in a help text."""
    return set(re.findall(r"^  (?:-\w, |    )--([a-z-]+)", text, re.M))


def letters(text):
    """The long option of each letter in a help text."""
    return dict(re.findall(r"^  -(\w), --([a-z-]+)", text, re.M))


def flags(lines, names):
    """The long options in lines of mdoc."""
    lines = [line for line in lines if "Fl " in line]
    found = {name for line in lines
             for name in re.findall(r"(?:Fl |, )-([a-z][a-z-]+)", line)}
    return found | {names[letter] for line in lines
                    for letter in re.findall(r"Fl (\w)\b", line)}


def section(page, title):
    """The lines of a section or subsection."""
    lines = page.splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith((".Sh", ".Ss"))]
    first = next(i for i in heads if lines[i][4:] == title)
    return lines[first + 1:next((i for i in heads if i > first), None)]


def synopsis(page, names):
    """Return the options in the SYNOPSIS, by command."""
    found = {}
    name = None
    for line in section(page, "SYNOPSIS"):
        if line == ".Nm":
            name = None
        elif line.startswith(".Cm ") and not name:
            name = line.split()[1]
        if name:
            found.setdefault(name, set()).update(flags([line], names))
    return found


class Test:
    def __init__(self, ibsa, schemas, page):
        self.ibsa = ibsa
        self.schemas = pathlib.Path(schemas)
        self.page = pathlib.Path(page).read_text("utf-8")
        self.failed = 0

    def same(self, what, one, other):
        """Report the names that only the page has, and those that only the
        command has."""
        for name in sorted(one - other):
            self.failed += 1
            print(f"FAIL: {what}: the page lacks {name}")
        for name in sorted(other - one):
            self.failed += 1
            print(f"FAIL: {what}: the page has {name}, the command does not")

    def help(self, *args):
        run = subprocess.run([self.ibsa, *args, "--help"], check=True,
                             capture_output=True, text=True)
        return run.stdout

    def check_options(self):
        entries = [line for line in section(self.page, "Options")
                   if line.startswith(".It Fl")]
        self.same("options", options(self.help()),
                  flags(entries, letters(self.help())))

    def check_synopsis(self):
        commands = re.findall(r"^  ([a-z-]+)  ", self.help(), re.M)
        helps = {name: options(self.help(name)) for name in commands}
        # Options of more than half of the commands; not every command takes all
        # of these.
        common = OF_MANY | {
            name for name in set.union(*helps.values())
            if 2 * sum(name in own for own in helps.values()) > len(commands)}
        found = synopsis(self.page, letters(self.help()))
        self.same("commands", set(commands), set(found))
        for name in commands:
            if name != "fabric":  # each action has its own
                self.same(f"synopsis of {name}", helps[name] - common,
                          found.get(name, set()))

    def words(self, name):
        """The words of the paragraphs about the rows of this name."""
        text = "\n".join(section(self.page, "JSON and CSV output"))
        name = name.removesuffix("-for").removesuffix("-matrix")
        about = re.compile(r"^(Objects|Events) of\n(\.Cm .*\n(and\n)?)*"
                           rf"\.Cm {name.replace('-', '[ -]')}$", re.M)
        text = " ".join(part for part in text.split("\n.Pp\n")
                        if about.search(part))
        return set(re.findall(r"[a-z][a-z0-9_]+", text))

    def check_members(self):
        for path in sorted(self.schemas.glob("*.json")):
            if path.stem in ("path", "query", "service"):
                continue  # fields of records
            schema = json.loads(path.read_text("utf-8"))
            for name, definition in schema["$defs"].items():
                if name in ("fabric-run", "fabric-serve"):
                    continue  # the line when a server is ready
                words = self.words(name)
                members = {re.sub("_text$", "", member) for member in
                           definition.get("items", definition)["required"]}
                self.same(f"objects of {name}", members,
                          {member for member in members if member in words or
                           "peer_" in words and
                           member.removeprefix("peer_") in words})


def main():
    test = Test(*sys.argv[1:])
    test.check_options()
    test.check_synopsis()
    test.check_members()
    print(f"{test.failed} failed")
    return test.failed != 0


if __name__ == "__main__":
    sys.exit(main())
