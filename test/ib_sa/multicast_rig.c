/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Members of multicast groups at a port, with the test as the SA. */
#include "test/ib_sa/multicast_rig.h"
#include "wire/mad.h"

enum { PORT = 7 };

static void set_mgid(union ib_gid *mgid, uint32_t number)
{
	memset(mgid, 0, sizeof(*mgid));
	if (!number)
		return;
	mgid->raw[0] = 0xff;
	mgid->raw[1] = 0x12;
	mgid->raw[15] = (uint8_t)number;
	mgid->raw[14] = (uint8_t)(number >> 8);
}

struct ib_sa_mcmember_rec group_rec(uint32_t number, uint8_t states)
{
	struct ib_sa_mcmember_rec rec = { .join_state = states };

	set_mgid(&rec.mgid, number);
	rec.port_gid.raw[15] = PORT;
	return rec;
}

int told_member(int status, struct ib_sa_multicast *multicast)
{
	struct member *member = multicast->context;

	member->calls++;
	member->status = status;
	member->rec = multicast->rec;
	if (member->rejoins && status == -ENETRESET) {
		struct ib_sa_mcmember_rec rec = multicast->rec;

		member->rejoins = false;
		member->multicast = ib_sa_join_multicast(
			&member->plug->rig.client, member->plug->rig.device, 1,
			&rec, GROUP_MASK, 0, told_member, member);
		assert_false(ibsa_is_err(member->multicast));
		return 1;
	}
	if (member->frees)
		ib_sa_free_multicast(multicast);
	return member->result;
}

void join_as(struct plug *plug, const struct ib_sa_mcmember_rec *rec,
	     ib_sa_comp_mask mask, struct member *member)
{
	struct ib_sa_mcmember_rec copy = *rec;

	member->plug = plug;
	member->calls = 0;
	member->multicast = ib_sa_join_multicast(&plug->rig.client,
						 plug->rig.device, 1, &copy,
						 mask, 0, told_member, member);
	memset(&copy, 0xff, sizeof(copy));
	assert_false(ibsa_is_err(member->multicast));
	assert_int_equal(member->calls, 0);
	plug_run(plug, 0);
}

void member_join(struct plug *plug, uint32_t number, uint8_t states,
		 struct member *member)
{
	const struct ib_sa_mcmember_rec rec = group_rec(number, states);

	join_as(plug, &rec, GROUP_MASK, member);
}

void member_leave(struct plug *plug, struct member *member)
{
	ib_sa_free_multicast(member->multicast);
	plug_run(plug, 0);
}

void assert_request(const struct plug *plug, unsigned int count, uint8_t method,
		    uint32_t number, uint8_t states)
{
	const uint64_t all = IBSA_MCMEMBER_CM(mgid) |
			     IBSA_MCMEMBER_CM(port_gid) |
			     IBSA_MCMEMBER_CM(join_state);
	const struct ib_sa_mcmember_rec rec = group_rec(number, states);
	struct ibsa_mcmember host;
	const uint8_t *mad;

	assert_int_equal(plug->puppet.sent_count, count);
	mad = puppet_sent(&plug->puppet, count - 1)->mad;
	ibsa_mcmember_record.decode(mad + IBSA_SA_HEADER_BYTES, &host);
	assert_int_equal(mad[MAD_METHOD], method);
	assert_int_equal(ibsa_be16(mad + MAD_ATTRIBUTE), 0x38);
	assert_int_equal(ibsa_be64(mad + MAD_COMPONENT_MASK) & all,
			 states ? all : all & ~IBSA_MCMEMBER_CM(join_state));
	assert_memory_equal(&host.mgid, &rec.mgid, sizeof(host.mgid));
	assert_memory_equal(&host.port_gid, &rec.port_gid,
			    sizeof(host.port_gid));
	assert_int_equal(host.join_state, states);
}

static struct puppet_mad last_answer(const struct plug *plug)
{
	const unsigned int count = plug->puppet.sent_count;

	assert_true(count);
	return puppet_answer(puppet_sent(&plug->puppet, count - 1));
}

static void request_answer(struct plug *plug, const struct puppet_mad *answer)
{
	puppet_deliver(&plug->puppet, answer);
	plug_run(plug, 0);
}

void sa_refuse(struct plug *plug, uint16_t status)
{
	struct puppet_mad answer = last_answer(plug);

	ibsa_put_be16(answer.mad + MAD_STATUS, status);
	request_answer(plug, &answer);
}

/* All join states, as if other programs at the port had joined, too. */
static void group_reply_fill(struct puppet_mad *answer,
			     const union ib_gid *mgid)
{
	struct ibsa_mcmember host;
	uint64_t over;

	ibsa_mcmember_record.decode(answer->mad + IBSA_SA_HEADER_BYTES, &host);
	if (mgid)
		memcpy(&host.mgid, mgid, sizeof(host.mgid));
	host.mlid = MLID;
	host.qkey = QKEY;
	host.pkey = 0xffff;
	host.mtu_selector = 2;
	host.mtu = 4;
	host.rate_selector = 2;
	host.rate = 3;
	host.packet_life_time_selector = 2;
	host.packet_life_time = 18;
	host.join_state = 0xf;
	ibsa_mcmember_record.encode(&host, answer->mad + IBSA_SA_HEADER_BYTES,
				    &over);
}

void sa_accept(struct plug *plug)
{
	struct puppet_mad answer = last_answer(plug);

	group_reply_fill(&answer, NULL);
	request_answer(plug, &answer);
}

void agree_on(struct plug *plug, uint32_t number)
{
	struct puppet_mad answer = last_answer(plug);
	union ib_gid mgid;

	set_mgid(&mgid, number);
	group_reply_fill(&answer, &mgid);
	request_answer(plug, &answer);
}

void member_join_accepted(struct plug *plug, uint32_t number, uint8_t states,
			  struct member *member)
{
	member_join(plug, number, states, member);
	sa_accept(plug);
	assert_int_equal(member->calls, 1);
	assert_int_equal(member->status, 0);
	assert_int_equal(be16toh(member->rec.mlid), MLID);
	assert_int_equal(member->rec.join_state, states);
}

bool group_is_joined(struct plug *plug, uint32_t number, uint8_t states)
{
	struct ib_sa_mcmember_rec rec;
	union ib_gid mgid;
	int err;

	set_mgid(&mgid, number);
	err = ib_sa_get_mcmember_rec(plug->rig.device, 1, &mgid, &rec);
	if (err) {
		assert_int_equal(err, -EADDRNOTAVAIL);
		return false;
	}
	assert_memory_equal(&rec.mgid, &mgid, sizeof(mgid));
	return rec.join_state == states && be16toh(rec.mlid) == MLID;
}
