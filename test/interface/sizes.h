/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of the program of sizes.py share. With SMALLER, the last member
 * of each struct is missing; with LARGER, there is one more.
 */
#ifndef SIZES_H
#define SIZES_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/ibsa.h>

#define CHECK(is_right) check(is_right, __FILE__, __LINE__, #is_right)

static inline void check(bool is_right, const char *file, int line,
			 const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, "%s: line %d: not true: %s\n", file, line, what);
	exit(1);
}

/*
 * Call something that reads @options, first with a member that the library does
 * not have, then without, which returns @err.
 */
#ifdef LARGER
#define CALL_FOR(options, err, call)      \
	do {                              \
		(options).new_member = 1; \
		CHECK((call) == -E2BIG);  \
		(options).new_member = 0; \
		CHECK((call) == (err));   \
	} while (0)
#define IS_ZERO(out) ((out).new_member == 0)
#else
#define CALL_FOR(options, err, call) CHECK((call) == (err))
#define IS_ZERO(out) true
#endif

#define CALL_WITH(options, call) CALL_FOR(options, 0, call)

/*
 * Room for a struct that the library fills, and after it bytes that it must not
 * write.
 */
enum { GUARD = 64 };

#define ROOM(type)                          \
	struct {                            \
		type out;                   \
		unsigned char guard[GUARD]; \
	}

static inline bool guard_is_intact(const unsigned char *guard)
{
	for (int i = 0; i < GUARD; i++) {
		if (guard[i] != 0xa5)
			return false;
	}
	return true;
}

#define FILL(room, call)                              \
	do {                                          \
		memset(&(room), 0xa5, sizeof(room));  \
		call;                                 \
		CHECK(guard_is_intact((room).guard)); \
		CHECK(IS_ZERO((room).out));           \
	} while (0)

/* A client at node1 of the fabric of four hosts. */
void test_topology(struct ibsa_client *client);
void test_hosts(struct ibsa_client *client, struct ibsa_gid *to);

#endif
