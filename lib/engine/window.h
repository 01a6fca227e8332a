/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The window: how many requests may be in flight. It grows while the SA
 * replies, and shrinks when requests are lost or the SA replies BUSY, so that
 * one client can load the SA fully, and many clients share it. The functions
 * are inline because they run for each reply.
 *
 * Source: RFC 5681, 3.1 (slow start, congestion avoidance); Chiu and Jain,
 * "Analysis of the increase and decrease algorithms", 1989 (equal shares).
 */
#ifndef ENGINE_WINDOW_H
#define ENGINE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/round_trip.h"

/*
 * The fewest replies until the window grows by 1 after a cut. If many clients
 * have one place each, a place more for each reply would double their sum in a
 * round trip. An SA that is full tells this at once with BUSY, but a loss is
 * noticed late.
 */
enum { AFTER_LOSS = 4, AFTER_BUSY = 1 };

/*
 * @size:      number of requests that may be in flight, @min to @max
 * @threshold: below it, @size grows by 1 for each reply; from it on, by 1 for
 *             @size replies, but at least @replies
 * @replies:   AFTER_LOSS or AFTER_BUSY
 * @credit:    replies since @size has grown last
 * @cut_ns:    time of the last cut
 */
struct window {
	unsigned int size;
	unsigned int min;
	unsigned int max;
	unsigned int threshold;
	unsigned int replies;
	unsigned int credit;
	uint64_t cut_ns;
};

/* Return: a window at its start, when nothing is known of the SA. */
static inline struct window window_of(unsigned int min, unsigned int max)
{
	const unsigned int size = min && min < max ? min : max;

	return (struct window){
		.size = size, .min = size, .max = max, .threshold = max
	};
}

/*
 * Whether requests wait at the SA so long that more of them would only wait
 * longer: the round trip is long, and much longer than the shortest one.
 */
static inline bool window_is_backlogged(const struct round_trip *trip,
					uint64_t rtt_ns)
{
	enum { LONG_US = 10 * 1000, TIMES_SHORTEST = 2 };
	const uint64_t us = rtt_ns / 1000;

	return us > LONG_US &&
	       us > TIMES_SHORTEST * (uint64_t)trip->shortest_us;
}

/*
 * Called when a reply to the request that was sent at @sent_ns has arrived while
 * the window was full, and smaller than its limit. A reply to a request from
 * before the last cut does not enlarge the window, so that other clients can use
 * the room at the SA: the window had been too large.
 */
static inline void window_grow(struct window *window, uint64_t sent_ns)
{
	const unsigned int replies = window->size > window->replies
					     ? window->size
					     : window->replies;

	if (sent_ns < window->cut_ns)
		return;
	if (window->size >= window->threshold && ++window->credit < replies)
		return;
	window->size++;
	window->credit = 0;
}

/*
 * A request was lost, or the SA had no room for it: half of the places go to
 * other clients, once for all requests that were in flight together. With a
 * smaller part, clients with many places and clients with one would lose one
 * place each, and would never have equal shares. @replies: AFTER_LOSS or
 * AFTER_BUSY. Return: whether the request that was sent at @sent_ns is the first
 * one of them.
 */
static inline bool window_cut(struct window *window, unsigned int replies,
			      uint64_t sent_ns, uint64_t now_ns)
{
	if (sent_ns < window->cut_ns)
		return false;
	window->cut_ns = now_ns;
	window->size /= 2;
	if (window->size < window->min)
		window->size = window->min;
	window->threshold = window->size;
	window->replies = replies;
	window->credit = 0;
	return true;
}

/*
 * A request that seemed to be lost was only late: return the @count places by
 * which the window was cut because of it.
 *
 * Source: RFC 4015 (Eifel response).
 */
static inline void window_restore(struct window *window, unsigned int count)
{
	window->size += count;
	if (window->size > window->max)
		window->size = window->max;
	window->threshold = window->size;
}

#endif
