# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What C calls back, and the copies of what it passes.

C calls back only while it dispatches. The callback copies what it is given to a
list of the client: no other code of Python runs inside a callback, and an
exception of such code reaches the caller of the dispatch.
"""

import ctypes
import itertools
import signal
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Tuple

from ._native import (Callback, ErrorText, PortStruct, ReachStruct,
                      ReplyStruct, lib)
from ._records import Reply, gid_text, record_class_at
from .constants import LinkLayer, Outcome, Reach, Reason
from .errors import Error, failure

if TYPE_CHECKING:
    from ._client import Client

Done = Callable[[Any], None]


class Port:
    """State of a client's port."""

    def __init__(self, state: PortStruct) -> None:
        self.gid = gid_text(state.gid)
        self.lid: int = state.lid
        self.sm_lid: int = state.sm_lid
        self.sm_sl: int = state.sm_sl
        self.lmc: int = state.lmc
        self.port_state: int = state.port_state
        self.phys_state: int = state.phys_state
        self.pkey_index: int = state.pkey_index
        self.link = LinkLayer(state.link)
        self.port_num: int = state.port_num
        self.needs_grh: bool = state.needs_grh
        self.reregisters: int = state.reregisters

    def __repr__(self) -> str:
        values = ", ".join(f"{k}={v!r}" for k, v in vars(self).items())
        return f"Port({values})"


class ReachAnswer(NamedTuple):
    """Whether the SA has a path to a GID.

    True if it has, False if it has not. In a condition, an unknown result
    raises the Error of the query. detail is a sentence that tells why there is
    no path, if the reason was searched and found; reason is its number.
    """

    gid: str
    reach: Reach
    err: int
    status: int
    tries: int
    rtt_ns: int
    reason: Reason = Reason.NONE
    is_certain: bool = False
    detail: str = ""

    def __bool__(self) -> bool:
        if self.reach == Reach.UNKNOWN:
            error = failure(self.err, self.status, None)
            raise Error(error.err, "it is not known whether the SA has a path "
                        f"to {self.gid}: {self.detail or error.text}",
                        error.status)
        return self.reach == Reach.YES


class Entry:
    """What C holds a token of: a query, a batch, a watch or a registration."""

    __slots__ = ("client", "token", "done")

    def __init__(self, client: "Client", done: Done) -> None:
        self.client = client
        self.done = done
        self.token = next(tokens)
        entries[self.token] = self

    def take(self, address: int) -> Tuple[bool, Any]:
        """Copy a struct of C; whether it is the last one, and the copy."""
        raise NotImplementedError

    def forget(self) -> None:
        entries.pop(self.token, None)


# The entries of all clients by their tokens. They refer to their clients, so
# that the garbage collector frees nothing that C still holds.
entries: Dict[int, Entry] = {}
tokens = itertools.count(1)


def _take(entry: Entry, address: int) -> None:
    is_last, result = entry.take(address)
    entry.client._ended.append((entry.done, result))
    if is_last:
        entry.forget()


@Callback
def called(address: int, token: int) -> None:
    """The one callback of all entries. It exists as long as the module."""
    entry = entries[token]
    try:
        _take(entry, address)
    except BaseException as error:  # of a signal's handler, or no memory
        entry.client._raised.append(error)
        if token in entries:
            _take(entry, address)


class QueryEntry(Entry):
    __slots__ = ("id",)
    id: int

    def take(self, address: int) -> Tuple[bool, Any]:
        reply = ReplyStruct.from_address(address)
        err, status, count = reply.err, reply.status, reply.count
        if err or status:
            outcome = lib.ibsa_reply_outcome(address)
            if outcome > Outcome.NONE:
                text = ErrorText()
                lib.ibsa_reply_explain(address, text)
                return True, failure(err, status, str(text))
            count = 0
        data = ctypes.string_at(reply.records, reply.stride * count) \
            if count else b""
        return True, Reply(record_class_at(reply.record), data, reply.stride,
                           count, status, reply.tries, reply.rtt_ns)


class BatchEntry(Entry):
    __slots__ = ("batch", "answers")
    batch: int
    answers: List[Any]

    def take(self, address: int) -> Tuple[bool, Any]:
        answer = ReachStruct.from_address(address)
        self.answers[answer.index] = ReachAnswer(
            gid_text(answer.gid), Reach(answer.reach), answer.err,
            answer.status, answer.tries, answer.rtt_ns, Reason(answer.reason),
            answer.is_certain, answer.detail.decode("utf-8", "replace"))
        return not answer.left, None if answer.left else self.answers


class Signals:
    """Delays the handlers of signals until C has returned."""

    _all = signal.valid_signals() - {signal.SIGSEGV, signal.SIGBUS,
                                     signal.SIGFPE, signal.SIGILL,
                                     signal.SIGABRT}

    def __enter__(self) -> None:
        self._old = None
        if threading.current_thread() is threading.main_thread():
            self._old = signal.pthread_sigmask(signal.SIG_BLOCK, self._all)

    def __exit__(self, *_: object) -> None:
        if self._old is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._old)
