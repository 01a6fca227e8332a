/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "ibsad/daemon.h"
#include "ibsad/file.h"
#include "ibsad/wait.h"
#include "wire/mad.h"

/*
 * @link, @own: links in the list for one reply, and in that of the client
 * @header:     umad header and MAD header of the request
 */
struct wait {
	struct list link;
	struct list own;
	struct client_file *file;
	uint64_t due_ns;
	uint8_t header[QUEUE_HEADER_BYTES];
};

static void wait_free(struct wait *wait)
{
	list_take(&wait->link);
	list_take(&wait->own);
	ibsad_file_in_flight_end(wait->file);
	ibsa__free(wait);
}

static struct wait *wait_first(const struct list *waits)
{
	return list_object(waits->next, struct wait, link);
}

static void due_set(struct wait *wait, struct cache_client *client)
{
	struct umad_header header;

	memcpy(&header, wait->header, sizeof(header));
	wait->due_ns = clock_now_ns() + (uint64_t)header.timeout_ms *
						(header.retries + 1) *
						NS_PER_MS;
	if (wait->due_ns < client->due_ns)
		client->due_ns = wait->due_ns;
}

int ibsad_wait_begin(struct list *waits, struct client_file *file,
		     const uint8_t *packet)
{
	struct cache_client *client = ibsad_file_cache_client(file);
	const int err = ibsad_file_in_flight_begin(file);
	struct wait *wait;

	if (err)
		return err;
	wait = ibsa__calloc(1, sizeof(*wait));
	if (!wait) {
		ibsad_file_in_flight_end(file);
		return -ENOMEM;
	}
	wait->file = file;
	memcpy(wait->header, packet, sizeof(wait->header));
	due_set(wait, client);
	list_append(waits, &wait->link);
	list_append(&client->waits, &wait->own);
	return 0;
}

void ibsad_waits_drop(struct list *waits)
{
	while (!list_is_empty(waits))
		wait_free(wait_first(waits));
}

void ibsad_cached_answer(struct client_file *file, const uint8_t *request,
			 const uint8_t *reply, size_t len)
{
	struct packet_queue *queue = ibsad_file_queue(file);
	struct packet *packet = ibsad_packet_new(queue, len);

	if (!packet)
		return;
	memcpy(packet->bytes, reply, len);
	/* the agent, and the TransactionID */
	memcpy(packet->bytes, request, sizeof(uint32_t));
	memcpy(packet->bytes + UMAD_HEADER_BYTES + MAD_TID,
	       request + UMAD_HEADER_BYTES + MAD_TID, sizeof(uint64_t));
	ibsad_queue_append(queue, packet);
}

void ibsad_waits_answer(struct list *waits, const uint8_t *reply, size_t len)
{
	while (!list_is_empty(waits)) {
		struct wait *wait = wait_first(waits);

		ibsad_cached_answer(wait->file, wait->header, reply, len);
		wait_free(wait);
	}
}

static void wait_return(struct wait *wait, int err)
{
	(void)ibsad_queue_return(ibsad_file_queue(wait->file), wait->header,
				 err);
	wait_free(wait);
}

void ibsad_waits_return(struct list *waits, int err)
{
	while (!list_is_empty(waits))
		wait_return(wait_first(waits), err);
}

uint64_t ibsad_waits_due_ns(const struct list *waits)
{
	const struct wait *wait;
	uint64_t due_ns = 0;

	LIST_EACH(wait, waits, link) {
		if (wait->due_ns > due_ns)
			due_ns = wait->due_ns;
	}
	return due_ns;
}

void ibsad_cache_client_init(struct cache_client *client)
{
	*client = (struct cache_client){ .due_ns = UINT64_MAX };
	list_init(&client->waits);
}

void ibsad_cache_client_done(struct cache_client *client)
{
	while (!list_is_empty(&client->waits))
		wait_free(list_object(client->waits.next, struct wait, own));
}

void ibsad_cache_client_settle(struct cache_client *client)
{
	const uint64_t now_ns = client->due_ns == UINT64_MAX ? 0
							     : clock_now_ns();
	struct wait *wait, *next;

	if (client->due_ns > now_ns)
		return;
	client->due_ns = UINT64_MAX;
	LIST_EACH_SAFE(wait, next, &client->waits, own) {
		if (wait->due_ns <= now_ns)
			wait_return(wait, -ETIMEDOUT);
		else if (wait->due_ns < client->due_ns)
			client->due_ns = wait->due_ns;
	}
}
