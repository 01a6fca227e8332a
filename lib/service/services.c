/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All service registrations of a client: how they are created, and how they
 * end with the client.
 */
#include <errno.h>

#include "base/alloc.h"
#include "base/random.h"
#include "service/state.h"
#include "wire/gid.h"

void ibsa__services_init(struct ibsa__services *services,
			 struct ibsa__engine *engine)
{
	*services = (struct ibsa__services){ 0 };
	ibsa__registrations_init(&services->registrations, engine, NULL);
}

static void services_idle_release(struct ibsa__services *services)
{
	if (!list_is_empty(&services->registrations.list))
		return;
	ibsa__registrations_stop(&services->registrations);
	ibsa__hash_done(&services->by_id);
}

void ibsa__services_forget(struct ibsa__services *services,
			   struct ibsa_registration *registration)
{
	ibsa__hash_remove(&services->by_id, &registration->node);
	services_idle_release(services);
}

/*
 * Return: the hash key of a service: made from its id, because its GID may
 * change.
 */
static uint64_t service_key(const struct ibsa_service *record)
{
	struct random random = { record->service_id };

	return random_next(&random);
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
	uint8_t any = 0;

	for (size_t i = 0; i < len; i++)
		any |= bytes[i];
	return !any;
}

/*
 * If a field's value @index is selected, return its component mask bits,
 * otherwise set it to zero. @mask selects values; if @mask is 0, all values
 * that are not zero are selected.
 */
static uint64_t value_select(const struct ibsa_field *field, unsigned int index,
			     uint64_t mask, uint8_t *wire)
{
	size_t len = (size_t)field->nbits * field->count /
		     ibsa_field_values(field) / 8;
	uint8_t *bytes = wire + field->bit_offset / 8 + index * len;
	uint64_t cm = ibsa_field_cm(field, index);

	if (mask ? (mask & cm) != 0 : !is_zero(bytes, len))
		return cm;
	memset(bytes, 0, len);
	return 0;
}

/*
 * Set the fields of @service that @mask does not select to zero. Return: the
 * mask of the selected fields.
 */
static uint64_t fields_select(uint64_t mask, struct ibsa_service *service)
{
	const struct ibsa_record *record = &ibsa_service_record;
	uint8_t wire[SERVICE_BYTES];
	uint64_t selected = 0, over = 0;

	record->encode(service, wire, &over);
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];

		for (unsigned int j = 0; j < ibsa_field_values(field); j++)
			selected |= value_select(field, j, mask, wire);
	}
	record->decode(wire, service);
	return selected;
}

/* Fill the record and the mask of the Set from the caller's options. Return: 0;
 * -EINVAL the lease or the GID is set to 0. */
static int service_record_prepare(const struct ibsa_service_options *options,
				  struct ibsa_registration *registration)
{
	struct ibsa_service *record = &registration->record;
	uint64_t mask = options->mask;

	*record = *options->service;
	if (mask)
		mask |= IBSA_SERVICE_CM(service_id);
	mask = fields_select(mask, record);
	registration->follows_gid = !(mask & IBSA_SERVICE_CM(service_gid));
	if (!(mask & IBSA_SERVICE_CM(service_pkey)))
		record->service_pkey = IBSA_PKEY_DEFAULT;
	if (!(mask & IBSA_SERVICE_CM(service_lease)))
		record->service_lease = IBSA_DEFAULT_LEASE_S;
	registration->mask = mask | IBSA_SERVICE_CM(service_id) |
			     IBSA_SERVICE_CM(service_gid) |
			     IBSA_SERVICE_CM(service_pkey) |
			     IBSA_SERVICE_CM(service_lease);
	if (!registration->follows_gid && gid_is_zero(&record->service_gid))
		return -EINVAL;
	return record->service_lease ? 0 : -EINVAL;
}

static bool identity_is_same(const struct ibsa_service *a,
			     const struct ibsa_service *b)
{
	return a->service_id == b->service_id &&
	       a->service_pkey == b->service_pkey &&
	       !memcmp(&a->service_gid, &b->service_gid,
		       sizeof(a->service_gid));
}

static bool services_contain(const struct ibsa__services *services,
			     const struct ibsa_service *record)
{
	const uint64_t key = service_key(record);
	struct hash_node *at = hash_find(&services->by_id, key);

	while (at &&
	       !identity_is_same(
		       &hash_object(at, struct ibsa_registration, node)->record,
		       record))
		at = hash_from(at->next, key);
	return at;
}

static int service_new(struct ibsa__services *services,
		       const struct ibsa_service_options *options,
		       struct ibsa_registration **out)
{
	struct ibsa_registration *registration =
		ibsa__calloc(1, sizeof(*registration));
	struct ibsa_port_state port;
	int err;

	if (!registration)
		return -ENOMEM;
	err = service_record_prepare(options, registration);
	if (!err && registration->follows_gid) {
		err = ibsa__engine_port(services->registrations.engine, false,
					&port);
		registration->record.service_gid = port.gid;
	}
	if (!err && !services->by_id.chains)
		err = ibsa__hash_init(&services->by_id);
	if (!err && services_contain(services, &registration->record))
		err = -EEXIST;
	if (!err)
		err = ibsa__registrations_start(&services->registrations);
	if (err) {
		ibsa__free(registration);
		services_idle_release(services);
		return err;
	}
	ibsa__hash_add(&services->by_id, &registration->node,
		       service_key(&registration->record));
	*out = registration;
	return 0;
}

int ibsa__services_add(struct ibsa__services *services,
		       const struct ibsa_service_options *options,
		       ibsa_registration_fn report, void *arg,
		       struct ibsa_registration **out)
{
	struct ibsa_registration *registration;
	int err;

	if (services->registrations.closing)
		return -ESHUTDOWN;
	if (!options || !options->service ||
	    options->mask & ~ibsa_service_record.mask)
		return -EINVAL;
	err = service_new(services, options, &registration);
	if (err)
		return err;
	registration->report = report;
	registration->arg = arg;
	ibsa__service_start(registration, &services->registrations, options);
	if (out)
		*out = registration;
	return 0;
}
