/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens to the fabric, drawn from a seed. */
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

/* One more change. */
void many_change(struct many_changes *changes);

/* All is there, and nothing is struck any more. */
void many_mend(struct many_changes *changes);

#endif
