# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes the lists of a manual page from the doc comments of the headers."""

import re


def sentences(text, own):
    """The text of a doc comment as lines of a page, one a sentence. @own are the
    functions of the page: others are references to their pages."""
    def reference(found):
        see, name, section = found.groups(default="")
        if name not in own:
            return f"{see}{name}(3)"
        return "" if see and section else f"{see}{name}()"
    text = text.replace("\\", "\\e")
    text = re.sub(r"(?<!\S)-(?=\d)", r"\\-", text)
    text = re.sub(r"(, see )?\b([a-z]\w+)\((3?)\)", reference, text)
    if re.match(r"[a-z-]+([ ,:;]|$)", text):
        text = text[0].upper() + text[1:]
    if not text.endswith((".", ":")):
        text += "."
    for line in re.split(r"(?<=[.]) (?=[A-Z@])", text):
        yield "\\&" + line if line.startswith((".", "'")) else line


def paragraph(text, own):
    """The text of an item. Several errors at its end become a list."""
    before, *errors = re.split(r"(?:^|(?<=:) |; )(?=(?:0|-E[A-Z]+): )|; (?=or )", text)
    if len(errors) < 4:
        yield from sentences(text, own)
        return
    if before:
        yield from sentences(before, own)
    yield ".Bl -tag -width Er -compact"
    for one in errors:
        value, _, meaning = re.sub("^or ", "other: ", one).partition(": ")
        yield ".It " + re.sub("^-", "Fl Er ", value)
        yield from sentences(meaning, own)
    yield ".El"


def by_functions(shown, told):
    """The functions that have arguments with the same texts, and these."""
    users = {}
    for declaration in shown:
        for one in told.get(declaration.name, ()):
            users.setdefault(one, []).append(declaration.name)
    groups = {}
    for one, functions in users.items():
        groups.setdefault(tuple(functions), []).append(one)
    return groups


def heading(names, is_callback):
    """The functions or the callback type that a list is for, before the list."""
    if is_callback:
        yield f".Vt {names[0]} :"
        return
    *first, last = names
    yield from (f".Fn {one} ," for one in first[:-1])
    if first:
        yield f".Fn {first[-1]}"
        yield "and"
    yield f".Fn {last} :"


def arguments(shown, told, own):
    """The section ARGUMENTS of a page with the declarations @shown and the names
    @own."""
    groups = by_functions(shown, told)
    if not groups:
        return
    callbacks = {one.name for one in shown if one.is_callback}
    width = max((one[0][0] for group in groups.values() for one in group), key=len)
    yield ".Sh ARGUMENTS"
    for number, (functions, texts) in enumerate(groups.items()):
        if number:
            yield ".Pp"
        if len(shown) > 1:
            yield from heading(functions, functions[0] in callbacks)
        yield f'.Bl -tag -width "{width}" -compact'
        for names, text in texts:
            yield ".It Fa " + " , ".join(names)
            yield from paragraph(text, own)
        yield ".El"


def blocks(lines):
    """The items of a list by the first names in their heads, in its source."""
    found, depth, name = {}, 0, None
    for line in lines:
        depth += line.startswith(".Bl") - line.startswith(".El")
        if line.startswith(".It") and not depth:
            name = line.split()[2]
            found[name] = []
        else:
            found[name].append(line)
    return found


def with_members(lines, members, own):
    """The lines of a page in which @MEMBERS name@ at the begin of a list stands for
    the members of a struct or the constants of an enumeration. The list's own items
    add sentences to those of the header."""
    lines = iter(lines)
    for line in lines:
        found = re.fullmatch(r"@MEMBERS (\w+)@", line)
        if not found:
            yield line
            continue
        hand, depth = [], 1
        for line in lines:
            depth += line.startswith(".Bl") - line.startswith(".El")
            if not depth:
                break
            hand.append(line)
        added = blocks(hand)
        if found[1] not in members:
            raise ValueError(f"no struct or enum has the name {found[1]}")
        macro, texts = members[found[1]]
        for names, text in texts:
            yield f".It {macro} " + " , ".join(names)
            yield from paragraph(text, own) if text else ()
            yield from with_members(added.pop(names[0], ()), members, own)
        if added:
            raise ValueError(f"{found[1]} has no member {', '.join(added)}")
        yield line
