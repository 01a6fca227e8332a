/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The issm files of ports at a server over TCP. */
#ifndef REMOTE_ISSM_H
#define REMOTE_ISSM_H

#include "remote/connection.h"

/*
 * Write the path of a file that stands for issmN, N = @number, of the node at
 * @address. While a program has this file open, its port has the bit IsSM set:
 * a thread of this process waits for that, and sends the message. The file is
 * the same at each call, and exists as long as the process. Return: 0;
 * -ENAMETOOLONG @room is too small; or another -errno.
 */
int ibsa__remote_issm_file(const struct remote_address *address,
			   uint32_t number, char *out,
			   size_t room) IBSA_MUST_USE;

#endif
