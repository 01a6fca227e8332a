#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the rows of all commands, in each output format.

usage: formats.py IBSA SCHEMAS FABRIC

The output of -j conforms to its schema. An altered output does not, nor does
the output conform to an altered schema. --format ndjson, --format csv and --fields print the
same values as -j.
"""
import copy
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from schema import Schema, parse, schema_of

# Values that differ from run to run.
VARYING = {"rtt_us", "detail", "time", "sequence", "packets_in", "packets_out",
           "accepted", "requests", "answers", "service_lease", "most_in_flight",
           "time_ms"}

RECORDS = ("NR", "PIR", "CPI", "SR", "MCMR", "IIR", "GIR", "PKTR", "SWIR",
           "LFTR", "MFTR", "SMIR", "LR", "SL2VL", "VLAR")

HOSTILE = (b'a,"b', b"\x1b[2Jc\x07", b"\xff\xfed", b"=1+1", b"back\\slash",
           b" e ", "größe".encode())


class Test:
    def __init__(self, ibsa, schemas, fabric):
        self.ibsa = ibsa
        self.schemas = schemas
        self.env = {**os.environ, "IBSA_FABRIC": fabric}
        self.env.pop("SYSFS_PATH", None)
        self.failed = 0
        self.count = 0
        self.commands = set()  # whose rows were compared

    def expect(self, is_met, what):
        self.count += 1
        if not is_met:
            self.failed += 1
            print("FAIL:", what)

    def run(self, args, status=0):
        run = subprocess.run([self.ibsa, *args], env=self.env, check=False,
                             capture_output=True)
        self.expect(run.returncode == status,
                    f"{args}: {run.returncode}, not {status}: {run.stderr}")
        return run.stdout.decode()

    def rows(self, args, status=0):
        return parse(self.run(["-j", *args], status))[0]


def is_same(row, other):
    return all(row[name] == other[name] for name in row
               if name not in VARYING)


def csv_rows(text):
    """Return the header and the rows of CSV text. Each line must end in
    LF."""
    lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert text.endswith("\n") and "\r" not in text and text.count("\n") == len(lines)
    return lines[0], [dict(zip(lines[0], line, strict=True))
                      for line in lines[1:]]


def csv_value(value):
    return "" if value is None else str(value)


def table_rows(text, count):
    """Return the cells of a table. Each column begins where its title
    begins."""
    lines = text.splitlines()
    at = [i for i, c in enumerate(lines[0])
          if c != " " and (i == 0 or lines[0][i - 1] == " ")]
    assert len(at) == count, lines[0]
    ends = [*at[1:], None]
    return [[line[i:k].strip() for i, k in zip(at, ends)]
            for line in lines[1:]]


def is_shown(row, name, text):
    """Whether a table may show the value as the text."""
    value = row[name]
    if value is None or value == "":
        return text == "-"
    if row.get(f"{name}_text") == text:
        return True
    if row.get(f"{name}_text") and name not in SHOWN_AS_NUMBERS:
        return False
    if isinstance(value, int) and text != "infinite":
        return int(text, 0) == value
    return text in (str(value).strip(), "infinite")


# Members whose texts are from a list of the library or of the command.
WORDS = {"event", "finding", "name", "reach", "reason", "severity", "speed",
         "variable", "verdict", "width"}

# Codes that text output shows as numbers; JSON has their meaning, too.
SHOWN_AS_NUMBERS = {
    "link_width_active", "link_speed_active", "link_speed_ext_active",
    "link_speed_ext_active2", "mtu_selector", "operational_vls",
    "packet_life_time", "packet_life_time_selector", "rate_selector",
    "resp_time_value", "subnet_timeout", "life_time_value", "vl_cap"}

# Codes of which text output shows the meaning.
CODES = SHOWN_AS_NUMBERS | {
    "link_down_default_state", "mtu_cap", "neighbor_mtu", "node_type",
    "port_physical_state", "port_state", "sm_state"}


def has_words(args, row, name):
    """Whether the value is a text from a fixed list of texts."""
    return isinstance(row[name], str) and (
        name.endswith("_text") or name in WORDS and
        (name, args[0]) not in {("reason", "env"), ("name", "watch")})


def check_words(test, args, rows, schema):
    """The schema must reject a text that is not in the fixed list of its
    field."""
    for row in rows[:20]:
        for name in row:
            if has_words(args, row, name):
                altered = [{**row, name: row[name] + "x"}]
                test.expect(schema.errors(altered),
                            f"{args}: passes with {name} {row[name]}x")
    for name in CODES & set(rows[0]):
        test.expect(f"{name}_text" in rows[0], f"{args}: no {name}_text")


def check_schema(test, args, rows):
    """The rows conform to the schema; altered rows do not, and the rows do
    not conform to an altered schema."""
    schema = schema_of(test.schemas, args[0])
    test.expect(not schema.errors(rows), f"{args}: {schema.errors(rows)}")
    if not rows:
        return
    check_words(test, args, rows, schema)
    name, value = next(iter(rows[0].items()))
    for what, change in (
            ("a member is missing", lambda row: row.pop(name)),
            ("a member is new", lambda row: row.update(other=1)),
            ("a member is an array", lambda row: row.update({name: [value]})),
            ("a number is a text", lambda row: row.update(
                {n: str(v) for n, v in row.items() if isinstance(v, int)}
                or {"other": 1}))):
        altered = [dict(rows[0])]
        change(altered[0])
        test.expect(schema.errors(altered), f"{args}: passes although {what}")
    text = copy.deepcopy(schema.definition(rows))
    for definition in text["anyOf"]:
        definition.get("items", definition)["properties"].pop(name, None)
    test.expect(Schema({**text, "$defs": {}}).errors(rows[:1]),
                f"{args}: passes an altered schema")


def check_table(test, args, rows, status):
    """Check --fields without a format, with all names in another order: in a
    table, and in the blocks of -v."""
    names = sorted(rows[0], reverse=True)
    text = test.run([*args, "--fields", ",".join(names)], status)
    table = table_rows(text, len(names))
    test.expect(len(table) == len(rows), f"{args}: rows of --fields")
    for row, cells in zip(rows, table):
        for name, cell in zip(names, cells):
            test.expect(name in VARYING or is_shown(row, name, cell),
                        f"{args}: {name} is {row[name]!r} and '{cell}'")
    name = names[0]
    blocks = test.run(["-v", *args, "--fields", name], status)
    test.expect([line.split(" ")[0] for line in blocks.splitlines() if line]
                == [name] * len(rows), f"{args}: -v --fields: {blocks}")


def check_fields(test, args, rows, status):
    names = sorted(rows[0], reverse=True)[:5]
    fields = ["--fields", ",".join(names)]
    some = test.rows([*args, *fields], status)
    test.expect([list(row) for row in some] == [names] * len(rows) and
                all(map(is_same, some, rows)), f"{args}: -j {fields}")
    header, lines = csv_rows(test.run(["--format=csv", *args, *fields], status))
    test.expect(header == names, f"{args}: --format csv {fields}: {header}")
    test.expect(all(is_same(line, {n: csv_value(row[n]) for n in names})
                    for row, line in zip(rows, lines, strict=True)),
                f"{args}: --format csv {fields}")
    check_table(test, args, rows, status)


def check(test, args, status=0):
    """Check a command that ends by itself, in each format. Return its rows."""
    test.commands.add(args[0])
    rows = test.rows(args, status)
    check_schema(test, args, rows)
    lines = parse(test.run(["--format=ndjson", *args], status))
    test.expect(len(lines) == len(rows) and all(map(is_same, lines, rows)),
                f"{args}: --format ndjson")
    header, lines = csv_rows(test.run(["--format=csv", *args], status))
    test.expect(len(lines) == len(rows), f"{args}: rows of --format csv")
    for row, line in zip(rows, lines):
        test.expect(header == list(row), f"{args}: header {header}")
        test.expect(is_same(line, {n: csv_value(v) for n, v in row.items()}),
                    f"{args}: --format csv {line}")
    if rows:
        check_fields(test, args, rows, status)
    return rows


def check_stream(test, args, lines):
    """Check a command whose rows are events: its first rows, and those that
    it prints when SIGTERM ends it."""
    test.commands.add(args[0])
    first = None
    for options in (["-j"], ["--format=ndjson"], ["--format=csv"],
                    ["--format=csv", "--fields", "event,time"]):
        run = subprocess.Popen([test.ibsa, *options, *args], env=test.env,
                               stdout=subprocess.PIPE, text=True)
        text = "".join(run.stdout.readline()
                       for _ in range(lines + (options[0] == "--format=csv")))
        run.send_signal(signal.SIGTERM)
        text += run.communicate(timeout=20)[0]
        if options[0] == "--format=csv":
            header, rows = csv_rows(text)
            wanted = ["event", "time"] if len(options) > 1 else list(first[0])
            test.expect(header == wanted, f"{args}: header {header}")
        else:
            rows = parse(text)
            errors = [schema_of(test.schemas, args[0]).errors(row)
                      for row in rows]
            test.expect(not any(errors), f"{args}: {errors}")
        first = first or rows
        test.expect([row["event"] for row in rows] ==
                    [row["event"] for row in first], f"{options} {args}")


def check_embedded(test, fabric):
    check(test, ["devices"])
    check(test, ["devices", "nobody"], 4)
    check(test, ["check"])
    check(test, ["check", "node"])
    check(test, ["check", "node", "--rate", ">=400", "nobody"], 1)
    check(test, ["status"])
    check(test, ["topology"])
    check(test, ["trace", "self", "node2"])
    check(test, ["env", "ucx"])
    check(test, ["env", "nccl"])
    check(test, ["doctor"])
    check(test, ["gids"])
    for args in ([], ["-a"]):
        check(test, ["gids", "--for", "fe80::2:c903:0:21", *args])
    check(test, ["path", "self", "node2"])
    check(test, ["path", "-a", "node1", "node3"])
    check(test, ["path", "self", "fe80::dead:beef"], 1)
    check(test, ["ping-sa", "2"])
    check(test, ["reach", "--all"])
    check(test, ["reach", "--matrix"])
    check(test, ["reach", "node2", "fe80::dead:beef", "nobody"], 1)
    check(test, ["check", fabric])
    check(test, ["topology", fabric])
    check(test, ["query", "get", "PR", "slid=1", "dlid=5"])
    check(test, ["query", "table", "NR", "lid=40000"], 1)


def check_records(test):
    """Check the table of each record that the SA supports."""
    for record in RECORDS:
        run = subprocess.run([test.ibsa, "query", "table", record,
                              "--sm-key=1"], env=test.env, check=False,
                             capture_output=True)
        if run.returncode == 0:
            check(test, ["query", "table", record, "--sm-key=1"])
        else:
            test.expect(record in ("CPI", "SR", "MCMR", "IIR", "MFTR"),
                        f"no {record}: {run.stderr}")
    check(test, ["query", "get", "CPI"])
    check(test, ["query", "multi", "MPR", "sgid=fe80::2:c903:0:11",
                 "dgid=fe80::2:c903:0:21"])


def check_hostile(test, fabric, folder):
    """Check names with characters that have a meaning in some format."""
    path = pathlib.Path(folder) / "hostile.net"
    path.write_bytes(b'Switch 8 "S-1" # "leaf"\n' + b"".join(
        b'[%d] "H-%d"[1]\n' % (i + 1, i) for i in range(len(HOSTILE))) +
        b"".join(b'\nCa 1 "H-%d" # "%s"\n[1] "S-1"[%d]\n' %
                 (i, name, i + 1) for i, name in enumerate(HOSTILE)))
    test.env["IBSA_FABRIC"] = str(path)
    rows = check(test, ["devices"])
    names = [row["device"] for row in rows]
    test.expect(names == ['a,"b', r"\x1b[2Jc\x07", r"\xff\xfed", "=1+1",
                          r"back\x5cslash", " e ", "größe"], names)
    check(test, ["query", "table", "NR"])
    check(test, ["reach", "--all"])
    check(test, ["topology"])
    check(test, ["check", "--expect", fabric], 1)
    text = test.run(["--format=csv", "devices", "--fields", "device,lid"])
    test.expect(text.startswith('device,lid\n"a,""b",'), text)


def check_all(test):
    """All commands were checked, except those that only have their own
    format."""
    text = test.run(["--help"]).split("commands:\n")[1].split("\n\n")[0]
    commands = {line.split()[0] for line in text.splitlines()}
    left = commands - test.commands
    test.expect(left == {"demo", "metrics", "page"}, f"not compared: {left}")


def check_refusals(test):
    """Options that contradict each other, and wrong names."""
    for args, why in (
            (["-j", "--format=csv", "devices"], b"two formats"),
            (["--format=ndjson", "--format=csv", "devices"], b"two formats"),
            (["devices", "--fields", "lidd"],
             b"no field 'lidd'; the fields are device, port, state, "),
            (["query", "table", "NR", "--fields", "lid,LID"], b"no field 'LI"),
            (["devices", "--fields", "lid,lid"], b"'lid' is given twice"),
            (["devices", "--fields", "lid,"], b"no field ''"),
            (["devices", "--fields", ""], b"the value is empty"),
            (["reach", "--matrix", "--format=svg", "--format=csv"],
             b"two formats"),
            (["topology", "--format=net", "--format=csv"], b"two formats"),
            (["fabric", "link", "up", "a/1", "--format=csv"],
             b"fabric link has no format 'csv'; its formats are table, json")):
        run = subprocess.run([test.ibsa, *args], env=test.env, check=False,
                             capture_output=True)
        test.expect(run.returncode == 2 and why in run.stderr and
                    not run.stdout, f"{args}: {run}")
    test.expect(test.run(["devices", "--fields", "lid"]).startswith("LID\n"),
                "a table with one column")


def start(test, action, *args):
    """Start a fabric command that runs until a signal. Return it and its first
    line, which is a row, too."""
    process = subprocess.Popen([test.ibsa, "fabric", action, "-j", *args],
                               stdout=subprocess.PIPE, text=True, env=test.env)
    ready = json.loads(process.stdout.readline())
    errors = schema_of(test.schemas, "fabric").errors(ready)
    test.expect(not errors, f"fabric {action}: {errors}")
    return process, ready


def serve(test, fabric, folder, *options):
    server, ready = start(test, "run", fabric, "--socket",
                          os.path.join(folder, "s"), *options)
    test.env["IBSA_FABRIC"] = ready["fabric"]
    return server


def check_sysfs(test, folder):
    path = os.path.join(folder, "sys")
    process, ready = start(test, "sysfs", "node1", path)
    test.expect(ready == {"event": "ready", "directory": path,
                          "host": "node1"}, f"fabric sysfs: {ready}")
    process.terminate()
    process.communicate()


def check_server(test, fabric, folder):
    partitions = os.path.join(folder, "partitions")
    pathlib.Path(partitions).write_text("Default=0x7fff, ipoib : ALL=full;\n",
                                        "utf-8")
    server = serve(test, fabric, folder, "--partitions", partitions)
    try:
        check(test, ["service", "register", "0x1234", "printer",
                     "service_data8_1=9"])
        check(test, ["service", "register", "7", "other", "--lease", "60"])
        check(test, ["service", "list"])
        check(test, ["service", "lookup", "printer"])
        check(test, ["query", "table", "SR"])
        check(test, ["query", "table", "MCMR"])
        check(test, ["devices"])
        check(test, ["fabric", "stats"])
        check_sysfs(test, folder)
        check_stream(test, ["watch"], 1)
        check_stream(test, ["service", "register", "--renew", "9", "x"], 1)
    finally:
        server.terminate()
        server.wait()


def check_opa(test, fabric, folder):
    server = serve(test, fabric, folder, "--opa")
    try:
        check(test, ["path", "self", "node2"])
    finally:
        server.terminate()
        server.wait()


def main():
    ibsa, schemas, fabric = (os.path.realpath(arg) for arg in sys.argv[1:])
    test = Test(ibsa, schemas, fabric)
    check_embedded(test, fabric)
    check_records(test)
    check_refusals(test)
    with tempfile.TemporaryDirectory() as folder:
        check_server(test, fabric, folder)
        check_opa(test, fabric, folder)
        check_hostile(test, fabric, folder)
    check_all(test)
    print(f"{test.count} checks, {test.failed} failed")
    return test.failed != 0


if __name__ == "__main__":
    sys.exit(main())
