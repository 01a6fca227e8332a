/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors of libibumad's calls for names and ports that do not exist. */
#ifndef LIBIBUMAD_ABSENT_H
#define LIBIBUMAD_ABSENT_H

#include <errno.h>
#include <string.h>

#include <infiniband/umad.h>

/* The call fails and sets errno. */
#define assert_errno(call)                       \
	do {                                     \
		errno = 0;                       \
		assert_true((call) < 0);         \
		assert_int_equal(errno, ENOENT); \
	} while (0)

/*
 * The errno is ENOENT, as libibumad leaves it when it fails to open a file.
 * @device is the only device, and has no port 9.
 */
static inline void assert_absent_is_enoent(const char *device)
{
	char path[64];
	__be64 guids[4];
	umad_port_t port;
	umad_ca_t ca;
	char name[300] = { 0 };

	memset(name, 'x', sizeof(name) - 1);
	assert_errno(umad_get_ca("nosuch", &ca));
	assert_errno(umad_get_ca("a/b", &ca));
	assert_errno(umad_get_port("nosuch", 1, &port));
	assert_errno(umad_get_port("nosuch", 0, &port));
	assert_errno(umad_get_port("a/b", 1, &port));
	assert_errno(umad_get_port(device, 9, &port));
	assert_errno(umad_get_port(device, -1, &port));
	assert_errno(umad_get_port(NULL, 9, &port));
	assert_errno(umad_get_port(name, 1, &port));
	assert_errno(umad_get_ca_portguids("nosuch", guids, 4));
	assert_errno(umad_get_ca_portguids("a/b", guids, 4));
	assert_errno(umad_get_issm_path("nosuch", 1, path, sizeof(path)));
	assert_errno(umad_get_issm_path("nosuch", 0, path, sizeof(path)));
	assert_errno(umad_get_issm_path(device, -1, path, sizeof(path)));
}

#endif
