# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Register a service for some seconds: python3 service.py ID NAME SECONDS"""

import sys

import ibsa


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit("usage: service.py ID NAME SECONDS")
    service_id, name, seconds = sys.argv[1:]
    with ibsa.open() as client:
        with client.register(service_id=service_id, service_name=name):
            for record in client.query("ServiceRecord", service_name=name):
                print(record.text("service_id"), record.text("service_gid"),
                      record.text("service_lease"), flush=True)
            client.run(float(seconds))


main()
