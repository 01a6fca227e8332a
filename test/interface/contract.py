#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the doc comments of functions with their manual pages.

usage: contract.py CC INCLUDE-DIR MAN-DIR

Compares, for each function and callback type of the headers: the arguments in
the declaration, in the doc comment (@name) and in the SYNOPSIS of the page; and
the errors in the "Return:" part of the doc comment and in the tables in the
ERRORS of the page. What the doc comment has, the page must have, and the
reverse.

In "Return:", an error is -EINVAL, or EINVAL where a function returns it in errno
or as a positive number. "as NAME()" stands for the errors of a function of the
same page, "such as -EINVAL" is an example, and errors after "Later failures" are
those of a callback. In ERRORS, a table is for the functions that the text before
it names, for none if it names a member (.Va), or else for all; "Later failures"
again begins those of a callback. "The other arguments are those of NAME()"
stands for the description of these arguments.
"""

import collections
import errno
import os
import re
import sys

from interface import declared

COMMENT = re.compile(r"/\*\*\n(.*?)\*/\n(.*?)(?=/\*\*|\Z)", re.S)
NAMES = set(errno.errorcode.values()) | {"EWOULDBLOCK", "ENOTSUP"}

# The words before the errors that a callback receives, in a doc comment and on
# a page.
LATER = "Later failures"

Contract = collections.namedtuple("Contract", "where arguments errors later")


def errors_in(text):
    """The error numbers that a text names, with their signs."""
    return {sign + name for sign, name in
            re.findall(r"(?<![\w-])(-?)(E[A-Z0-9]+)\b", text) if name in NAMES}


def last_name(argument):
    """The name in a declaration of an argument."""
    pointer = re.search(r"\(\*(\w+)\)", argument)
    if pointer:
        return pointer[1]
    names = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[.*", "", argument))
    return names[-1] if names and names != ["void"] else None


def split_arguments(text):
    """The arguments of a declaration, which may be functions themselves."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def prototype(code, name):
    """The arguments with which a header declares a function, or None."""
    found = re.search(rf"\b{name}\)?\s*\(", code)
    if not found:
        return None
    depth, at = 1, found.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        at += 1
    names = map(last_name, split_arguments(code[found.end():at - 1]))
    return [argument for argument in names if argument]


def comments(include):
    """Yield the names, the file and the text of each doc comment, and the
    code after it."""
    for name in sorted(os.listdir(os.path.join(include, "ibsa"))):
        if not name.endswith(".h"):
            continue
        path = os.path.join(include, "ibsa", name)
        with open(path, encoding="utf-8") as file:
            for comment, code in COMMENT.findall(file.read()):
                text = re.sub(r"^ \* ?", "", comment, flags=re.M)
                head = text.partition(" - ")[0]
                if re.match(r"(struct|enum) |IBSA_", head):
                    continue
                names = re.findall(r"\w+", head.replace("typedef ", ""))
                yield names, name, text, code


def documented(text):
    """The arguments that a doc comment describes."""
    found = []
    for line in re.findall(r"^@\w+(?:, @\w+)*:", text, re.M):
        found += re.findall(r"\w+", line)
    return found


def returned(text):
    """Return the part of a doc comment that lists errors of the call, and
    the set of later errors."""
    part = re.search(r"^Return: (.*?)(?=^Source:|\Z)", text, re.S | re.M)
    text = " ".join(part[1].split()) if part else ""
    now, _, later = text.partition(LATER)
    return re.sub(r"such\s+as\s+-E\w+", "", now), errors_in(later)


def headers_read(include):
    """The contracts of the headers, and what is wrong within a header."""
    contracts, described, wrong = {}, {}, []
    for names, where, text, code in comments(include):
        arguments = {name: prototype(code, name) for name in names}
        own = documented(text)
        for other in re.findall(r"arguments\s+are\s+those\s+of\s+(\w+)", text):
            own += [one for one in described[other] if one not in own and
                    one in arguments[names[0]]]
        described.update((name, own) for name in names)
        for name in names:
            if arguments[name] is None:
                wrong.append(f"{where}: {name}: no declaration follows the doc "
                             "comment")
                continue
            contracts[name] = Contract(where, arguments[name],
                                       *returned(text))
        declared_here = set().union(*(arguments[name] or ()
                                      for name in names))
        for one in sorted(declared_here.symmetric_difference(own)):
            wrong.append(f"{where}: {names[0]}: {one} is in the doc comment or "
                         "in the declaration, not in both")
    return contracts, wrong


def section(text, name):
    return text.partition(f".Sh {name}\n")[2].partition("\n.Sh ")[0]


def synopsis(text):
    """The functions of a page with their arguments."""
    functions = {}
    name = None
    for line in section(text, "SYNOPSIS").replace("\\\n", "").split("\n"):
        words = re.findall(r'"[^"]*"|\S+', line)
        if line.startswith(".Fn "):
            arguments = [last_name(word) for word in words[2:]]
            functions[words[1]] = [one for one in arguments if one]
        elif line.startswith(".Fo "):
            name = words[1].strip("(*)")
            functions[name] = []
        elif line.startswith(".Fa ") and name:
            functions[name] += [last_name(word) for word in words[1:]
                                if last_name(word)]
        elif line.startswith(".Fc"):
            name = None
    return functions


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
        functions = synopsis(text)
        errors, later = page_errors(text, functions)
        for name, arguments in functions.items():
            contracts[name] = Contract(page, arguments, errors[name], later)
    return contracts


def header_errors(name, headers, pages, seen=()):
    """Return the errors in a doc comment, and in those of the same page that
    it refers to."""
    text = headers[name].errors
    errors = errors_in(text)
    for other in re.findall(r"\bas (?:for )?(\w+)\(\)", text):
        if other in headers and other not in seen and other in pages and \
                pages[other].where == pages[name].where:
            errors |= header_errors(other, headers, pages, (*seen, name))
    return errors


def sets_compare(name, header, page, what):
    """Yield the differences between a header and a page, which both are
    pairs of a name and a set."""
    for one in sorted(header[1] - page[1]):
        yield f"{name}: {what} {one} is in {header[0]}, not in {page[0]}"
    for one in sorted(page[1] - header[1]):
        yield f"{name}: {what} {one} is in {page[0]}, not in {header[0]}"


def differences(headers, pages):
    later = collections.defaultdict(set)
    for name, header in sorted(headers.items()):
        if name not in pages:
            yield f"{header.where}: {name}: is in the SYNOPSIS of no page"
            continue
        page = pages[name]
        if header.arguments != page.arguments:
            yield (f"{name}: arguments are {', '.join(header.arguments)} in "
                   f"{header.where}, {', '.join(page.arguments)} in "
                   f"{page.where}")
        yield from sets_compare(
            name, (header.where, header_errors(name, headers, pages)),
            (page.where, page.errors), "error")
        later[page.where] |= header.later
    for where, errors in {page.where: page.later
                          for page in pages.values()}.items():
        yield from sets_compare(where, ("the headers", later[where]),
                                (where, errors), "later error")


def main():
    compiler, include, folder = sys.argv[1:]
    headers, wrong = headers_read(include)
    for functions in declared(compiler, include):
        wrong += [f"{name}: has no doc comment"
                  for name in sorted(functions - set(headers))]
    wrong += differences(headers, pages_read(folder))
    print("\n".join(wrong))
    print(f"{len(headers)} functions, {len(wrong)} differences")
    return 1 if wrong or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
