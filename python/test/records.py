# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Classes of records: their fields, and their stub."""

import ast
import ctypes
import errno
import ipaddress
import keyword
import pathlib
import pickle
import re
import unittest

import ibsa
from ibsa import _native, _records


def named(field, values):
    """Names and values of a field, as the arguments of its class."""
    if not isinstance(values, tuple):
        return [(field, values)]
    return [(f"{field}_{at}", one) for at, one in enumerate(values, 1)]


class Records(unittest.TestCase):
    def test_classes_are_the_tables(self):
        names = []
        while _native.lib.ibsa_record_at(len(names)):
            table = _native.lib.ibsa_record_at(len(names)).contents
            names.append(table.name.decode())
            self.assertIs(ibsa.record_class(table.short_name.decode().lower()),
                          getattr(ibsa, names[-1]))
        self.assertEqual([one.name for one in _records.records], names)
        self.assertIn("PathRecord", names)

    def test_names_are_free(self):
        """A field is neither a method, nor an argument, nor a keyword."""
        taken = set(dir(ibsa.Record)) | {
            "method", "deadline_ms", "no_sharing", "attribute_modifier",
            "source", "audit_ms", "on_report"}
        for record in _records.records:
            for name in record.fields:
                self.assertNotIn(name, taken)
                self.assertFalse(keyword.iskeyword(name), name)

    def test_stub(self):
        """The stub has the same classes, fields, types and arguments."""
        path = pathlib.Path(ibsa.__file__).parent / "records.pyi"
        tree = ast.parse(path.read_text())
        classes = [one for one in tree.body if isinstance(one, ast.ClassDef)]
        self.assertEqual([one.name for one in classes],
                         [one.name for one in _records.records])
        for stub, record in zip(classes, _records.records):
            first, *rest = stub.body
            value = record()
            self.assertEqual([one.name for one in rest], list(record.fields))
            for one in rest:
                kind = ast.unparse(one.returns)
                got = getattr(value, one.name)
                self.assertEqual(kind.startswith("Tuple"),
                                 isinstance(got, tuple), one.name)
                element = got[0] if isinstance(got, tuple) else got
                self.assertIn(type(element).__name__, kind, one.name)
            for argument in first.args.kwonlyargs:
                record(**{argument.arg: value.text(argument.arg)})
                self.assertEqual(argument.arg in record.fields or
                                 argument.arg[-1].isdigit(), True)

    def test_values(self):
        path = ibsa.PathRecord(dgid="fe80::1", sgid=bytes(15) + b"\2", pkey=0,
                               rate="100Gb/s", mtu=4, flow_label="0xfffff")
        self.assertEqual(path.dgid, "fe80::1")
        self.assertEqual(path.sgid, "::2")
        self.assertEqual((path.rate, path.text("rate")), (16, "100Gb/s"))
        self.assertEqual(path.text("mtu"), "2048")
        self.assertEqual(path.flow_label, 0xfffff)
        self.assertEqual(ibsa.PathRecord(
            dgid=ipaddress.IPv6Address("::3")).dgid, "::3")
        self.assertEqual(pickle.loads(pickle.dumps(path)), path)
        self.assertEqual(len({path, pickle.loads(pickle.dumps(path))}), 1)
        self.assertNotEqual(path, ibsa.PathRecord())
        self.assertNotEqual(path, 5)
        self.assertEqual(path.as_dict()["mtu"], 4)
        self.assertIn("dgid='fe80::1'", repr(path))

    def test_arrays_and_bytes(self):
        record = ibsa.ServiceRecord(service_data8_2=7, service_key=b"\1\2",
                                    service_name="a\tb")
        self.assertEqual(record.service_data8[:3], (0, 7, 0))
        self.assertEqual(record.service_key, b"\1\2" + bytes(14))
        self.assertEqual(record.service_name, "a\\x09b")
        again = ibsa.ServiceRecord(service_name=record.service_name)
        self.assertEqual(again.service_name, "a\\x09b")
        self.assertEqual(ibsa.ServiceRecord(service_name=b"\\x").service_name,
                         "\\x5cx")

    def test_wrong_values(self):
        for values, kind in (
                ({"dgid": "x"}, ibsa.Error), ({"dgid": b"x"}, ValueError),
                ({"pkey": 1.5}, TypeError), ({"pkey": None}, TypeError),
                ({"pkey": b"1"}, TypeError), ({"pkey": -1}, ibsa.Error),
                ({"nothing": 1}, AttributeError),
                ({"dgid": "::1\0"}, ValueError)):
            with self.assertRaises(kind, msg=values):
                ibsa.PathRecord(**values)
        with self.assertRaises(ibsa.Error) as caught:
            ibsa.PathRecord(pkey=65536)
        self.assertEqual(caught.exception.err, -errno.ERANGE)
        with self.assertRaises(AttributeError):
            ibsa.PathRecord().text("nothing")
        with self.assertRaises(AttributeError):
            ibsa.PathRecord().pkey = 5
        with self.assertRaises(ibsa.Error) as caught:
            ibsa.record_class("nothing")
        self.assertIn("PathRecord", caught.exception.text)

    def test_comparisons(self):
        """Queries select as the command does: the cases are those of its
        parser."""
        source = pathlib.Path(__file__).parents[2] / "test/text/selector.c"
        part = source.read_text().partition("comparisons_set_the_selector")[2]
        cases = re.findall(r'\{ "([\w-]+)([=<>]+)([\w./]+)"((?:, \d+)*) \}',
                           part.partition("};")[0])
        self.assertGreater(len(cases), 30)
        names = ("mtu_selector", "mtu", "rate_selector", "rate",
                 "packet_life_time_selector", "packet_life_time")
        lib, table = _native.lib, ibsa.PathRecord._table
        for name, sign, value, numbers in cases:
            text = value if sign == "=" else sign + value
            host, mask = ibsa.PathRecord._match({name: text})
            wanted = dict(zip(names, map(int, re.findall(r"\d+", numbers))))
            bits = 0
            for one in names:
                field = lib.ibsa_field_find(table, one.encode(), ctypes.c_uint())
                self.assertEqual(lib.ibsa_field_get(field, 0, host),
                                 wanted.get(one, 0), (name, text, one))
                if wanted.get(one.replace("_selector", "")):
                    bits |= lib.ibsa_field_cm(field, 0)
            self.assertEqual(mask, bits, (name, text))

    def test_random_bytes(self):
        """Fields read any bytes, and write the values that they read."""
        for seed in range(20):
            for record in _records.records:
                size = record._table.contents.size
                wire = bytes((seed * 37 + at * 101) & 255 for at in range(size))
                value = record._decode(wire)
                repr(value)
                again = record(**{
                    name: one for field, values in value.as_dict().items()
                    for name, one in named(field, values)})
                self.assertEqual(again, value)


if __name__ == "__main__":
    unittest.main()
