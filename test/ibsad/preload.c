/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is stored of tables that agree with the SA's replies to Gets, and that
 * do not. The cache is one of this test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/secret.h"
#include "ibsad/daemon.h"

enum {
	MAD = 64,
	STATUS = MAD + 4,
	TID = MAD + 8,
	OFFSET = MAD + 44, /* AttributeOffset */
	RECORD = MAD + 56,
	PATH = 64,
	DGID = 8,
	SGID = 24,
	DLID = 40,
	PATHS_MAX = 8,
	KNOWN = 2,
};

/* Replies to Gets, by the last byte of their DGID. */
static struct {
	bool is_stored[PATHS_MAX];
	uint8_t reply[PATHS_MAX][QUEUE_FIRST_BYTES];
	int puts;
	int flushes;
} fake;

static uint8_t number_of(const uint8_t *packet)
{
	return packet[RECORD + DGID + 15];
}

const uint8_t *ibsad_cache_find(struct ibsad_cache *cache,
				const uint8_t *packet)
{
	const uint8_t number = number_of(packet);

	(void)cache;
	return fake.is_stored[number] ? fake.reply[number] : NULL;
}

void ibsad_cache_put(struct ibsad_cache *cache, const uint8_t *packet,
		     const uint8_t *reply)
{
	(void)cache;
	assert_int_equal(number_of(packet), number_of(reply));
	fake.is_stored[number_of(packet)] = true;
	memcpy(fake.reply[number_of(packet)], reply, QUEUE_FIRST_BYTES);
	fake.puts++;
}

void ibsad_cache_flush(struct ibsad_cache *cache)
{
	(void)cache;
	fake.flushes++;
}

void ibsad_cache_query(struct ibsad_cache *cache, const uint8_t *packet)
{
	(void)cache;
	(void)packet;
	fail();
}

bool ibsad_reports_are_set(const struct ibsad_reports *reports)
{
	(void)reports;
	return true;
}

uint64_t ibsa__secret(void)
{
	return 1;
}

static void path_put(uint8_t *path, uint8_t number)
{
	memset(path, 0, PATH);
	path[DGID] = 0xfe;
	path[DGID + 15] = number;
	path[SGID] = 0xfe;
	path[SGID + 15] = 1;
	path[DLID + 1] = number;
}

/* A table of the paths 0 to PATHS_MAX - 1, of which KNOWN are stored. */
struct state {
	struct daemon daemon;
	struct ibsad_cache cache;
	uint8_t table[RECORD + PATHS_MAX * PATH];
};

static void state_init(struct state *state)
{
	memset(state, 0, sizeof(*state));
	memset(&fake, 0, sizeof(fake));
	state->cache.daemon = &state->daemon;
	state->cache.preload.next_ns = UINT64_MAX;
	state->cache.preload.after = 4 * KNOWN;
	path_put(state->cache.preload.form + RECORD, 0);
	state->table[OFFSET + 1] = PATH / 8;
	for (uint8_t i = 0; i < PATHS_MAX; i++) {
		path_put(state->table + RECORD + i * PATH, i);
		path_put(fake.reply[i] + RECORD, i);
		fake.reply[i][TID] = i;
		fake.is_stored[i] = i < KNOWN;
	}
}

static uint8_t *path_at(struct state *state, int i)
{
	return state->table + RECORD + i * PATH;
}

static void expect(struct state *state, size_t len, int puts, int flushes)
{
	ibsad_preload_take(&state->cache, state->table, len);
	assert_int_equal(fake.puts, puts);
	assert_int_equal(fake.flushes, flushes);
	assert_int_equal(state->cache.preload.preloads, puts && !flushes);
}

static void table_is_stored(void **unused)
{
	struct state state;

	(void)unused;
	state_init(&state);
	expect(&state, sizeof(state.table), PATHS_MAX - KNOWN, 0);
	for (int i = 0; i < PATHS_MAX; i++)
		assert_memory_equal(fake.reply[i] + RECORD, path_at(&state, i),
				    PATH);
	state_init(&state);
	path_at(&state, 2)[DGID + 7] = 1; /* another subnet */
	path_at(&state, 3)[SGID + 15] = 2;
	expect(&state, sizeof(state.table) - 1, PATHS_MAX - KNOWN - 3, 0);
}

static void other_table_is_not_stored(void **unused)
{
	struct state state;

	(void)unused;
	state_init(&state);
	path_at(&state, 1)[DLID]++;
	expect(&state, sizeof(state.table), 0, 0);
	state_init(&state);
	fake.reply[1][STATUS]++;
	expect(&state, sizeof(state.table), 0, 0);
	state_init(&state);
	fake.reply[1][QUEUE_FIRST_BYTES - 1]++;
	expect(&state, sizeof(state.table), 0, 0);
	state_init(&state);
	fake.is_stored[1] = false; /* too few to compare with */
	expect(&state, sizeof(state.table), 0, 0);
	state_init(&state);
	path_put(path_at(&state, 6), 5);
	path_at(&state, 6)[DLID]++; /* two paths to a destination */
	expect(&state, sizeof(state.table), 4, 1);
	state_init(&state);
	state.cache.preload.next_ns = 0; /* it is late */
	expect(&state, sizeof(state.table), 0, 0);
}

static void invalid_table_is_not_stored(void **unused)
{
	struct state state;

	(void)unused;
	for (uint8_t stride = 0; stride < PATH / 8; stride++) {
		state_init(&state);
		state.table[OFFSET + 1] = stride;
		expect(&state, sizeof(state.table), 0, 0);
	}
	for (size_t len = MAD + 24; len < RECORD + KNOWN * PATH; len++) {
		state_init(&state);
		expect(&state, len, 0, 0);
	}
	state_init(&state);
	state.table[STATUS + 1] = 1;
	expect(&state, sizeof(state.table), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_stored),
		cmocka_unit_test(other_table_is_not_stored),
		cmocka_unit_test(invalid_table_is_not_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
