/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel transport's state, for the files it is made of. */
#ifndef UMAD_TRANSPORT_H
#define UMAD_TRANSPORT_H

#include <stdatomic.h>

#include "device/device.h"
#include "packet/header.h"
#include "umad/file.h"

struct umad_transport {
	struct ibsa_transport base;
	struct ibsa__place place;
	struct umad_file file; /* fd -1: closed, to be opened anew */
	bool listens; /* is to take Reports, whether it has an agent or not */
	/* 0, or why nothing can be sent or received any more. */
	int lost;

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
		     const struct umad_file *file) IBSA_MUST_USE;
void ibsa__umad_unwatch(struct umad_transport *umad,
			const struct umad_file *file);

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

bool ibsa__umad_changed(struct ibsa_transport *transport);

static inline struct umad_transport *umad_of(struct ibsa_transport *transport)
{
	return (struct umad_transport *)transport;
}

#endif
