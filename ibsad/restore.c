/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the services of users to their file, and takes over those in it. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "ibsad/service.h"

enum {
	RESTORE_MS = 10000,
	LINES_MIN = 256, /* from which the file of services is written anew */
};

static struct state_row row_of(const struct service *service)
{
	struct state_row row = {
		.port = service->port,
		.user = service->user,
		.has_pkey = service->mask & IBSA_SERVICE_CM(service_pkey),
		.end_ns = service->end_ns,
	};

	memcpy(row.key, service->record, sizeof(row.key));
	return row;
}

static void state_failed(struct owned *owned, int err)
{
	if (err)
		ibsad_log_note("cannot write the file of services: the next "
			       "ibsad will not know them",
			       owned->daemon);
}

/* Write the file anew, without the services that have ended. */
static int state_tidy(struct owned *owned)
{
	struct service *service;
	int fd;
	int err = ibsad_state_begin(&owned->state, &fd);

	if (err)
		return err;
	LIST_EACH(service, &owned->services, link) {
		const struct state_row row = row_of(service);

		if (service->is_stored && !err)
			err = ibsad_state_put(&owned->state, &row, false);
	}
	return err ? err : ibsad_state_end(&owned->state, fd);
}

void ibsad_service_note(struct service *service, bool is_end)
{
	struct owned *owned = service->owned;
	const struct state_row row = row_of(service);

	state_failed(owned, ibsad_state_put(&owned->state, &row, is_end));
	service->is_stored = !is_end;
	if (owned->state.lines > LINES_MIN + 4 * (size_t)owned->count)
		state_failed(owned, state_tidy(owned));
}

void ibsad_service_free(struct service *service)
{
	if (service->is_stored)
		ibsad_service_note(service, true);

	service->owned->count--;
	list_take(&service->link);
	ibsa__free(service->packet);
	ibsa__free(service);
}

static struct service *row_find(const struct owned *owned,
				const struct state_row *row)
{
	struct service *service;

	LIST_EACH(service, &owned->services, link) {
		const struct state_row other = row_of(service);

		if (other.port == row->port && other.user == row->user &&
		    other.has_pkey == row->has_pkey &&
		    !memcmp(other.key, row->key, sizeof(row->key)))
			return service;
	}
	return NULL;
}

/* A line of the file. */
static void row_restore(const struct state_row *row, bool is_end, void *arg)
{
	struct owned *owned = arg;
	struct service *service = row_find(owned, row);

	if (is_end && service)
		ibsad_service_free(service);
	if (is_end || !row->port || row->port > IBSAD_PORTS)
		return;
	if (!service) {
		service = ibsa__calloc(1, sizeof(*service));
		if (!service)
			return;
		list_append(&owned->services, &service->link);
		owned->count++;
	}
	service->owned = owned;
	service->state = SERVICE_RESTORED;
	service->port = row->port;
	service->user = row->user;
	service->sets = 1;
	service->mask = row->has_pkey ? IBSA_SERVICE_CM(service_pkey) : 0;
	service->end_ns = row->end_ns;
	service->retry_ns = clock_now_ns() + RESTORE_MS * NS_PER_MS;
	memcpy(service->record, row->key, sizeof(row->key));
}

int ibsad_owned_restore(struct owned *owned, const char *folder)
{
	int err = ibsad_state_open(&owned->state, folder, row_restore, owned);
	struct service *service;

	if (err)
		return err;
	LIST_EACH(service, &owned->services, link)
		service->is_stored = true;
	return state_tidy(owned);
}
