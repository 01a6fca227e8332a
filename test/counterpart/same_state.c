/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State that both SAs must have before they are queried: services, groups with
 * members, subscriptions, GUIDs; and requests of these kinds that both refuse.
 */
#include <string.h>

#include "test/counterpart/same.h"

static struct ibsa_gid gid_of(const struct same_end *end)
{
	struct ibsa_gid gid;

	ibsa_put_be64(gid.raw, same_ends()->prefix);
	ibsa_put_be64(gid.raw + 8, end->guid);
	return gid;
}

static void send_request(uint8_t method, const struct ibsa_record *record,
			 const void *host, uint64_t mask, const char *what)
{
	struct request request;

	request_start(&request, method, record->attribute, mask);
	request_name(&request, "%s, %s, mask %#llx", record->name, what,
		     (unsigned long long)mask);
	if (ibsa_record_encode(record, host, record->host_size,
			       request_record(&request), 200))
		die("a %s that does not fit", record->name);
	same_exchange(&request);
}

static struct ibsa_service a_service(uint64_t id)
{
	return (struct ibsa_service){
		.service_id = id,
		.service_gid = gid_of(&same_ends()->own),
		.service_pkey = IBSA_PKEY_DEFAULT,
		.service_lease = IBSA_LEASE_INFINITE,
		.service_name = "disk",
		.service_key = { 1, 2, (uint8_t)id },
		.service_data8 = { 8, (uint8_t)id },
		.service_data16 = { 16 },
		.service_data32 = { 32 },
		.service_data64 = { 64, id },
	};
}

static void set_services(void)
{
	const uint64_t id = IBSA_SERVICE_CM(service_id);
	const uint64_t gid = IBSA_SERVICE_CM(service_gid);
	const uint64_t pkey = IBSA_SERVICE_CM(service_pkey);

	for (uint64_t i = 1; i < 4; i++) {
		const struct ibsa_service service = a_service(i);

		send_request(IBSA_METHOD_SET, &ibsa_service_record, &service,
			     ibsa_service_record.mask, "set");
	}
	for (unsigned int i = 0; i < 8; i++) {
		const struct ibsa_service service = a_service(4);

		send_request(i % 2 ? IBSA_METHOD_DELETE : IBSA_METHOD_SET,
			     &ibsa_service_record, &service,
			     i / 2 == 0	  ? 0
			     : i / 2 == 1 ? id
			     : i / 2 == 2 ? id | gid
					  : id | gid | pkey,
			     "in part");
	}
}

static struct ibsa_mcmember a_member(uint8_t number, const struct same_end *end)
{
	return (struct ibsa_mcmember){
		.mgid = { { 0xff, 0x12, 0x12, 0x34, [15] = number } },
		.port_gid = gid_of(end),
		.qkey = 0x0b1b,
		.pkey = IBSA_PKEY_DEFAULT,
		.rate_selector = IBSA_SELECT_EXACTLY,
		.rate = 2, /* 2.5 Gb/s: every port can join */
		.flow_label = 0x12340u + number,
		.scope = 2,
		.join_state = 1,
	};
}

#define JOIN_CM                                                \
	(IBSA_MCMEMBER_CM(mgid) | IBSA_MCMEMBER_CM(port_gid) | \
	 IBSA_MCMEMBER_CM(join_state))
#define CREATE_CM                                                      \
	(JOIN_CM | IBSA_MCMEMBER_CM(qkey) | IBSA_MCMEMBER_CM(tclass) | \
	 IBSA_MCMEMBER_CM(pkey) | IBSA_MCMEMBER_CM(flow_label) |       \
	 IBSA_MCMEMBER_CM(sl) | IBSA_MCMEMBER_CM(rate) |               \
	 IBSA_MCMEMBER_CM(rate_selector))

static void send_member(uint8_t method, const struct ibsa_mcmember *member,
			uint64_t mask, const char *what)
{
	send_request(method, &ibsa_mcmember_record, member, mask, what);
}

static void join_groups(void)
{
	const struct same_ends *ends = same_ends();
	struct ibsa_mcmember member;

	for (uint8_t group = 1; group < 3; group++) {
		for (size_t i = 0; i < ends->count && i < 9u * group; i++) {
			if (ends->all[i].type != IBSA_NODE_CA)
				continue;
			member = a_member(group, &ends->all[i]);
			send_member(IBSA_METHOD_SET, &member, CREATE_CM,
				    "join");
		}
	}
	member = a_member(0xff, &ends->own);
	member.mgid = (struct ibsa_gid){ { 0xff, 0x12, 0x40, 0x1b, 0xff,
					   0xff, [12] = 0xff, 0xff, 0xff,
					   0xff } };
	send_member(IBSA_METHOD_SET, &member, JOIN_CM, "join broadcast");
}

/* Send join requests with one component missing, or with one wrong value. */
static void join_wrongly(void)
{
	const struct same_ends *ends = same_ends();
	struct ibsa_mcmember member = a_member(3, &ends->own);

	for (unsigned int bit = 0; bit < 18; bit++) {
		if (CREATE_CM >> bit & 1)
			send_member(IBSA_METHOD_SET, &member,
				    CREATE_CM & ~(UINT64_C(1) << bit),
				    "join with less");
	}
	member = a_member(1, &ends->own);
	member.qkey = 1;
	send_member(IBSA_METHOD_SET, &member, CREATE_CM, "join, other Q_Key");
	member = a_member(1, &ends->own);
	member.join_state = 0;
	send_member(IBSA_METHOD_SET, &member, CREATE_CM, "join, no state");
	member = a_member(4, &ends->own);
	member.mgid.raw[0] = 0xfe;
	send_member(IBSA_METHOD_SET, &member, CREATE_CM, "join, no MGID");
	member = a_member(4, &ends->own);
	send_member(IBSA_METHOD_DELETE, &member, JOIN_CM, "leave no group");
	member.port_gid.raw[0] = 0x20;
	send_member(IBSA_METHOD_SET, &member, CREATE_CM, "join from abroad");
	member = a_member(4, &ends->own);
	member.pkey = 0x8123;
	send_member(IBSA_METHOD_SET, &member, CREATE_CM, "join, other P_Key");
}

static void leave_groups(void)
{
	const struct same_ends *ends = same_ends();

	for (uint8_t group = 1; group < 3; group++) {
		for (size_t i = 0; i < ends->count; i++) {
			const struct ibsa_mcmember member =
				a_member(group, &ends->all[i]);

			send_member(IBSA_METHOD_DELETE, &member, JOIN_CM,
				    "leave");
		}
	}
}

static struct ibsa_inform_info a_subscription(uint16_t trap)
{
	return (struct ibsa_inform_info){
		.lid_range_begin = 0xffff,
		.is_generic = 1,
		.subscribe = 1,
		.type = 3,
		.trap_number = trap,
		.qpn = 1,
		.resp_time_value = 19,
		.producer_type = 4,
	};
}

static void send_inform(const struct ibsa_inform_info *info, uint8_t method,
			uint64_t sm_key, const char *what)
{
	struct request request;

	request_start(&request, method, ibsa_inform_info_record.attribute,
		      ibsa_inform_info_record.mask);
	request_name(&request, "InformInfo, %s, trap %u", what,
		     info->trap_number);
	request_key(&request, sm_key);
	if (ibsa_record_encode(&ibsa_inform_info_record, info, sizeof(*info),
			       request_record(&request), 200))
		die("a subscription that does not fit");
	same_exchange(&request);
}

/*
 * Subscribe to traps that do not occur during the test. Traps 66 and 67 occur,
 * and the test would not answer their Reports.
 */
static void subscribe(void)
{
	static const uint16_t traps[] = { 64, 65, 144, 256, 257, 1234 };
	static const uint8_t methods[] = { IBSA_METHOD_GET,
					   IBSA_METHOD_GET_TABLE,
					   IBSA_METHOD_DELETE,
					   IBSA_METHOD_GET_MULTI };
	struct ibsa_inform_info info;

	for (size_t i = 0; i < 2 * sizeof(traps) / 2; i++) {
		info = a_subscription(traps[i / 2]);
		send_inform(&info, IBSA_METHOD_SET, i % 2, "subscribe");
	}
	for (size_t i = 0; i < sizeof(methods); i++)
		send_inform(&info, methods[i], 0, "wrong method");
	info.subscribe = 2;
	send_inform(&info, IBSA_METHOD_SET, 0, "neither");
	info = a_subscription(64);
	info.lid_range_begin = 0x7fff;
	send_inform(&info, IBSA_METHOD_SET, 0, "unknown LID");
	info = a_subscription(64);
	info.gid = (struct ibsa_gid){ { 0xfe, 0x80, [15] = 9 } };
	send_inform(&info, IBSA_METHOD_SET, 0, "unknown GID");
	info = a_subscription(64);
	info.subscribe = 0;
	info.qpn = 5;
	send_inform(&info, IBSA_METHOD_SET, 0, "end of another QP");
	info.qpn = 1;
	info.resp_time_value = 3;
	send_inform(&info, IBSA_METHOD_SET, 0, "end of another time");
}

static void unsubscribe(void)
{
	static const uint16_t traps[] = { 64, 65, 144, 256, 257, 1234 };

	for (size_t i = 0; i < 2 * sizeof(traps) / 2; i++) {
		struct ibsa_inform_info info = a_subscription(traps[i / 2]);

		info.subscribe = 0;
		send_inform(&info, IBSA_METHOD_SET, 1, "unsubscribe");
	}
}

/*
 * Requests to change GUIDInfoRecords, by the LID of an end port and by the
 * entries of a block. In none of them does the SA choose the GUID.
 */
static void change_guids(uint8_t method, const char *what)
{
	const struct same_ends *ends = same_ends();
	const uint64_t position = IBSA_GUID_INFO_CM(lid) |
				  IBSA_GUID_INFO_CM(block_num);
	struct ibsa_guid_info info = { .lid = ends->own.lid };

	for (int i = 0; i < 8; i++)
		info.guid[i] = UINT64_C(0xabc000) + (uint64_t)i;
	send_request(method, &ibsa_guid_info_record, &info,
		     position | IBSA_GUID_INFO_CM(guid) << 1 |
			     IBSA_GUID_INFO_CM(guid) << 3,
		     what);
	send_request(method, &ibsa_guid_info_record, &info,
		     position | IBSA_GUID_INFO_CM(guid), what);
	for (unsigned int bit = 0; bit < 2; bit++)
		send_request(method, &ibsa_guid_info_record, &info,
			     UINT64_C(1) << bit | IBSA_GUID_INFO_CM(guid) << 2,
			     what);
	info.block_num = 200;
	send_request(method, &ibsa_guid_info_record, &info,
		     position | IBSA_GUID_INFO_CM(guid) << 2, what);
	info.block_num = 0;
	info.lid = 0x7000;
	send_request(method, &ibsa_guid_info_record, &info,
		     position | IBSA_GUID_INFO_CM(guid) << 2, what);
}

void same_make_state(void)
{
	set_services();
	join_groups();
	join_wrongly();
	subscribe();
	change_guids(IBSA_METHOD_SET, "set");
}

void same_make_state_end(void)
{
	change_guids(IBSA_METHOD_DELETE, "delete");
	unsubscribe();
	leave_groups();
	for (uint64_t i = 1; i < 6; i++) {
		const struct ibsa_service service = a_service(i);

		send_request(IBSA_METHOD_DELETE, &ibsa_service_record, &service,
			     ibsa_service_record.mask, "delete");
	}
}
