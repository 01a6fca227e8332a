/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables that number their entries. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/id_table.h"

struct entry {
	int number;
	uint32_t id;
};

enum { ENTRIES = 1000 };

static void add(struct id_table *table, size_t *count, struct entry *entry)
{
	assert_int_equal(id_table_fit(table, ++*count), 0);
	id_table_add(table, &entry->id);
}

static void entries_are_found_after_growth(void **state)
{
	static struct entry entries[ENTRIES];
	struct id_table table;
	size_t count = 0;

	(void)state;
	assert_int_equal(ibsa__id_table_init(&table, 7), 0);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		add(&table, &count, &entries[i]);
		assert_int_equal(entries[i].id, 7 + i);
	}
	for (int i = 0; i < ENTRIES; i++) {
		uint32_t *found = id_table_find(&table, entries[i].id);

		assert_ptr_equal(id_object(found, struct entry, id),
				 &entries[i]);
	}
	assert_null(id_table_find(&table, 6));
	assert_null(id_table_find(&table, 7 + ENTRIES));
	ibsa__id_table_done(&table);
}

/* While an entry stays, no other entry gets its id or its slot. */
static void taken_slot_is_skipped(void **state)
{
	struct entry old, other;
	struct id_table table;
	size_t count = 0;

	(void)state;
	assert_int_equal(ibsa__id_table_init(&table, 1), 0);
	add(&table, &count, &old);
	for (int i = 0; i < ENTRIES; i++) {
		const uint32_t before = table.next;

		add(&table, &count, &other);
		/*
		 * At most two ids are skipped: one for the slot of @old, and
		 * one for slot 0, which is never free.
		 */
		assert_in_range(other.id - before, 0, 2);
		assert_ptr_equal(id_table_find(&table, old.id), &old.id);
		assert_ptr_equal(id_table_find(&table, other.id), &other.id);
		id_table_remove(&table, &other.id);
		count--;
		assert_null(id_table_find(&table, other.id));
	}
	ibsa__id_table_done(&table);
}

static void ids_start_again_at_one(void **state)
{
	struct entry last, first;
	struct id_table table;
	size_t count = 0;

	(void)state;
	assert_int_equal(ibsa__id_table_init(&table, UINT32_MAX), 0);
	add(&table, &count, &last);
	add(&table, &count, &first);
	assert_int_equal(last.id, UINT32_MAX);
	assert_int_equal(first.id, 1);
	ibsa__id_table_done(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_found_after_growth),
		cmocka_unit_test(taken_slot_is_skipped),
		cmocka_unit_test(ids_start_again_at_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
