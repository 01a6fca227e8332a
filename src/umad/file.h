/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An open umad device file with one agent for SA replies. */
#ifndef UMAD_FILE_H
#define UMAD_FILE_H

#include <ibsa/types.h>

struct umad_file {
	int fd;
	uint32_t agent;
	/*
	 * The fd is ibsim's invention: only read, write, ioctl, close and
	 * poll of this one fd for reading do anything.
	 */
	bool simulated;
};

/* @name: "umad0". 0 or negative errno with a sentence. */
int ibsa__umad_file_open(const char *name, struct ibsa_error *error,
			 struct umad_file *out) IBSA_MUST_USE;

#endif
