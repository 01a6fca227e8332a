#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests --journal of ibsa watch and ibsa metrics, with a simulated journal.

usage: watch_journal.py IBSA FABRIC PAGE

Runs in its own mount namespace, in which the test creates the journal's socket.
The fields of the entries are those of ibsa watch --format ndjson at another port.
Exits with 77 if no such namespace can be created.
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from metrics_support import Server, Test

PATH = "/run/systemd/journal/socket"
PRIORITIES = {"subscribed": 6, "gid-in": 6, "gid-out": 5, "link-state": 5,
              "gap": 4, "lost": 4, "failed": 4, "ended": 6}
OTHER_FIELDS = ("MESSAGE", "MESSAGE_ID", "PRIORITY", "SYSLOG_IDENTIFIER")


def namespace_enter():
    """Run this program again in its own mount namespace, unless it is there
    already."""
    if os.environ.get("IBSA_TEST_NAMESPACE"):
        return
    unshare = ["unshare", "--mount"]
    if os.getuid() != 0:
        unshare.append("--map-root-user")
    if subprocess.run([*unshare, "true"], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        print("no mount namespace can be made", file=sys.stderr)
        sys.exit(77)
    os.environ["IBSA_TEST_NAMESPACE"] = "1"
    os.execvp("unshare", [*unshare, sys.executable, *sys.argv])


def journal_make():
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    os.makedirs(os.path.dirname(PATH))
    journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    journal.bind(PATH)
    journal.settimeout(20)
    return journal


def entry_read(test, journal):
    text = journal.recv(65536).decode()
    test.expect(text.endswith("\n"), f"an entry without end: {text!r}")
    fields = dict(line.split("=", 1) for line in text.splitlines())
    test.same(len(fields), text.count("\n"), "a field is there twice")
    return fields


def entry_of_kind(test, journal, kind):
    """The next entry of this kind; others are ignored."""
    while (entry := entry_read(test, journal))["IBSA_EVENT"] != kind:
        pass
    return entry


def entry_of(row):
    """Return the journal's fields for a row of --format ndjson."""
    wanted = {"IBSA_EVENT": row["event"], "IBSA_GID": row["gid"],
              "IBSA_LID": row["lid"], "IBSA_NODE": row["name"],
              "IBSA_TRAP": row["trap"], "IBSA_REASON": row["reason"],
              "IBSA_SEQUENCE": row["sequence"],
              "IBSA_STATUS": f"0x{row['status']:04x}" if row["status"] else None}
    return {name: str(value) for name, value in wanted.items()
            if value is not None}


def watch(test, node, *args):
    return subprocess.Popen([test.ibsa, "watch", "all", *args],
                            env={**test.env, "IBSA_NODE": node}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def entries_are_those_of_watch(test, server, journal, listed):
    rows = watch(test, "node3 mlx5_0", "--format=ndjson")
    rows.stdout.readline()
    writer = watch(test, "node2 mlx5_0", "--journal", "-C", "ibsa0")
    entries = [entry_read(test, journal)]
    test.same(entries[0]["IBSA_EVENT"], "subscribed", "first entry")
    server.change("node", "remove", "größe")
    server.change("node", "add", "größe")
    while len(entries) < 3 or entries[-1]["IBSA_EVENT"] != "gid-in":
        entries.append(entry_read(test, journal))
    ours = [entry for entry in entries
            if entry["IBSA_EVENT"].startswith("gid-")]
    restart(test, writer, journal, server, entries)
    rows.send_signal(signal.SIGTERM)
    wanted = [json.loads(line) for line in rows.communicate()[0].splitlines()]
    events = [row for row in wanted if row["event"].startswith("gid-")]
    test.expect(len(events) > len(ours) >= 2, f"only {len(ours)} events")
    for entry, row in zip(ours, events):
        test.same({name: value for name, value in entry.items()
                   if name not in (*OTHER_FIELDS, "IBSA_DEVICE", "IBSA_PORT",
                                   "IBSA_SEQUENCE")},
                  {name: value for name, value in entry_of(row).items()
                   if name != "IBSA_SEQUENCE"}, row["event"])
    for entry in entries:
        kind = entry["IBSA_EVENT"]
        test.same(entry["SYSLOG_IDENTIFIER"], "ibsa", "SYSLOG_IDENTIFIER")
        test.same(entry["PRIORITY"], str(PRIORITIES[kind]), f"PRIORITY {kind}")
        test.same(entry["MESSAGE_ID"], listed[kind], f"MESSAGE_ID {kind}")
        test.same(entry["IBSA_DEVICE"], "ibsa0", "IBSA_DEVICE")
        test.expect(entry["MESSAGE"].startswith(kind), entry["MESSAGE"])
        for name in ("IBSA_GID", "IBSA_NODE", "IBSA_REASON"):
            test.expect(entry.get(name, "") in entry["MESSAGE"],
                        entry["MESSAGE"])


def restart(test, writer, journal, server, entries):
    """Events that come while the journal does not run are lost, and only
    these."""
    os.rename(PATH, PATH + ".away")
    server.change("node", "remove", "größe")
    test.expect("journal" in writer.stderr.readline(), "the loss is not told")
    os.rename(PATH + ".away", PATH)
    server.change("node", "add", "größe")
    writer.send_signal(signal.SIGTERM)
    out, _ = writer.communicate(timeout=20)
    test.same((writer.returncode, out), (0, ""), "SIGTERM")
    while entries[-1]["IBSA_EVENT"] != "ended":
        entries.append(entry_read(test, journal))


def default_is_the_journal(test, journal):
    """Without an option, entries are written where lines would reach the
    journal: a process that has only inherited JOURNAL_STREAM writes lines."""
    with tempfile.NamedTemporaryFile("r+") as stream:
        is_of = os.fstat(stream.fileno())
        for named, args in ((f"{is_of.st_dev}:{is_of.st_ino}", ()),
                            (f"{is_of.st_dev}:{is_of.st_ino}", ("-j",)),
                            (f"{is_of.st_dev}:{is_of.st_ino}x", ()),
                            (f"{is_of.st_dev}:1", ()), ("", ())):
            stream.seek(0)
            stream.truncate()
            watcher = subprocess.Popen(
                [test.ibsa, "watch", "all", "-C", "ibsa0", *args],
                stdout=stream, env={**test.env, "IBSA_NODE": "node2 mlx5_0",
                                    "JOURNAL_STREAM": named})
            if named.endswith(str(is_of.st_ino)) and not args:
                test.same(entry_read(test, journal)["IBSA_EVENT"],
                          "subscribed", "an entry without --journal")
            else:
                while not os.fstat(stream.fileno()).st_size:
                    test.same(watcher.poll(), None, f"watch of {named}")
                    time.sleep(0.01)
            watcher.terminate()
            test.same(watcher.wait(20), 0, f"exit status of {named}")
            if named.endswith(str(is_of.st_ino)) and not args:
                test.same(os.fstat(stream.fileno()).st_size, 0, "lines, too")
                test.same(entry_read(test, journal)["IBSA_EVENT"], "ended",
                          "last entry")


def metrics_write_and_count(test, server, journal):
    """One process, with one subscription, writes events and serves metrics."""
    with subprocess.Popen(
            [test.ibsa, "metrics", "node", "--listen", "127.0.0.1:0",
             "--journal"], text=True, env={**test.env,
                                           "IBSA_NODE": "node2 mlx5_0"},
            stdout=subprocess.PIPE) as metrics:
        url = metrics.stdout.readline().strip()
        test.same(entry_read(test, journal)["IBSA_EVENT"], "subscribed",
                  "first entry of metrics")
        server.change("node", "remove", "größe")
        entry = entry_of_kind(test, journal, "gid-out")
        test.same((entry["IBSA_NODE"], entry["IBSA_DEVICE"]),
                  ("größe", "mlx5_0"), "entry of metrics")
        with urllib.request.urlopen(url, timeout=20) as page:
            text = page.read().decode()
        test.expect('ibsa_events_total{kind="gid-out"} 1\n' in text, text)
        server.change("node", "add", "größe")
        entry_of_kind(test, journal, "gid-in")
        metrics.terminate()
        test.same(metrics.wait(20), 0, "exit status of metrics")
        entry_of_kind(test, journal, "ended")


def links_are_named(test, server, journal):
    """With --links, an event has the port, and its link before and after."""
    writer = watch(test, "node2 mlx5_0", "--journal", "--links")
    entry_of_kind(test, journal, "subscribed")
    for before, after in (("4xEDR", "4xSDR"), ("4xSDR", "4xEDR")):
        server.change("link", "speed", "leaf one/8", after)
        for node in ("leaf one", "leaf two"):
            entry = entry_of_kind(test, journal, "link-state")
            test.same((entry["IBSA_NODE"], entry["IBSA_LINK_PORT"],
                       entry["IBSA_LINK_BEFORE"], entry["IBSA_LINK_AFTER"]),
                      (node, "8", before, after), "entry of a link")
            test.expect(entry["MESSAGE"].endswith(
                f"{node}: port 8: {before} -> {after}"), entry["MESSAGE"])
    writer.terminate()
    test.same(writer.wait(20), 0, "exit status of watch --links")
    entry_of_kind(test, journal, "ended")


def message_ids(test, page):
    """Return the MESSAGE_IDs of the manual page. The command must have the
    same."""
    with open(page, encoding="utf-8") as file:
        listed = dict(re.findall(r"^\.It ([a-z-]+) Ta ([0-9a-f]{32})$",
                                 file.read(), re.M))
    test.same(len(listed), 14, "kinds of events")
    source = pathlib.Path(__file__).parents[2] / "command/names/journal_line.c"
    test.same(sorted(re.findall(r'"([0-9a-f]{32})"', source.read_text("utf-8"))),
              sorted(listed.values()), "MESSAGE_IDs of the page")
    return listed


def main(ibsa, fabric, page):
    namespace_enter()
    test = Test(ibsa)
    listed = message_ids(test, page)
    _, error = test.run("metrics", "--journal", "--fabric", fabric, status=2)
    test.expect("only with --listen" in error, error)
    _, error = test.run("watch", "--journal", "--fabric", fabric, "-j",
                        status=2)
    test.expect("--journal writes no other" in error, error)
    journal = journal_make()
    with Server(test, fabric) as server:
        entries_are_those_of_watch(test, server, journal, listed)
        default_is_the_journal(test, journal)
        metrics_write_and_count(test, server, journal)
        links_are_named(test, server, journal)
    journal.close()
    os.unlink(PATH)
    _, error = test.run("watch", "--journal", "--fabric", fabric, status=4)
    test.expect("cannot connect to the systemd journal" in error, error)
    return test.finish()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
