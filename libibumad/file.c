/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open umad files that libibumad's functions use, found by portid.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/registry.h"
#include "client/files.h"
#include "libibumad/file.h"
#include "umad_dev/ibsim.h"

static bool slot_has_number(const struct registry_slot *slot, int number)
{
	return atomic_load(&slot->number) == number;
}

/*
 * Whether the program has closed the file's descriptor with close(2). The
 * descriptor's number may belong to another file by now.
 */
static bool slot_is_stale(const struct registry_slot *slot, int unused)
{
	const int portid = atomic_load(&slot->number);
	struct epoll_event event = { .events = EPOLLIN };

	(void)unused;
	/*
	 * EPOLL_CTL_MOD fails if the number @portid belongs to another file by
	 * now, because that file has no member @mark.
	 */
	return portid >= 0 && epoll_ctl(portid, EPOLL_CTL_MOD,
					(int)atomic_load(&slot->mark), &event);
}

/*
 * Add a file at a fabric server to the table. The portid is an epoll set; the
 * mark of the file's slot is the descriptor in this set.
 */
static int slot_add(int portid, struct umad_file *file)
{
	return ibsa__registry_slot_add(
		portid, (unsigned int)file->ops->member_fd(file), file);
}

static void file_close(void *object)
{
	struct umad_file *file = object;

	file->ops->close(file);
}

/*
 * Close the files at fabric servers whose descriptors the program has closed
 * with close(2).
 */
static void stale_ports_close(void)
{
	struct registry_slot *slot;

	while ((slot = ibsa__registry_slot_get(slot_is_stale, -1,
					       file_close))) {
		atomic_store(&slot->number, -1);
		(void)ibsa__registry_slot_close(slot);
		ibsa__registry_slot_put(slot, file_close);
	}
}

int ibsa__portid_open(struct device_files *files, const char *name)
{
	struct umad_file *file = NULL;
	int portid = ibsa__files_umad_open(files, name, &file);
	sigset_t before;
	int err = 0;

	if (portid < 0)
		portid = ibsa__files_ibsad_open(files, name, portid, &file);

	if (portid < 0)
		return portid;
	signals_hold(&before);
	stale_ports_close();
	signals_restore(&before);
	if (file)
		err = slot_add(portid, file);
	if (err)
		file_close(file);
	return err ? err : portid;
}

static struct registry_slot *slot_get(int portid)
{
	return ibsa__registry_slot_get(slot_has_number, portid, file_close);
}

/*
 * If the file's server has ended, try to open the file again. The new file has
 * a slot of its own, since other threads may use the old one. If the program
 * has closed the port meanwhile, the new file is closed, too.
 */
static void slot_reopen(int portid, struct portid_use *use)
{
	struct umad_file *file = use->slot->object;
	struct registry_slot *old = use->slot;
	struct umad_file *next;

	if (!file->ops->reopen || file->ops->reopen(file, &next) || !next)
		return;
	if (slot_add(portid, next)) {
		file_close(next);
		return;
	}
	atomic_store(&old->number, -1);
	use->slot = slot_get(portid);
	if (!ibsa__registry_slot_close(old) && use->slot)
		ibsa__registry_slot_close(use->slot);
	ibsa__registry_slot_put(old, file_close);
}

void ibsa__portid_get(int portid, struct portid_use *use)
{
	use->slot = NULL;
	if (ibsa__registry_has_slot(portid)) {
		ibsa__section_enter_port(&use->section);
		use->slot = slot_get(portid);
		if (use->slot)
			slot_reopen(portid, use);
		if (!use->slot)
			ibsa__section_leave(&use->section);
	}
	if (use->slot) {
		use->file = use->slot->object;
	} else {
		use->plain = umad_fd(portid);
		use->file = &use->plain.base;
	}
}

void ibsa__portid_put(struct portid_use *use)
{
	if (!use->slot)
		return;
	ibsa__registry_slot_put(use->slot, file_close);
	ibsa__section_leave(&use->section);
}

void ibsa__portid_close(int portid)
{
	struct portid_use use;

	bool was_replaced = false;

	do {
		ibsa__portid_get(portid, &use);
		if (!use.slot)
			close(portid);
		else
			was_replaced = !ibsa__registry_slot_close(use.slot) &&
				       !slot_has_number(use.slot, portid);
		ibsa__portid_put(&use);
	} while (was_replaced);
}

bool ibsa__portid_is_idle(int portid)
{
	struct portid_use use;
	bool is_idle;

	ibsa__portid_get(portid, &use);
	is_idle = use.file->ops->is_idle && use.file->ops->is_idle(use.file);
	ibsa__portid_put(&use);
	return is_idle;
}

/*
 * Wait for a packet. For descriptors that may be ibsim's, the time is checked,
 * because ibsim's poll() may return too early.
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
		left = is_exact ? 0 : ibsa__clock_left_ms(timeout_ms, start_ns);
	} while (!ready && left);
	if (ready < 0)
		return ibsa__umad_failure(ready);
	return ready ? 0 : -ETIMEDOUT;
}
