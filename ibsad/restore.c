/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the registrations of users to their file, and takes over those in it. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "ibsad/registration.h"

enum {
	RESTORE_MS = 10000,
	LINES_MIN = 256, /* from which the file is written anew */
};

static struct state_row row_of(const struct registration *registration)
{
	struct state_row row = {
		.port = registration->port,
		.user = registration->user,
		.mask = registration->mask,
		.end_ns = registration->end_ns,
		.size = registration->kind->record->size,
	};

	memcpy(row.record, registration->record, row.size);
	return row;
}

static void state_failed(struct owned *owned, int err)
{
	if (err)
		ibsad_log_note(
			"cannot write the file of registrations: after a "
			"restart, ibsad will not have the registrations",
			owned->daemon);
}

/* Write the file anew, without those that have ended. */
static int state_tidy(struct owned *owned)
{
	struct registration *registration;
	int fd;
	int err = ibsad_state_begin(&owned->state, &fd);

	if (err)
		return err;
	LIST_EACH(registration, &owned->all, link) {
		const struct state_row row = row_of(registration);

		if (registration->is_stored && !err)
			err = ibsad_state_put(&owned->state, &row, false);
	}
	return err ? err : ibsad_state_end(&owned->state, fd);
}

void ibsad_registration_note(struct registration *registration, bool is_end)
{
	struct owned *owned = registration->owned;
	const struct state_row row = row_of(registration);

	state_failed(owned, ibsad_state_put(&owned->state, &row, is_end));
	registration->is_stored = !is_end;
	if (owned->state.lines > LINES_MIN + 4 * (size_t)owned->count)
		state_failed(owned, state_tidy(owned));
}

void ibsad_registration_free(struct registration *registration)
{
	if (registration->is_stored)
		ibsad_registration_note(registration, true);

	registration->owned->count--;
	list_take(&registration->link);
	ibsa__free(registration->packet);
	ibsa__free(registration);
}

static struct registration *row_add(struct owned *owned,
				    const struct owned_kind *kind,
				    const struct state_row *row)
{
	struct registration *registration = ibsa__calloc(1,
							 sizeof(*registration));

	if (!registration)
		return NULL;
	registration->owned = owned;
	registration->kind = kind;
	registration->port = row->port;
	list_append(&owned->all, &registration->link);
	owned->count++;
	return registration;
}

/* A line of the file. */
static void row_restore(const struct state_row *row, bool is_end, void *arg)
{
	const struct owned_kind *kind = ibsad_kind_sized(row->size);
	struct owned *owned = arg;
	struct registration *registration;

	if (!kind || !row->port || row->port > IBSAD_PORTS)
		return;
	registration = ibsad_registration_find(owned, kind, row->port,
					       row->record, row->mask);
	if (is_end && registration)
		ibsad_registration_free(registration);
	if (is_end)
		return;
	if (!registration)
		registration = row_add(owned, kind, row);
	if (!registration)
		return;
	registration->state = REGISTRATION_RESTORED;
	registration->user = row->user;
	registration->sets = 1;
	registration->mask = row->mask;
	registration->end_ns = row->end_ns;
	registration->renew_ns = UINT64_MAX;
	registration->retry_ns = clock_now_ns() + RESTORE_MS * NS_PER_MS;
	memcpy(registration->record, row->record, row->size);
}

int ibsad_owned_restore(struct owned *owned, const char *folder)
{
	int err = ibsad_state_open(&owned->state, folder, row_restore, owned);
	struct registration *registration;

	if (err)
		return err;
	LIST_EACH(registration, &owned->all, link)
		registration->is_stored = true;
	return state_tidy(owned);
}
