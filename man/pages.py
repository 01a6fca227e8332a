#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Completes the sources of manual pages from the headers of ibsa.

usage: pages.py INCLUDE-DIR OUTPUT-DIR MAP... PAGE... ALIAS=PAGE...

In a page of section 3, inserts LIBRARY, unless the source has one, and the
functions of its NAME at the begin of SYNOPSIS, with the callback types that they
take: the libraries are those whose MAPs have the functions. In all pages,
replaces @DEFAULT_X@ by the value of IBSA_DEFAULT_X, and the line
@ARGUMENTS NAME...@ by a list of the arguments of functions, or the members of
structs, from their doc comments. An ALIAS becomes a page that includes another.
"""

import fnmatch
import os
import re
import sys

import headers

LIBRARIES = {
    "libibsa": "InfiniBand Subnet Administration client library",
    "libibsa-fabric": "Embedded InfiniBand fabric",
    "libibsa-compat":
        "Functions with the names of the Linux kernel and libibverbs",
}

WIDTH = 80


def names_of(page):
    """The functions that the NAME of a page lists."""
    head = page.partition("\n.Sh NAME\n")[2].partition("\n.Sh ")[0]
    return re.findall(r"^\.Nm (\w+)", head, re.M)


def quoted(text):
    return f'"{text}"' if " " in text else text


def prototype(declaration):
    """The lines of SYNOPSIS for a function or a callback type."""
    name, result = declaration.name, declaration.returns
    if declaration.is_callback:
        name, result = f"(*{name})", f"typedef {result}"
        yield f".Ft {result}"
    else:
        yield f".Ft {quoted(result) if '*' in result else result}"
    arguments = [quoted(one) for one in declaration.arguments]
    line = " ".join([".Fn", quoted(name), *arguments])
    if len(line) <= WIDTH:
        yield line
        return
    yield f".Fo {name}"
    yield from (f".Fa {one}" for one in arguments)
    yield ".Fc"


def callbacks(declaration, declared):
    """The callback types that a function takes."""
    words = re.findall(r"\w+", " ".join(declaration.arguments))
    return [declared[word] for word in words
            if word in declared and declared[word].is_callback]


def synopsis(names, declared):
    """The functions and callback types of a page, in the order of the names,
    those of each header after its name."""
    shown = set()
    for header in dict.fromkeys(declared[name].header for name in names):
        yield f".In {header}"
        for name in names:
            if declared[name].header != header:
                continue
            for one in [declared[name], *callbacks(declared[name], declared)]:
                if one.name not in shown:
                    shown.add(one.name)
                    yield from prototype(one)


def owners(names, maps):
    """The libraries of functions, each with its functions."""
    found = {}
    for library, patterns in maps.items():
        own = [name for name in names
               if any(fnmatch.fnmatch(one, pattern) for pattern in patterns
                      for one in (name, name + "_sized"))]
        if own:
            found[library] = own
    return found


def library(names, maps):
    """The lines of LIBRARY. A library that has not most of the functions stands
    after the functions that it has."""
    found = owners(names, maps) or {"libibsa": names}
    first, *others = sorted(found, key=lambda one: -len(found[one]))
    for one in [first, *others]:
        if one != first:
            yield ".Pp"
            yield from (f".Fn {name} ," for name in found[one][:-1])
            yield f".Fn {found[one][-1]} :"
        yield f"{LIBRARIES[one]} ({one}, \\-l{one[3:]})"


# Words of doc comments that have a macro.
MARKS = re.compile(r"""(\()?(?:(?P<Fn>[a-z_]\w+)\(\)|@(?P<Fa>\w+)|-(?P<Er>E[A-Z]\w+)|
    (?P<Dv>NULL|IBSA_\w+|GFP_\w+)|(?P<Vt>struct~\w+))((?:[.,;:)]|'s)*)""", re.X)


def mark(found, names):
    """A word of a doc comment as a line of roff."""
    before, after = found[1], found[found.re.groups]
    kind, word = found.lastgroup, found[found.lastgroup]
    after = f" Ns {after}" if after.startswith("'") else " ".join(after)
    if kind == "Fn" and word not in names:
        kind, word = "Xr", f"{word} 3"
    macro = {"Er": "Fl Er"}.get(kind, kind)
    word = quoted(word.replace("~", " "))
    return " ".join(filter(None, [f".{macro}", before, word, after]))


def in_roff(text, names):
    """The lines of sentences in a doc comment; @names are those of the page."""
    lines, words = [], []
    text = re.sub(r"\bstruct\s+(?=\w)", "struct~", text)
    for word in text.split():
        found = MARKS.fullmatch(word)
        ends = found or re.search(r"[.;:]$", word)
        if not found:
            words.append(word.replace("\\", "\\e").replace("-", "\\-"))
        if words and ends:
            lines.append(" ".join(words))
            words = []
        if found:
            lines.append(mark(found, names))
    return lines + ([" ".join(words)] if words else [])


def described(comment):
    """Pairs of the arguments or members that a doc comment describes together,
    and the text."""
    part = comment.partition("\n\n")[0].partition("\n@")[2]
    for one in re.split(r"^@", part, flags=re.M):
        names, _, text = one.partition(":")
        yield re.findall(r"\w+", names), text


def arguments(wanted, include, names):
    """A list of what the doc comments of functions or structs describe."""
    shown = []
    yield '.Bl -tag -width "first_interval_ms"'
    for _, text in headers.headers(include):
        for head, comment in headers.all_comments(text):
            if not set(head) & set(wanted):
                continue
            for members, words in described(comment):
                if members not in shown:
                    shown.append(members)
                    yield ".It Fa " + " , ".join(members)
                    yield from in_roff(words, names)
    yield ".El"


def completed(page, include, declared, maps):
    names = names_of(page)
    page = re.sub(r"@(DEFAULT_\w+)@",
                  lambda found: headers.defaults(include)[found[1]], page)
    page = re.sub(r"^@ARGUMENTS (.*)@$", lambda found: "\n".join(
        arguments(found[1].split(), include, names)), page, flags=re.M)
    own = [name for name in names if name in declared]
    if not own:
        return page
    head, _, rest = page.partition("\n.Sh DESCRIPTION\n")
    head, _, by_hand = head.partition("\n.Sh SYNOPSIS\n")
    lines = [head]
    if ".Sh LIBRARY" not in head:
        lines += [".Sh LIBRARY", *library(own, maps)]
    lines += [".Sh SYNOPSIS", *synopsis(own, declared)]
    if by_hand:
        lines.append(by_hand)
    return "\n".join([*lines, ".Sh DESCRIPTION", rest])


def write(folder, name, page):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(page)


def main():
    include, folder, *files = sys.argv[1:]
    maps = {os.path.basename(path).partition(".map")[0]:
            list(headers.exported(path))
            for path in files if path.endswith(".map")}
    declared = headers.declared(include)
    for path in files[len(maps):]:
        alias, _, other = path.partition("=")
        if other:
            write(folder, alias, f".so man{other[-1]}/{other}\n")
            continue
        with open(path, encoding="utf-8") as file:
            page = completed(file.read(), include, declared, maps)
        write(folder, os.path.basename(path), page)


if __name__ == "__main__":
    main()
