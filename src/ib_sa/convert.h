/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fields of a kernel's struct and of ours, from one table: a row is the width in
 * the kernel's struct, the name there and here, and the mask on the wire.
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

/* Each row as an assignment between "rec" and "host". */
#define FIELD_TO_HOST(order, theirs, ours, bits) \
	host->ours = TO_HOST_##order(rec->theirs) & (bits);
#define FIELD_FROM_HOST(order, theirs, ours, bits) \
	rec->theirs = FROM_HOST_##order(host->ours);

#endif
