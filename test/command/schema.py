#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the JSON output of the command with its schemas.

usage: schema.py SCHEMAS FOLDER

FOLDER has two files for each run of the command: N.args, the arguments, each with
a NUL after it, and N.out, the output. Exits with 1 if an output does not
conform to its schema, and with 77 if python3-jsonschema is missing.
"""
import functools
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("needs python3-jsonschema", file=sys.stderr)
    sys.exit(77)

def unique(pairs):
    """Return a JSON object. Fail if it has a name twice."""
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names), f"a name is given twice: {names}"
    return dict(pairs)


def parse(text):
    """The values in an output: an array, or the objects of its lines."""
    if text.startswith("["):
        return [json.loads(text, object_pairs_hook=unique)]
    return [json.loads(line, object_pairs_hook=unique)
            for line in text.splitlines()]


def check_values(members):
    """A rate and an MTU are also numbers, and a P_Key is text, in every row."""
    for name, value in (("rate", "rate_gbps"), ("mtu", "mtu_bytes")):
        assert name not in members or value in members, f"no {value}"
    for name in ("pkey", "service_pkey"):
        types = json.dumps(members.get(name, "string"))
        assert "string" in types and "integer" not in types, f"{name}: {types}"


class Schema:
    """The schema of a command's output."""

    def __init__(self, text):
        jsonschema.Draft202012Validator.check_schema(text)
        self.text = text
        for definition in text["$defs"].values():
            check_values(definition.get("items", definition).get("properties", {}))

    def definition(self, value):
        """Return the definition of the rows that have this row's members,
        because its errors are more precise; without one, the whole schema."""
        row = value[0] if isinstance(value, list) and value else value
        for definition in self.text["$defs"].values():
            rows = definition.get("items", definition)
            if isinstance(row, dict) and set(row) == set(rows["required"]):
                return {**self.text, "anyOf": [definition]}
        return self.text

    def errors(self, value):
        validator = jsonschema.Draft202012Validator(self.definition(value))
        return [error.message for error in validator.iter_errors(value)]


@functools.cache
def schema_of(folder, command):
    path = pathlib.Path(folder) / f"{command}.json"
    return Schema(json.loads(path.read_text("utf-8")))


def main():
    schemas, folder = sys.argv[1:]
    commands = {path.stem for path in pathlib.Path(schemas).glob("*.json")}
    count = failed = 0
    for output in sorted(pathlib.Path(folder).glob("*.out")):
        args = output.with_suffix(".args").read_bytes().decode(
            "utf-8", "surrogateescape").split("\0")[:-1]
        command = next((arg for arg in args if arg in commands), "status")
        for value in parse(output.read_text("utf-8")):
            count += 1
            errors = schema_of(schemas, command).errors(value)
            if errors:
                failed += 1
                print(f"FAIL: {args}: {errors[0]}")
    print(f"{count} outputs, {failed} do not pass their schema")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
