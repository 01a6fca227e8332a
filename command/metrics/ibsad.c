/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counters of the ibsad of each device of this machine. */
#include <inttypes.h>
#include <string.h>

#include "metrics/ibsad.h"
#include "session/ibsad.h"

/* Whether a row of ibsad --status is a present number, not a counter. */
static bool is_present(const char *kind)
{
	return !strcmp(kind, "clients") || !strcmp(kind, "registrations") ||
	       !strcmp(kind, "subscriptions");
}

/*
 * Write the rows "KIND NUMBER" of a status: the present numbers if @present is
 * set, otherwise the counters.
 */
static void status_write(struct metrics_text *text, const char *device,
			 char *status, bool present)
{
	char *rest = status;
	char *line;

	while ((line = strsep(&rest, "\n"))) {
		char kind[32];
		uint64_t value;

		if (sscanf(line, "%31s %" SCNu64, kind, &value) == 2 &&
		    is_present(kind) == present)
			metrics_sample(text, (double)value, "device", device,
				       "kind", kind, NULL);
	}
}

void metrics_ibsad_write(struct metrics_text *text, bool present)
{
	const struct machine *machine = &text->metrics->check.machine;
	const char *before = "";

	for (size_t i = 0; i < machine->count; i++) {
		const char *device = machine->ports[i].device;
		char status[IBSAD_STATUS];

		if (!strcmp(device, before))
			continue;
		before = device;
		if (ibsad_status(device, status))
			status_write(text, device, status, present);
	}
}
