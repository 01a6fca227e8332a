/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detects which Reports to several ports of a device are about the same event:
 * Reports with the same GID, kind and subnet, received within one second.
 */
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/secret.h"
#include "verbs/sm_history.h"

/*
 * EVENTS_MAX: events that the history holds; SAME_MAX: events of one GID and
 * kind in it, which are searched one by one.
 */
enum { EVENTS_MAX = 65536, SAME_MAX = 64, PORT_WORDS = 4 };

/* An event, and the ports to which the SA has reported it. */
struct known_event {
	struct list link;
	struct hash_node node;
	struct ibsa_gid gid;
	int kind;
	uint64_t prefix;
	uint64_t time_ns;
	uint64_t ports[PORT_WORDS];
};

void ibsa__sm_history_init(struct sm_history *history)
{
	*history = (struct sm_history){ .secret = ibsa__secret() | 1 };
	list_init(&history->oldest);
}

static struct known_event *known_oldest(const struct sm_history *history)
{
	return list_object(history->oldest.next, struct known_event, link);
}

static void history_drop(struct sm_history *history, struct known_event *known)
{
	list_remove(&known->link);
	ibsa__hash_remove(&history->events, &known->node);
	ibsa__free(known);
}

void ibsa__sm_history_clear(struct sm_history *history)
{
	while (!list_is_empty(&history->oldest))
		history_drop(history, known_oldest(history));
	ibsa__hash_done(&history->events);
}

/*
 * Remove events that are older than a second, and the oldest event if the
 * history is full. The times of all events are of one clock, but Reports to
 * several ports may come in any order.
 */
static void history_forget(struct sm_history *history, uint64_t now_ns)
{
	while (!list_is_empty(&history->oldest) &&
	       (history->events.count >= EVENTS_MAX ||
		known_oldest(history)->time_ns + NS_PER_S < now_ns))
		history_drop(history, known_oldest(history));
}

static uint64_t hash_mix(uint64_t mixed, uint64_t word, uint64_t secret)
{
	mixed = (mixed ^ word) * secret;
	return mixed ^ mixed >> 32;
}

/*
 * Return: the hash key of a Report. The key includes a secret: otherwise a
 * sender could choose events with the same key, which are searched one by one.
 */
static uint64_t report_key(const struct sm_history *history,
			   const struct sm_report *report)
{
	const uint64_t secret = history->secret;
	uint64_t key = hash_mix(secret, report->prefix, secret);

	key = hash_mix(key, (uint64_t)report->kind, secret);
	key = hash_mix(key, ibsa_be64(report->gid.raw), secret);
	return hash_mix(key, ibsa_be64(report->gid.raw + 8), secret);
}

static bool port_has_reported(const struct known_event *known, uint8_t port)
{
	return known->ports[port / 64] >> port % 64 & 1;
}

static void port_note(struct known_event *known, uint8_t port)
{
	known->ports[port / 64] |= UINT64_C(1) << port % 64;
}

static bool report_is_same(const struct known_event *known,
			   const struct sm_report *report)
{
	return known->kind == report->kind && known->prefix == report->prefix &&
	       !memcmp(&known->gid, &report->gid, sizeof(known->gid));
}

static struct known_event *older_of(struct known_event *a,
				    struct known_event *b)
{
	return a && a->time_ns <= b->time_ns ? a : b;
}

/*
 * Result of a search for an event. @first: the oldest event found, or NULL;
 * @untold: the oldest event that was not reported to this port yet, or NULL.
 */
struct same {
	unsigned int count;
	struct known_event *first;
	struct known_event *untold;
};

/*
 * Search the history for events of the same GID, kind and subnet as the
 * Report.
 */
static struct same history_find(const struct sm_history *history, uint64_t key,
				const struct sm_report *report)
{
	struct hash_node *node = hash_find(&history->events, key);
	struct same same = { 0 };

	for (; node; node = hash_from(node->next, key)) {
		struct known_event *known =
			hash_object(node, struct known_event, node);

		if (!report_is_same(known, report))
			continue;
		same.count++;
		same.first = older_of(same.first, known);
		if (!port_has_reported(known, report->port))
			same.untold = older_of(same.untold, known);
	}
	return same;
}

/*
 * Add an event to the history. If memory is short, it is not added, and the
 * event may be queued twice.
 */
static void history_remember(struct sm_history *history, uint64_t key,
			     const struct sm_report *report)
{
	struct known_event *known = ibsa__calloc(1, sizeof(*known));

	if (!known)
		return;
	known->gid = report->gid;
	known->kind = report->kind;
	known->prefix = report->prefix;
	known->time_ns = report->time_ns;
	port_note(known, report->port);
	list_append(&history->oldest, &known->link);
	ibsa__hash_add(&history->events, &known->node, key);
}

bool ibsa__sm_history_is_new(struct sm_history *history,
			     const struct sm_report *report)
{
	const uint64_t key = report_key(history, report);
	struct same same;

	if (!history->events.chains && ibsa__hash_init(&history->events))
		return true;
	history_forget(history, report->time_ns);
	same = history_find(history, key, report);
	if (same.untold) {
		port_note(same.untold, report->port);
		return false;
	}
	if (same.count >= SAME_MAX)
		history_drop(history, same.first);
	history_remember(history, key, report);
	return true;
}
