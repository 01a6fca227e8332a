/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ServiceRecord: registration with a lease on the fabric's clock, and
 * look-up.
 *
 * Source: IBA vol 1, 15.2.5.14; OpenSM 3.3, osm_sa_service_record.c.
 */
#include <errno.h>

#include "base/clock.h"
#include "sim/sa/sa.h"

enum {
	AT_GID = 8,
	AT_PKEY = 24,
	AT_LEASE = 28,
	AT_KEY = 32,
	KEY_BYTES = 16,
};

static bool has(const struct sa_work *work, uint64_t mask)
{
	return (work->mask & mask) == mask;
}

/* Only those who know the SM_Key may see a ServiceKey. */
static void add_record(struct sa_work *work, const uint8_t *record)
{
	uint8_t *out = ibsa__sa_add(work);

	if (!out)
		return;
	memcpy(out, record, SERVICE_BYTES);
	if (!work->is_trusted)
		memset(out + AT_KEY, 0, KEY_BYTES);
}

/* The requester, and the port that offers the service, must have the P_Key. */
static bool is_permitted(const struct sa_work *work)
{
	const uint8_t *gid = work->bytes + AT_GID;
	const uint16_t pkey = ibsa_be16(work->bytes + AT_PKEY);
	const struct end_port *end;

	if (!has(work, IBSA_SERVICE_CM(service_pkey)))
		return true;
	if (!sa_has_pkey(work, work->from, pkey))
		return false;
	if (!has(work, IBSA_SERVICE_CM(service_gid)) || gid[0] == 0xff)
		return true;
	end = ibsa__end_named(work->fabric, ibsa_be64(gid + 8));
	return end && sa_has_pkey(work, end, pkey);
}

static void set_service(struct sa_work *work)
{
	const uint64_t needed = IBSA_SERVICE_CM(service_id) |
				IBSA_SERVICE_CM(service_gid);
	struct ibsa_fabric *fabric = work->fabric;
	uint8_t record[SERVICE_BYTES];
	uint64_t ends_ns = UINT64_MAX;
	uint32_t lease;

	if (!has(work, needed)) {
		sa_fail(work, IBSA_STATUS_REQ_INVALID);
		return;
	}
	memcpy(record, work->bytes, SERVICE_BYTES);
	if (!has(work, IBSA_SERVICE_CM(service_lease)))
		ibsa_put_be32(record + AT_LEASE, IBSA_LEASE_INFINITE);
	lease = ibsa_be32(record + AT_LEASE);
	if (lease != IBSA_LEASE_INFINITE)
		ends_ns = sim_clock_now(&fabric->clock) + lease * NS_PER_S;
	if (ibsa__services_set(&fabric->services, record, ends_ns)) {
		sa_fail(work, IBSA_STATUS_NO_RESOURCES);
		return;
	}
	/* The answer shows a P_Key even where the identity has none. */
	if (!has(work, IBSA_SERVICE_CM(service_pkey)))
		ibsa_put_be16(record + AT_PKEY, IBSA_PKEY_DEFAULT);
	add_record(work, record);
}

static void delete_service(struct sa_work *work)
{
	struct services *services = &work->fabric->services;
	struct service *service = ibsa__services_find(services, work->bytes);

	if (!service) {
		sa_fail(work, IBSA_STATUS_NO_RECORDS);
		return;
	}
	add_record(work, service->record);
	ibsa__services_remove(services, service);
}

/* Newest first, as OpenSM lists them. */
static void list_services(struct sa_work *work)
{
	const struct services *services = &work->fabric->services;
	struct sa_filter filter;

	ibsa__sa_filter(&ibsa_service_record, ~IBSA_SERVICE_CM(service_lease),
			work, &filter);
	for (size_t i = services->count; i > 0 && !sa_is_full(work); i--) {
		const uint8_t *record = services->all[i - 1].record;

		if (ibsa__sa_matches(&filter, work, record))
			add_record(work, record);
	}
}

void ibsa__sa_service(struct sa_work *work)
{
	struct ibsa_fabric *fabric = work->fabric;

	ibsa__services_expire(&fabric->services, sim_clock_now(&fabric->clock));
	switch (work->method) {
	case IBSA_METHOD_SET:
	case IBSA_METHOD_DELETE:
		if (!is_permitted(work))
			sa_fail(work, IBSA_STATUS_REQ_INVALID);
		else if (work->method == IBSA_METHOD_SET)
			set_service(work);
		else
			delete_service(work);
		break;
	default:
		if (ibsa__sa_is_query(work))
			list_services(work);
	}
}
