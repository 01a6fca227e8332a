#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Presses TAB twice in an interactive bash.

usage: tab.py LINE WORD...

Fails unless the shell then shows each WORD.
"""

import os
import pty
import select
import sys
import time

PROMPT = b"tab-test> "
TIMEOUT_S = 20


def read_until(shell, done):
    """What the shell prints, until done(text) or the time is over."""
    text = b""
    end = time.monotonic() + TIMEOUT_S
    while not done(text) and time.monotonic() < end:
        if select.select([shell], [], [], 0.1)[0]:
            try:
                text += os.read(shell, 65536)
            except OSError:
                break
    return text


def main():
    line, words = sys.argv[1], [word.encode() for word in sys.argv[2:]]
    pid, shell = pty.fork()
    if pid == 0:
        os.environ.update(PS1=PROMPT.decode(), TERM="dumb")
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    read_until(shell, lambda text: PROMPT in text)
    os.write(shell, b". /usr/share/bash-completion/bash_completion; echo \n")
    read_until(shell, lambda text: text.count(PROMPT) >= 1)
    os.write(shell, line.encode() + b"\t\t")
    text = read_until(shell,
                      lambda text: all(word in text for word in words))
    os.close(shell)
    os.waitpid(pid, 0)
    missing = [word.decode() for word in words if word not in text]
    if missing:
        sys.exit(f"{line!r} TAB does not offer {', '.join(missing)}:\n"
                 f"{text.decode(errors='replace')}")


if __name__ == "__main__":
    main()
