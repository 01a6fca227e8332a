/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registrations. Before the first Set of a service, ibsad asks the SA whether
 * there is one with this ServiceID, GID and P_Key already: it is then another
 * program's, and stays as it is.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "ibsad/daemon.h"
#include "ibsad/file.h"
#include "wire/mad.h"

enum {
	SERVICE_BYTES = 176,
	INFORM_INFO_BYTES = 36,
	SERVICE_KEY_BYTES = 26, /* ServiceID, ServiceGID and ServiceP_Key */
	SUBSCRIBE_AT = 23,
	QUERY_MS = 5000,
};

enum owned_state {
	OWNED_CHECKED, /* the SA is asked whether another program has it */
	OWNED_SET,     /* the owner has sent a Set */
	OWNED_DELETED, /* the owner has gone, and a Delete is being sent */
};

/*
 * @file:    that waits for the check, or that receives the Reports; or NULL
 * @packet:  the request of @file that waits for the check
 * @record:  the bytes of the last Set, and its component mask
 */
struct registration {
	struct list link;
	struct owned *owned;
	enum owned_state state;
	uid_t user;
	uint32_t port;
	struct client_file *file;
	uint8_t *packet;
	size_t packet_len;
	bool is_service;
	uint8_t record[SERVICE_BYTES];
	uint64_t mask;
};

/* A request of a client, decoded. */
struct owned_request {
	const uint8_t *mad;
	size_t len;
	const uint8_t *record;
	uint64_t mask;
	bool is_service;
	bool is_delete;
};

static struct owned_request request_of(const uint8_t *packet, size_t len)
{
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;
	const uint8_t *record = mad + IBSA_SA_HEADER_BYTES;
	const bool is_service = ibsa_be16(mad + MAD_ATTRIBUTE) ==
				ibsa_service_record.attribute;

	return (struct owned_request){
		.mad = mad,
		.len = len - UMAD_HEADER_BYTES,
		.record = record,
		.mask = ibsa_be64(mad + MAD_COMPONENT_MASK),
		.is_service = is_service,
		.is_delete = is_service ? mad[MAD_METHOD] == IBSA_METHOD_DELETE
					: !record[SUBSCRIBE_AT],
	};
}

/*
 * Whether two InformInfos are about the same subscription: only the member
 * subscribe and the QPN, which a Set that unsubscribes adds, may differ.
 */
static bool is_same_subscription(const uint8_t *one, const uint8_t *other)
{
	return !memcmp(one, other, SUBSCRIBE_AT) &&
	       !memcmp(one + SUBSCRIBE_AT + 1, other + SUBSCRIBE_AT + 1, 4) &&
	       one[31] == other[31] && !memcmp(one + 32, other + 32, 4);
}

static bool is_about(const struct registration *registration,
		     const struct owned_request *request)
{
	if (registration->is_service != request->is_service)
		return false;
	return request->is_service ? !memcmp(registration->record,
					     request->record, SERVICE_KEY_BYTES)
				   : is_same_subscription(registration->record,
							  request->record);
}

static struct registration *
registration_find(const struct owned *owned, uint32_t port,
		  const struct owned_request *request)
{
	struct registration *registration;

	LIST_EACH(registration, &owned->registrations, link) {
		if (registration->port == port &&
		    is_about(registration, request))
			return registration;
	}
	return NULL;
}

static void registration_free(struct registration *registration)
{
	list_take(&registration->link);
	ibsa__free(registration->packet);
	ibsa__free(registration);
}

/* Return: how many registrations a user has, those being deleted included. */
static uint32_t registration_count(const struct owned *owned, uid_t user)
{
	const struct registration *registration;
	uint32_t count = 0;

	LIST_EACH(registration, &owned->registrations, link)
		count += registration->user == user;
	return count;
}

static void record_set(struct registration *registration,
		       const struct owned_request *request)
{
	memcpy(registration->record, request->record,
	       request->is_service ? SERVICE_BYTES : INFORM_INFO_BYTES);
	registration->mask = request->mask;
}

static struct registration *
registration_new(struct owned *owned, struct client_file *file,
		 const struct owned_request *request)
{
	struct registration *registration = ibsa__calloc(1,
							 sizeof(*registration));

	if (!registration)
		return NULL;
	registration->owned = owned;
	registration->user = ibsad_file_user(file);
	registration->port = ibsad_file_port(file);
	registration->file = file;
	registration->is_service = request->is_service;
	record_set(registration, request);
	list_append(&owned->registrations, &registration->link);
	return registration;
}

static int client_open(struct owned *owned, uint32_t port)
{
	const struct ibsa_options options = {
		.device = owned->daemon->ports.device,
		.port = port,
		.fabric = owned->fabric,
	};
	struct ibsa_error error;
	int err;

	if (owned->clients[port])
		return 0;
	err = ibsa_open(&options, &error, &owned->clients[port]);
	if (err)
		ibsad_log("cannot send requests of ibsad itself: %s",
			  error.text);
	else
		err = ibsad_poll_add(owned->daemon,
				     ibsa_fd(owned->clients[port]), owned);
	return err;
}

static int query_start(struct registration *registration,
		       const struct ibsa_query *query, ibsa_reply_fn done)
{
	struct owned *owned = registration->owned;
	int err = client_open(owned, registration->port);

	return err ? err
		   : ibsa_query_start(owned->clients[registration->port], query,
				      done, registration, NULL);
}

/* The fields that tell the SA which service is meant. */
static uint64_t service_key_mask(const struct registration *registration)
{
	return IBSA_SERVICE_CM(service_id) | IBSA_SERVICE_CM(service_gid) |
	       (registration->mask & IBSA_SERVICE_CM(service_pkey));
}

static void deleted(const struct ibsa_reply *reply, void *arg)
{
	if (reply->err)
		ibsad_log("a registration could not be deleted: the SA does "
			  "not reply");
	registration_free(arg);
}

static int service_delete(struct registration *registration)
{
	struct ibsa_service service;
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &service,
		.match_size = sizeof(service),
		.mask = service_key_mask(registration),
		.method = IBSA_METHOD_DELETE,
		.deadline_ms = QUERY_MS,
	};

	(void)!ibsa_record_decode(&ibsa_service_record, registration->record,
				  SERVICE_BYTES, &service, sizeof(service));
	return query_start(registration, &query, deleted);
}

/* A Set that unsubscribes has the QPN of the subscriber. */
static int subscription_delete(struct registration *registration)
{
	struct ibsa_inform_info info;
	const struct ibsa_query query = {
		.record = &ibsa_inform_info_record,
		.match = &info,
		.match_size = sizeof(info),
		.mask = registration->mask | IBSA_INFORM_INFO_CM(subscribe) |
			IBSA_INFORM_INFO_CM(qpn),
		.method = IBSA_METHOD_SET,
		.deadline_ms = QUERY_MS,
	};

	(void)!ibsa_record_decode(&ibsa_inform_info_record,
				  registration->record, INFORM_INFO_BYTES,
				  &info, sizeof(info));
	info.subscribe = 0;
	info.qpn = IBSA_QPN_GSI;
	return query_start(registration, &query, deleted);
}

static void registration_delete(struct registration *registration)
{
	int err;

	registration->file = NULL;
	registration->state = OWNED_DELETED;
	err = registration->is_service ? service_delete(registration)
				       : subscription_delete(registration);
	if (!err)
		return;
	ibsad_log("a registration could not be deleted: %s", strerror(-err));
	registration_free(registration);
}

/* The SA has told whether another program has the service. */
static void checked(const struct ibsa_reply *reply, void *arg)
{
	struct registration *registration = arg;
	struct daemon *daemon = registration->owned->daemon;
	const bool is_free = !reply->err &&
			     (reply->status == IBSA_STATUS_NO_RECORDS ||
			      (!reply->status && !reply->count));
	struct client_file *file = registration->file;

	pthread_mutex_lock(&daemon->lock);
	if (is_free && file) {
		registration->file = NULL;
		registration->state = OWNED_SET;
		ibsad_file_continue(file, registration->packet,
				    registration->packet_len, OWNED_PASS);
	} else {
		if (file)
			ibsad_file_continue(file, registration->packet,
					    registration->packet_len,
					    reply->err || reply->status
						    ? OWNED_BUSY
						    : OWNED_DENIED);
		registration_free(registration);
	}
	pthread_mutex_unlock(&daemon->lock);
}

static int service_check(struct registration *registration)
{
	struct ibsa_service service;
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &service,
		.match_size = sizeof(service),
		.mask = service_key_mask(registration),
		.method = IBSA_METHOD_GET_TABLE,
		.deadline_ms = QUERY_MS,
		.no_sharing = true,
	};

	(void)!ibsa_record_decode(&ibsa_service_record, registration->record,
				  SERVICE_BYTES, &service, sizeof(service));
	return query_start(registration, &query, checked);
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

/* A Set of something that no user of ibsad has registered. */
static enum owned_answer set_first(struct owned *owned,
				   struct client_file *file,
				   const struct owned_request *request,
				   const uint8_t *packet, size_t len,
				   const char **out_reason)
{
	struct registration *registration;

	if (!ibsad_file_may_register(
		    file, registration_count(owned, ibsad_file_user(file))))
		return denied("too many registrations", out_reason);
	registration = registration_new(owned, file, request);
	if (!registration)
		return OWNED_BUSY;
	if (!request->is_service) {
		registration->state = OWNED_SET;
		return OWNED_PASS;
	}
	registration->packet = ibsa__calloc(1, len);
	registration->packet_len = len;
	if (registration->packet) {
		memcpy(registration->packet, packet, len);
		if (!service_check(registration))
			return OWNED_LATER;
	}
	registration_free(registration);
	return OWNED_BUSY;
}

static enum owned_answer request_judge(struct owned *owned,
				       struct client_file *file,
				       const struct owned_request *request,
				       const uint8_t *packet, size_t len,
				       const char **out_reason)
{
	struct registration *found =
		registration_find(owned, ibsad_file_port(file), request);
	const bool is_own = found && found->user == ibsad_file_user(file) &&
			    (request->is_service || found->file == file);

	if (found && found->state != OWNED_SET)
		return OWNED_BUSY;
	if (found && !is_own)
		return denied("registration of another user", out_reason);
	if (!found && request->is_delete)
		return denied("delete of what this user has not registered",
			      out_reason);
	if (!found)
		return set_first(owned, file, request, packet, len, out_reason);
	if (!request->is_delete)
		record_set(found, request);
	return OWNED_PASS;
}

enum owned_answer ibsad_owned_judge(struct owned *owned,
				    struct client_file *file,
				    const uint8_t *packet, size_t len,
				    const char **out_reason)
{
	const struct owned_request request = request_of(packet, len);
	const uint64_t needed = IBSA_SERVICE_CM(service_id) |
				IBSA_SERVICE_CM(service_gid);

	if (request.len < IBSA_MAD_BYTES)
		return denied("a short record", out_reason);
	if (request.is_service &&
	    ((request.mask & needed) != needed ||
	     !is_own_gid(owned, ibsad_file_port(file), request.record + 8)))
		return denied("service of another port", out_reason);
	if (!request.is_service && !ibsad_file_has_reports(file))
		return denied("subscription without an agent for Reports",
			      out_reason);
	return request_judge(owned, file, &request, packet, len, out_reason);
}

/*
 * After a Delete that has succeeded, there is no registration. After a Set that
 * has failed, there may be the one of an earlier Set: it is deleted in the end.
 */
void ibsad_owned_response(struct owned *owned, struct client_file *file,
			  const uint8_t *mad, size_t len)
{
	const uint16_t attribute = ibsa_be16(mad + MAD_ATTRIBUTE);
	const bool is_service = attribute == ibsa_service_record.attribute;
	struct owned_request request = {
		.record = mad + IBSA_SA_HEADER_BYTES,
		.is_service = is_service,
	};
	struct registration *found;

	if (len < IBSA_MAD_BYTES || ibsa_be16(mad + MAD_STATUS) ||
	    (is_service ? mad[MAD_METHOD] != IBSA_METHOD_DELETE_RESP
			: attribute != ibsa_inform_info_record.attribute ||
				  mad[MAD_METHOD] != IBSA_METHOD_GET_RESP ||
				  request.record[SUBSCRIBE_AT]))
		return;
	found = registration_find(owned, ibsad_file_port(file), &request);
	if (found && found->state == OWNED_SET &&
	    found->user == ibsad_file_user(file) &&
	    (is_service || found->file == file))
		registration_free(found);
}

void ibsad_owned_file_end(struct owned *owned, struct client_file *file)
{
	struct registration *registration, *next;

	LIST_EACH_SAFE(registration, next, &owned->registrations, link) {
		if (registration->file != file)
			continue;
		registration->file = NULL;
		if (!registration->is_service)
			registration_delete(registration);
	}
}

void ibsad_owned_user_end(struct owned *owned, uid_t user)
{
	struct registration *registration, *next;

	LIST_EACH_SAFE(registration, next, &owned->registrations, link) {
		if (registration->user == user &&
		    registration->state == OWNED_SET)
			registration_delete(registration);
	}
}

int ibsad_owned_timeout_ms(const struct owned *owned)
{
	int timeout_ms = -1;

	for (uint32_t i = 1; i <= IBSAD_PORTS; i++) {
		if (owned->clients[i])
			timeout_ms = sooner_ms(
				timeout_ms, ibsa_timeout_ms(owned->clients[i]));
	}
	return timeout_ms;
}

void ibsad_owned_dispatch(struct owned *owned)
{
	for (uint32_t i = 1; i <= IBSAD_PORTS; i++) {
		if (owned->clients[i])
			(void)!ibsa_dispatch(owned->clients[i]);
	}
}

void ibsad_owned_init(struct owned *owned, struct daemon *daemon,
		      const char *fabric)
{
	*owned = (struct owned){ .daemon = daemon, .fabric = fabric };
	list_init(&owned->registrations);
}

void ibsad_owned_done(struct owned *owned, int ms)
{
	const uint64_t start_ns = clock_now_ns();
	int left;

	while (!list_is_empty(&owned->registrations) &&
	       (left = ibsa__clock_left_ms(ms, start_ns))) {
		for (uint32_t i = 1; i <= IBSAD_PORTS; i++)
			if (owned->clients[i])
				(void)!ibsa_wait(owned->clients[i],
						 left < 10 ? left : 10);
	}
	for (uint32_t i = 1; i <= IBSAD_PORTS; i++)
		ibsa_close(owned->clients[i]);
}
