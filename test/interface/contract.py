#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the doc comments of functions with their manual pages.

usage: contract.py INCLUDE-DIR MAN-DIR

The comment that opens a header lists its functions, one a line. A doc comment
describes arguments of its functions only; what it does not describe, the page
names. The errors in its "Return:" part are in the tables in the ERRORS of the page,
which may have further errors. Each argument in the text of a page (.Fa) is one of a
function that the page names, or a member of a struct. At most half of the lines of
all headers are comments.

In "Return:", an error is -EINVAL, or EINVAL where a function returns it in errno
or as a positive number. "as NAME()" stands for the errors of a function of the
same page, "such as -EINVAL" is an example, and errors after "Later failures" are
those of a callback. In ERRORS, a table is for the functions that the text before
it names, for none if it names a member (.Va), or else for all; "Later failures"
again begins those of a callback.
"""

import collections
import errno
import os
import re
import sys

from interface import headers, names_of

NAMES = set(errno.errorcode.values()) | {"EWOULDBLOCK", "ENOTSUP"}

# The words before the errors that a callback receives, in a doc comment and on
# a page.
LATER = "Later failures"

Contract = collections.namedtuple("Contract", "where errors later")


def errors_in(text):
    """The error numbers that a text names, with their signs."""
    return {sign + name for sign, name in
            re.findall(r"(?<![\w-])(-?)(E[A-Z0-9]+)\b", text) if name in NAMES}


def returned(text):
    """Return the part of a doc comment that lists errors of the call, and
    the set of later errors."""
    part = re.search(r"^Return: (.*?)(?=^Source:|\Z)", text, re.S | re.M)
    text = " ".join(part[1].split()) if part else ""
    now, _, later = text.partition(LATER)
    return re.sub(r"such\s+as\s+-E\w+", "", now), errors_in(later)


def headers_read(include):
    """The contracts of the headers, and what is wrong within a header."""
    contracts, wrong = {}, []
    types = headers.declared(include)
    for where, text in headers.headers(include):
        for names, comment in headers.comments(text):
            known = set()
            for name in names:
                if name not in types:
                    wrong.append(f"{where}: {name}: has a doc comment, but no "
                                 "declaration")
                    continue
                known |= set(headers.names_of(types[name].arguments))
                if not types[name].is_callback:
                    contracts[name] = Contract(where, *returned(comment))
            wrong += [f"{where}: {names[0]}: the doc comment has {one}, the "
                      "declaration has not"
                      for described, _ in headers.described(comment)
                      for one in described if one not in known]
    return contracts, wrong


def section(text, name):
    return text.partition(f".Sh {name}\n")[2].partition("\n.Sh ")[0]


def tables(text):
    """The tables of ERRORS: the text before each, and its items."""
    before, depth, items = [], 0, []
    for line in section(text, "ERRORS").split("\n"):
        if line.startswith(".Bl"):
            depth += 1
        elif line.startswith(".El"):
            depth -= 1
            if not depth:
                yield "\n".join(before), items
                before, items = [], []
        elif depth == 1 and line.startswith(".It"):
            items.append([line])
        elif depth == 1 and items:
            items[-1].append(line)
        elif not depth:
            before = [] if line == ".Pp" else [*before, line]


def table_functions(before, functions):
    """The functions that a table is for."""
    named = set(re.findall(r"\bFn (\w+)", before))
    if named or ".Va " in before:
        return named & set(functions)
    return set(functions)


def page_errors(text, functions):
    """Return the errors of each function in the tables of a page, and the
    later errors."""
    errors = {name: set() for name in functions}
    later = set()
    for before, items in tables(text):
        for item in items:
            head = item[0].replace("Fl Er ", "-").replace("Er ", "")
            body = " ".join(item[1:]).replace(".Pq ", ".")
            if LATER in before:
                later |= errors_in(head)
                continue
            only = re.findall(r"\bFn (\w+)[\s:]+only", body)
            for name in only or table_functions(before, functions):
                errors[name] |= errors_in(head)
    return errors, later


def pages_read(folder):
    contracts = {}
    for page in sorted(os.listdir(folder)):
        if not page.endswith(".3"):
            continue
        with open(os.path.join(folder, page), encoding="utf-8") as file:
            text = file.read()
        functions = list(names_of(folder, [page]))
        errors, later = page_errors(text, functions)
        for name in functions:
            contracts[name] = Contract(page, errors[name], later)
    return contracts


def header_errors(name, contracts, pages, seen=()):
    """Return the errors in a doc comment, and in those of the same page that
    it refers to."""
    text = contracts[name].errors
    errors = errors_in(text)
    for other in re.findall(r"\bas (?:for )?(\w+)\(\)", text):
        if other in contracts and other not in seen and other in pages and \
                pages[other].where == pages[name].where:
            errors |= header_errors(other, contracts, pages, (*seen, name))
    return errors


def differences(contracts, pages):
    for name, header in sorted(contracts.items()):
        if name not in pages:
            yield f"{header.where}: {name}: is in the NAME of no page"
            continue
        page = pages[name]
        missing = header_errors(name, contracts, pages) - page.errors
        missing |= header.later - page.later
        yield from (f"{name}: {one} is in {header.where}, not in {page.where}"
                    for one in sorted(missing))


def members(include):
    """The members of all structs, and the fields of records."""
    rows = "".join(text for _, text in headers.headers(include))
    return {*re.findall(r"^\t[A-Z]+\(\w+, *(\w+)", rows, re.M),
            *(name for _, described in headers.members(include).values()
              for names, _ in described for name in names)}


def arguments(name, types):
    """The arguments of a function, and of the callbacks that it takes."""
    found = set()
    for argument in types[name].arguments if name in types else []:
        found |= set(headers.names_of([argument]))
        inner = re.search(r"\(\*\w+\)\((.*)\)$", argument)
        if inner:
            found |= set(headers.names_of(headers.split_arguments(inner[1])))
        for word in re.findall(r"\w+_fn", argument):
            found |= arguments(word, types)
    return found


def unknown_arguments(include, folder):
    """Yield what a page names as an argument or member and is neither. Pages with
    functions that rdma-core declares are left out."""
    types, known = headers.declared(include), members(include)
    for page in sorted(os.listdir(folder)):
        if not page.endswith(".3"):
            continue
        with open(os.path.join(folder, page), encoding="utf-8") as file:
            text = file.read()
        if not set(names_of(folder, [page])) <= set(types):
            continue
        functions = re.findall(r"\b(?:Nm|Fn|Xr) (\w+)", text)
        own = known.union(*(arguments(one, types) for one in functions))
        yield from (f"{page}: {one} is no argument and no member"
                    for one in sorted(named(text) - own))


def named(page):
    """What the text of a page names as arguments or members."""
    text = re.sub(r"^\.Bd -(literal|unfilled).*?^\.Ed", "",
                  section(page, "DESCRIPTION") + section(page, "ARGUMENTS"),
                  flags=re.S | re.M)
    return {one for words in re.findall(r"\bFa ([\w.>-]+(?: , [a-z]\w*)*)", text)
            for one in re.findall(r"\w+", words)}


def untold_arguments(include, folder):
    """Yield the arguments that neither the doc comment of the function nor the text
    of its page describes, except objects, which are pointers to structs without
    members, and the only argument of a function."""
    types, told, structs = (headers.declared(include), headers.told(include),
                            headers.members(include))

    def is_object(argument):
        pointer = re.fullmatch(r"(?:const )?struct (\w+) \*\w+", argument)
        return pointer and pointer[1] not in structs
    for page in sorted(os.listdir(folder)):
        with open(os.path.join(folder, page), encoding="utf-8") as file:
            text = file.read()
        for name in sorted(set(names_of(folder, [page])) & set(types)):
            known = named(text).union(*(names for names, _ in told.get(name, ())))
            several = types[name].arguments
            yield from (f"{page}: {name}: nothing describes {one}" for one in several
                        if len(several) > 1 and not is_object(one) and
                        not set(headers.names_of([one])) <= known)


def unlisted(include):
    """Yield the functions that the opening comment of a header does not list."""
    for header, text in headers.headers(include):
        listed = re.findall(r"^ \* (\w+)", text.partition("*/\n#")[0], re.M)
        for one in headers.declarations(text, header):
            if not one.is_callback and one.name not in listed and \
                    "__" not in one.name and not one.name.endswith("_sized"):
                yield f"{header}: {one.name}: is not in the list of functions"


def comment_share(include):
    """Which share of the lines of all headers is in comments."""
    texts = [text for _, text in headers.headers(include)]
    comments = [one for text in texts
                for one in re.findall(r"^[ \t]*/\*.*?\*/", text, re.S | re.M)]
    return sum(one.count("\n") + 1 for one in comments) / sum(
        text.count("\n") for text in texts)


def main():
    include, folder = sys.argv[1:]
    contracts, wrong = headers_read(include)
    wrong += unlisted(include)
    wrong += differences(contracts, pages_read(folder))
    wrong += unknown_arguments(include, folder)
    wrong += untold_arguments(include, folder)
    share = comment_share(include)
    if share > 0.5:
        wrong.append(f"{share:.1%} of the lines of the headers are comments")
    print("\n".join(wrong))
    print(f"{len(contracts)} functions, {share:.1%} comments, {len(wrong)} differences")
    return 1 if wrong or not contracts else 0


if __name__ == "__main__":
    sys.exit(main())
