/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Services of users. Before the first Set of a service, ibsad asks the SA
 * whether there is one with this ServiceID, GID and P_Key already: it is then
 * another program's, and stays as it is. A Delete is repeated until the SA has
 * answered.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "ibsad/daemon.h"
#include "ibsad/file.h"
#include "ibsad/service.h"
#include "wire/mad.h"

enum {
	KEY_BYTES = 26, /* ServiceID, ServiceGID and ServiceP_Key */
	GID_AT = 8,
	PKEY_AT = 24,
	LEASE_AT = 28,
	LATE_S = 2, /* until the SA has received a Set, and ended a lease */
	QUERY_MS = 5000,
	DELETES_MAX = 64, /* at once */
	RETRY_MIN_MS = 1000,
	RETRY_MAX_MS = 60000,
	TICK_MAX_MS = 3600000,
};

/* A request of a client, decoded. */
struct service_request {
	const uint8_t *record;
	uint64_t mask;
	uint32_t tid;
	bool is_delete;
};

static struct service_request request_of(const uint8_t *mad)
{
	return (struct service_request){
		.record = mad + IBSA_SA_HEADER_BYTES,
		.mask = ibsa_be64(mad + MAD_COMPONENT_MASK),
		.tid = (uint32_t)ibsa_be64(mad + MAD_TID),
		.is_delete = mad[MAD_METHOD] == IBSA_METHOD_DELETE,
	};
}

/*
 * An SA takes the P_Key from the record, or only if the component mask selects
 * it: the key of a service has both. See ibsad_owned_judge(), too.
 */
static struct service *service_find(const struct owned *owned, uint32_t port,
				    const struct service_request *request)
{
	const uint64_t pkey = IBSA_SERVICE_CM(service_pkey);
	struct service *service;

	LIST_EACH(service, &owned->services, link) {
		if (service->port == port &&
		    !((service->mask ^ request->mask) & pkey) &&
		    !memcmp(service->record, request->record, KEY_BYTES))
			return service;
	}
	return NULL;
}

/*
 * Whether another user has a service of this ServiceID and ServiceGID: SAs
 * differ in how they take the P_Key into account.
 */
static bool another_user_has(const struct owned *owned,
			     const struct client_file *file,
			     const struct service_request *request)
{
	const struct service *service;

	LIST_EACH(service, &owned->services, link) {
		if (service->port == ibsad_file_port(file) &&
		    service->user != ibsad_file_user(file) &&
		    !memcmp(service->record, request->record, PKEY_AT))
			return true;
	}
	return false;
}

uint32_t ibsad_owned_count(const struct owned *owned, uid_t user)
{
	const struct service *service;
	uint32_t count = 0;

	LIST_EACH(service, &owned->services, link)
		count += service->user == user;
	return count;
}

/* An SA takes a lease of 0 as one of a second at most. */
static uint64_t lease_ns(const struct service_request *request)
{
	const uint32_t lease_s = ibsa_be32(request->record + LEASE_AT);

	if (!(request->mask & IBSA_SERVICE_CM(service_lease)) ||
	    lease_s == IBSA_LEASE_INFINITE)
		return UINT64_MAX / 2;
	return (lease_s + LATE_S) * NS_PER_S;
}

/* Note a request of the owner that is being sent. */
static void request_note(struct service *service,
			 const struct client_file *file,
			 const struct service_request *request)
{
	service->sender = file;
	service->tid = request->tid;
	service->is_delete = request->is_delete;
	if (request->is_delete)
		return;
	service->sets++;
	memcpy(service->record, request->record, SERVICE_BYTES);
	service->mask = request->mask;
	service->end_ns = clock_now_ns() + lease_ns(request);
	if (service->end_ns < service->owned->due_ns)
		service->owned->due_ns = service->end_ns;
}

static struct service *service_new(struct owned *owned,
				   struct client_file *file,
				   const struct service_request *request)
{
	struct service *service = ibsa__calloc(1, sizeof(*service));

	if (!service)
		return NULL;
	service->owned = owned;
	service->user = ibsad_file_user(file);
	service->port = ibsad_file_port(file);
	service->file = file;
	request_note(service, file, request);
	list_append(&owned->services, &service->link);
	owned->count++;
	return service;
}

/* Send a request of ibsad itself about a service. */
static int service_query(struct service *service, uint8_t method,
			 ibsa_reply_fn done)
{
	struct ibsa_service match;
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &match,
		.match_size = sizeof(match),
		.mask = IBSA_SERVICE_CM(service_id) |
			IBSA_SERVICE_CM(service_gid) |
			(service->mask & IBSA_SERVICE_CM(service_pkey)),
		.method = method,
		.deadline_ms = QUERY_MS,
		.no_sharing = true,
	};
	struct ibsa_client *client;
	int err = ibsad_client_get(service->owned->daemon, service->port,
				   &client);

	(void)!ibsa_record_decode(&ibsa_service_record, service->record,
				  SERVICE_BYTES, &match, sizeof(match));
	if (!err)
		err = ibsa_query_start(client, &query, done, service, NULL);
	service->is_asked = !err;
	return err;
}

static void delete_retry(struct service *service)
{
	const uint64_t now_ns = clock_now_ns();

	if (!service->retry_ms)
		ibsad_log_note("a service of a user that has gone cannot be "
			       "deleted: the SA does not reply",
			       service->owned->daemon);
	service->retry_ms = service->retry_ms ? service->retry_ms * 2
					      : RETRY_MIN_MS;
	if (service->retry_ms > RETRY_MAX_MS)
		service->retry_ms = RETRY_MAX_MS;
	service->retry_ns = now_ns + service->retry_ms * NS_PER_MS;
}

static void deleted(const struct ibsa_reply *reply, void *arg)
{
	struct service *service = arg;

	service->owned->deletes--;
	service->owned->due_ns = 0;
	service->is_asked = false;
	if (reply->err || reply->status & IBSA_STATUS_BUSY)
		delete_retry(service);
	else
		ibsad_service_free(service);
}

static void delete_start(struct service *service)
{
	struct owned *owned = service->owned;

	if (service_query(service, IBSA_METHOD_DELETE, deleted))
		delete_retry(service);
	else
		owned->deletes++;
}

/* A service whose lease has ended may be another program's by now. */
static void services_expire(struct owned *owned)
{
	const uint64_t now_ns = clock_now_ns();
	struct service *service, *next;

	LIST_EACH_SAFE(service, next, &owned->services, link) {
		if (!service->is_asked && service->end_ns <= now_ns)
			ibsad_service_free(service);
	}
}

/* The user of a service that was taken over has had its time to come back. */
static void restored_end(struct service *service)
{
	struct daemon *daemon = service->owned->daemon;

	service->retry_ns = 0;
	service->state = daemon->server && ibsa__server_has_user(daemon->server,
								 service->user)
				 ? SERVICE_SET
				 : SERVICE_ENDED;
}

/* Return: the time at which something is to be done about a service. */
static uint64_t service_due_ns(const struct service *service)
{
	const bool is_full = service->owned->deletes >= DELETES_MAX;

	/* The answer to a request, or to another Delete, comes first. */
	if (service->is_asked)
		return UINT64_MAX;
	if (service->state == SERVICE_RESTORED ||
	    (service->state == SERVICE_ENDED && !is_full))
		return service->retry_ns < service->end_ns ? service->retry_ns
							   : service->end_ns;
	return service->end_ns;
}

static void service_tick(struct service *service, uint64_t now_ns)
{
	if (service->is_asked || service->retry_ns > now_ns)
		return;
	if (service->state == SERVICE_RESTORED)
		restored_end(service);
	if (service->state == SERVICE_ENDED &&
	    service->owned->deletes < DELETES_MAX)
		delete_start(service);
}

int ibsad_owned_tick(struct owned *owned)
{
	const uint64_t now_ns = clock_now_ns();
	struct service *service;
	uint64_t left_ms;

	if (now_ns >= owned->due_ns) {
		owned->due_ns = UINT64_MAX;
		services_expire(owned);
		LIST_EACH(service, &owned->services, link) {
			service_tick(service, now_ns);
			if (service_due_ns(service) < owned->due_ns)
				owned->due_ns = service_due_ns(service);
		}
	}
	if (owned->due_ns == UINT64_MAX)
		return -1;
	left_ms = owned->due_ns > now_ns
			  ? (owned->due_ns - now_ns) / NS_PER_MS + 1
			  : 0;
	return left_ms < TICK_MAX_MS ? (int)left_ms : TICK_MAX_MS;
}

/* Return: how a Set goes on, by the SA's reply to the query for the service. */
static enum owned_answer check_answer(const struct ibsa_reply *reply)
{
	if (!reply->err && (reply->status == IBSA_STATUS_NO_RECORDS ||
			    (!reply->status && !reply->count)))
		return OWNED_PASS;
	return reply->err || reply->status ? OWNED_BUSY : OWNED_DENIED;
}

/* The SA has told whether another program has the service. */
static void checked(const struct ibsa_reply *reply, void *arg)
{
	struct service *service = arg;
	struct daemon *daemon = service->owned->daemon;
	struct client_file *file = service->file;
	uint8_t *packet = service->packet;
	const size_t len = service->packet_len;
	const enum owned_answer answer = check_answer(reply);

	service->is_asked = false;
	service->file = NULL;
	service->packet = NULL;
	service->state = SERVICE_SET;
	pthread_mutex_lock(&daemon->lock);
	if (answer != OWNED_PASS || !file)
		ibsad_service_free(service);
	else
		ibsad_service_note(service, false);
	if (file)
		ibsad_file_continue(file, packet, len, answer);
	pthread_mutex_unlock(&daemon->lock);
	ibsa__free(packet);
}

static bool is_own_gid(const struct owned *owned, uint32_t port,
		       const uint8_t *gid)
{
	const struct serve_state *state = &owned->daemon->ports.at[port].state;
	static const struct ibsa_gid empty;

	if (!memcmp(gid, empty.raw, sizeof(empty)))
		return false;
	for (uint32_t i = 0; i < state->gid_count; i++) {
		if (!memcmp(state->gids[i].raw, gid, sizeof(*state->gids)))
			return true;
	}
	return false;
}

static enum owned_answer denied(const char *reason, const char **out_reason)
{
	*out_reason = reason;
	return OWNED_DENIED;
}

/* A Set of a service that no user of ibsad has registered. */
static enum owned_answer set_first(struct owned *owned,
				   struct client_file *file,
				   const struct service_request *request,
				   const uint8_t *packet, size_t len,
				   const char **out_reason)
{
	struct service *service;

	if (!ibsad_file_may_register(file) ||
	    (owned->most && owned->count >= owned->most))
		return denied("too many registrations", out_reason);
	service = service_new(owned, file, request);
	if (!service)
		return OWNED_BUSY;
	service->packet = ibsa__calloc(1, len);
	service->packet_len = len;
	if (service->packet) {
		memcpy(service->packet, packet, len);
		if (!service_query(service, IBSA_METHOD_GET_TABLE, checked))
			return OWNED_LATER;
	}
	ibsad_service_free(service);
	return OWNED_BUSY;
}

static enum owned_answer request_judge(struct owned *owned,
				       struct client_file *file,
				       const struct service_request *request,
				       const uint8_t *packet, size_t len,
				       const char **out_reason)
{
	struct service *found;

	services_expire(owned);
	found = service_find(owned, ibsad_file_port(file), request);
	if (another_user_has(owned, file, request))
		return denied("service of another user", out_reason);
	if (!found && request->is_delete)
		return denied("delete of what this user has not registered",
			      out_reason);
	if (!found)
		return set_first(owned, file, request, packet, len, out_reason);
	if (found->is_asked)
		return OWNED_BUSY;
	found->state = SERVICE_SET;
	request_note(found, file, request);
	if (!request->is_delete)
		ibsad_service_note(found, false);
	return OWNED_PASS;
}

enum owned_answer ibsad_owned_judge(struct owned *owned,
				    struct client_file *file,
				    const uint8_t *packet, size_t len,
				    const char **out_reason)
{
	const struct service_request request =
		request_of(packet + UMAD_HEADER_BYTES);
	const uint64_t needed = IBSA_SERVICE_CM(service_id) |
				IBSA_SERVICE_CM(service_gid);

	if (len < UMAD_HEADER_BYTES + IBSA_MAD_BYTES)
		return denied("a short record", out_reason);
	if ((request.mask & needed) != needed ||
	    !is_own_gid(owned, ibsad_file_port(file), request.record + GID_AT))
		return denied("service of another port", out_reason);
	if (!(request.mask & IBSA_SERVICE_CM(service_pkey)) &&
	    ibsa_be16(request.record + PKEY_AT))
		return denied("a P_Key without its component", out_reason);
	return request_judge(owned, file, &request, packet, len, out_reason);
}

/* Return: the service whose last request is this, or its response; or NULL. */
static struct service *service_sent(const struct owned *owned,
				    const struct client_file *file,
				    const uint8_t *mad)
{
	const uint32_t tid = (uint32_t)ibsa_be64(mad + MAD_TID);
	struct service *service;

	if (mad[MAD_CLASS] != IBSA_CLASS_SA ||
	    ibsa_be16(mad + MAD_ATTRIBUTE) != ibsa_service_record.attribute)
		return NULL;
	LIST_EACH(service, &owned->services, link) {
		if (service->sender == file && service->tid == tid)
			return service;
	}
	return NULL;
}

/* If no other Set was sent, the SA does not have the service. */
static void set_failed(struct service *service)
{
	if (!--service->sets)
		ibsad_service_free(service);
}

/*
 * After a Delete that has succeeded, there is no service, unless a Set was sent
 * after it.
 */
void ibsad_owned_response(struct owned *owned, struct client_file *file,
			  const uint8_t *mad)
{
	const bool has_failed = ibsa_be16(mad + MAD_STATUS);
	struct service *service = service_sent(owned, file, mad);

	if (!service ||
	    mad[MAD_METHOD] != (service->is_delete ? IBSA_METHOD_DELETE_RESP
						   : IBSA_METHOD_GET_RESP))
		return;
	service->sender = NULL;
	if (service->is_delete && !has_failed)
		ibsad_service_free(service);
	else if (!service->is_delete && has_failed)
		set_failed(service);
}

void ibsad_owned_unanswered(struct owned *owned, struct client_file *file,
			    const uint8_t *mad)
{
	struct service *service = service_sent(owned, file, mad);

	if (service)
		service->sender = NULL;
}

void ibsad_owned_unsent(struct owned *owned, struct client_file *file,
			const uint8_t *packet)
{
	const struct service_request request =
		request_of(packet + UMAD_HEADER_BYTES);
	struct service *service = service_find(owned, ibsad_file_port(file),
					       &request);

	service->sender = NULL;
	if (!service->is_delete)
		set_failed(service);
}

void ibsad_owned_file_end(struct owned *owned, struct client_file *file)
{
	struct service *service;

	LIST_EACH(service, &owned->services, link) {
		if (service->file == file)
			service->file = NULL;
		if (service->sender == file)
			service->sender = NULL;
	}
}

void ibsad_owned_user_end(struct owned *owned, uid_t user)
{
	struct service *service;

	LIST_EACH(service, &owned->services, link) {
		if (service->user != user ||
		    (service->state != SERVICE_SET &&
		     service->state != SERVICE_RESTORED))
			continue;
		service->state = SERVICE_ENDED;
		service->retry_ns = 0;
		owned->due_ns = 0;
	}
	(void)ibsad_owned_tick(owned);
}

bool ibsad_owned_is_empty(const struct owned *owned)
{
	return list_is_empty(&owned->services);
}

void ibsad_owned_init(struct owned *owned, struct daemon *daemon, uint32_t most)
{
	*owned = (struct owned){ .daemon = daemon,
				 .most = most,
				 .state = { .fd = -1 } };
	list_init(&owned->services);
}

void ibsad_owned_done(struct owned *owned)
{
	struct service *service, *next;

	ibsad_state_close(&owned->state);
	LIST_EACH_SAFE(service, next, &owned->services, link)
		ibsad_service_free(service);
}
