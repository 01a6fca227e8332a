# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measure ibsa against its peers, in the same run, on the first core.

Each round measures every case once, ours and the peers' in turn. A line
says NAME, what, our median (smallest..largest), the peer's, the median
ratio of the rounds, the target, "ok" or "short", the lower bound ("floor"), and
ours divided by it. bench/README.md defines the benchmarks. The exit status is 0
if all could be measured, however they came out: a slow machine is no broken
build.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
from dataclasses import dataclass

from rows import NAMES, ROWS, Row
from samples import MEASURE, ROOT, Failed, Samples, compiler_of
from shares import shares_print

# Of these more is better.
GAINS = ("speed", "rate", "alone")

RATIOS = {
    "": lambda ours, peer: ours,
    "alone": lambda ours, peer: ours,
    "more": lambda ours, peer: ours - peer,
    "time": lambda ours, peer: ours / peer,
    "rate": lambda ours, peer: ours / peer,
    "speed": lambda ours, peer: peer / ours,
}


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def spread(values):
    """The median, and the range when there is one."""
    text = number(statistics.median(values))
    if len(values) > 1:
        text += f" ({number(min(values))}..{number(max(values))})"
    return text


@dataclass
class Result:
    row: Row
    ours: list
    peer: list
    floor: list
    target: float

    @property
    def ratios(self):
        peer = self.peer or [0] * len(self.ours)
        return [RATIOS[self.row.ratio](*pair) for pair in zip(self.ours, peer)]

    @property
    def is_met(self):
        ratio = statistics.median(self.ratios)
        if self.row.ratio in GAINS:
            return ratio >= self.target
        return ratio <= self.target

    @property
    def to_floor(self):
        if not self.floor:
            return "-"
        return number(statistics.median(self.ours) /
                      statistics.median(self.floor))

    @property
    def cells(self):
        at = ">=" if self.row.ratio in GAINS else "<="
        return (self.row.name, self.row.what, self.row.unit, spread(self.ours),
                spread(self.peer) if self.peer else "-",
                spread(self.ratios) if self.peer else "-",
                f"{at} {number(self.target)}",
                "ok" if self.is_met else "short",
                spread(self.floor) if self.floor else "-", self.to_floor)


def print_line(result):
    (name, what, unit, ours, peer, ratio, target, verdict, floor,
     to_floor) = result.cells
    print(f"{name} {what}, {unit}: ours {ours} peer {peer} ratio {ratio} "
          f"target {target}  {verdict}  floor {floor} ours/floor {to_floor}",
          flush=True)


COLUMNS = ("#", "what", "unit", "ours", "peer", "ratio", "target", "", "floor",
           "ours / floor")
TABLE_HEAD = (" | ".join(("", *COLUMNS, "")).strip() + "\n"
              + "| --- " * len(COLUMNS) + "|")


def print_table_row(result):
    print("| " + " | ".join(result.cells) + " |", flush=True)


def measure(names, rounds, build, show):
    """Show all rows of the names. Return whether all could be measured."""
    samples = Samples(rounds, build)
    compiler = compiler_of(build)
    values = samples.values
    is_done = {}
    for name in names:
        group, take = MEASURE[name]
        if group not in is_done:
            try:
                take(samples)
                is_done[group] = True
            except (Failed, OSError, subprocess.TimeoutExpired) as error:
                print(f"{name} not measured: {error}", file=sys.stderr)
                is_done[group] = False
        if not is_done[group]:
            continue
        for row in ROWS:
            if row.name == name:
                show(Result(row, values[row.ours],
                            values[row.peer] if row.peer else [],
                            values[row.floor] if row.floor else [],
                            row.target_of(compiler)))
    return all(is_done.values())


def is_same_each_time(row):
    return row.unit in ("instructions", "allocations", "bytes")


def compare_line(row, old, new):
    """One case of two builds; the ratio is new / old, round by round."""
    ratios = [b / a if a else float(b != 0) + 1 for a, b in zip(old, new)]
    inside = min(old) <= statistics.median(new) <= max(old)
    print(f"{row.name} {row.ours}, {row.unit}: old {spread(old)} "
          f"new {spread(new)} ratio {spread(ratios)}"
          + ("" if is_same_each_time(row) else
             "  within the old range" if inside else
             "  outside the old range"), flush=True)


def cases_of(names):
    """A row for each of our own cases of the names."""
    rows = {}
    for row in ROWS:
        if row.name in names:
            rows.setdefault((row.name, row.ours), row)
    return rows.values()


def compare(names, rounds, build, other):
    """Measure both builds in alternating rounds, our own cases alone.

    Return whether all could be measured.
    """
    builds = [Samples(1, each, has_peers=False) for each in (other, build)]
    is_whole = True
    for group in dict.fromkeys(MEASURE[name][0] for name in names):
        members = [name for name in names if MEASURE[name][0] == group]
        try:
            for _ in range(rounds):
                for samples in builds:
                    MEASURE[members[0]][1](samples)
        except (Failed, OSError, subprocess.TimeoutExpired) as error:
            print(f"{' '.join(members)} not measured: {error}",
                  file=sys.stderr)
            is_whole = False
            continue
        for row in cases_of(members):
            old, new = (samples.values[row.ours] for samples in builds)
            if old and new:
                compare_line(row, old, new)
    return is_whole


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="which benchmarks; default: all")
    parser.add_argument("-l", "--list", action="store_true",
                        help="list the benchmarks")
    parser.add_argument("-r", "--rounds", type=int, default=7,
                        help="times each case is measured, default 7")
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc",
                        help="build with this compiler, default gcc")
    parser.add_argument("--table", action="store_true",
                        help="print a Markdown table")
    parser.add_argument("--shares", action="store_true",
                        help="print the share of each of the engine's functions "
                        "in the instructions of B5")
    parser.add_argument("--against", metavar="BUILD", type=pathlib.Path,
                        help="compare with the build directory of another "
                        "checkout, in alternating rounds, without the peers")
    args = parser.parse_args()
    unknown = set(args.names) - set(NAMES)
    if unknown or args.rounds < 1:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; try -l"
                     if unknown else "at least one round")
    args.against = args.against and args.against.resolve()
    if args.against and not (args.against / "bench" / "bench-engine").exists():
        parser.error(f"{args.against} has no bench-engine; run scripts/build "
                     "--all in the other checkout and name its build directory")
    return args


def main():
    args = arguments()
    if args.list:
        for row in ROWS:
            print(row.name, row.what)
        return 0
    build = ROOT / ("build" if args.compiler == "gcc" else "build-clang")
    if subprocess.run([ROOT / "scripts" / "build", "--all", "--compiler",
                       args.compiler], check=False).returncode:
        return 1
    if args.shares:
        shares_print(Samples(1, build))
        return 0
    names = [name for name in NAMES if name in (args.names or NAMES)]
    if args.against:
        return 0 if compare(names, args.rounds, build, args.against) else 1
    if args.table:
        print(TABLE_HEAD)
    show = print_table_row if args.table else print_line
    return 0 if measure(names, args.rounds, build, show) else 1
