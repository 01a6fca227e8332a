/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Changes of the fabric, drawn from a seed. */
#ifndef MANY_CHANGE_H
#define MANY_CHANGE_H

#include "history.h"
#include "server.h"

struct many_changes {
	const struct many_server *server;
	struct many_history *history;
	uint64_t *random;
	uint64_t made;
	bool has_failed;
};

/* Make one more change. */
void many_change(struct many_changes *changes);

/* Restore everything, and end the faults. */
void many_mend(struct many_changes *changes);

#endif
