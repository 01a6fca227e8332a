/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device file opened anew: after a reply that was too large, and when a
 * device that went away is there again, perhaps under another name and with
 * another file.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "umad_dev/transport.h"

/* How often to look for a device at most; each look reads a few files. */
enum { LOOK_MS = 100 };

static uint64_t now_ns(struct umad_transport *umad)
{
	return umad->base.ops->now_ns(&umad->base);
}

/* The system is short of something, which says nothing of the device. */
static bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM ||
	       err == -ENOBUFS || err == -ENOSPC || err == -EAGAIN ||
	       err == -EINTR;
}

/* A device that comes or goes meanwhile is not there. */
static bool is_absence(int err)
{
	return err == -ENOENT || err == -ENXIO || err == -EIO || err == -EPIPE;
}

int ibsa__umad_rename(struct umad_transport *umad, const char *name)
{
	struct umad_name *new = ibsa__calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	snprintf(new->text, sizeof(new->text), "%s", name);
	new->older = atomic_load(&umad->name);
	atomic_store(&umad->name, new);
	return 0;
}

void ibsa__umad_names_free(struct umad_transport *umad)
{
	struct umad_name *name = atomic_load(&umad->name);

	while (name) {
		struct umad_name *older = name->older;

		ibsa__free(name);
		name = older;
	}
}

int ibsa__umad_find(struct umad_transport *umad)
{
	char name[NAME_MAX + 1];
	int err = ibsa__device_again(umad->files, umad_device(umad),
				     umad->node_guid, name);

	if (err || !strcmp(name, umad_device(umad)))
		return err;
	return ibsa__umad_rename(umad, name);
}

/* The file of the device that is there now, whatever it was called. */
static int file_find(struct umad_transport *umad)
{
	int err = ibsa__umad_find(umad);

	if (!err)
		err = ibsa__mad_device_find(umad->files, umad_device(umad),
					    umad->place.port, umad->place.umad);
	if (!err)
		err = ibsa__link_read(umad->files, umad_device(umad),
				      umad->place.port,
				      &umad->place.state.link);
	return err;
}

void ibsa__umad_drop(struct umad_transport *umad)
{
	/* Unwatched too, or its hang-up would end every wait at once. */
	ibsa__umad_unwatch(umad, &umad->file);
	close(umad->file.fd);
	umad->file.fd = -1;
}

/*
 * While the file was closed, its name may have become another device's, if
 * only because opening it failed for want of a descriptor. ibsim's devices
 * neither come nor go.
 */
static int file_reopen(struct umad_transport *umad)
{
	const bool is_fixed = umad->file.simulated && !umad->is_gone;
	struct umad_device_file file;
	int err = is_fixed ? 0 : file_find(umad);

	if (!err)
		err = ibsa__umad_device_open(
			umad->place.umad, umad->place.state.link, NULL, &file);
	if (err)
		return err;
	if (umad->serves)
		err = ibsa__umad_device_serve(&file);
	if (!err)
		err = ibsa__umad_watch(umad, &file);
	if (err) {
		close(file.fd);
		return err;
	}
	/* If another program was quicker, the next listen will say so. */
	if (umad->listens)
		(void)!ibsa__umad_device_listen(&file, true);
	umad->file = file;
	return 0;
}

int ibsa__umad_lose(struct umad_transport *umad, int err)
{
	if (umad->file.fd >= 0)
		ibsa__umad_drop(umad);
	umad->lost = is_shortage(err) ? -EAGAIN : err;
	if (umad->lost == -EAGAIN)
		return -EAGAIN;
	if (!umad->is_gone) {
		umad->news = err;
		umad->has_changed = true;
	}
	umad->is_gone = true;
	umad->look_ns = now_ns(umad) + LOOK_MS * NS_PER_MS;
	return err;
}

/* The SM may have forgotten this port meanwhile, as if it asked those on it
 * to register again. */
static void come_back(struct umad_transport *umad)
{
	umad->is_gone = false;
	umad->has_changed = true;
	umad->reregisters++;
}

int ibsa__umad_have(struct umad_transport *umad)
{
	char umad_name[sizeof(umad->place.umad)];
	int err;

	if (umad->file.fd >= 0)
		return 0;
	if (umad->is_gone && now_ns(umad) < umad->look_ns)
		return umad->lost;
	memcpy(umad_name, umad->place.umad, sizeof(umad_name));
	err = file_reopen(umad);
	if (err)
		return ibsa__umad_lose(umad, is_absence(err) ? -ENODEV : err);
	if (umad->is_gone || strcmp(umad_name, umad->place.umad) != 0)
		come_back(umad);
	return 0;
}
