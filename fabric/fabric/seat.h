/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which nodes of a fabric are the devices of a process: one node, or all
 * adapters of a host. The name of a host is the first word of its adapters'
 * node descriptions, and the rest of a description is the name of the device.
 */
#ifndef FABRIC_FABRIC_SEAT_H
#define FABRIC_FABRIC_SEAT_H

#include "fabric/fabric/fabric.h"

/* The name of a device has at most 63 bytes, as in the kernel. */
enum { SEAT_NAME_BYTES = 64 };

/*
 * The names that a process gives for its node or host and its device, as in
 * struct remote_hello.
 * @node:       name of a node or host; "": the first adapter; not used for a
 *              recording, which has one adapter
 * @device:     name of a device of that host, or of another node; "": the first
 *              device with an active port, or else the first device
 * @is_machine: if no node belongs to the host @node, the first adapter is used
 */
struct seat_words {
	const char *node;
	const char *device;
	bool is_machine;
};

/*
 * SEAT_NODE:  the process named the node
 * SEAT_HOST:  the process named a host, and has all devices of the host
 * SEAT_FIRST: otherwise; the process has the first adapter
 */
enum seat_kind { SEAT_NODE, SEAT_HOST, SEAT_FIRST };

/* @node: the node that the process uses if it names no device. */
struct fabric_seat {
	uint32_t node;
	enum seat_kind kind;
};

/*
 * Find the node or host that @words name. The caller has locked the fabric.
 * Return: 0; -ENOMEM; -ENODEV the fabric has no such node.
 */
int ibsa__seat_find(struct ibsa_fabric *fabric, const struct seat_words *words,
		    struct fabric_seat *out) IBSA_MUST_USE;

/*
 * The devices of a seat in order of their names. After seat_walk(), each
 * ibsa__seat_next() that returns true has set @node and @name.
 */
struct seat_walk {
	const struct ibsa_fabric *fabric;
	const struct fabric_seat *seat;
	uint32_t at, end;
	uint32_t unnamed;   /* devices without a name so far */
	const char *device; /* in the description of @node */
	uint32_t node;
	char name[SEAT_NAME_BYTES];
};
struct seat_walk ibsa__seat_walk(const struct ibsa_fabric *fabric,
				 const struct fabric_seat *seat);
bool ibsa__seat_next(struct seat_walk *walk);

/* Whether a node is one of the devices of a seat. */
bool ibsa__seat_has(const struct ibsa_fabric *fabric,
		    const struct fabric_seat *seat, uint32_t node);

/* Return: the node of the device with this name, or NO_INDEX. */
uint32_t ibsa__seat_device(const struct ibsa_fabric *fabric,
			   const struct fabric_seat *seat, const char *name);

#endif
