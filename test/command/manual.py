#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the manual pages ibsa(8) and ibsa-COMMAND(8) with the command.

usage: manual.py IBSA SCHEMAS MAN-DIR

Each command has a page, with the sentence of its --help. Each option in --help has
an item on exactly one of two pages: that of the command, which then has it in its
synopsis, or ibsa(8), which the page of the command then lists; and each item is
about such an option. The page names each member of the JSON objects, other than
fields of records.
"""
import json
import pathlib
import re
import subprocess
import sys


def options(text):
    """The options in a help text: for each long option, its letter or None, and
    whether it has a value."""
    found = re.findall(r"  (?:-(\w), )?--([a-z-]+)( \S+)?",
                       text.partition("\noptions")[2])
    return {name: (letter or None, bool(value))
            for letter, name, value in found}


def items(page):
    """The options that have an item, in the form of options()."""
    found = {}
    for line in page.splitlines():
        head = re.match(r"\.It Fl (?:(\w)(?: Ar \w+)? , Fl )?-([a-z-]+)(.*)",
                        line)
        if head:
            letter, name, rest = head.groups()
            assert name not in found, f"two items about {name}"
            found[name] = (letter, bool(rest))
    return found


def section(page, title):
    """The text of a section or subsection."""
    found = re.search(rf"^\.S[hs] {title}\n(.*?)(?=^\.S[hs] |\Z)", page,
                      re.M | re.S)
    return found[1] if found else ""


def flags(text, letters):
    """The long options that lines of mdoc name."""
    found = set()
    for words in re.findall(r"Fl ((?:-?[\w-]+(?: , |))+)", text):
        for word in words.split(" , "):
            found.add(word[1:] if word[0] == "-" else letters[word])
    return found


class Test:
    def __init__(self, ibsa, schemas, pages):
        self.ibsa = ibsa
        self.schemas = pathlib.Path(schemas)
        self.pages = {path.stem: path.read_text("utf-8")
                      for path in pathlib.Path(pages).glob("ibsa*.8")
                      if path.stem == "ibsa" or path.stem.startswith("ibsa-")}
        self.failed = 0
        self.common = items(section(self.pages["ibsa"], "Options"))
        self.rows = self.commands()
        self.helps = {name: options(self.help(name)) for name in self.rows}
        self.letters = {letter: name for shown in self.helps.values()
                        for name, (letter, _) in shown.items() if letter}

    def same(self, what, one, other):
        """Report the names that only the page has, and those that only the
        command has."""
        one, other = set(one), set(other)
        for name in sorted(map(str, one - other)):
            self.failed += 1
            print(f"FAIL: {what}: the page lacks {name}")
        for name in sorted(map(str, other - one)):
            self.failed += 1
            print(f"FAIL: {what}: the page has {name}, the command does not")

    def help(self, *args):
        run = subprocess.run([self.ibsa, *args, "--help"], check=True,
                             capture_output=True, text=True)
        return run.stdout

    def commands(self):
        """The commands, each with its sentence."""
        listed = self.help().partition("\ncommands:\n")[2]
        return dict(re.findall(r"^  ([a-z-]+) +(.*)",
                               listed.partition("\n\n")[0], re.M))

    def check_options(self, name, page):
        text = section(page, "OPTIONS")
        own = items(text)
        listed = flags(text.partition(".Bl ")[0], self.letters)
        self.same(f"options of {name}", self.helps[name].items(),
                  {**own, **{one: self.common.get(one, "no item")
                             for one in listed}}.items())
        self.same(f"options of {name} that are also in ibsa(8)",
                  set(), set(own) & set(self.common))
        if name != "fabric":  # each action has its own
            self.same(f"synopsis of {name}", own,
                      flags(section(page, "SYNOPSIS"), self.letters))

    def check_arguments(self, name, page):
        """The synopsis has the names in the usage line, other than those that
        stand for a word of a list."""
        usage = self.help(name).partition("\n")[0]
        names = set(re.findall(r"[A-Z]+", usage)) - {
            "OPTION", "METHOD", "ACTION", "ARGUMENT"}
        found = re.findall(r"\bAr ([a-z]+(?: [a-z]+)*)",
                           section(page, "SYNOPSIS"))
        words = " ".join(found).upper().split()
        self.same(f"arguments of {name}", names, names & set(words))

    def check_pages(self):
        self.same("commands", {f"ibsa-{name}" for name in self.rows},
                  set(self.pages) - {"ibsa"})
        every = set(options(self.help())).union(*self.helps.values())
        described = set(self.common)
        for name, sentence in self.rows.items():
            page = self.pages.get(f"ibsa-{name}", "")
            self.same(f"NAME of {name}", {sentence},
                      re.findall(r"^\.Nd (.*)", page, re.M))
            self.check_options(name, page)
            self.check_arguments(name, page)
            described |= set(items(section(page, "OPTIONS")))
        self.same("options", every, described)

    def words(self, name):
        """The words of the paragraphs about the rows of this name."""
        name = name.removesuffix("-for").removesuffix("-matrix")
        page = next((page for stem, page in self.pages.items()
                     if f"{name}-".startswith(stem[len("ibsa-"):] + "-")), "")
        about = re.compile(r"^(Objects|Events) of\n\.Nm ibsa Cm "
                           rf"{name.replace('-', '[ -](Fl -)?')}$", re.M)
        text = " ".join(part for part in
                        section(page, "JSON OBJECTS").split("\n.Pp\n")
                        if about.search(part))
        return set(re.findall(r"[a-z][a-z0-9_]+", text))

    def check_members(self):
        for path in sorted(self.schemas.glob("*.json")):
            if path.stem in ("path", "query", "service"):
                continue  # fields of records
            schema = json.loads(path.read_text("utf-8"))
            for name, definition in schema["$defs"].items():
                if name in ("fabric-run", "fabric-serve", "fabric-sysfs"):
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
    test.check_pages()
    test.check_members()
    print(f"{test.failed} failed")
    return test.failed != 0


if __name__ == "__main__":
    sys.exit(main())
