/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports for many programs: ibsad has one watch, and a ring of the last
 * Reports, from which each client gets those to which it has subscribed.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "ibsad/daemon.h"
#include "ibsad/file.h"
#include "wire/mad.h"

enum {
	INFORM_INFO_BYTES = 36,
	NOTICE_BYTES = 80,
	PRODUCER_SM = 4,
	ANY_PRODUCER = 0xffffff,
	ANY = 0xffff, /* type, trap number, or LID */
	/* While its queue has this many bytes, a client gets no more Reports.
	 */
	REPORT_QUEUE_BYTES = 65536,
	WAIT_MS = 1500, /* a Set waits so long until ibsad has subscribed */
	AGAIN_MS = 100, /* after memory of the client's user was short */
	RETRY_MIN_MS = 1000,
	RETRY_MAX_MS = 60000,
};

/* A Report: its packet lacks only the number of the client's agent. */
struct report {
	struct ibsa_notice notice;
	uint8_t packet[QUEUE_FIRST_BYTES];
};

/*
 * @packet:  the Set, while it waits for its reply
 * @wait_ns: time until which the Set waits; 0: it has its reply
 */
struct subscription {
	struct list link;
	struct ibsa_inform_info info;
	uint64_t wait_ns;
	uint8_t packet[QUEUE_FIRST_BYTES];
};

static bool gid_is_set(const struct ibsa_gid *gid)
{
	static const struct ibsa_gid none;

	return memcmp(gid, &none, sizeof(none)) != 0;
}

/* As OpenSM's match_notice_to_inf_rec(). */
static bool info_has_issuer(const struct ibsa_inform_info *info,
			    const struct ibsa_notice *notice)
{
	if (gid_is_set(&info->gid))
		return !memcmp(&info->gid, &notice->issuer_gid,
			       sizeof(info->gid));
	return info->lid_range_begin == ANY ||
	       (info->lid_range_begin <= notice->issuer_lid &&
		notice->issuer_lid <= info->lid_range_end);
}

static bool info_matches(const struct ibsa_inform_info *info,
			 const struct ibsa_notice *notice)
{
	return notice->is_generic &&
	       (info->type == ANY || info->type == notice->type) &&
	       (info->trap_number == ANY ||
		info->trap_number == notice->trap_number) &&
	       (info->producer_type == ANY_PRODUCER ||
		info->producer_type == notice->producer_type) &&
	       info_has_issuer(info, notice);
}

static bool reader_takes(const struct report_reader *reader,
			 const struct ibsa_notice *notice)
{
	const struct subscription *subscription;

	LIST_EACH(subscription, &reader->subscriptions, link) {
		if (!subscription->wait_ns &&
		    info_matches(&subscription->info, notice))
			return true;
	}
	return false;
}

/*
 * Return: the kinds of events that the watch needs for a subscription: those of
 * the SM, or all.
 */
static unsigned int info_kinds(const struct ibsa_inform_info *info)
{
	return info->producer_type == PRODUCER_SM ? IBSA_EVENT_OF_SM
						  : IBSA_EVENT_ALL;
}

static unsigned int kinds_needed(const struct ibsad_reports *reports)
{
	const struct report_reader *reader;
	const struct subscription *subscription;
	unsigned int kinds = 0;

	LIST_EACH(reader, &reports->readers, link)
		LIST_EACH(subscription, &reader->subscriptions, link)
			kinds |= info_kinds(&subscription->info);
	return kinds;
}

static void readers_wake(struct ibsad_reports *reports)
{
	struct report_reader *reader;

	LIST_EACH(reader, &reports->readers, link)
		ibsad_file_wake(reader->file);
}

/* The clients may have missed Reports: see port_state() in owner.c. */
static void gap_note(struct ibsad_reports *reports)
{
	reports->gaps++;
	daemon_changed(reports->daemon);
}

static void report_put(struct ibsad_reports *reports,
		       const struct ibsa_notice *notice)
{
	const struct ibsa_port_state *port =
		&reports->daemon->ports.at[reports->port].state.port;
	struct report *report = &reports->ring[reports->count % REPORTS_RING];
	uint8_t *mad = report->packet + UMAD_HEADER_BYTES;
	const struct ibsa_sa_header head = {
		.base_version = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.class_version = IBSA_CLASS_VERSION,
		.method = IBSA_METHOD_REPORT,
		.transaction_id = reports->count + 1,
		.attribute_id = ibsa_notice_record.attribute,
	};
	const struct umad_header header = {
		.length = QUEUE_FIRST_BYTES,
		.qpn = htobe32(IBSA_QPN_GSI),
		.lid = htobe16((uint16_t)port->sm_lid),
		.sl = port->sm_sl,
		.pkey_index = port->pkey_index,
	};

	report->notice = *notice;
	memset(report->packet, 0, sizeof(report->packet));
	memcpy(report->packet, &header, sizeof(header));
	/* Neither has a value that is too large for its field. */
	(void)!ibsa_record_encode(&ibsa_sa_header_record, &head, sizeof(head),
				  mad, IBSA_SA_HEADER_BYTES);
	(void)!ibsa_record_encode(&ibsa_notice_record, notice, sizeof(*notice),
				  mad + IBSA_SA_HEADER_BYTES, NOTICE_BYTES);
	reports->count++;
}

/* A change of the watch's state. The caller holds the lock. */
static void state_note(struct ibsad_reports *reports,
		       const struct ibsa_event *event)
{
	switch ((unsigned int)event->kind) {
	case IBSA_EVENT_SUBSCRIBED:
		reports->is_set = true;
		break;
	case IBSA_EVENT_GAP:
		if (!reports->was_lost)
			gap_note(reports);
		reports->was_lost = false;
		break;
	default:
		if (reports->is_set) {
			reports->was_lost = true;
			gap_note(reports);
		}
		reports->is_set = false;
		if (event->holder)
			ibsad_log_note(event->holder, reports->daemon);
	}
}

static void reports_event(const struct ibsa_event *event, void *arg)
{
	struct ibsad_reports *reports = arg;
	struct daemon *daemon = reports->daemon;

	/* ENDED comes when ibsad ends. */
	if (event->kind == IBSA_EVENT_ENDED)
		return;
	pthread_mutex_lock(&daemon->lock);
	ibsad_cache_flush(&daemon->caches[reports->port]);
	if (event->notice)
		report_put(reports, event->notice);
	else
		state_note(reports, event);
	readers_wake(reports);
	pthread_mutex_unlock(&daemon->lock);
}

/* Start a watch of @kinds. Return: 0 or -errno, and @reports->refusal. */
static int watch_start(struct ibsad_reports *reports, unsigned int kinds)
{
	const struct ibsa_event_options options = { .kinds = kinds };
	struct ibsa_event_watch *before = reports->watch;
	struct ibsa_client *client;
	int err = 0;

	if (!reports->ring)
		reports->ring = ibsa__calloc(REPORTS_RING,
					     sizeof(*reports->ring));
	if (!reports->ring)
		return ibsa__fail(&reports->refusal, -ENOMEM, "out of memory");
	err = ibsad_client_get(reports->daemon, reports->port, &client);
	if (!err)
		err = ibsa_event_watch_start(client, &options, reports_event,
					     reports, &reports->refusal,
					     &reports->watch);
	if (err)
		return err;
	ibsa_event_watch_stop(before);
	reports->kinds = kinds;
	reports->is_set = false;
	reports->was_lost = false;
	return 0;
}

static void retry_later(struct ibsad_reports *reports)
{
	if (!reports->retry_ms)
		ibsad_log("%s", reports->refusal.text);
	reports->retry_ms = reports->retry_ms ? reports->retry_ms * 2
					      : RETRY_MIN_MS;
	if (reports->retry_ms > RETRY_MAX_MS)
		reports->retry_ms = RETRY_MAX_MS;
	reports->retry_ns = clock_now_ns() + reports->retry_ms * NS_PER_MS;
}

/* Have a watch of at least @kinds. */
static int watch_need(struct ibsad_reports *reports, unsigned int kinds)
{
	int err = 0;

	if (reports->watch && !(kinds & ~reports->kinds))
		return 0;
	if (clock_now_ns() < reports->retry_ns)
		return -EBUSY;
	err = watch_start(reports, kinds | reports->kinds);
	if (err) {
		retry_later(reports);
		return err;
	}
	reports->retry_ns = 0;
	reports->retry_ms = 0;
	return 0;
}

int ibsad_reports_check(struct ibsad_reports *reports)
{
	return watch_need(reports, IBSA_EVENT_OF_SM);
}

/* The events after which the SA may reply to a query in another way. */
enum { CHANGES = IBSA_EVENT_OF_SM | IBSA_EVENT_LINK_STATE };

void ibsad_reports_want(struct ibsad_reports *reports)
{
	reports->is_wanted = true;
	(void)!watch_need(reports, CHANGES);
}

bool ibsad_reports_are_set(const struct ibsad_reports *reports)
{
	return reports->is_set && !(CHANGES & ~reports->kinds);
}

/* End the watch when no client needs it. */
static void watch_tidy(struct ibsad_reports *reports)
{
	const struct report_reader *reader;

	if (reports->is_wanted)
		return;
	LIST_EACH(reader, &reports->readers, link) {
		if (reader->has_agent)
			return;
	}
	ibsa_event_watch_stop(reports->watch);
	reports->watch = NULL;
	reports->kinds = 0;
	reports->is_set = false;
}

void ibsad_reports_init(struct ibsad_reports *reports, struct daemon *daemon,
			uint32_t port)
{
	*reports = (struct ibsad_reports){ .daemon = daemon, .port = port };
	list_init(&reports->readers);
}

void ibsad_reports_done(struct ibsad_reports *reports)
{
	ibsa__free(reports->ring);
}

void ibsad_reader_init(struct report_reader *reader,
		       struct ibsad_reports *reports, struct client_file *file,
		       uint32_t seat)
{
	*reader = (struct report_reader){ .reports = reports,
					  .file = file,
					  .seat = seat };
	list_init(&reader->subscriptions);
	list_append(&reports->readers, &reader->link);
}

static void subscription_free(struct subscription *subscription)
{
	list_take(&subscription->link);
	ibsa__free(subscription);
}

void ibsad_reader_reset(struct report_reader *reader)
{
	while (!list_is_empty(&reader->subscriptions))
		subscription_free(list_object(reader->subscriptions.next,
					      struct subscription, link));
	reader->has_agent = false;
	watch_tidy(reader->reports);
}

static bool is_same(const struct ibsa_inform_info *a,
		    const struct ibsa_inform_info *b)
{
	return !memcmp(&a->gid, &b->gid, sizeof(a->gid)) &&
	       a->lid_range_begin == b->lid_range_begin &&
	       a->lid_range_end == b->lid_range_end && a->type == b->type &&
	       a->trap_number == b->trap_number &&
	       a->producer_type == b->producer_type;
}

static struct subscription *
subscription_find(const struct report_reader *reader,
		  const struct ibsa_inform_info *info)
{
	struct subscription *subscription;

	LIST_EACH(subscription, &reader->subscriptions, link) {
		if (is_same(&subscription->info, info))
			return subscription;
	}
	return NULL;
}

/* Return: the subscription for the Set; NULL and the reason. */
static struct subscription *
subscription_have(struct report_reader *reader,
		  const struct ibsa_inform_info *info, const char **out_reason)
{
	struct subscription *found = subscription_find(reader, info);

	if (found)
		return found;
	if (!ibsad_file_may_register(reader->file)) {
		*out_reason = "too many registrations";
		return NULL;
	}
	found = ibsa__calloc(1, sizeof(*found));
	if (!found) {
		*out_reason = "out of memory";
		return NULL;
	}
	found->info = *info;
	/* Only Reports from now on. */
	if (list_is_empty(&reader->subscriptions))
		reader->next = reader->reports->count;
	list_append(&reader->subscriptions, &found->link);
	return found;
}

/* Answer the Set of a subscription that waits. */
static void set_answer(struct report_reader *reader,
		       struct subscription *subscription, uint16_t status)
{
	if (subscription->wait_ns)
		(void)ibsad_queue_answer(ibsad_file_queue(reader->file),
					 subscription->packet, status);
	subscription->wait_ns = 0;
}

static const char *subscribe(struct report_reader *reader,
			     const struct ibsa_inform_info *info,
			     const uint8_t *packet)
{
	struct ibsad_reports *reports = reader->reports;
	const char *reason = NULL;
	struct subscription *subscription;

	if (!info->is_generic)
		return "subscription to vendor traps";
	subscription = subscription_have(reader, info, &reason);
	if (!subscription)
		return reason;
	set_answer(reader, subscription, IBSA_STATUS_BUSY);
	memcpy(subscription->packet, packet, QUEUE_FIRST_BYTES);
	subscription->wait_ns = clock_now_ns() + WAIT_MS * NS_PER_MS;
	/* A failure is answered when the Set has waited. */
	(void)!watch_need(reports, kinds_needed(reports));
	ibsad_file_wake(reader->file);
	return NULL;
}

const char *ibsad_reader_set(struct report_reader *reader,
			     const uint8_t *packet)
{
	struct ibsa_inform_info info;
	struct subscription *found;

	(void)!ibsa_record_decode(&ibsa_inform_info_record,
				  packet + UMAD_HEADER_BYTES +
					  IBSA_SA_HEADER_BYTES,
				  INFORM_INFO_BYTES, &info, sizeof(info));
	if (info.subscribe)
		return subscribe(reader, &info, packet);
	found = subscription_find(reader, &info);
	if (!found)
		return "end of a subscription that this client does not have";
	set_answer(reader, found, IBSA_STATUS_BUSY);
	subscription_free(found);
	(void)ibsad_queue_answer(ibsad_file_queue(reader->file), packet, 0);
	return NULL;
}

/* Answer the Sets that need not wait any longer. */
static void sets_answer(struct report_reader *reader)
{
	const struct ibsad_reports *reports = reader->reports;
	const uint64_t now_ns = clock_now_ns();
	struct subscription *subscription, *next;

	LIST_EACH_SAFE(subscription, next, &reader->subscriptions, link) {
		const unsigned int kinds = info_kinds(&subscription->info);

		if (!subscription->wait_ns)
			continue;
		if (reports->is_set && !(kinds & ~reports->kinds)) {
			set_answer(reader, subscription, 0);
		} else if (now_ns >= subscription->wait_ns) {
			set_answer(reader, subscription, IBSA_STATUS_BUSY);
			subscription_free(subscription);
		}
	}
}

static void reports_queue(struct report_reader *reader)
{
	struct ibsad_reports *reports = reader->reports;

	if (reports->count - reader->next > REPORTS_RING) {
		reader->gaps++;
		reader->next = reports->count;
		daemon_changed(reports->daemon);
	}
	while (reader->next < reports->count &&
	       ibsad_file_queue(reader->file)->bytes < REPORT_QUEUE_BYTES) {
		struct report *report =
			&reports->ring[reader->next % REPORTS_RING];

		memcpy(report->packet, &reader->agent, sizeof(reader->agent));
		if (reader_takes(reader, &report->notice) &&
		    !ibsad_queue_put(ibsad_file_queue(reader->file),
				     report->packet, QUEUE_FIRST_BYTES))
			return;
		reader->next++;
	}
}

void ibsad_reader_settle(struct report_reader *reader)
{
	if (list_is_empty(&reader->subscriptions))
		return;
	sets_answer(reader);
	reports_queue(reader);
}

uint64_t ibsad_reader_due_ns(const struct report_reader *reader)
{
	const struct subscription *subscription;
	uint64_t due_ns = UINT64_MAX;

	if (list_is_empty(&reader->subscriptions))
		return due_ns;
	LIST_EACH(subscription, &reader->subscriptions, link) {
		if (subscription->wait_ns && subscription->wait_ns < due_ns)
			due_ns = subscription->wait_ns;
	}
	if (reader->next < reader->reports->count &&
	    ibsad_file_queue(reader->file)->bytes < REPORT_QUEUE_BYTES &&
	    due_ns == UINT64_MAX)
		due_ns = clock_now_ns() + AGAIN_MS * NS_PER_MS;
	return due_ns;
}

uint32_t ibsad_reports_gaps(const struct ibsad_reports *reports, uint32_t seat)
{
	const struct report_reader *reader;

	LIST_EACH(reader, &reports->readers, link) {
		if (reader->seat == seat)
			return reports->gaps + reader->gaps;
	}
	return reports->gaps;
}

uint32_t ibsad_reports_count(const struct ibsad_reports *reports,
			     const uid_t *user)
{
	const struct report_reader *reader;
	const struct subscription *subscription;
	uint32_t count = 0;

	LIST_EACH(reader, &reports->readers, link) {
		if (user && ibsad_file_user(reader->file) != *user)
			continue;
		LIST_EACH(subscription, &reader->subscriptions, link)
			count++;
	}
	return count;
}
