/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An InformInfo that subscribes to all Reports. IBA vol 1, 13.4.8.3. */
#ifndef EVERYTHING_H
#define EVERYTHING_H

#include <ibsa/records.h>

static const struct ibsa_inform_info everything = {
	.lid_range_begin = 0xffff,
	.is_generic = 1,
	.subscribe = 1,
	.type = 0xffff,
	.trap_number = 0xffff,
	.resp_time_value = 19,
	.producer_type = 0xffffff,
};

#endif
