/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A libibverbs that tests load in place of the real one. */
#ifndef STUB_IBVERBS_H
#define STUB_IBVERBS_H

/* The calls that it received; found by dlsym() as "stub_seen". */
struct stub_seen {
	int got;
	int acked;
	int acked_type;
	int closed;
	int closed_is_pipe; /* what the async fd referred to then */
};

#endif
