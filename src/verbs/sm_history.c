/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which reports of several ports are of one event. */
#include <string.h>

#include <ibsa/bits.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/secret.h"
#include "verbs/sm_history.h"

/* In all; and of one GID and kind, which are looked at one by one. */
enum { EVENTS_MAX = 65536, SAME_MAX = 64, PORT_WORDS = 4 };

/* An event, and the ports that have reported it. */
struct told {
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

static struct told *oldest(const struct sm_history *history)
{
	return list_object(history->oldest.next, struct told, link);
}

static void drop(struct sm_history *history, struct told *told)
{
	list_remove(&told->link);
	ibsa__hash_remove(&history->events, &told->node);
	ibsa__free(told);
}

void ibsa__sm_history_clear(struct sm_history *history)
{
	while (!list_is_empty(&history->oldest))
		drop(history, oldest(history));
	ibsa__hash_done(&history->events);
}

/* The ports' clock is one, but what they report may come in any order. */
static void forget(struct sm_history *history, uint64_t now_ns)
{
	while (!list_is_empty(&history->oldest) &&
	       (history->events.count >= EVENTS_MAX ||
		oldest(history)->time_ns + NS_PER_S < now_ns))
		drop(history, oldest(history));
}

static uint64_t mix(uint64_t mixed, uint64_t word, uint64_t secret)
{
	mixed = (mixed ^ word) * secret;
	return mixed ^ mixed >> 32;
}

/* Events that were chosen to meet in one chain would be looked at in turn. */
static uint64_t key_of(const struct sm_history *history,
		       const struct sm_report *report)
{
	const uint64_t secret = history->secret;
	uint64_t key = mix(secret, report->prefix, secret);

	key = mix(key, (uint64_t)report->kind, secret);
	key = mix(key, ibsa_be64(report->gid.raw), secret);
	return mix(key, ibsa_be64(report->gid.raw + 8), secret);
}

static bool port_has_told(const struct told *told, uint8_t port)
{
	return told->ports[port / 64] >> port % 64 & 1;
}

static void port_note(struct told *told, uint8_t port)
{
	told->ports[port / 64] |= UINT64_C(1) << port % 64;
}

static bool is_same(const struct told *told, const struct sm_report *report)
{
	return told->kind == report->kind && told->prefix == report->prefix &&
	       !memcmp(&told->gid, &report->gid, sizeof(told->gid));
}

static struct told *older(struct told *a, struct told *b)
{
	return a && a->time_ns <= b->time_ns ? a : b;
}

/* @first: the oldest; @untold: that the port has not reported yet; or NULL. */
struct same {
	unsigned int count;
	struct told *first;
	struct told *untold;
};

/* What is remembered of such events. */
static struct same find(const struct sm_history *history, uint64_t key,
			const struct sm_report *report)
{
	struct hash_node *node = hash_find(&history->events, key);
	struct same same = { 0 };

	for (; node; node = hash_from(node->next, key)) {
		struct told *told = hash_object(node, struct told, node);

		if (!is_same(told, report))
			continue;
		same.count++;
		same.first = older(same.first, told);
		if (!port_has_told(told, report->port))
			same.untold = older(same.untold, told);
	}
	return same;
}

/* What cannot be remembered is told twice rather than not at all. */
static void remember(struct sm_history *history, uint64_t key,
		     const struct sm_report *report)
{
	struct told *told = ibsa__calloc(1, sizeof(*told));

	if (!told)
		return;
	told->gid = report->gid;
	told->kind = report->kind;
	told->prefix = report->prefix;
	told->time_ns = report->time_ns;
	port_note(told, report->port);
	list_append(&history->oldest, &told->link);
	ibsa__hash_add(&history->events, &told->node, key);
}

bool ibsa__sm_history_is_new(struct sm_history *history,
			     const struct sm_report *report)
{
	const uint64_t key = key_of(history, report);
	struct same same;

	if (!history->events.chains && ibsa__hash_init(&history->events))
		return true;
	forget(history, report->time_ns);
	same = find(history, key, report);
	if (same.untold) {
		port_note(same.untold, report->port);
		return false;
	}
	if (same.count >= SAME_MAX)
		drop(history, same.first);
	remember(history, key, report);
	return true;
}
