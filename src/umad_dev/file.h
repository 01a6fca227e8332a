/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An open umad device file with its agents for SA replies. */
#ifndef UMAD_DEV_FILE_H
#define UMAD_DEV_FILE_H

#include "umad_dev/fd.h"

struct umad_device_file {
	int fd;
	uint32_t agent;
	/* Beside it on Omni-Path, for MADs of its class version. */
	uint32_t opa_agent;
	bool has_opa;
	/* And for the SA's Reports, as long as somebody listens. */
	uint32_t report_agent;
	bool has_reports;
	/* And for requests to the SA, where this program is one. */
	uint32_t request_agent;
	bool has_requests;
	/*
	 * The fd is ibsim's invention: only read, write, ioctl, close and
	 * poll of this one fd for reading do anything.
	 */
	bool simulated;
};

/*
 * @name: "umad0"; @link: enum ibsa_link_layer of its port. Return: 0 or a
 * negative errno with a sentence. A kernel that refuses an agent for OPA MADs
 * is not an error.
 */
int ibsa__umad_device_open(const char *name, uint8_t link,
			   struct ibsa_error *error,
			   struct umad_device_file *out) IBSA_MUST_USE;

/*
 * Take the SA's Reports from now on, or no more. 0; -EBUSY another program at
 * the port takes them; or negative errno.
 */
int ibsa__umad_device_listen(struct umad_device_file *file,
			     bool on) IBSA_MUST_USE;

/*
 * Take requests to the SA from now on. 0; -EBUSY another program at the port
 * takes them; or negative errno.
 */
int ibsa__umad_device_serve(struct umad_device_file *file) IBSA_MUST_USE;

#endif
