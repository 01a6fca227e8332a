/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ClassPortInfo of an OPA port's manager, which contains the queries that the
 * manager supports. The ClassPortInfo is queried when the port is opened, and
 * again after events that may bring a new manager. Opening the port does not
 * wait for the reply if another thread dispatches the device; calls that need
 * the ClassPortInfo wait.
 *
 * Source: Linux drivers/infiniband/core/sa_query.c.
 */
#include "base/clock.h"
#include "client/client.h"
#include "ib_sa/state.h"

enum {
	/*
	 * Delay before ClassPortInfo is queried again, after a failed query and
	 * after a change of the port.
	 */
	AGAIN_MS = 1000,
	RETRIES_MAX = 3,
};

static const struct ibsa_query cpi_query = {
	.record = &ibsa_opa_class_port_info_record,
	.method = IBSA_METHOD_GET,
	.deadline_ms = SA_TOTAL_MS,
	.first_interval_ms = SA_FIRST_INTERVAL_MS,
	.no_sharing = true,
};

static void cpi_schedule(struct sa_port *port)
{
	ibsa__alarm_set(ibsa__client_engine(port->client), &port->cpi.again,
			AGAIN_MS);
}

/*
 * End the wait of other threads for the ClassPortInfo: the reply has come, or
 * will not come soon.
 */
static void cpi_wait_end(struct sa_port *port)
{
	struct ibsa__sa *sa = port->device->sa;

	pthread_mutex_lock(&sa->lock);
	port->cpi.awaited_ns = 0;
	pthread_cond_broadcast(&sa->ended);
	pthread_mutex_unlock(&sa->lock);
}

static void cpi_note_failure(struct sa_port *port)
{
	if (port->cpi.retries++ < RETRIES_MAX)
		cpi_schedule(port);
	cpi_wait_end(port);
}

static void cpi_note_reply(const struct ibsa_reply *reply, void *arg)
{
	struct sa_port *port = arg;
	struct ibsa_opa_class_port_info info;

	if (ibsa_reply_outcome(reply) != IBSA_OUTCOME_OK) {
		cpi_note_failure(port);
		return;
	}
	reply->record->decode(ibsa_reply_at(reply, 0), &info);
	pthread_mutex_lock(&port->device->sa->lock);
	port->cpi.capability_mask2 = info.capability_mask2;
	port->cpi.is_valid = true;
	pthread_mutex_unlock(&port->device->sa->lock);
	cpi_wait_end(port);
}

/*
 * Handle a reply to a repeated ClassPortInfo query; ignore it if the port has
 * changed since that query was sent.
 */
static void cpi_note_later_reply(const struct ibsa_reply *reply, void *arg)
{
	struct sa_port *port = arg;

	if (reply->id != port->cpi.asked)
		return;
	port->cpi.asked = 0;
	cpi_note_reply(reply, port);
}

static void cpi_query_again(struct ibsa__alarm *alarm)
{
	struct sa_port *port = list_object(alarm, struct sa_port, cpi.again);

	if (ibsa_query_start(port->client, &cpi_query, cpi_note_later_reply,
			     port, &port->cpi.asked))
		cpi_note_failure(port);
}

/*
 * Whether another thread than this one will receive the ClassPortInfo reply
 * after the port is opened. Within a callback this is false, since this thread
 * may be the dispatcher.
 */
static bool has_other_thread(const struct sa_port *port)
{
	struct ibsa__sa *sa = port->device->sa;
	bool is_inside;

	pthread_mutex_lock(&sa->lock);
	is_inside = ibsa__sa_in_callback(sa);
	pthread_mutex_unlock(&sa->lock);
	return !is_inside && !port->device->options.no_thread;
}

void ibsa__sa_cpi_open(struct sa_port *port)
{
	ibsa__alarm_init(&port->cpi.again, cpi_query_again);
	if (port->state.link != IBSA_LINK_OPA)
		return;
	if (has_other_thread(port)) {
		port->cpi.awaited_ns = clock_now_ns() + SA_TOTAL_MS * NS_PER_MS;
		cpi_query_again(&port->cpi.again);
	} else if (ibsa_query_wait(port->client, &cpi_query, cpi_note_reply,
				   port) &&
		   !port->cpi.retries) {
		cpi_note_failure(port); /* it could not be sent */
	}
}

void ibsa__sa_cpi_await(struct sa_port *port)
{
	struct ibsa__sa *sa = port->device->sa;

	/*
	 * Do not wait within a callback: the dispatcher could not receive the
	 * reply, for example while one of its callbacks waits for a lock that
	 * the caller holds.
	 */
	while (port->cpi.awaited_ns > clock_now_ns() &&
	       !ibsa__sa_in_callback(sa)) {
		const struct timespec until =
			clock_timespec(port->cpi.awaited_ns);

		(void)!pthread_cond_timedwait(&sa->ended, &sa->lock, &until);
	}
}

void ibsa__sa_cpi_event(struct sa_port *port, unsigned int events)
{
	const unsigned int matters = SA_PORT_ACTIVE | SA_LID_CHANGE |
				     SA_SM_CHANGE | SA_CLIENT_REREGISTER;

	if (port->state.link != IBSA_LINK_OPA || !(events & matters))
		return;
	pthread_mutex_lock(&port->device->sa->lock);
	port->cpi.is_valid = false;
	pthread_mutex_unlock(&port->device->sa->lock);
	if (port->cpi.asked)
		ibsa_cancel(port->client, port->cpi.asked);
	port->cpi.asked = 0;
	port->cpi.retries = 0;
	cpi_schedule(port);
	/*
	 * Threads that already wait for the ClassPortInfo do not wait for the
	 * new query, too.
	 */
	cpi_wait_end(port);
}
