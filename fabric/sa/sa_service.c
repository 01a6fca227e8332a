/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ServiceRecords: registration of services, with a lease on the fabric's
 * clock, and queries.
 *
 * Source: IBA vol 1, 15.2.5.14; OpenSM 3.3, osm_sa_service_record.c.
 */
#include "base/clock.h"
#include "fabric/sa/sa.h"

/* ServiceKeys are shown only to trusted requests. */
static void service_append(struct sa_work *work,
			   const struct ibsa_service *record)
{
	struct ibsa_service shown = *record;

	if (!work->is_trusted)
		memset(shown.service_key, 0, sizeof(shown.service_key));
	ibsa__sa_append(work, &shown);
}

/*
 * Whether the service may be registered or deleted: if the request selects a
 * P_Key, the requester and the port of ServiceGID must be members of its
 * partition.
 */
static bool service_is_permitted(const struct sa_work *work)
{
	const struct ibsa_service *want = &work->want->service;
	const uint8_t *gid = want->service_gid.raw;
	const struct end_port *end;

	if (!sa_has_any(work, IBSA_SERVICE_CM(service_pkey)))
		return true;
	if (!sa_has_pkey(work, work->from, want->service_pkey))
		return false;
	if (!sa_has_any(work, IBSA_SERVICE_CM(service_gid)) || gid[0] == 0xff)
		return true;
	end = ibsa__end_named(work->subnet, ibsa_be64(gid + 8));
	return end && sa_has_pkey(work, end, want->service_pkey);
}

/*
 * Return: the seconds for which the record lives. After a Set, OpenSM does not
 * check for leases that have ended until one second has passed.
 */
static uint64_t lease_s(const struct ibsa_service *record)
{
	return record->service_lease ? record->service_lease : 1;
}

static void service_set(struct sa_work *work)
{
	const uint64_t needed = IBSA_SERVICE_CM(service_id) |
				IBSA_SERVICE_CM(service_gid);
	struct sa *sa = work->sa;
	struct ibsa_service record = work->want->service;
	uint64_t ends_ns = UINT64_MAX;

	if (!sa_has_all(work, needed)) {
		sa_fail(work, IBSA_STATUS_REQ_INVALID);
		return;
	}
	if (!sa_has_any(work, IBSA_SERVICE_CM(service_lease)))
		record.service_lease = IBSA_LEASE_INFINITE;
	if (record.service_lease != IBSA_LEASE_INFINITE)
		ends_ns = fabric_clock_now(sa->subnet->clock) +
			  lease_s(&record) * NS_PER_S;
	if (ibsa__services_set(&sa->services, &record, ends_ns)) {
		sa_fail(work, IBSA_STATUS_NO_RESOURCES);
		return;
	}
	/*
	 * The answer contains the default P_Key if the request does not select
	 * one.
	 */
	if (!sa_has_any(work, IBSA_SERVICE_CM(service_pkey)))
		record.service_pkey = IBSA_PKEY_DEFAULT;
	service_append(work, &record);
}

static void service_delete(struct sa_work *work)
{
	struct services *services = &work->sa->services;
	struct service *service = ibsa__services_find(services,
						      &work->want->service);

	if (!service) {
		sa_fail(work, IBSA_STATUS_NO_RECORDS);
		return;
	}
	service_append(work, &service->record);
	ibsa__services_remove(services, service);
}

/*
 * Add the services that match to the answer; the newest first, as OpenSM. The
 * requester must be a member of a service's partition, also with the SM_Key.
 */
static void service_list(struct sa_work *work)
{
	const struct services *services = &work->sa->services;
	struct sa_match match;
	size_t i;

	ibsa__sa_select(&ibsa_service_record,
			work->mask & ~IBSA_SERVICE_CM(service_lease), &match);
	while (sa_next(work, services->count, &i)) {
		const struct ibsa_service *record =
			&services->all[services->count - 1 - i].record;

		if (ibsa__sa_agree(&match, record, work->want) &&
		    sa_has_pkey(work, work->from, record->service_pkey))
			service_append(work, record);
	}
}

/* Remove the services whose leases have ended. */
static void services_expire(struct sa *sa)
{
	const size_t count = sa->services.count;

	ibsa__services_expire(&sa->services,
			      fabric_clock_now(sa->subnet->clock));
	if (sa->services.count != count)
		sa->subnet->changes++;
}

void ibsa__sa_service(struct sa_work *work)
{
	if (!work->slice.index)
		services_expire(work->sa);
	switch (work->method) {
	case IBSA_METHOD_SET:
	case IBSA_METHOD_DELETE:
		if (!service_is_permitted(work))
			sa_fail(work, IBSA_STATUS_REQ_INVALID);
		else if (work->method == IBSA_METHOD_SET)
			service_set(work);
		else
			service_delete(work);
		break;
	default:
		if (ibsa__sa_is_query(work))
			service_list(work);
	}
}
