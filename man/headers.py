# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads the installed headers: declarations, doc comments and defaults."""

import collections
import os
import re

COMMENT = re.compile(r"/\*\*[ \n](.*?)\*/\n(.*?)(?=/\*\*|\Z)", re.S)

# A function or a callback type: the header's name as in #include, and the types
# and names of its result and arguments.
Declaration = collections.namedtuple(
    "Declaration", "header name is_callback returns arguments")

DECLARED = re.compile(
    r"(?P<typedef>typedef )?(?P<returns>[\w ]+?[ *]+?)"
    r"(?P<pointer>\(\*)?(?P<name>\w+)\)?\((?P<arguments>.*?)\)(?: IBSA_|\Z)")


def split_arguments(text):
    """The arguments of a declaration, which may be functions themselves."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            yield text[start:at].strip()
            start = at + 1
    yield text[start:].strip()


def last_name(argument):
    """The name in a declaration of an argument."""
    pointer = re.search(r"\(\*(\w+)\)", argument)
    if pointer:
        return pointer[1]
    names = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[.*", "", argument))
    return names[-1] if names and names != ["void"] else None


def names_of(arguments):
    return [name for name in map(last_name, arguments) if name]


def statements(text):
    """The declarations of a header, each in one line."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^#(?:.*\\\n)*.*", "", text, flags=re.M)
    text = re.sub(r"\bIBSA_(?:BEGIN|END)\b|__extension__|"
                  r"^IBSA_RECORDS\(\w+\)$", "", text, flags=re.M)
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", ";", text)
    for statement in text.split(";"):
        statement = " ".join(statement.split()).replace("( ", "(")
        yield re.sub(r"^(?:(?:static|inline|extern|IBSA_\w+) )+", "", statement)


def declarations(text, header):
    """Yield the functions and callback types of a header."""
    for statement in statements(text):
        found = DECLARED.match(statement)
        if not found or bool(found["typedef"]) != bool(found["pointer"]):
            continue
        yield Declaration(header, found["name"], bool(found["typedef"]),
                          found["returns"].strip(),
                          list(split_arguments(found["arguments"])))


def headers(include):
    """Yield the name, as in #include, and the text of each header of ibsa."""
    for name in sorted(os.listdir(os.path.join(include, "ibsa"))):
        if name.endswith(".h"):
            path = os.path.join(include, "ibsa", name)
            with open(path, encoding="utf-8") as file:
                yield f"ibsa/{name}", file.read()


def declared(include):
    """The functions and callback types of all headers by their names."""
    return {one.name: one for header, text in headers(include)
            for one in declarations(text, header)}


def comments(text):
    """Yield the names of functions and callback types that a doc comment is
    for, and its text."""
    for comment, _ in COMMENT.findall(text):
        comment = without_margin(comment)
        head = comment.partition(" - ")[0]
        if not re.match(r"(struct|enum) |IBSA_", head):
            yield re.findall(r"(?!typedef)\b\w+", head), comment


def described(comment):
    """Yield the names of arguments or members that lines of a doc comment begin
    with, and the text about them."""
    for names, text in re.findall(
            r"^(@\w+(?:,\s+@\w+)*):((?:.*\n)(?:(?!@|Return:|Source:).+\n)*)",
            comment, re.M):
        yield tuple(re.findall(r"\w+", names)), " ".join(text.split())


def told(include):
    """What the doc comments tell about the arguments of each function."""
    return {name: list(described(comment)) for _, text in headers(include)
            for names, comment in comments(text) for name in names}


AFTER = r"(?:[ \t]*/\*\s(?P<after>(?:(?!\*/).)*)\*/)?"
MEMBER = re.compile(
    r"\b(?P<name>\w+)(?:\)\([^;]*|\[[^;]*\])?;(?P<before>)" + AFTER, re.S)
CONSTANT = re.compile(
    r"^\t(?:/\*\s(?P<before>(?:(?!\*/).)*)\*/\s+)?(?P<name>\w+)(?: = [^,]*)?," + AFTER,
    re.S | re.M)
DEFINED = re.compile(
    r"(?:/\*\*\s((?:(?!\*/).)*)\*/\n)?^(struct|enum) (\w+) \{\n(.*?)^\};", re.S | re.M)


def without_margin(comment):
    return re.sub(r"^[ \t]*\* ?", "", comment, flags=re.M)


def members_of(comment, name, member, body):
    """Yield the members of a struct or the constants of an enumeration: the names that
    share a text, and the text, which may be empty. Padding, and the number of an
    enumeration's constants, are not for programs."""
    found = [one for one in member.finditer(body)
             if not re.fullmatch(r"reserved\d*|IBSA_\w+_KINDS", one["name"])]
    own = {one["name"] for one in found}
    by_name, later = {}, set()
    for names, text in described(comment):
        by_name[names[0]] = names, text
        later.update(names[1:])
        if set(names) - own:
            raise ValueError(f"{name}: the doc comment has {', '.join(names)}, the "
                             "definition has not")
    for one in found:
        if one["name"] in later:
            continue
        text = " ".join(without_margin(one["before"] or one["after"] or "").split())
        yield by_name.get(one["name"], ((one["name"],), text))


def members(include):
    """The members of all structs and the constants of all enumerations, with the macro
    that shows them on a page, by the names of these."""
    return {name: (macro, list(members_of(without_margin(comment), name, member, body)))
            for _, text in headers(include)
            for comment, kind, name, body in DEFINED.findall(text)
            for macro, member in [("Fa", MEMBER) if kind == "struct" else
                                  ("Dv", CONSTANT)]}


def defaults(include, own):
    """The values of IBSA_DEFAULT_* and, in the header of the command at @own,
    CLI_DEFAULT_*, by their names from DEFAULT on."""
    with open(own, encoding="utf-8") as file:
        texts = [file.read(), *(text for _, text in headers(include))]
    return {name: value for text in texts for name, value in re.findall(
        r"^#define (?:IBSA|CLI)_(DEFAULT_\w+) (?:UINT64_C\()?(\w+)", text, re.M)}


def called(name):
    """The function that programs call: NAME of NAME_sized(), to which an inline
    function of the header passes the sizes of structs."""
    return name[:-len("_sized")] if name.endswith("_sized") else name


def exported(path):
    """The patterns of the names that a map makes public."""
    with open(path, encoding="ascii") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for node, body in re.findall(r"([\w.]+)\s*\{(.*?)\}", text, re.S):
        if re.match(r"(IBSA|IBUMAD)_\d", node):
            names = body.split("local:")[0].replace("global:", "")
            yield from re.findall(r"[\w*\[\]-]+", names)
