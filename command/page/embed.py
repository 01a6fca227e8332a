#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Print a C file with the page of ibsa page as strings.

usage: embed.py PAGE.HTML PAGE.CSS SCRIPT.JS...

The strings are PAGE.HTML before and after its word @DATA@. @STYLE@ and @SCRIPT@ become
the other files, @STYLE_HASH@ and @SCRIPT_HASH@ their hashes for the policy of the
page.
Source: Content Security Policy Level 3, 2.3.1 (hash-source).
"""
import base64
import hashlib
import pathlib
import sys

LINE = 64  # bytes of the page in a line of C


def content(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def source_hash(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def c_byte(byte):
    # Whether char is signed differs between machines, so bytes above 127 are
    # written as character constants.
    return str(byte) if byte < 128 else f"'\\{byte:03o}'"


def c_array(name, text):
    data = text.encode() + b"\0"
    lines = (", ".join(map(c_byte, data[i:i + LINE])) + ","
             for i in range(0, len(data), LINE))
    return f"const char {name}[] = {{\n" + "\n".join(lines) + "\n};\n"


def main():
    page, style, *scripts = map(content, sys.argv[1:])
    script = "".join(scripts)
    words = {"@STYLE_HASH@": source_hash(style),
             "@SCRIPT_HASH@": source_hash(script),
             "@STYLE@": style, "@SCRIPT@": script}
    for word, text in words.items():
        assert page.count(word) == 1, word
        page = page.replace(word, text)
    head, tail = page.split("@DATA@")
    print('#include "page/page.h"\n')
    print(c_array("page_head", head))
    print(c_array("page_tail", tail), end="")


if __name__ == "__main__":
    main()
