/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types and macros that all headers of ibsa use. */
#ifndef IBSA_TYPES_H
#define IBSA_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MAJOR * 10000 + MINOR * 100 + PATCH of the version of these headers. */
#define IBSA_VERSION_NUMBER 100

#define IBSA_MUST_USE __attribute__((warn_unused_result))
/* The arguments with these numbers, from 1, must not be NULL. */
#define IBSA_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))

/*
 * A function of a header, which passes the size of each struct to the library:
 * see "How the interface grows" in ibsa(7).
 */
#define IBSA_INLINE static inline

/* An element of an array whose elements are @stride bytes apart. */
#define IBSA__AT(array, index, stride) \
	((const void *)((const char *)(array) + (index) * (stride)))

#ifdef __cplusplus
#define IBSA_BEGIN extern "C" {
#define IBSA_END }
#else
#define IBSA_BEGIN
#define IBSA_END
#endif

/* A GID: subnet prefix and interface ID, in network byte order. */
struct ibsa_gid {
	uint8_t raw[16];
};

/**
 * struct ibsa_error - one sentence about an error
 * @text: written by a function that fails, with a NUL: what failed, why, and
 *        what to do. Read it only after a failure
 */
struct ibsa_error {
	char text[256];
};

/*
 * What applies if a member of an options struct is 0. The library, the manual
 * pages and the help of the command take the values from here. A later version
 * may have other values.
 */

/* struct ibsa_options, struct ibsa_query */
#define IBSA_DEFAULT_WINDOW 16	  /* requests in flight */
#define IBSA_DEFAULT_QUEUE 65536  /* requests that wait for the window */
#define IBSA_DEFAULT_REPLY_MIB 64 /* largest reply, in MiB */
#define IBSA_DEFAULT_DEADLINE_MS 10000
#define IBSA_DEFAULT_FIRST_INTERVAL_MS 500 /* until a reply was measured */
#define IBSA_DEFAULT_MAX_INTERVAL_MS 4000
#define IBSA_DEFAULT_JITTER_PERCENT 25

/* ibsa_port_watch_start() */
#define IBSA_DEFAULT_PORT_INTERVAL_MS 1000

/* Event watches, registered services, devices, contexts */
#define IBSA_DEFAULT_AUDIT_MS 30000
#define IBSA_DEFAULT_LEASE_S 300

/* struct ibsa_verbs_options */
#define IBSA_DEFAULT_EVENT_QUEUE 16384 /* events of the SM */

/* struct ibsa_fabric_server_options */
#define IBSA_DEFAULT_CONNECTIONS 1024
#define IBSA_DEFAULT_PATIENCE_MS 10000
#define IBSA_DEFAULT_MEMORY_MB 1024

#endif
