/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What systemd passes to a service, and is told by it. The two protocols are
 * documented in sd_listen_fds(3) and sd_notify(3), and stable.
 */
#ifndef IBSAD_SYSTEMD_H
#define IBSAD_SYSTEMD_H

/*
 * Return: the listening socket that systemd has passed; 0: none; -EINVAL: more
 * than one.
 */
int ibsad_systemd_socket(void);

/* Tell systemd a state, such as "READY=1"; without systemd, do nothing. */
void ibsad_systemd_notify(const char *state);

#endif
