/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The window: how many requests may be in flight. It grows while the SA
 * replies, and shrinks when requests are lost or the SA replies BUSY, so that
 * one client can load the SA fully, and many clients share it. The functions
 * are inline because they run for each reply.
 *
 * Source: RFC 5681, 3.1 (slow start, congestion avoidance).
 */
#ifndef ENGINE_WINDOW_H
#define ENGINE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/round_trip.h"

/*
 * @size:      number of requests that may be in flight, @min to @max
 * @threshold: below it, @size grows by 1 for each reply; from it on, by 1 for
 *             @size replies
 * @credit:    replies since @size has grown last
 * @cut_ns:    time of the last cut
 */
struct window {
	unsigned int size;
	unsigned int min;
	unsigned int max;
	unsigned int threshold;
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
	if (sent_ns < window->cut_ns)
		return;
	if (window->size >= window->threshold &&
	    ++window->credit < window->size)
		return;
	window->size++;
	window->credit = 0;
}

/*
 * Make the window smaller by @count, once for all requests that were in flight
 * together. Return: whether the request that was sent at @sent_ns is the first
 * one of them.
 */
static inline bool window_cut(struct window *window, unsigned int count,
			      uint64_t sent_ns, uint64_t now_ns)
{
	if (sent_ns < window->cut_ns)
		return false;
	window->cut_ns = now_ns;
	window->size -= count;
	if (window->size < window->min)
		window->size = window->min;
	window->threshold = window->size;
	window->credit = 0;
	return true;
}

/*
 * A request was lost. With a half, as in TCP, a link that loses many MADs would
 * leave one place. Return: as window_cut().
 */
static inline bool window_cut_for_loss(struct window *window, uint64_t sent_ns,
				       uint64_t now_ns)
{
	enum { PART = 8 };

	return window_cut(window, window->size < PART ? 1 : window->size / PART,
			  sent_ns, now_ns);
}

/*
 * The SA had no room: of two places, one goes to other clients. Return: as
 * window_cut().
 */
static inline bool window_cut_for_busy(struct window *window, uint64_t sent_ns,
				       uint64_t now_ns)
{
	return window_cut(window, (window->size + 1) / 2, sent_ns, now_ns);
}

#endif
