#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the codec with tshark's dissector.

usage: tshark.py WIRE-VALUES VECTORS-DIR

The helper WIRE-VALUES decodes captured MADs, and encodes MADs from random
values. The test writes all of them to one capture, with one record in each MAD,
runs tshark once, and compares its fields with the helper's values. Exits with
77 if tshark is missing.
"""

import glob
import ipaddress
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

MADE_UP = 40  # of each record

# tshark's names of the fields, if they are not the same without '_'. The prefix
# comes before all names of a record.
RECORDS = {
    "SAHeader": ("", {
        "base_version": "mad.baseversion",
        "mgmt_class": "mad.mgmtclass",
        "class_version": "mad.classversion",
        "method": "mad.method",
        "status": "mad.status",
        "transaction_id": "mad.transactionid",
        "attribute_id": "mad.attributeid",
        "attribute_modifier": "mad.attributemodifier",
        "rmpp_version": "rmpp.rmppversion",
        "rmpp_type": "rmpp.rmpptype",
        "rmpp_status": "rmpp.rmppstatus",
        "rmpp_segment": "rmpp.segmentnumber",
        "rmpp_length": "rmpp.payloadlength",
        "sm_key": "sa.smkey",
        "attribute_offset": "sa.attributeoffset",
        "component_mask": "sa.componentmask",
    }),
    "PathRecord": ("pathrecord.", {"pkey": "p_key"}),
    "NodeRecord": ("nodeinfo.", {
        "lid": "/sa.lid",
        "node_description": "/nodedescription.nodestring",
    }),
    "PortInfoRecord": ("portinfo.", {
        "endport_lid": "/sa.endportlid",
        "port_num": "/sa.portnum",
        "gid_prefix": "guid",
        "m_key": "m_key",
        "m_key_lease_period": "m_keyleaseperiod",
        "m_key_protect_bits": "m_keyprotectbits",
        "m_key_violations": "m_keyviolations",
        "p_key_violations": "p_keyviolations",
        "q_key_violations": "q_keyviolations",
    }),
    "ClassPortInfo": ("classportinfo.", {
        "redirect_tclass": "redirecttc",
        "redirect_flow_label": "redirectfl",
        "trap_tclass": "traptc",
        "trap_flow_label": "trapfl",
    }),
    "ServiceRecord": ("linkrecord.", {"service_pkey": "servicep_key"}),
    "MCMemberRecord": ("mcmemberrecord.", {
        "qkey": "q_key",
        "pkey": "p_key",
    }),
    "GUIDInfoRecord": ("", {
        "lid": "sa.lid",
        "block_num": "sa.blocknum_eightbit",
    }),
    "SwitchInfoRecord": ("switchinfo.", {
        "lid": "/sa.lid",
        "default_multicast_primary_port": "defaultmulticastprimaryport",
        "optimized_sl_to_vl": "optimizedsltovlmappingprogramming",
        "enhanced_port0": "enhancedportzero",
    }),
    "LinearForwardingTableRecord": ("", {
        "lid": "sa.lid",
        "block_num": "sa.blocknum_sixteenbit",
    }),
    "MulticastForwardingTableRecord": ("", {
        "lid": "sa.lid",
        "position": "sa.position",
        "block_num": "sa.blocknum_ninebit",
    }),
    "SMInfoRecord": ("sminfo.", {"lid": "/sa.lid", "sm_key": "sm_key"}),
    "LinkRecord": ("linkrecord.", {}),
    "SLtoVLMappingTableRecord": ("sa.", {}),
    "VLArbitrationTableRecord": ("", {
        "lid": "sa.lid",
        "output_port_num": "sa.outputportnum",
        "block_num": "sa.blocknum_eightbit",
    }),
    "MultiPathRecord": ("multipathrecord.", {"pkey": "p_key"}),
    "PKeyTableRecord": ("", {
        "lid": "sa.lid",
        "block_num": "sa.blocknum_sixteenbit",
        "port_num": "sa.portnum",
    }),
    "InformInfo": ("informinfo.", {
        "trap_number": "trapnumberdeviceid",
        "producer_type": "producertypevendorid",
    }),
    "InformInfoRecord": ("informinfo.", {
        "subscriber_gid": "/informinforecord.subscribergid",
        "subscriber_enum": "/informinforecord.enum",
        "trap_number": "trapnumberdeviceid",
        "producer_type": "producertypevendorid",
    }),
    "Notice": ("notice.", {
        "producer_type": "producertypevendorid",
        "trap_number": "trapnumberdeviceid",
        "toggle": "noticetoggle",
        "toggle_count": "noticecount",
    }),
}

# What this tshark (4.0.17) does not show, or shows as something else.
GAPS = {
    "SAHeader": {
        "rmpp_resp_time": "shown as 4 bits; compared with the flags below",
        "rmpp_flags": "shown as 4 bits; compared with the time below",
    },
    "PathRecord": {
        "service_id": "shown as reserved",
        "qos_class": "not shown",
    },
    "PortInfoRecord": {
        "options": "shown as reserved",
        "multicast_pkey_trap_suppression": "not shown",
        "capability_mask2": "not shown",
        "link_speed_ext_active": "not shown",
        "link_speed_ext_supported": "not shown",
        "link_speed_ext_enabled": "not shown",
        "link_speed_ext_active2": "not shown",
        "link_speed_ext_supported2": "not shown",
        "link_speed_ext_enabled2": "not shown",
    },
    "ClassPortInfo": {"trap_hop_limit": "shown as reserved"},
    "ServiceRecord": {
        f"service_data{n}": "shown as bytes; compared below"
        for n in (8, 16, 32, 64)
    },
    "GUIDInfoRecord": {"guid": "one field of one name; compared below"},
    "SwitchInfoRecord": {"multicast_fdb_top": "not shown"},
    "LinearForwardingTableRecord": {"port": "compared below"},
    "MulticastForwardingTableRecord": {"port_mask": "compared below"},
    "SLtoVLMappingTableRecord": {"vl": "compared below"},
    "VLArbitrationTableRecord": {"vl_weight": "compared below"},
    "PKeyTableRecord": {"pkey": "bit by bit; compared below"},
    "MultiPathRecord": {
        "qos_class": "not shown",
        "service_id_high": "not shown",
        "service_id_low": "not shown",
        "gid": "as many as the counts say; compared below",
    },
    "Notice": {
        "issuer_gid": "not shown",
    },
}

# Fields that tshark shows by name only in a MAD of RMPP type DATA.
OF_DATA = {"rmpp_segment", "rmpp_length"}
DATA = 1

# Records that tshark does not show at all.
UNKNOWN = {name: "class version 0x80 is not dissected as SA"
           for name in ("OpaPathRecord", "OpaClassPortInfo")}

EXTRA = ["rmpp.rresptime", "rmpp.rmppflags", "linkrecord.servicedata",
         "switchinfo.guid", "linearforwardingtable.port",
         "multicastforwardingtable.portmask",
         "sltovlmappingtable.sltovlhighbits",
         "sltovlmappingtable.sltovllowbits",
         "vlarbitrationtable.vl", "vlarbitrationtable.weight",
         "p_keytable.membershiptype",
         "p_keytable.p_keybase",
         "multipathrecord.sdgid"]

MULTI_PATH = 0x003a  # of which only requests are


def tshark_name(record, field):
    if record not in RECORDS:
        sys.exit(f"RECORDS in {__file__} lacks tshark's names for {record}")
    prefix, names = RECORDS[record]
    name = names.get(field, field.replace("_", ""))
    if name.startswith("/"):
        return "infiniband." + name[1:]
    return "infiniband." + prefix + name


def hex_read(path):
    with open(path, encoding="ascii") as file:
        return bytes.fromhex(file.read().replace("\n", ""))


def captured_lines(folder):
    """Yield the header and the bytes of each record in the captured replies
    and Reports, and of each captured GetMulti."""
    for path in sorted(glob.glob(os.path.join(folder, "*.rsp.hex"))):
        answer = hex_read(path)
        status = struct.unpack(">4xH", answer[:6])[0]
        if status:
            continue
        header, data = answer[:56], answer[56:]
        stride = struct.unpack(">H", header[44:46])[0] * 8
        if header[3] not in (0x92, 0x94):
            stride = len(data)
        while stride and len(data) >= stride:
            yield header.hex(), data[:stride].hex()
            data = data[stride:]
    for path in sorted(glob.glob(os.path.join(folder, "*.req.hex"))):
        request = hex_read(path)
        attribute = struct.unpack(">16xH", request[:18])[0]
        if attribute == MULTI_PATH:
            yield request[:56].hex(), request[56:].hex()


def mads(helper, folder):
    """Yield the captured MADs as our codec decodes them, and MADs that it
    has encoded from random values."""
    lines = "".join(" ".join(line) + "\n" for line in captured_lines(folder))
    for args, text in (([], lines), ([str(MADE_UP)], "")):
        done = subprocess.run([helper] + args, input=text, text=True,
                              stdout=subprocess.PIPE, check=True)
        for line in done.stdout.splitlines():
            mad = json.loads(line)
            mad["made_up"] = bool(args)
            if mad["record"] not in UNKNOWN:
                yield mad


def packet(mad):
    """The MAD as a local InfiniBand packet from QP 1 to QP 1."""
    words = (8 + 12 + 8 + len(mad) + 4) // 4
    lrh = struct.pack(">BBHHH", 0xF0, 0x02, 1, words, 5)
    bth = struct.pack(">BBHII", 0x64, 0, 0xFFFF, 1, 0)
    deth = struct.pack(">II", 0x80010000, 1)
    return lrh + bth + deth + mad + bytes(6)


def capture_write(path, packets):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 147))
        for data in packets:
            file.write(struct.pack("<IIII", 0, 0, len(data), len(data)) + data)


def tshark_rows(path, names):
    """What tshark sees in each packet: name to list of values."""
    command = ["tshark", "-n", "-r", path, "-o",
               'uat:user_dlts:"User 0 (DLT=147)","infiniband","0","","0",""',
               "-T", "fields", "-E", "separator=/t", "-E", "quote=n",
               "-E", "occurrence=a", "-E", "aggregator=/s"]
    for name in names:
        command += ["-e", name]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    for line in done.stdout.decode("utf-8", "replace").split("\n")[:-1]:
        yield dict(zip(names, line.split("\t")))


def same(ours, theirs):
    """Whether tshark's text is our value: a number, a GID or bytes."""
    if isinstance(ours, int):
        return int(theirs, 0) == ours
    if ":" in theirs and len(ours) == 32:
        return ipaddress.IPv6Address(theirs).packed.hex() == ours
    return theirs.replace(":", "") == ours


def string_same(ours, theirs):
    """Whether a text is equal; tshark shows one backslash as it shows two."""
    if isinstance(ours, int):
        return False
    text = bytes.fromhex(ours).split(b"\0")[0].decode("ascii", "replace")
    return theirs.replace("\\\\", "\\") == text.replace("\\\\", "\\")


def data_same(fields, theirs):
    """Whether the ServiceData of four sizes are equal, each of which tshark
    shows as bytes in a field of the same name."""
    ours = []
    for bits in (8, 16, 32, 64):
        values = fields[f"service_data{bits}"]
        ours.append("".join(f"{v:0{bits // 4}x}" for v in values))
    return theirs.replace(":", "").split() == ours


def numbers(row, name):
    """All values of a field that a packet has several times."""
    return [int(text, 0) for text in row["infiniband." + name].split()]


def pairs(row, first, second):
    return list(zip(numbers(row, first), numbers(row, second)))


# Arrays that tshark shows as several fields of one name: by record, the name of
# the array, and a function that makes it of these fields.
ARRAYS = {
    "GUIDInfoRecord": ("guid", lambda row: numbers(row, "switchinfo.guid")),
    "LinearForwardingTableRecord": (
        "port", lambda row: numbers(row, "linearforwardingtable.port")),
    "MulticastForwardingTableRecord": (
        "port_mask",
        lambda row: numbers(row, "multicastforwardingtable.portmask")),
    "SLtoVLMappingTableRecord": ("vl", lambda row: [
        vl for both in pairs(row, "sltovlmappingtable.sltovlhighbits",
                             "sltovlmappingtable.sltovllowbits")
        for vl in both]),
    "PKeyTableRecord": ("pkey", lambda row: [
        member << 15 | key
        for member, key in pairs(row, "p_keytable.membershiptype",
                                 "p_keytable.p_keybase")]),
    # tshark does not show reserved bits, some of which are set in the generated
    # records.
    "VLArbitrationTableRecord": ("vl_weight", lambda row: [
        vl << 8 | weight
        for vl, weight in pairs(row, "vlarbitrationtable.vl",
                                "vlarbitrationtable.weight")]),
}


def gids_same(fields, row):
    """Whether as many GIDs are equal as the two counts say, at most 11."""
    count = min(fields["sgid_count"] + fields["dgid_count"], 11)
    theirs = row["infiniband.multipathrecord.sdgid"].split()
    return "".join(ipaddress.IPv6Address(gid).packed.hex()
                   for gid in theirs) == fields["gid"][:32 * count]


def array_same(mad, row):
    field, theirs = ARRAYS[mad["record"]]
    ours = mad["fields"][field]
    if field == "vl_weight":
        ours = [value & 0xfff for value in ours]
    # This tshark shows half of the 32.
    if field == "port_mask":
        ours = ours[:16]
    return ours == theirs(row)


def resp_time_same(header, row):
    time = int(row["infiniband.rmpp.rresptime"], 0)
    flags = int(row["infiniband.rmpp.rmppflags"], 0)
    return (time << 4 | flags) == (header["rmpp_resp_time"] << 3
                                   | header["rmpp_flags"])


def mad_compare(mad, row, complain):
    """Compare a MAD's header and record. Return the number of compared
    fields."""
    count = 0
    for record, fields in (("SAHeader", mad["header"]),
                           (mad["record"], mad["fields"])):
        for field, ours in fields.items():
            if field in GAPS.get(record, {}):
                continue
            if field in OF_DATA and fields["rmpp_type"] != DATA:
                continue
            theirs = row[tshark_name(record, field)]
            count += 1
            try:
                good = string_same(ours, theirs) or same(ours, theirs)
            except ValueError:
                good = False
            if not good:
                complain(f"{record} {field}: ours {ours}, tshark {theirs!r}")
    if not resp_time_same(mad["header"], row):
        complain("RMPP response time and flags")
    if mad["record"] == "ServiceRecord" and not data_same(
            mad["fields"], row["infiniband.linkrecord.servicedata"]):
        complain("ServiceData")
    if mad["record"] == "MultiPathRecord" and not gids_same(mad["fields"],
                                                            row):
        complain("GIDs")
    if mad["record"] in ARRAYS and not array_same(mad, row):
        complain(f"{mad['record']} {ARRAYS[mad['record']][0]}")
    return count


def main():
    helper, folder = sys.argv[1:]
    if not shutil.which("tshark"):
        print("no tshark: install it to compare with its dissector")
        return 77
    tested = list(mads(helper, folder))
    names = ["infiniband." + name for name in EXTRA]
    for mad in tested:
        for record, fields in (("SAHeader", mad["header"]),
                               (mad["record"], mad["fields"])):
            names += [tshark_name(record, field) for field in fields
                      if field not in GAPS.get(record, {})]
    names = sorted(set(names))
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "mads.pcap")
        capture_write(path, [packet(bytes.fromhex(mad["mad"]))
                             for mad in tested])
        rows = list(tshark_rows(path, names))
    problems = []
    if len(rows) != len(tested):
        problems.append(f"{len(tested)} packets, tshark saw {len(rows)}")
    count = 0
    for number, (mad, row) in enumerate(zip(tested, rows), 1):
        count += mad_compare(mad, row, lambda what, number=number:
                             problems.append(f"packet {number}: {what}"))
    captured = sum(not mad["made_up"] for mad in tested)
    print(f"{captured} captured and {len(tested) - captured} made-up MADs, "
          f"{count} fields compared")
    print("\n".join(problems[:40]))
    return 1 if problems or captured < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
