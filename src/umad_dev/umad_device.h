/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A umad file of a device for a transport: its state, for its own files. */
#ifndef UMAD_DEV_UMAD_DEVICE_H
#define UMAD_DEV_UMAD_DEVICE_H

#include <stdatomic.h>

#include "device/device.h"
#include "umad/transport.h"
#include "umad_dev/fd.h"

/* What the device is called, which any thread may read: so one that it was
 * called before stays until the end. */
struct umad_name {
	struct umad_name *older;
	char text[NAME_MAX + 1];
};

struct umad_device {
	struct umad_fd file; /* fd -1: it is shut */
	struct umad_transport transport;
	/*
	 * The fd is ibsim's invention: only read, write, ioctl, close and
	 * poll of this one fd for reading do anything.
	 */
	bool simulated;
	struct device_files *files;
	struct ibsa__port_selection selection; /* as it was opened last */
	_Atomic(struct umad_name *) name;      /* instead of place.device */
	uint64_t node_guid;		       /* 0: not known */
	bool is_gone;			       /* when it was shut */
	uint64_t retry_ns;		       /* not to look for it before */

	/* Of the device's asynchronous events, or -1. */
	int event_fd;
	atomic_uint reregisters;
	bool needs_grh; /* the kernel says so */

	/* Readable when the device is; stands for it when it is opened anew. */
	int epoll_fd;
	int wake_fd;
	/* Instead of wake_fd where the device is simulated. */
	atomic_bool woken;
};

/*
 * Open the umad file @name, "umad0". Return: 0, and @out is its descriptor, with
 * 64-byte headers; or a negative errno with a sentence.
 */
int ibsa__umad_dev_open(const char *name, struct ibsa_error *error,
			int *out) IBSA_MUST_USE;

/* The file @name refuses the agent for SA replies. Return: @err. */
int ibsa__umad_dev_refused(const char *name, int err, struct ibsa_error *error);

/* Take up, or leave, a descriptor in what is waited for. */
int ibsa__umad_dev_watch(struct umad_device *device, int fd) IBSA_MUST_USE;
void ibsa__umad_dev_unwatch(struct umad_device *device, int fd);

int ibsa__umad_dev_wait_init(struct umad_device *device) IBSA_MUST_USE;
void ibsa__umad_dev_wait_done(struct umad_device *device);
int ibsa__umad_dev_fd(const struct umad_file *file);
int ibsa__umad_dev_wait(struct umad_file *file, int timeout_ms);
void ibsa__umad_dev_wake(struct umad_file *file);

/* holder.c */
bool ibsa__umad_dev_holder(struct umad_file *file, struct ibsa_error *out);

/* event.c */
int ibsa__umad_dev_changed(struct umad_file *file);

/* renew.c */
int ibsa__umad_dev_reopen(struct umad_file *file, bool *out_is_other);
bool ibsa__umad_dev_may_open(struct umad_file *file);
void ibsa__umad_dev_shut(struct umad_file *file, bool is_gone);

/* Learn what the device is called now. 0, or why nothing is known. */
int ibsa__umad_dev_find(struct umad_device *device) IBSA_MUST_USE;

/* Note that it is called @name. 0 or -ENOMEM. */
int ibsa__umad_dev_rename(struct umad_device *device,
			  const char *name) IBSA_MUST_USE;
void ibsa__umad_dev_names_free(struct umad_device *device);

static inline const char *umad_device_name(const struct umad_device *device)
{
	return atomic_load(&device->name)->text;
}

static inline struct umad_device *umad_device_of(struct umad_file *file)
{
	return (struct umad_device *)file;
}

#endif
