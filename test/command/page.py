#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests ibsa page: its data, and how the file is written.

usage: page.py IBSA FABRICS GEN-FABRIC FABRIC TEN-THOUSAND

The data of the page is compared with what ibsa topology, ibsa check and ibsa
query print of the same fabric. test/page/page.py tests the page in a browser.
"""
import base64
import hashlib
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

from html.parser import HTMLParser

BYTES_MAX = 5_000_000
HOSTILE = (b"</script><img src=x onerror=alert(1)>", b"<!--<script>",
           b'"},{"a":"\\', b"]]>&lt;&amp;", b"\xe2\x80\xa8line\xe2\x80\xa9",
           b"\x1b[31mred\x07", b"\xff\xfe", b"\\u003c/script>", b"${1}`'",
           b"__proto__", "größe 中".encode())


class Elements(HTMLParser):
    """The elements of the page and their texts, as a browser reads them."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.found = []
        self.is_open = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs), []))
        self.is_open = True

    def handle_endtag(self, tag):
        self.is_open = False

    def handle_data(self, data):
        if self.is_open:
            self.found[-1][2].append(data)

    def all(self, tag):
        return [(attrs, "".join(texts))
                for name, attrs, texts in self.found if name == tag]

    @property
    def data(self):
        texts = [text for attrs, text in self.all("script")
                 if attrs.get("type") == "application/json"]
        assert len(texts) == 1, len(texts)
        return json.loads(texts[0])


class Test:
    def __init__(self, ibsa, folder):
        self.ibsa = ibsa
        self.folder = pathlib.Path(folder)
        self.env = {name: value for name, value in os.environ.items()
                    if name not in ("IBSA_FABRIC", "IBSA_NODE", "SYSFS_PATH")}
        self.count = 0
        self.failed = 0

    def expect(self, is_met, what):
        self.count += 1
        if not is_met:
            self.failed += 1
            print("FAIL:", what)

    def same(self, one, other, what):
        self.expect(one == other, f"{what}: {str(one)[:300]} and "
                    f"{str(other)[:300]}")

    def run(self, *args, status=0, why=""):
        run = subprocess.run([self.ibsa, *args], env=self.env, check=False,
                             cwd=self.folder, capture_output=True,
                             stdin=subprocess.DEVNULL)
        errors = run.stderr.decode()
        self.expect(run.returncode == status, f"{args}: exit status "
                    f"{run.returncode}, not {status}: {errors}")
        self.expect(why in errors, f"{args}: no '{why}' in {errors}")
        self.expect("anitizer" not in errors, errors)
        return run.stdout.decode()

    def rows(self, *args, status=0):
        return json.loads(self.run("-j", *args, status=status))

    def page(self, *args, **expected):
        """The elements of a page on standard output."""
        return Elements(self.run("page", "-o", "-", *args, **expected))


def end_of(data, node, port):
    return data["nodes"]["guid"][node], port


def links_of(data):
    """Links as ibsa topology -j has them, whichever end is first."""
    return sorted(
        (*sorted((end_of(data, a, a_port), end_of(data, b, b_port))),
         f"{lanes}x" if lanes else None, speed or None, state, mtu, rate, ends)
        for a, a_port, b, b_port, lanes, speed, state, mtu, rate, ends
        in data["links"])


def links_of_rows(rows):
    return sorted(
        (*sorted(((row["node_guid"], row["port"]),
                  (row["peer_node_guid"], row["peer_port"]))),
         row["width"], row["speed"], row["state"] or 0, row["mtu"] or 0,
         row["rate"] or 0, row["ends"])
        for row in rows if row["peer"] is not None)


def check_nodes(test, data, on):
    rows = test.rows(*on, "query", "table", "NodeRecord")
    names = dict(zip(data["nodes"]["guid"], data["nodes"]["name"]))
    test.same(names, {row["node_guid"]: row["node_description"]
                      for row in rows}, "names of nodes")
    types = dict(zip(data["nodes"]["guid"], data["nodes"]["type"]))
    test.same(types, {row["node_guid"]: row["node_type"] for row in rows},
              "types of nodes")
    test.same(sorted((guid, lid) for _, _, guid, lid, *_ in data["ports"]
                     if lid),
              sorted({(row["port_guid"], row["lid"]) for row in rows}),
              "ports")


def check_findings(test, data, on):
    rows = test.rows(*on, "check", status=1 if data["findings"] else 0)
    guids = data["nodes"]["guid"]
    test.same([(kind, severity, None if node is None else guids[node],
                port or None, what)
               for kind, severity, node, port, what in data["findings"]],
              [(row["finding"], int(row["severity"] == "critical"),
                row["node_guid"], row["port"], row["what"])
               for row in critical_first(rows)], "findings")


def critical_first(rows):
    return sorted(rows, key=lambda row: row["severity"] != "critical")


def check_paths(test, data, on):
    """The ports to which the page has a path are those to which ibsa query
    has one."""
    here = data["ports"][data["here"]]
    test.same(here[4], 2, "the path to this port")
    rows = test.rows(*on, "query", "table", "PathRecord", "sgid=self",
                     "numb_path=1", "reversible=1")
    guid = lambda gid: "0x" + "".join(
        part.zfill(4) for part in full_gid(gid)[4:])
    test.same(sorted((port, mtu, rate) for _, _, port, _, path, mtu, rate
                     in data["ports"] if path == 1),
              sorted((guid(row["dgid"]), row["mtu"], row["rate"])
                     for row in rows if guid(row["dgid"]) != here[2]), "paths")
    latency = data["latency"]
    test.expect(0 < latency["answers"] == latency["queries"] <= 16 and
                0 < latency["min_ns"] <= latency["median_ns"]
                <= latency["max_ns"], f"latency {latency}")


def full_gid(gid):
    """The eight parts of an IPv6 address."""
    before, double, after = gid.partition("::")
    before = before.split(":") if before else []
    after = after.split(":") if after else []
    fill = ["0"] * (8 - len(before) - len(after)) if double else []
    return before + fill + after


def check_records(test, data, on):
    """Compare partitions, groups and SMs with the output of ibsa query."""
    key = "--sm-key=1"
    tables = test.rows(*on, key, "query", "table", "PKeyTableRecord")
    lids = {port[3]: i for i, port in enumerate(data["ports"])}
    switches = {port[3] for port in data["ports"] if port[1] == 0}
    members = {(int(value, 0), lids[row["lid"]])
               for row in tables
               for name, value in row.items() if name.startswith("pkey_") and
               isinstance(value, (str, int)) and number(value) & 0x7fff and
               (row["lid"] not in switches or row["port_num"] == 0)
               for value in [hex(number(value))]}
    found = {(number(part["pkey"]) | bit, port)
             for part in data["partitions"]["list"]
             for name, bit in (("full", 0x8000), ("limited", 0))
             for port in part[name]}
    test.same(sorted(found), sorted(members), "members of partitions")
    groups = test.rows(*on, key, "query", "table", "MCMemberRecord",
                       status=0 if data["groups"]["list"] else 1)
    test.same(sorted({group["mgid"] for group in data["groups"]["list"]}),
              sorted({row["mgid"] for row in groups}), "groups")
    sms = test.rows(*on, key, "query", "table", "SMInfoRecord")
    test.same([(sm["guid"], sm["priority"]) for sm in data["sm"]["list"]],
              [(row["guid"], row["priority"]) for row in sms], "SMs")


def number(value):
    return value if isinstance(value, int) else int(value, 0)


def check_data(test, fabrics):
    for fabric in fabrics:
        on = ("--fabric", fabric)
        data = test.page(*on, "--sm-key=1").data
        test.same(data["version"], test.run("-V").split()[1], "version")
        test.expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
                                 data["time"]), data["time"])
        test.same(links_of(data),
                  links_of_rows(test.rows(*on, "topology")), f"{fabric}: links")
        check_nodes(test, data, on)
        check_findings(test, data, on)
        check_paths(test, data, on)
        check_records(test, data, on)


def source_hash(text):
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def check_self_contained(test, page):
    """The policy allows the page's own script and style, and nothing else."""
    policy = [attrs["content"] for attrs, _ in page.all("meta")
              if attrs.get("http-equiv") == "Content-Security-Policy"]
    scripts = [text for attrs, text in page.all("script")
               if attrs.get("type") != "application/json"]
    styles = [text for _, text in page.all("style")]
    test.same(policy, [f"default-src 'none'; style-src "
                       f"{source_hash(styles[0])}; script-src "
                       f"{source_hash(scripts[0])}"], "policy")
    test.same((len(scripts), len(styles)), (1, 1), "scripts and styles")
    for tag, attrs, _ in page.found:
        wrong = [name for name in attrs
                 if name in ("src", "href", "style", "action", "data") or
                 name.startswith("on")]
        test.expect(not wrong, f"{tag} has {wrong}")
    for text in scripts + styles:
        test.expect(not re.search(r"https?:|url\(|@import|innerHTML|"
                                  r"insertAdjacentHTML|fetch\(|eval\(", text),
                    "the page may load or parse something")


def check_hostile(test, fabric):
    path = test.folder / "hostile.net"
    path.write_bytes(b'Switch 36 "S-1" # "leaf</style>"\n' + b"".join(
        b'[%d] "H-%d"[1] 4xEDR\n' % (i + 1, i) for i in range(len(HOSTILE))) +
        b"".join(b'\nCa 1 "H-%d" # "%s"\n[1] "S-1"[%d] 4xEDR\n' %
                 (i, name, i + 1) for i, name in enumerate(HOSTILE)))
    plain = [(tag, sorted(attrs)) for tag, attrs, _ in
             test.page("--fabric", fabric).found]
    for args in ["--fabric", path], [path]:
        page = test.page(*args)
        test.same([(tag, sorted(attrs)) for tag, attrs, _ in page.found], plain,
                  "elements of the page")
        rows = test.rows("topology", path)
        test.same(sorted(page.data["nodes"]["name"]),
                  sorted({row["node"] for row in rows} |
                         {row["peer"] for row in rows}), "names")
    raw = test.run("page", "-o", "-", path)
    start = raw.index('type="application/json">') + 24
    data = raw[start:raw.index("</script>", start)]
    test.expect(not re.search(r"[<>&\u2028\u2029\x00-\x1f]", data),
                "a character that HTML or JavaScript may read otherwise")
    test.expect("größe" in data, "names in UTF-8")


def check_file(test, fabric):
    """A page of a topology file has no part that needs an SA."""
    data = test.page(fabric).data
    test.same(data["file"], str(fabric), "file")
    test.same(data["here"], None, "here")
    test.expect(not {"sm", "latency", "partitions", "services", "groups"} &
                set(data), "parts of an SA")
    test.same(links_of(data), links_of_rows(test.rows("topology", fabric)),
              "links of a file")


def check_expect(test, fabric, other):
    """Check --expect and --node-name-map."""
    on = ("--fabric", fabric)
    data = test.page(*on, "--expect", other).data
    rows = test.rows(*on, "check", "--expect", other, status=1)
    test.same([row[4] for row in data["findings"]],
              [row["what"] for row in critical_first(rows)],
              "findings of --expect")
    data = test.page(fabric, "--expect", other).data
    test.expect("missing" in {row[0] for row in data["findings"]},
                "findings of a file with --expect")
    guid = data["nodes"]["guid"][0]
    (test.folder / "map").write_text(f'{guid} "another"\n', "utf-8")
    data = test.page(*on, "--node-name-map", "map").data
    test.same(data["nodes"]["name"][0], "another", "a name of the map")


def check_missing(test):
    """The finding of a missing node has its name, and the node to which it
    is expected to be connected."""
    leaf = 'Switch 4 "S-00000000000000a1" # "leaf"\n'
    cables = [f'[{n}] "H-00000000000000b{n}"[1] # 4xEDR\n' for n in (1, 2)]
    hosts = [f'Ca 1 "H-00000000000000b{n}" # "node{n}"\n' for n in (1, 2)]
    for name, lines in (("cut", [leaf, cables[0], hosts[0]]),
                        ("whole", [leaf, *cables, *hosts]),
                        ("lone", [leaf, cables[0], *hosts])):
        (test.folder / f"{name}.net").write_text("".join(lines), "ascii")
    for expected in "whole", "lone":
        data = test.page("cut.net", "--expect", f"{expected}.net").data
        peer = data["nodes"]["name"].index("leaf")
        test.same([(row[0], row[2], row[5:]) for row in data["findings"]],
                  [("missing", None,
                    ["node2", peer if expected == "whole" else None])],
                  f"a missing node of {expected}.net")


def check_output(test, fabric):
    on = ("--fabric", str(fabric))
    out = test.folder / "out.html"
    test.same(test.run("page", *on, "-o", "out.html"), "", "output")
    test.same(stat.S_IMODE(out.stat().st_mode), 0o666 & ~os_umask(), "mode")
    first = out.read_text("utf-8")
    test.expect(first.startswith("<!DOCTYPE html>") and
                first.endswith("</html>\n"), "a whole page")
    number_of_file = out.stat().st_ino
    link = test.folder / "link.html"
    link.symlink_to("out.html")
    test.run("page", *on, "--output=link.html")
    test.expect(link.is_symlink() and out.stat().st_ino != number_of_file,
                "the file is replaced, the link is kept")
    test.run("page", *on, "-o", "/dev/null")
    test.same(sorted(path.name for path in test.folder.glob("*.html*")),
              ["link.html", "out.html"], "files left behind")
    out.write_text("old", "utf-8")
    test.run("page", "none.net", "-o", "out.html", status=4, why="none.net")
    test.same(out.read_text("utf-8"), "old", "the file after a failure")
    test.run("page", *on, "-o", "none/out.html", status=4,
             why="cannot write 'none/out.html': No such file or directory")
    test.run("page", *on, "-o", ".", status=4, why="Is a directory")
    test.run("page", *on, "-o", "/dev/full", status=4,
             why="No space left on device")


def os_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_usage(test, fabric):
    copy = test.folder / "copy.net"
    copy.write_bytes(pathlib.Path(fabric).read_bytes())
    (test.folder / "names").write_text("", "utf-8")
    for args, why in (
            (["copy.net"], "page needs --output FILE"),
            (["copy.net", "other", "-o", "x"], "accepts one file"),
            (["copy.net", "-o", "./copy.net"], "is the file that is read"),
            (["--fabric", "copy.net", "-o", "copy.net"], "is the file that is read"),
            (["--expect", "copy.net", "-o", "copy.net"], "the file that --expect reads"),
            (["--node-name-map", "names", "-o", "names"],
             "the file that --node-name-map reads"),
            (["--record", "x", "-o", "x"], "is the file that --record writes"),
            (["copy.net", "-o", "x", "-j"], "page has no option --json"),
            (["copy.net", "-o", "x", "--format", "csv"],
             "page has no option --format")):
        test.run("page", *args, status=2, why=why)
    test.same(copy.read_bytes(), pathlib.Path(fabric).read_bytes(), "copy.net")
    text = test.run("page", "--help")
    test.expect(text.startswith("usage: ibsa page [FILE]") and
                "-o, --output FILE" in text, text)
    # Options that are refused are not listed.
    test.expect("--json" not in text and "--fields" not in text and
                "--verbose" in text, text)
    text = test.run("metrics", "--help")
    test.expect("--json" not in text and "--verbose" not in text, text)
    # The advice fits the reason.
    test.run("page", "copy.net", "-o", ".", status=4,
             why="cannot write '.': Is a directory; name a file in it\n")
    test.run("page", "copy.net", "-o", "none/x", status=4,
             why="check that its folder exists and is writable")


def check_failures(test, fabric):
    """Without an SM, no page is written. If the SA refuses a table, the page
    is written, and contains the reason."""
    test.run("fabric", "exec", "--sa", "none", fabric, "--", test.ibsa, "page",
             "-o", "none.html", status=3, why="no subnet manager")
    test.expect(not (test.folder / "none.html").exists(), "a page without SM")
    page = test.page("--fabric", fabric, why="the SA did not return PKeyTableRecord")
    test.page("--fabric", fabric, why="; use --sm-key 1, the SM_Key of an embedded")
    key = test.page("--fabric", fabric, "--sm-key", "1")
    test.expect("why" not in key.data["partitions"], "the key is refused")
    test.run("fabric", "exec", fabric, "--", test.ibsa, "page", "-o", "-",
             why="; use --sm-key 1, the SM_Key of an embedded fabric")
    test.same(page.data["partitions"]["list"], [], "partitions")
    test.expect("refused" in page.data["partitions"]["why"], "no reason")


def check_partitions(test, fabric):
    """The page of a limited member lacks other limited members, whose
    records the SA does not return, and counts hidden records."""
    names = [row["node_description"] for row in
             test.rows("--fabric", fabric, "query", "table", "NodeRecord")
             if row["node_type"] == 1]
    (test.folder / "part.conf").write_text(
        "Default=0x7fff: ALL=limited, SELF=full;\n", "utf-8")
    inside = ["fabric", "exec", "--partitions", "part.conf", fabric, "--",
              "env", f"IBSA_NODE={names[-1]}", test.ibsa]
    page = Elements(test.run(*inside, "page", "-o", "-"))
    data = page.data
    rows = json.loads(test.run(*inside, "check", "-j", status=1))
    test.same([row[4] for row in data["findings"]],
              [row["what"] for row in critical_first(rows)], "findings")
    nodes = json.loads(test.run(*inside, "query", "table", "NR", "-j"))
    test.same(sorted(data["nodes"]["guid"]),
              sorted({row["node_guid"] for row in nodes}), "nodes")
    test.expect(data["info"]["hidden"] + data["info"]["unmatched"] > 0,
                "hidden records are not counted")
    whole = test.page("--fabric", fabric).data
    test.expect(len(data["links"]) < len(whole["links"]),
                "a partition that hides nothing")


def check_services(test, fabric):
    """The page has the services of the SA, and their names are escaped."""
    script = ('"$0" service register 0x1234 "a</script>b" >/dev/null && '
              '"$0" --sm-key=1 page -o - && '
              '"$0" -j query table ServiceRecord >rows.json')
    text = test.run("fabric", "exec", fabric, "--", "sh", "-c", script,
                    test.ibsa)
    found = Elements(text).data["services"]["list"]
    rows = json.loads((test.folder / "rows.json").read_text("utf-8"))
    test.same([(row["id"], row["service_name"], row["gid"]) for row in found],
              [(row["service_id"], row["service_name"], row["service_gid"])
               for row in rows], "services")
    test.same(found[0]["service_name"], "a</script>b", "name of the service")
    test.expect(found[0]["port"] is not None, "port of the service")


def check_many_findings(test, other, large):
    """The page contains at most 10000 findings, but the number of all."""
    text = test.run("page", large, "--expect", other, "-o", "-")
    data = Elements(text).data
    test.same(len(data["findings"]), 10000, "findings in the page")
    test.expect(data["critical"] + data["warnings"] > 11000, "all findings")
    test.expect(len(text.encode()) < BYTES_MAX, f"{len(text)} bytes")


def check_sizes(test, generator, large):
    for hosts in 4, 700:
        net = test.folder / f"{hosts}.net"
        subprocess.run([generator, str(hosts), "-o", net], check=True)
        check_size(test, net, hosts)
    check_size(test, large, 10000)


def check_size(test, net, hosts):
    text = test.run("page", "--fabric", net, "--sm-key=1", "-o", "-")
    data = Elements(text).data
    test.expect(len(text.encode()) < BYTES_MAX, f"{hosts}: {len(text)} bytes")
    test.same(data["nodes"]["type"].count(1), hosts, "hosts")
    test.same(len(data["links"]), data["info"]["links"], "links")
    test.same(sum(port[4] > 0 for port in data["ports"] if port[1] > 0), hosts,
              "ports with a path")
    test.expect(1 <= data["latency"]["queries"] <= 16, "queries")


def main():
    ibsa, fabrics, generator, fabric, large = map(os.path.realpath,
                                                  sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        test = Test(ibsa, folder)
        check_data(test, [fabric, f"{fabrics}/fat-tree-16.net",
                          f"{fabrics}/dgx.net"])
        check_self_contained(test, test.page("--fabric", fabric))
        check_hostile(test, fabric)
        check_file(test, fabric)
        check_expect(test, fabric, f"{fabrics}/dgx.net")
        check_missing(test)
        check_output(test, fabric)
        check_usage(test, fabric)
        check_failures(test, fabric)
        check_partitions(test, fabric)
        check_services(test, fabric)
        check_many_findings(test, fabric, large)
        check_sizes(test, generator, large)
    print(f"{test.count} checks, {test.failed} failed")
    return test.failed != 0


if __name__ == "__main__":
    sys.exit(main())
