/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Uses the installed headers, in the language that C11 and C++17 have in
 * common. It is compiled only.
 */
#include <ibsa/transport.h>
#include <ibsa/text.h>
#include <ibsa/device.h>
#include <ibsa/types.h>
#include <ibsa/ibsa.h>
#include <ibsa/records.h>
#include <ibsa/verbs.h>

static const uint64_t asked = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid) |
			      IBSA_CM(service, service_data8) << 3;

/* No use of what the headers define may cause a compiler warning. */
uint64_t headers_use(const uint8_t *wire);

uint64_t headers_use(const uint8_t *wire)
{
	struct ibsa_path path;

	if (ibsa_record_decode(&ibsa_path_record, wire, 64, &path,
			       sizeof(path)))
		return 0;
	return asked + IBSA_GET(path, dlid, wire) +
	       *IBSA_GET_GID(path, sgid, wire);
}
