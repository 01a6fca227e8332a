/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Measurement of the SA's round-trip time, inline, for each reply. */
#ifndef ENGINE_ROUND_TRIP_H
#define ENGINE_ROUND_TRIP_H

#include <stdbool.h>
#include <stdint.h>

#include <ibsa/types.h>

enum {
	LONGEST_US = 60 * 1000 * 1000,
	SMOOTH_SHIFT = 3,
	DEVIATION_SHIFT = 2,
	/*
	 * Number of replies until the mean is relied on. The first replies of
	 * an SA that many clients query at once are its fastest.
	 */
	SAMPLES_LEAST = 4,
};

/*
 * Round-trip times of the SA: a smoothed mean and the mean deviation, in
 * microseconds. Replies to requests that were sent once are measured. After a
 * retry, it is unknown which try a reply answers. Such a reply is not measured,
 * with one exception: if it comes too late to be the reply to the last try, it
 * is measured from the first try, but only if this makes the mean longer.
 *
 * @limit_us: the time after which a reply counts as late; the interval between
 * two tries is not shorter, unless the maximum interval is shorter. 0 before
 * the first measured reply. After a late reply, @limit_us is at least the time
 * of that reply since the first try, until the next measured reply.
 * @shortest_us: the shortest time; 0 before the first measured reply.
 * @samples: number of measured replies, up to SAMPLES_LEAST.
 *
 * Source: RFC 6298.
 */
struct round_trip {
	int32_t smooth_us;
	int32_t deviation_us;
	int32_t shortest_us;
	uint32_t samples;
	uint64_t limit_us;
};

static inline uint64_t round_trip_limit_us(const struct round_trip *trip)
{
	return 1 + (uint32_t)(trip->smooth_us + 4 * trip->deviation_us);
}

static inline void round_trip_add(struct round_trip *trip, int32_t sample_us)
{
	const int32_t off_us = sample_us - trip->smooth_us;
	const int32_t size_us = off_us < 0 ? -off_us : off_us;

	trip->deviation_us += (size_us - trip->deviation_us) /
			      (1 << DEVIATION_SHIFT);
	trip->smooth_us += off_us / (1 << SMOOTH_SHIFT);
	trip->limit_us = round_trip_limit_us(trip);
	trip->samples += trip->samples < SAMPLES_LEAST;
	if (!trip->shortest_us || sample_us < trip->shortest_us)
		trip->shortest_us = sample_us ? sample_us : 1;
}

static inline int32_t round_trip_sample_us(uint64_t ns)
{
	const uint64_t us = ns / 1000;

	return us < LONGEST_US ? (int32_t)us : LONGEST_US;
}

/*
 * Whether a reply comes too late after the last try to be the reply to that
 * try, so that it answers an earlier try. If only the earlier try was lost,
 * the reply comes one round-trip time after the last try. A slow SA replies to
 * the first try at any time between two tries.
 */
static inline bool is_reply_to_earlier_try(const struct round_trip *trip,
					   uint32_t interval_ms,
					   uint64_t since_us)
{
	return since_us > round_trip_limit_us(trip) &&
	       since_us > UINT64_C(1000) * interval_ms / 4;
}

/*
 * A reply has answered an earlier try than the last one, @since_first_ns after
 * the first try.
 */
static inline void round_trip_note_late(struct round_trip *trip,
					uint64_t since_first_ns)
{
	const int32_t us = round_trip_sample_us(since_first_ns);

	if (us > trip->smooth_us)
		round_trip_add(trip, us);
	if (trip->limit_us < (uint64_t)us)
		trip->limit_us = (uint64_t)us;
}

/*
 * Update @trip after a reply to a request that was sent @tries times. The
 * reply arrived @since_ns after the last try, whose interval was @interval_ms,
 * and @since_first_ns after the first try.
 */
static inline void round_trip_note(struct round_trip *trip, uint32_t tries,
				   uint32_t interval_ms, uint64_t since_ns,
				   uint64_t since_first_ns)
{
	if (tries == 1)
		round_trip_add(trip, round_trip_sample_us(since_ns));
	else if (is_reply_to_earlier_try(trip, interval_ms, since_ns / 1000))
		round_trip_note_late(trip, since_first_ns);
}

/*
 * Return: the interval in ms between the first try of a request and the second
 * one, unless the program gave one: four round trips, but not below @least_ms,
 * and until SAMPLES_LEAST replies are measured not below
 * IBSA_DEFAULT_FIRST_INTERVAL_MS.
 */
static inline uint32_t round_trip_first_ms(const struct round_trip *trip,
					   uint32_t least_ms)
{
	enum { ROUND_TRIPS = 4 };
	const uint32_t us = ROUND_TRIPS * (uint32_t)trip->smooth_us;

	if (trip->samples < SAMPLES_LEAST &&
	    least_ms < IBSA_DEFAULT_FIRST_INTERVAL_MS)
		least_ms = IBSA_DEFAULT_FIRST_INTERVAL_MS;
	return us > 1000 * least_ms ? us / 1000 : least_ms;
}

#endif
