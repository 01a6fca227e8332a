/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open umad file behind a portid.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/registry.h"
#include "client/files.h"
#include "libibumad/file.h"
#include "umad_dev/ibsim.h"

/* A file with more state than its descriptor. */
struct port_object {
	struct registry_number number; /* the portid */
	struct umad_file *file;
	/* By the program, perhaps while other threads use it. */
	atomic_bool is_closed;
};

static struct port_object *port_object_of(struct registry_number *number)
{
	return (struct port_object *)number;
}

static int port_object_new(struct umad_file *file, struct port_object **out)
{
	struct port_object *object = ibsa__calloc(1, sizeof(*object));

	if (!object)
		return -ENOMEM;
	object->file = file;
	*out = object;
	return 0;
}

static void port_object_put(struct port_object *object)
{
	if (!ibsa__registry_number_put(&object->number))
		return;
	object->file->ops->close(object->file);
	ibsa__free(object);
}

static bool portid_is_stale(const struct registry_number *number)
{
	const struct port_object *object = (const struct port_object *)number;

	return !object->file->ops->is_open(object->file);
}

/*
 * Release the ports whose descriptors the program has closed with close(2).
 * Their numbers may belong to other files now.
 */
static void stale_ports_close(void)
{
	struct registry_number *number;

	while ((number = ibsa__registry_number_stale(portid_is_stale))) {
		struct port_object *object = port_object_of(number);

		if (!atomic_exchange(&object->is_closed, true))
			port_object_put(object);
		port_object_put(object);
	}
}

static int port_object_add(int portid, struct umad_file *file)
{
	struct port_object *object;
	int err = port_object_new(file, &object);

	if (err) {
		file->ops->close(file);
		return err;
	}
	ibsa__registry_number_add(&object->number, portid);
	return portid;
}

int ibsa__portid_open(struct device_files *files, const char *name)
{
	struct umad_file *file = NULL;
	const int portid = ibsa__files_umad_open(files, name, &file);
	sigset_t before;

	if (portid >= 0 && ibsa__registry_has_numbers()) {
		signals_hold(&before);
		stale_ports_close();
		signals_restore(&before);
	}
	return portid >= 0 && file ? port_object_add(portid, file) : portid;
}

/*
 * Create a forked child's own object for a file of its parent. Return: 0;
 * -ENOMEM.
 */
static int port_object_inherit(int portid, const struct registry_number *number,
			       struct port_object **out)
{
	const struct port_object *parents = (const struct port_object *)number;
	struct registry_number *own;
	struct umad_file *file;
	int err = parents->file->ops->inherit(parents->file, &file);

	if (err)
		return err;
	err = port_object_new(file, out);
	if (err) {
		ibsa__free(file);
		return err;
	}
	own = ibsa__registry_number_adopt(&(*out)->number, portid);
	if (own == &(*out)->number)
		return 0;
	/* Another thread has added one first. */
	ibsa__free(file);
	ibsa__free(*out);
	*out = port_object_of(own);
	return 0;
}

/* Return: 0, and *@out is the object or NULL; -ENOMEM. */
static int port_object_find(int portid, struct port_object **out)
{
	const struct registry_number *parents = NULL;
	struct registry_number *number;

	number = ibsa__registry_number_find(portid, &parents);
	if (!number && parents)
		return port_object_inherit(portid, parents, out);
	*out = number ? port_object_of(number) : NULL;
	return 0;
}

int ibsa__portid_get(int portid, struct portid_use *use)
{
	int err = 0;

	use->object = NULL;
	if (ibsa__registry_has_numbers()) {
		ibsa__section_enter_port(&use->section);
		err = port_object_find(portid, &use->object);
		if (!use->object)
			ibsa__section_leave(&use->section);
	}
	if (use->object) {
		use->file = use->object->file;
	} else {
		use->plain = umad_fd(portid);
		use->file = &use->plain.base;
	}
	return err;
}

void ibsa__portid_put(struct portid_use *use)
{
	if (!use->object)
		return;
	port_object_put(use->object);
	ibsa__section_leave(&use->section);
}

int ibsa__portid_close(int portid)
{
	struct portid_use use;
	int err = ibsa__portid_get(portid, &use);

	if (err)
		return err;
	/*
	 * The reference from opening is dropped once, even if the program
	 * closes the port again while another thread uses it.
	 */
	if (!use.object)
		close(portid);
	else if (!atomic_exchange(&use.object->is_closed, true))
		port_object_put(use.object);
	ibsa__portid_put(&use);
	return 0;
}

/*
 * ibsim's poll() may return too early, so the time is checked for descriptors
 * that may be ibsim's.
 */
int ibsa__portid_poll(int portid, int timeout_ms)
{
	const bool is_exact = portid < UMAD_SIMULATED_MIN;
	const uint64_t start_ns = is_exact ? 0 : clock_now_ns();
	struct pollfd fd = { .fd = portid, .events = POLLIN };
	int left = timeout_ms;
	int ready;

	do {
		errno = 0;
		ready = poll(&fd, 1, left);
		left = is_exact ? 0 : clock_left_ms(timeout_ms, start_ns);
	} while (!ready && left);
	if (ready < 0)
		return ibsa__umad_failure(ready);
	return ready ? 0 : -ETIMEDOUT;
}
