/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Byte offsets of the fields in the MAD, RMPP and SA headers, computed from
 * the table of header fields. scripts/check-offsets fails if another file
 * contains one of these offsets as a number.
 */
#ifndef WIRE_MAD_H
#define WIRE_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibsa/records.h>
#include <ibsa/types.h>

#define MAD__AT(field) (offsetof(struct ibsa__sa_header_bits, field) / 8)

enum {
	MAD_BASE_VERSION = MAD__AT(base_version),
	MAD_CLASS = MAD__AT(mgmt_class),
	MAD_CLASS_VERSION = MAD__AT(class_version),
	MAD_METHOD = MAD__AT(method),
	MAD_STATUS = MAD__AT(status),
	MAD_CLASS_SPECIFIC = MAD__AT(class_specific),
	MAD_TID = MAD__AT(transaction_id),
	MAD_TID_LOW = MAD_TID + 4, /* the half that the sender chooses */
	MAD_ATTRIBUTE = MAD__AT(attribute_id),
	MAD_MODIFIER = MAD__AT(attribute_modifier),
	MAD_RMPP_VERSION = MAD__AT(rmpp_version),
	MAD_RMPP_TYPE = MAD__AT(rmpp_type),
	MAD_RMPP_FLAGS = MAD__AT(rmpp_flags),
	MAD_RMPP_STATUS = MAD__AT(rmpp_status),
	MAD_RMPP_SEGMENT = MAD__AT(rmpp_segment),
	MAD_RMPP_LENGTH = MAD__AT(rmpp_length),
	MAD_SM_KEY = MAD__AT(sm_key),
	MAD_ATTRIBUTE_OFFSET = MAD__AT(attribute_offset),
	MAD_COMPONENT_MASK = MAD__AT(component_mask),

	MAD_HEADER_BYTES = MAD_RMPP_VERSION,
	MAD_RMPP_END = MAD_SM_KEY, /* length of the MAD and RMPP headers */
};

/* The bit that the methods of responses have. */
enum { METHOD_RESPONSE = 0x80 };
enum { METHOD_SEND = 0x03, METHOD_TRAP = 0x05, METHOD_TRAP_REPRESS = 0x07 };
enum { CLASS_BM = 0x05 };

_Static_assert(sizeof(struct ibsa__sa_header_bits) == IBSA_SA_HEADER_BYTES * 8,
	       "the SA header and its table");

/*
 * Whether the kernel treats the MAD as a response to a request. Source: Linux
 * drivers/infiniband/core/mad.c, ib_response_mad().
 */
static inline bool mad_is_response(const uint8_t *mad)
{
	return mad[MAD_METHOD] & METHOD_RESPONSE ||
	       mad[MAD_METHOD] == METHOD_TRAP_REPRESS ||
	       (mad[MAD_CLASS] == CLASS_BM && mad[MAD_MODIFIER + 3] & 1);
}

#endif
