# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How the instructions of a query are distributed over functions."""
import re
import tempfile

from samples import MEMORY, run

QUERIES = 100000
# In percent: a function with a share above LARGE needs an explanation in
# bench/README.md; a share below SMALL is not printed.
LARGE, SMALL = 15, 1


def functions_of(samples):
    """Instructions of each function in B5, by callgrind."""
    with tempfile.NamedTemporaryFile(dir=MEMORY) as out:
        run("valgrind", "--tool=callgrind",
            f"--callgrind-out-file={out.name}",
            samples.programs / "bench-engine", "-c", "engine-64", QUERIES)
        text = run("callgrind_annotate", "--threshold=100", out.name)
    counts = {}
    for count, name in re.findall(r"^ *([\d,]+) \([^)]*\)  \S*?:(\S+)", text,
                                  re.MULTILINE):
        # The compiler's parts of a function, such as name.cold, belong to it.
        name = name.split(".")[0]
        counts[name] = counts.get(name, 0) + int(count.replace(",", ""))
    return counts


def functions_of_benchmark(samples):
    objects = samples.programs / "bench-engine.p"
    return set(re.findall(r" [tT] (\w+)", run("nm", *objects.glob("*.o"))))


def shares_print(samples):
    """Print each function's share of the engine's instructions in B5."""
    others = functions_of_benchmark(samples)
    counts = {name: count for name, count in functions_of(samples).items()
              if name not in others}
    total = sum(counts.values())
    print(f"{total / QUERIES:,.0f} instructions of the engine for a query")
    for name, count in sorted(counts.items(), key=lambda item: -item[1]):
        share = 100 * count / total
        if share >= SMALL:
            print(f"{share:5.1f} %  {count / QUERIES:5.0f}  {name}"
                  + (f"  above {LARGE} %" if share > LARGE else ""))
