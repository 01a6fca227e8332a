# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The log of changes of a soak, and what it says about answers."""

import collections
import contextlib
import sys
import threading
import time

Counts = collections.Counter
NEVER = float("inf")
PRINTED = 20  # number of failures that are printed, the first and the last
# Things whose loss explains a missing answer.
TRANSPORT = ("sm", "server", "faults", "corrupt")


class Spell:
    """A thing may have been lost from @begin on, was from @sure to @end, and
    was back for certain at @back."""

    def __init__(self, begin, sure):
        self.begin, self.sure = begin, sure
        self.end = self.back = NEVER


class History:
    def __init__(self):
        self.start = time.monotonic()
        self.lock = threading.Lock()
        self.spells = collections.defaultdict(list)

    @contextlib.contextmanager
    def change(self, thing, is_loss):
        """Note a change that the body of the with block makes."""
        begin = time.monotonic()
        with self.lock:
            if is_loss:
                spell = Spell(begin, NEVER)
                self.spells[thing].append(spell)
            else:
                spell = self.spells[thing][-1]
                spell.end = begin
        yield
        with self.lock:
            setattr(spell, "sure" if is_loss else "back", time.monotonic())

    def last(self, when, *things):
        """Return a text of the last spells of these things before a time."""
        with self.lock:
            spells = sorted((spell.begin, spell.back, thing)
                            for thing in things
                            for spell in self.spells[thing]
                            if spell.begin <= when)
        return ", ".join(f"{thing} {begin - self.start:.1f} to "
                         f"{back - self.start:.1f}"
                         for begin, back, thing in spells[-3:])

    def touches(self, thing, start, end):
        """Whether the thing may have been lost at some time."""
        with self.lock:
            return any(spell.begin <= end and spell.back >= start
                       for spell in self.spells[thing])

    def covers(self, thing, start, end):
        """Whether the thing was lost the whole time."""
        with self.lock:
            return any(spell.sure <= start and spell.end >= end
                       for spell in self.spells[thing])


class Truth:
    """@settle_s: how long after a change an SA may still answer by the state
    before it."""

    def __init__(self, history, counts, settle_s):
        self.history, self.counts, self.settle_s = history, counts, settle_s
        self.failures = []
        self.events = []
        # From when on each of these has a subscription.
        self.watchers = dict.fromkeys(("watch", "C watch", "C verbs"), NEVER)
        self.lock = threading.Lock()

    def fail(self, text, host=None, when=None):
        """Note a failure, with the last changes of its host."""
        when = when or time.monotonic()
        text += (f" at {when - self.history.start:.1f} s; "
                 f"lost: {self.history.last(when, *TRANSPORT)}")
        if host:
            text += f"; {self.history.last(when, host)}"
        with self.lock:
            self.failures.append(text)
            if len(self.failures) <= PRINTED:
                print("FAILED:", text, file=sys.stderr, flush=True)

    def count(self, name, number=1):
        with self.lock:
            self.counts[name] += number

    def is_quiet(self, start, end, things=TRANSPORT):
        return not any(self.history.touches(thing, start, end)
                       for thing in things)

    def answer(self, who, host, result, start, end):
        """Judge an answer about a host: "yes", "no" or "lost"."""
        before = start - self.settle_s
        self.count(f"{who}: {result}")
        if result == "lost":
            if self.is_quiet(before, end):
                self.fail(f"{who}: no answer for {host} after "
                          f"{end - start:.1f} s", host)
            return
        # An SM that restarts, or does not receive a trap, has an old state; a
        # packet that was changed may say anything.
        if not self.is_quiet(before, end):
            self.count(f"{who}: not judged")
            return
        if result == "yes" and self.history.covers(host, before, end):
            self.fail(f"{who}: {host} is there, but it is gone", host)
        if result == "no" and not self.history.touches(host, before, end):
            self.fail(f"{who}: {host} is not there", host)

    def table(self, who, hosts, all_hosts, start, end):
        """Judge a table of all hosts; None: there is none."""
        if hosts is None:
            self.answer(who, "a table", "lost", start, end)
            return
        for host in all_hosts:
            self.answer(who, host, "yes" if host in hosts else "no", start,
                        end)

    def number(self, who, number, all_hosts, start, end):
        """Judge the number of hosts."""
        before = start - self.settle_s
        if not self.is_quiet(before, end):
            self.count(f"{who}: not judged")
            return
        self.count(f"{who}: judged")
        least = sum(not self.history.touches(host, before, end)
                    for host in all_hosts)
        most = sum(not self.history.covers(host, before, end)
                   for host in all_hosts)
        if not least <= number <= most:
            self.fail(f"{who}: {number} hosts, not {least} to {most}")

    def event(self, who, kind, host):
        now = time.monotonic()
        with self.lock:
            if kind == "subscribed" and self.watchers.get(who) == NEVER:
                self.watchers[who] = now
            self.events.append((now, who, kind, host))

    def conclude(self):
        """Each change of a host has one event of each watcher, if nothing else
        happened to it or to the transport."""
        times = collections.defaultdict(list)
        for when, who, kind, host in self.events:
            times[who, kind, host].append(when)
        for who in self.watchers:
            for host, spells in self.history.spells.items():
                if host.startswith("Hca"):
                    self.watcher_check(times, who, host, spells)

    def watcher_check(self, times, who, host, spells):
        for i, spell in enumerate(spells):
            before = spells[i - 1].back if i else 0
            after = spells[i + 1].begin if i + 1 < len(spells) else \
                time.monotonic()
            self.event_check(times, (who, "gid-out", host), before, spell.begin,
                             spell.sure, spell.end)
            self.event_check(times, (who, "gid-in", host), spell.sure,
                             spell.end, spell.back, after)

    def event_check(self, times, event, before, begin, sure, after):
        who, kind, host = event
        margin = self.settle_s + 2
        if sure == NEVER or begin - before < margin or after - sure < margin or \
                not self.is_quiet(begin - 3 * margin, sure + margin) or \
                begin < self.watchers[who] or \
                sure + margin > time.monotonic():
            self.counts[f"{who} events: not judged"] += 1
            return
        got = sum(begin <= when <= sure + margin for when in times[event])
        self.counts[f"{who} events: judged"] += 1
        if got != 1:
            self.fail(f"{who}: {got} events {kind} of {host}", host, sure)

    def require(self, seconds):
        """A run in which hardly anything was judged proves nothing."""
        judged = sum(count for name, count in self.counts.items()
                     if name.endswith((": yes", ": no")))
        if judged < 10 * seconds or not all(
                self.counts[f"{who} events: judged"] for who in self.watchers):
            self.fail("hardly anything was judged")

    def report(self):
        """Print the last failures, and their number. Return: whether there is
        none."""
        for text in self.failures[PRINTED:][-PRINTED:]:
            print("FAILED:", text, file=sys.stderr, flush=True)
        print(f"{len(self.failures)} failures")
        return not self.failures
