/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open umad file behind a portid: all that is ever done to one. A portid
 * is the file's descriptor.
 */
#ifndef LIBIBUMAD_FILE_H
#define LIBIBUMAD_FILE_H

#include <sys/types.h>

#include <ibsa/types.h>

#include "device/files.h"
#include "umad/header.h"

/*
 * Open the MAD device @name, "umad0", which @files show, with 64-byte headers. The portid, or
 * the error of opening it.
 */
int ibsa__portid_open(struct device_files *files,
		      const char *name) IBSA_MUST_USE;

void ibsa__portid_close(int portid);

/* Whether it is a file at a fabric server. */
bool ibsa__portid_is_remote(int portid);

/* 0 and @request->id is the agent's, or what the kernel says. */
int ibsa__portid_register(int portid,
			  struct umad_agent_request *request) IBSA_MUST_USE;

/*
 * The same with flags; -ENOTTY the file does not know them. When -EINVAL is
 * for a flag, @request->flags is those that are known.
 */
int ibsa__portid_register2(int portid,
			   struct umad_agent_request2 *request) IBSA_MUST_USE;

int ibsa__portid_unregister(int portid, uint32_t agent) IBSA_MUST_USE;

/* A header and a MAD of @len bytes in all: 0, or what the kernel says. */
int ibsa__portid_write(int portid, const void *packet,
		       size_t len) IBSA_MUST_USE;

/*
 * Never waits. The number of bytes that the next packet has; -EAGAIN there is
 * none; -ENOSPC @room does not do for it, so that it stays and only its
 * header and first segment are in @packet; or what else the kernel says.
 */
ssize_t ibsa__portid_read(int portid, void *packet, size_t room) IBSA_MUST_USE;

/*
 * Wait for a packet to read, below 0 without an end. 0 there may be one;
 * -ETIMEDOUT; -EINTR by a signal; or the error of waiting.
 */
int ibsa__portid_poll(int portid, int timeout_ms) IBSA_MUST_USE;

#endif
