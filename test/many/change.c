/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Changes of the fabric, drawn from a seed. */
#include <stdio.h>

#include "change.h"
#include "test/support/random.h"

enum {
	/*
	 * Number of hosts whose links can be cut: all except the hosts of the
	 * last leaf switch, which run the SM in turn.
	 */
	MORTALS = HOSTS - HOSTS_PER_LEAF,
	MORTAL_LEAVES = LEAVES - 1,
	HOSTS_LOST_MAX = 6,
	LEAVES_LOST_MAX = 1,
};

static unsigned int draw(struct many_changes *changes, unsigned int count)
{
	return (unsigned int)(random_next(changes->random) % count);
}

static void log_change(struct many_changes *changes, int thing, bool is_lost,
		       uint64_t begin_ns)
{
	if (is_lost)
		many_note_loss(changes->history, thing, begin_ns);
	else
		many_back(changes->history, thing, begin_ns);
}

static void command_send(struct many_changes *changes, const char *format,
			 unsigned int number)
{
	char line[64];

	snprintf(line, sizeof(line), format, number);
	if (!many_command(changes->server, "%s", line))
		changes->has_failed = true;
}

/* Remove a thing (link, node, SM) that exists, or restore one that is lost. */
static void thing_toggle(struct many_changes *changes, int thing,
			 const char *lost_command, const char *restored_command,
			 unsigned int number)
{
	const bool goes = !many_is_lost(changes->history, thing);
	const uint64_t begin_ns = many_now_ns();

	command_send(changes, goes ? lost_command : restored_command, number);
	log_change(changes, thing, goes, begin_ns);
}

/*
 * Choose one of @count things (links, nodes); if @most are lost, choose a lost
 * one.
 */
static unsigned int thing_choose(struct many_changes *changes, int first,
				 unsigned int count, unsigned int most)
{
	unsigned int chosen = draw(changes, count);
	unsigned int lost = 0;

	for (unsigned int i = 0; i < count; i++)
		lost += many_is_lost(changes->history, first + (int)i);
	if (lost < most)
		return chosen;
	while (!many_is_lost(changes->history, first + (int)chosen))
		chosen = (chosen + 1) % count;
	return chosen;
}

static void toggle_host(struct many_changes *changes)
{
	const unsigned int host = thing_choose(changes, THING_HOST, MORTALS,
					       HOSTS_LOST_MAX);

	thing_toggle(changes, THING_HOST + (int)host, "link down h%02u/1",
		     "link up h%02u/1", host);
}

static void toggle_leaf(struct many_changes *changes)
{
	const unsigned int leaf = thing_choose(changes, THING_LEAF,
					       MORTAL_LEAVES, LEAVES_LOST_MAX);

	/*
	 * The leaf's links all come up, including those to its hosts, so these
	 * are noted as restored first.
	 */
	for (int i = 0; i < HOSTS_PER_LEAF; i++) {
		const int host = (int)leaf * HOSTS_PER_LEAF + i;

		if (many_is_lost(changes->history, THING_HOST + host))
			thing_toggle(changes, THING_HOST + host, "",
				     "link up h%02u/1", (unsigned int)host);
	}
	thing_toggle(changes, THING_LEAF + (int)leaf, "node remove L%u",
		     "node add L%u", leaf);
}

/* Cut one of the two uplinks of a leaf, with the MADs that are on it. */
static void uplink_cut(struct many_changes *changes)
{
	const unsigned int leaf = draw(changes, MORTAL_LEAVES);
	const uint64_t begin_ns = many_now_ns();

	if (many_is_lost(changes->history, THING_LEAF + (int)leaf) ||
	    many_is_lost(changes->history, THING_SM))
		return;
	many_note_loss(changes->history, THING_SM, begin_ns);
	command_send(changes, "link down L%u/11", leaf);
	command_send(changes, "link up L%u/11", leaf);
	/* The SM runs all the time: a query may be answered or not. */
	many_back(changes->history, THING_SM, begin_ns);
}

static void toggle_sm(struct many_changes *changes)
{
	thing_toggle(changes, THING_SM, "sm stop", "sm start", 0);
}

static void move_sm(struct many_changes *changes)
{
	const uint64_t begin_ns = many_now_ns();

	if (many_is_lost(changes->history, THING_SM))
		return;
	many_note_loss(changes->history, THING_SM, begin_ns);
	command_send(changes, "sm move h%02u",
		     MORTALS + draw(changes, HOSTS_PER_LEAF));
	/* The SM runs all the time: a query may be answered or not. */
	many_back(changes->history, THING_SM, begin_ns);
}

/* Faults end before others begin. */
static void toggle_faults(struct many_changes *changes)
{
	static const char *const kinds[] = {
		"fault lose=2",	   "fault delay=5,0,20", "fault duplicate=5",
		"fault reorder=5", "fault busy=2",	 "fault corrupt=1",
	};
	enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
	const uint64_t begin_ns = many_now_ns();
	const bool begins = !many_is_lost(changes->history, THING_FAULTS);

	if (begins) {
		for (unsigned int i = 0; i < 2; i++)
			command_send(changes, kinds[draw(changes, KINDS)], 0);
	} else {
		command_send(changes, "fault none", 0);
	}
	log_change(changes, THING_FAULTS, begins, begin_ns);
}

void many_change(struct many_changes *changes)
{
	const unsigned int which = draw(changes, 64);

	changes->made++;
	/* A missing SM and faults last a short time only. */
	if (many_is_lost(changes->history, THING_SM) && which % 4 == 0)
		toggle_sm(changes);
	else if (many_is_lost(changes->history, THING_FAULTS) &&
		 which % 16 == 1)
		toggle_faults(changes);
	else if (which < 46)
		toggle_host(changes);
	else if (which < 54)
		toggle_leaf(changes);
	else if (which < 58)
		uplink_cut(changes);
	else if (which < 60)
		move_sm(changes);
	else if (which < 61)
		toggle_sm(changes);
	else
		toggle_faults(changes);
}

void many_mend(struct many_changes *changes)
{
	struct many_history *history = changes->history;

	if (many_is_lost(history, THING_SM))
		toggle_sm(changes);
	if (many_is_lost(history, THING_FAULTS))
		toggle_faults(changes);
	/* Restoring a leaf restores the links of its hosts. */
	for (int i = 0; i < MORTALS; i++)
		if (many_is_lost(history, THING_HOST + i))
			thing_toggle(changes, THING_HOST + i, "",
				     "link up h%02u/1", (unsigned int)i);
	for (int i = 0; i < MORTAL_LEAVES; i++)
		if (many_is_lost(history, THING_LEAF + i))
			thing_toggle(changes, THING_LEAF + i, "",
				     "node add L%u", (unsigned int)i);
}
