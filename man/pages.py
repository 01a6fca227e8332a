#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Completes the sources of manual pages from the headers of ibsa.

usage: pages.py INCLUDE-DIR COMMAND-DEFAULTS OUTPUT-DIR MAP... PAGE... ALIAS=PAGE...

In a page of section 3, inserts LIBRARY, unless the source has one, and the
functions of its NAME at the begin of SYNOPSIS, with the callback types that they
take: the libraries are those whose MAPs have the functions. After DESCRIPTION,
inserts ARGUMENTS, a list of what the doc comments tell about the arguments of these
functions. @MEMBERS X@ at the begin of a list becomes the items about the members of
struct or enum X; an item of the same name in the source adds to the header's. In all
pages, replaces @DEFAULT_X@ by the value of IBSA_DEFAULT_X, or of CLI_DEFAULT_X in the
header COMMAND-DEFAULTS, @DEFAULT_X/N@ by the value divided by N, and @TRIES X@ by the
times in seconds of a query's tries if the first interval is X. Replaces @COMMANDS@ by
the list of the pages ibsa-NAME.8, and @OPTION X --Y@ by the item about the option Y in
the page X.8. In the text of all but section 8, words such as name(), name(3),
@argument, -EINVAL, NULL and struct name stand for the macros .Fn, .Xr, .Fa, .Er, .Dv
and .Vt. An ALIAS becomes a page that includes another.
"""

import collections
import fnmatch
import os
import re
import sys

import headers
import lists

LIBRARIES = {
    "libibsa": "InfiniBand Subnet Administration client library",
    "libibsa-fabric": "Embedded InfiniBand fabric",
    "libibsa-compat":
        "Functions with the names of the Linux kernel and libibverbs",
}

WIDTH = 80

# What the headers and maps tell: declarations, texts about arguments and about
# members, values of defaults, and the names that each library exports.
Interface = collections.namedtuple("Interface", "declared told members values maps")


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


def declarations(names, declared):
    """The functions and callback types of a page, in the order of the names,
    each after the first that needs it."""
    return list({one.name: one for name in names for one in
                 [declared[name], *callbacks(declared[name], declared)]}.values())


def synopsis(shown):
    """The declarations of a page, those of each header after its name."""
    for header in dict.fromkeys(one.header for one in shown):
        yield f".In {header}"
        for one in shown:
            if one.header == header:
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


# Words of a text that stand for a macro, with the punctuation around them:
# name(), name(3), @argument, -EINVAL, $VARIABLE, NULL or another name in capitals
# with "_", and struct with a name that has "_".
MARKS = re.compile(r"""(\()?(?:
    (?P<Fn>[A-Za-z_]\w+)\(\) | (?P<Xr>[\w-]+\([1-8]\)) | @(?P<Fa>\w+(?:\.\w+)*) |
    -(?P<Er>E[A-Z][A-Z0-9]+) | \$(?P<Ev>[A-Z_]+) |
    (?P<Dv>NULL|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+) | (?P<Vt>struct[ ]\w+_\w+)
    )([.,;:)]*)""", re.X)

WORDS = re.compile(r"\(?struct \w+_\w+\S*|\S+")


def mark(found):
    """A word that stands for a macro as a line of roff."""
    macro, word = next(one for one in found.groupdict().items() if one[1])
    if macro == "Xr":
        word = word.rstrip(")").replace("(", " ")
    after = " ".join(found[found.re.groups])
    macro = ".Fl Er" if macro == "Er" else f".{macro}"
    return " ".join(filter(None, [macro, found[1], word, after]))


def in_roff(line):
    """A line of text as lines of roff."""
    words = []
    for word in WORDS.findall(line):
        found = MARKS.fullmatch(word)
        if not found:
            words.append(word)
            continue
        if words:
            yield " ".join(words)
        words = []
        yield mark(found)
    if words or not line:
        yield " ".join(words)


def expanded(page):
    """A page with macros for the words that stand for them, except in what is
    shown as it is."""
    lines, is_literal = [], False
    for line in page.split("\n"):
        is_literal |= bool(re.match(r"\.Bd -(literal|unfilled)", line))
        if is_literal or line.startswith((".", "'")):
            lines.append(line)
        else:
            lines += in_roff(line)
        is_literal &= line != ".Ed"
    return "\n".join(lines)


def tries(values, first_ms):
    """The times at which a query without a reply is sent."""
    interval, at, times = first_ms, 0, []
    while at < int(values["DEFAULT_DEADLINE_MS"]):
        times.append(f"{at / 1000:g}")
        at += interval
        interval = min(2 * interval, int(values["DEFAULT_MAX_INTERVAL_MS"]))
    return ", ".join(times[:-1]) + " and " + times[-1]


def with_defaults(page, values):
    """A page with the values of defaults, and what follows from them."""
    def value(found):
        if found[1]:
            return tries(values, int(values.get(found[2], found[2])))
        if found[3]:
            return f"{int(values[found[2]]) / int(found[3]):g}"
        return values[found[2]]
    return re.sub(r"@(TRIES )?(DEFAULT_\w+|\d+)(?:/(\d+))?@", value, page)


def with_values(text, values):
    """The text of a doc comment with the value of each default."""
    return re.sub(r"IBSA_(DEFAULT_\w+)",
                  lambda found: f"{found[0]} ({values[found[1]]})", text)


def command_list(pages):
    """A list of the commands' pages, in their order, with their descriptions."""
    found = {name.removesuffix(".8"): re.search(r"^\.Nd (.*)", page, re.M)[1]
             for name, page in pages.items() if re.match(r"ibsa-.*\.8$", name)}
    width = max(found, key=len)
    yield f'.Bl -tag -width "{width}(8)" -compact'
    for name, description in found.items():
        yield f".It Xr {name} 8"
        yield description
    yield ".El"


def option_item(page, flag):
    """The item about an option in the OPTIONS of a page."""
    options = page.partition("\n.Sh OPTIONS\n")[2]
    return re.search(rf"^\.It Fl {flag[1:]} .*?(?=\n(?:\.It|\.El|@OPTION)\b)",
                     options, re.M | re.S)[0]


def with_parts(page, pages):
    """A page with the parts that come from other pages."""
    if "@COMMANDS@" in page:
        page = page.replace("@COMMANDS@", "\n".join(command_list(pages)))
    return re.sub(r"@OPTION ([a-z-]+) (-[a-z-]+)@", lambda found:
                  option_item(pages[found[1] + ".8"], found[2]), page)


def interface(include, own_defaults, maps):
    values = headers.defaults(include, own_defaults)

    def valued(texts):
        return [(names, with_values(text, values)) for names, text in texts]
    told = {name: valued(texts) for name, texts in headers.told(include).items()}
    members = {name: (macro, valued(texts))
               for name, (macro, texts) in headers.members(include).items()}
    return Interface(headers.declared(include), told, members, values, maps)


def completed(page, known):
    names = names_of(page)
    page = "\n".join(lists.with_members(page.split("\n"), known.members, names))
    page = with_defaults(page, known.values)
    own = [name for name in names if name in known.declared]
    if not own:
        return page
    shown = declarations(own, known.declared)
    head, _, rest = page.partition("\n.Sh DESCRIPTION\n")
    head, _, by_hand = head.partition("\n.Sh SYNOPSIS\n")
    description, _, rest = rest.partition("\n.Sh ")
    lines = [head]
    if ".Sh LIBRARY" not in head:
        lines += [".Sh LIBRARY", *library(own, known.maps)]
    lines += [".Sh SYNOPSIS", *synopsis(shown)]
    if by_hand:
        lines.append(by_hand)
    lines += [".Sh DESCRIPTION", description,
              *lists.arguments(shown, known.told, names)]
    return "\n".join(lines) + "\n.Sh " + rest


def write(folder, name, page):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(page)


def main():
    include, own_defaults, folder, *files = sys.argv[1:]
    maps = {os.path.basename(path).partition(".map")[0]:
            list(headers.exported(path))
            for path in files if path.endswith(".map")}
    known = interface(include, own_defaults, maps)
    pages = {}
    for path in files[len(maps):]:
        alias, _, other = path.partition("=")
        if other:
            write(folder, alias, f".so man{other[-1]}/{other}\n")
            continue
        with open(path, encoding="utf-8") as file:
            pages[os.path.basename(path)] = file.read()
    for name, page in pages.items():
        page = completed(with_parts(page, pages), known)
        left = re.search(r"@[A-Z].*@", page)
        if left:
            sys.exit(f"{name}: cannot replace {left[0]}")
        write(folder, name, page if name.endswith(".8") else expanded(page))


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"pages.py: {error}")
