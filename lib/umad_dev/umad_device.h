/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport's umad device file: state that the source files of the transport
 * share.
 */
#ifndef UMAD_DEV_UMAD_DEVICE_H
#define UMAD_DEV_UMAD_DEVICE_H

#include <stdatomic.h>

#include "device/device.h"
#include "umad/transport.h"
#include "umad_dev/fd.h"

/*
 * A current or earlier name of the device. Any thread may read it at any time,
 * so earlier names are freed only when the device is closed.
 */
struct umad_name {
	struct umad_name *older;
	char text[NAME_MAX + 1];
};

struct umad_device {
	struct umad_fd file; /* fd -1: closed for now */
	struct umad_transport transport;
	/*
	 * The descriptor is ibsim's: it works only with read, write, ioctl,
	 * close, and with poll() of this descriptor alone for reading.
	 */
	bool simulated;
	struct device_files *files;
	struct ibsa__port_selection selection; /* as of the last opening */
	/* Current name; @selection.device may be outdated. */
	_Atomic(struct umad_name *) name;
	uint64_t node_guid; /* 0: not known */
	/* The device did not exist any more when its umad file was closed. */
	bool is_gone;
	/* Time of the next search for the device. */
	uint64_t retry_ns;

	/* Descriptor of the device's asynchronous events, or -1. */
	int event_fd;
	atomic_uint reregisters;
	bool needs_grh; /* as reported by the kernel */

	/*
	 * Epoll set with the descriptors of the umad file and of the events.
	 * The epoll set stays the same when the umad file is opened again.
	 */
	int epoll_fd;
	int wake_fd;
};

/*
 * Open the umad file @name, such as "umad0", in the mode with 64-byte umad
 * headers. Return: 0, and *@out is the descriptor; or a negative errno, with
 * *@error set.
 */
int ibsa__umad_dev_open(const char *name, struct ibsa_error *error,
			int *out) IBSA_MUST_USE;

/*
 * Set *@error to the message that the file @name rejects the agent for SA
 * replies. Return: @err.
 */
int ibsa__umad_dev_refused(const char *name, int err, struct ibsa_error *error);

/*
 * ibsa__umad_dev_watch() adds a descriptor to the epoll set,
 * ibsa__umad_dev_unwatch() removes it.
 */
int ibsa__umad_dev_watch(struct umad_device *device, int fd) IBSA_MUST_USE;
void ibsa__umad_dev_unwatch(struct umad_device *device, int fd);

int ibsa__umad_dev_wait_init(struct umad_device *device) IBSA_MUST_USE;
void ibsa__umad_dev_wait_done(struct umad_device *device);
int ibsa__umad_dev_fd(struct umad_file *file);
int ibsa__umad_dev_wait(struct umad_file *file, int timeout_ms);
void ibsa__umad_dev_wake(struct umad_file *file);

/* holder.c */
bool ibsa__umad_dev_holder(struct umad_file *file, struct ibsa_error *out);

/* event.c */
int ibsa__umad_dev_changed(struct umad_file *file);

/* renew.c */
int ibsa__umad_dev_reopen(struct umad_file *file, bool *out_is_other);
void ibsa__umad_dev_shut(struct umad_file *file, bool is_gone);

/*
 * Find the current name of the device, which may have been renamed, and set it
 * as ibsa__umad_dev_rename() does. Return: 0; -ENOMEM; or the error of the
 * search. After an error the name is unchanged.
 */
int ibsa__umad_dev_find(struct umad_device *device) IBSA_MUST_USE;

/* Set the current name. Return: 0; -ENOMEM. */
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
