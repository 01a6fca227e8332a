/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel transport's state, for the files it is made of. */
#ifndef UMAD_DEV_TRANSPORT_H
#define UMAD_DEV_TRANSPORT_H

#include <stdatomic.h>

#include "device/device.h"
#include "umad/header.h"
#include "umad_dev/file.h"

/* What the device is called, which any thread may read: so one that it was
 * called before stays until the end. */
struct umad_name {
	struct umad_name *older;
	char text[NAME_MAX + 1];
};

struct umad_transport {
	struct ibsa_transport base;
	struct device_files *files;
	struct ibsa__place place;	  /* as it was opened last */
	_Atomic(struct umad_name *) name; /* instead of place.device */
	uint64_t node_guid;		  /* 0: not known */
	struct umad_device_file file;	  /* fd -1: closed, to be opened anew */
	bool listens; /* is to take Reports, whether it has an agent or not */
	bool serves;  /* is to take requests to the SA */
	/* Why there is no file: -EAGAIN the system is short of something, or
	 * what opening it anew has come to. */
	int lost;
	/* The device went away since the file was last opened. */
	bool is_gone;
	int news;	  /* what recv is to tell of it once, or 0 */
	bool has_changed; /* the port is there again, or not any more */
	uint64_t look_ns; /* not to look for the device before */

	uint8_t *packet; /* the last one that came: header and MAD */
	size_t packet_room;
	size_t packet_max;

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

/* Take up, or leave, a device file in what is waited for. */
int ibsa__umad_watch(struct umad_transport *umad,
		     const struct umad_device_file *file) IBSA_MUST_USE;
void ibsa__umad_unwatch(struct umad_transport *umad,
			const struct umad_device_file *file);

int ibsa__umad_wait_init(struct umad_transport *umad) IBSA_MUST_USE;
void ibsa__umad_wait_done(struct umad_transport *umad);
int ibsa__umad_fd(struct ibsa_transport *transport);
int ibsa__umad_wait(struct ibsa_transport *transport, int timeout_ms);
void ibsa__umad_wake(struct ibsa_transport *transport);

int ibsa__umad_send(struct ibsa_transport *transport,
		    const struct ibsa_address *to, const uint8_t *mad,
		    size_t len, unsigned int timeout_ms);
int ibsa__umad_recv(struct ibsa_transport *transport, struct ibsa_message *out);

int ibsa__umad_listen(struct ibsa_transport *transport, bool on);

/* holder.c */
bool ibsa__umad_holder(struct ibsa_transport *transport,
		       struct ibsa_error *out);

/* What a failed write says of a packet of ours. */
int ibsa__umad_write_error(struct umad_transport *umad, ssize_t written);

bool ibsa__umad_changed(struct ibsa_transport *transport);

/*
 * renew.c: have a file, opened anew if there is none. 0; -EAGAIN not now, for
 * want of something; or -ENODEV or what else keeps it from being opened, for
 * which it looks again after a while.
 */
int ibsa__umad_have(struct umad_transport *umad) IBSA_MUST_USE;

/* Close the file, which is to be opened anew. */
void ibsa__umad_drop(struct umad_transport *umad);

/* There is no file to be had now, for @err. Return: @err, or -EAGAIN. */
int ibsa__umad_lose(struct umad_transport *umad, int err);

/* Learn what the device is called now. 0, or why nothing is known. */
int ibsa__umad_find(struct umad_transport *umad) IBSA_MUST_USE;

/* Note that it is called @name. 0 or -ENOMEM. */
int ibsa__umad_rename(struct umad_transport *umad,
		      const char *name) IBSA_MUST_USE;
void ibsa__umad_names_free(struct umad_transport *umad);

static inline const char *umad_device(const struct umad_transport *umad)
{
	return atomic_load(&umad->name)->text;
}

static inline struct umad_transport *umad_of(struct ibsa_transport *transport)
{
	return (struct umad_transport *)transport;
}

#endif
