/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The socket that systemd passes to a service, and the notifications that a
 * service sends to systemd. Both protocols are stable; they are documented in
 * sd_listen_fds(3) and sd_notify(3).
 */
#ifndef IBSAD_SYSTEMD_H
#define IBSAD_SYSTEMD_H

#include <stdbool.h>

#include <ibsa/types.h>

/*
 * Return: the listening socket that systemd, or ibsad_systemd_replace(), has
 * passed; 0: none; -EINVAL: more than one. *@out_is_own: a standalone ibsad has
 * created it.
 */
int ibsad_systemd_socket(bool *out_is_own);

/*
 * Execute the program of @argv in this process, and pass it the socket as
 * systemd does. Return: -errno; this process then goes on as before.
 */
int ibsad_systemd_replace(int listener, bool is_own, char **argv) IBSA_MUST_USE;

/* Send systemd a state, such as "READY=1"; without systemd, do nothing. */
void ibsad_systemd_notify(const char *state);

#endif
