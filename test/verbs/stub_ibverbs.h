/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A libibverbs that tests load in the place of the real one. */
#ifndef STUB_IBVERBS_H
#define STUB_IBVERBS_H

/* What it was asked for; found by dlsym() as "stub_seen". */
struct stub_seen {
	int got;
	int acked;
	int acked_type;
	int closed;
	int closed_is_pipe; /* what was behind the async fd then */
};

#endif
