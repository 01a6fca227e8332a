# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The exception of all functions of ibsa that fail."""

import errno
import os
from typing import Optional

from ._native import lib


class Error(OSError):
    """A function of ibsa failed, or a query ended without a usable reply.

    err:    the negative errno, as in C: -EREMOTEIO if the SA refused the
            request or was busy until the deadline, and status then holds the
            reason; -ENOENT if there is no matching record
    status: the MAD status of the reply; 0 without a reply
    text:   a sentence that tells what failed and, if known, what to do
    """

    def __init__(self, err: int, text: str = "", status: int = 0) -> None:
        self.err = err
        self.status = status
        self.text = text or os.strerror(-err)
        super().__init__(-err, self.text)

    def __str__(self) -> str:
        return self.text

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return type(self), (self.err, self.text, self.status)


def check(err: int, text: object = "") -> None:
    """Raise an Error for a negative result of the library."""
    if err < 0:
        raise Error(err, str(text))


def failure(err: int, status: int, text: Optional[str]) -> Error:
    """The Error of a query, a batch or a registration that failed."""
    if err == 0:
        err = -errno.EREMOTEIO
        text = text or lib.ibsa_status_text(status).decode()
    return Error(err, text or "", status)
