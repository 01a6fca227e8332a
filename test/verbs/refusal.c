/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registrations that fail under the verbs names, and their errors. */
#include "test/verbs/rig.h"

static struct verbs_rig rig;

/* Wrong arguments that both calls refuse with the same error. */
static void wrong_arguments_are_invalid(void **state)
{
	union ibv_gid port = verbs_rig_gid(&rig, "node2", 1);
	union ibv_gid group = verbs_rig_group(1);
	union ibv_gid mixed[] = { port, group };
	union ibv_gid flags = group;
	union ibv_gid scope = group;
	const struct {
		struct ibv_context *context;
		unsigned int event;
		int count;
		union ibv_gid *gids;
	} rows[] = {
		{ rig.context, IBV_SM_EVENT_UGID, 1, NULL },
		{ rig.context, IBV_SM_EVENT_UGID_ALL, 0, &port },
		{ rig.context, IBV_SM_EVENT_UGID, 0, &port },
		{ rig.context, 0, 0, NULL },
		{ rig.context, 2, 0, NULL },
		{ rig.context, 2, 1, &port },
		{ rig.context, 64, 0, NULL },
		{ rig.context, IBV_SM_EVENT_UGID | 2, 1, &port },
		{ rig.context, IBV_SM_EVENT_ALL | 64, 0, NULL },
		{ rig.context, IBV_SM_EVENT_UGID, 0, NULL },
		{ rig.context, IBV_SM_EVENT_MGID, 0, NULL },
		{ rig.context, IBV_SM_EVENT_UGID, -1, &port },
		{ rig.context, IBV_SM_EVENT_UGID, IBSA_SM_EVENT_GIDS_MAX + 1,
		  &port },
		{ rig.context, IBV_SM_EVENT_UGID_ALL, 1, &port },
		{ rig.context, IBV_SM_EVENT_MGID_ALL, 1, &group },
		{ rig.context, IBV_SM_EVENT_ALL, 1, &port },
		{ rig.context, IBV_SM_EVENT_UGID | IBV_SM_EVENT_UGID_ALL, 1,
		  &port },
		{ rig.context, IBV_SM_EVENT_UGID, 1, &group },
		{ rig.context, IBV_SM_EVENT_UGID, 2, mixed },
		{ rig.context, IBV_SM_EVENT_MGID, 1, &port },
		{ rig.context, IBV_SM_EVENT_MGID, 2, mixed },
		{ rig.context, IBV_SM_EVENT_MGID, 1, &flags },
		{ rig.context, IBV_SM_EVENT_MGID, 1, &scope },
		{ NULL, IBV_SM_EVENT_ALL, 0, NULL },
	};

	(void)state;
	flags.raw[1] = 0x22;
	scope.raw[1] = 0x11;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_errno(
			ibv_register_sm_events(rows[i].context, rows[i].event,
					       rows[i].count, rows[i].gids),
			EINVAL);
		assert_errno(
			ibv_unregister_sm_events(rows[i].context, rows[i].event,
						 rows[i].count, rows[i].gids),
			EINVAL);
	}
	assert_int_equal(ibsa_verbs_detach(rig.context), -EINVAL);
}

static void each_scope_of_a_group_is_sound(void **state)
{
	static const uint8_t seconds[] = { 0x02, 0x05, 0x08, 0x0e,
					   0x12, 0x15, 0x18, 0x1e };
	union ibv_gid groups[sizeof(seconds)];

	(void)state;
	for (size_t i = 0; i < sizeof(seconds); i++) {
		groups[i] = verbs_rig_group(1);
		groups[i].raw[1] = seconds[i];
	}
	assert_int_equal(ibv_register_sm_events(rig.context, IBV_SM_EVENT_MGID,
						sizeof(seconds), groups),
			 0);
	assert_int_equal(ibv_unregister_sm_events(rig.context,
						  IBV_SM_EVENT_MGID,
						  sizeof(seconds), groups),
			 0);
}

static void wrong_options_are_refused(void **state)
{
	const struct ibsa_address sa = { .lid = 1, .qpn = 1 };
	const struct ibsa_verbs_options many = { .max_events = UINT32_MAX };
	const struct ibsa_verbs_options grh = { .access.grh = 9 };
	const struct ibsa_verbs_options address = { .access.sa = &sa };

	(void)state;
	assert_int_equal(ibsa_verbs_attach(rig.context, &many), -EINVAL);
	assert_int_equal(ibsa_verbs_attach(rig.context, &grh), -EINVAL);
	assert_int_equal(ibsa_verbs_attach(rig.context, &address), -EINVAL);
	assert_int_equal(ibsa_verbs_attach(NULL, NULL), -EINVAL);
	assert_int_equal(ibsa_verbs_detach(NULL), -EINVAL);
	assert_int_equal(ibsa_verbs_detach(rig.context), -EINVAL);
	assert_errno(ibsa_close_device(NULL), EINVAL);
}

static void port_that_is_down_cannot_be_asked(void **state)
{
	struct ibv_context *context = verbs_rig_open(&rig, "node3");

	(void)state;
	verbs_rig_plug(&rig, "node3", 2, false);
	assert_errno(ibv_register_sm_events(context, IBV_SM_EVENT_ALL, 0, NULL),
		     EAGAIN);
	assert_int_equal(ibsa_verbs_detach(context), -EINVAL);
	verbs_rig_plug(&rig, "node3", 2, true);
	ibsa_fabric_sa_set(rig.fabric, false);
	assert_errno(ibv_register_sm_events(rig.context, IBV_SM_EVENT_ALL, 0,
					    NULL),
		     EAGAIN);
	ibsa_fabric_sa_set(rig.fabric, true);
	assert_int_equal(ibsa_close_device(context), 0);
}

static void silence_is_an_error(void **state)
{
	(void)state;
	verbs_rig_fault(&rig, IBSA_FAULT_SILENCE, true);
	assert_errno(ibv_register_sm_events(rig.context, IBV_SM_EVENT_ALL, 0,
					    NULL),
		     EIO);
	assert_int_equal(ibsa_verbs_detach(rig.context), -EINVAL);
	verbs_rig_fault(&rig, IBSA_FAULT_SILENCE, false);
}

#define TEST(name) VERBS_TEST(name, &rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wrong_arguments_are_invalid),
		TEST(each_scope_of_a_group_is_sound),
		TEST(wrong_options_are_refused),
		TEST(port_that_is_down_cannot_be_asked),
		VERBS_VIRTUAL_TEST(silence_is_an_error, &rig),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
