/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conversion between a struct of the kernel's SA API and one of ibsa, from one
 * table of fields. A row has the field's width in the kernel's struct, its name
 * in the kernel's struct and in ours, and a mask of the bits that the field has
 * on the wire.
 */
#ifndef IB_SA_CONVERT_H
#define IB_SA_CONVERT_H

#include <endian.h>

#define TO_HOST_8(value) (value)
#define TO_HOST_16(value) be16toh(value)
#define TO_HOST_32(value) be32toh(value)
#define TO_HOST_64(value) be64toh(value)
#define FROM_HOST_8(value) (value)
#define FROM_HOST_16(value) htobe16(value)
#define FROM_HOST_32(value) htobe32(value)
#define FROM_HOST_64(value) htobe64(value)

/*
 * Expand each row of the table to an assignment between the structs "rec"
 * (kernel's) and "host" (ours).
 */
#define FIELD_TO_HOST(order, theirs, ours, bits) \
	host->ours = TO_HOST_##order(rec->theirs) & (bits);
#define FIELD_FROM_HOST(order, theirs, ours, bits) \
	rec->theirs = FROM_HOST_##order(host->ours);

#endif
