/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa doctor: checks of kernel modules, device files and the port's state. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "output/codes.h"
#include "output/fields.h"
#include "session/ibsad.h"

static const struct spot machine = { .device = NULL, .port = NO_PORT };

bool doctor_umad(struct doctor *doctor)
{
	struct ibsa_error error = { .text = "" };
	unsigned int version;
	int err = ibsa_umad_version(&error, &version);

	if (err == -ENOSYS)
		doctor_wrong(doctor, &machine, "umad", CLI_DEVICE,
			     "modprobe ib_umad; to load it at each boot, add "
			     "its name to a file in /etc/modules-load.d",
			     "the kernel module ib_umad is not loaded");
	else if (err)
		doctor_wrong(doctor, &machine, "umad", CLI_DEVICE,
			     err == -EOPNOTSUPP ? "use a newer kernel" : NULL,
			     "%s", error.text);
	else
		doctor_ok(doctor, &machine, "umad",
			  "ib_umad is loaded, version %u of its interface",
			  version);
	return err == 0;
}

/*
 * Write owner, group and mode of a file, such as "root:rdma 0660"; a user or
 * group without a name is written as a number.
 */
static const char *owner_text(const struct ibsa_device_file *file, char *out,
			      size_t size)
{
	const struct passwd *user = getpwuid(file->uid);
	const struct group *group = getgrgid(file->gid);
	char uid[16], gid[16];

	snprintf(uid, sizeof(uid), "%u", file->uid);
	snprintf(gid, sizeof(gid), "%u", file->gid);
	snprintf(out, size, "%s:%s %04o", user ? user->pw_name : uid,
		 group ? group->gr_name : gid, file->mode);
	return out;
}

/*
 * Return: the rights that a user has, in the lowest three bits. The kernel
 * applies only one set: the owner's, otherwise the group's, otherwise the
 * others'.
 */
static uint32_t rights_of_user(const struct ibsa_device_file *file)
{
	if (geteuid() == file->uid)
		return file->mode >> 6;
	if (getegid() == file->gid || group_member(file->gid))
		return file->mode >> 3;
	return file->mode;
}

/*
 * Whether this user is root, or owner and mode of the file grant it read and
 * write access, although open() failed.
 */
static bool is_allowed_by_mode(const struct ibsa_device_file *file)
{
	const uint32_t read_write = 06;

	return geteuid() == 0 ||
	       (rights_of_user(file) & read_write) == read_write;
}

static void not_permitted(struct visit *visit,
			  const struct ibsa_port_access *access)
{
	const struct ibsa_device_file *file = &access->umad;
	const char *advice =
		"run as root, or give this user read and write access: udev "
		"rules set GROUP and MODE of a device file";
	char owner[96];

	if (file->err) {
		doctor_wrong(visit->doctor, &visit->spot, "node", CLI_DEVICE,
			     "run as root, or give this user access to the "
			     "directory",
			     "%s: not permitted for user %u", file->path,
			     geteuid());
		return;
	}
	if (is_allowed_by_mode(file))
		advice = "its mode allows it, so look at the device rules of "
			 "the container, and at SELinux or AppArmor";
	doctor_wrong(visit->doctor, &visit->spot, "node", CLI_DEVICE, advice,
		     "%s, %s: not permitted for user %u", file->path,
		     owner_text(file, owner, sizeof(owner)), geteuid());
}

static void node_opens(struct visit *visit, const struct ibsa_device_file *file)
{
	char owner[96];

	if (file->err == -EOPNOTSUPP)
		doctor_ok(visit->doctor, &visit->spot, "node",
			  "%s opens; it is simulated", file->path);
	else if (file->err)
		doctor_ok(visit->doctor, &visit->spot, "node", "%s opens",
			  file->path);
	else
		doctor_ok(visit->doctor, &visit->spot, "node", "%s, %s, opens",
			  file->path, owner_text(file, owner, sizeof(owner)));
}

/*
 * Whether ibsa_open() uses the port through ibsad, because its device file
 * cannot be opened.
 */
static bool has_ibsad(const struct visit *visit,
		      const struct ibsa_port_access *access)
{
	char status[IBSAD_STATUS];

	return (access->open_err == -EACCES || access->umad.err == -ENOENT) &&
	       !secure_getenv("IBSA_FABRIC") &&
	       ibsad_status(visit->device, status);
}

static void check_node(struct visit *visit,
		       const struct ibsa_port_access *access)
{
	struct doctor *doctor = visit->doctor;
	const struct ibsa_device_file *file = &access->umad;

	if (!access->open_err) {
		node_opens(visit, file);
		return;
	}
	if (has_ibsad(visit, access)) {
		doctor_ok(doctor, &visit->spot, "node",
			  "%s: %s; ibsad serves the port", file->path,
			  file->err == -ENOENT ? "does not exist"
					       : "not permitted");
		return;
	}
	visit->locked = "its device file cannot be opened";
	if (access->open_err == -EACCES)
		not_permitted(visit, access);
	else if (file->err == -ENOENT)
		doctor_wrong(doctor, &visit->spot, "node", CLI_DEVICE,
			     "in a container, pass the device file in; "
			     "otherwise create it with udevadm trigger -s "
			     "infiniband_mad",
			     "%s does not exist", file->path);
	else if (access->open_err == -ENODEV)
		doctor_wrong(doctor, &visit->spot, "node", CLI_DEVICE,
			     "remove it, and create it with udevadm trigger "
			     "-s infiniband_mad; in a container, pass the "
			     "device file in",
			     "%s is not a device of ib_umad", file->path);
	else
		doctor_wrong(doctor, &visit->spot, "node", CLI_DEVICE,
			     "see the kernel log (dmesg)", "cannot use %s: %s",
			     file->path, strerror(-access->open_err));
}

/*
 * Check the issm file of a port. Only a subnet manager opens an issm file;
 * other programs do not need it.
 */
static void issm_check(struct visit *visit, const struct ibsa_device_file *file)
{
	struct doctor *doctor = visit->doctor;
	char owner[96];

	if (file->err == -EOPNOTSUPP)
		doctor_skip(doctor, &visit->spot, "issm",
			    "not needed on a simulated fabric");
	else if (file->err)
		doctor_warn(doctor, &visit->spot, "issm",
			    "needed only to run a subnet manager here",
			    "%s: %s", file->path, strerror(-file->err));
	else
		doctor_ok(doctor, &visit->spot, "issm", "%s, %s", file->path,
			  owner_text(file, owner, sizeof(owner)));
}

/*
 * Report a port without a MAD device: the kernel has one for each port that
 * can send MADs.
 */
static void no_mad_device(struct visit *visit, bool has_umad)
{
	const bool is_ethernet = visit->state &&
				 visit->state->link == IBSA_LINK_ETHERNET;
	const char *why = has_umad ? "the kernel has no MAD device for it"
				   : "ib_umad is not loaded";

	visit->locked = why;
	if (has_umad && !is_ethernet)
		doctor_wrong(visit->doctor, &visit->spot, "node", CLI_DEVICE,
			     "see the kernel log (dmesg)",
			     "the kernel has no MAD device for this port");
	else
		doctor_skip(visit->doctor, &visit->spot, "node", "%s", why);
	doctor_skip(visit->doctor, &visit->spot, "issm", "%s", why);
}

void doctor_files(struct visit *visit, const struct ibsa_port *port,
		  bool has_umad)
{
	struct ibsa_port_access access;

	if (!has_umad || ibsa_port_access_get(port, &access) != 0) {
		no_mad_device(visit, has_umad);
		return;
	}
	check_node(visit, &access);
	issm_check(visit, &access.issm);
}

static const char *link_text(enum ibsa_link_layer link)
{
	switch (link) {
	case IBSA_LINK_ETHERNET:
		return "Ethernet";
	case IBSA_LINK_OPA:
		return "Omni-Path";
	default:
		return "InfiniBand";
	}
}

/* "Active, LinkUp, InfiniBand, 100 Gb/sec (4X EDR)" */
static void state_text(const struct visit *visit, char *out, size_t size)
{
	const bool has_rate = visit->rate && *visit->rate;
	char state[CODE_TEXT], phys[CODE_TEXT];

	snprintf(out, size, "%s, %s, %s%s%s",
		 codes_name(IBSA_SHOW_port_state, visit->state->port_state,
			    state),
		 codes_name(IBSA_SHOW_phys_state, visit->state->phys_state,
			    phys),
		 link_text(visit->state->link), has_rate ? ", " : "",
		 has_rate ? visit->rate : "");
}

static const char *state_advice(const struct ibsa_port_state *state)
{
	enum { PHYS_DISABLED = 3 };

	if (state->link == IBSA_LINK_ETHERNET)
		return "bring its network interface up, and check the cable";
	if (state->phys_state == PHYS_DISABLED)
		return "enable the port: ibportstate";
	switch (state->port_state) {
	case IBSA_PORT_INIT:
		return "start a subnet manager on the fabric, such as opensm";
	case IBSA_PORT_ARMED:
		return "wait for the subnet manager, or see what it says";
	default:
		return "check the cable and the other end";
	}
}

/*
 * Check the state of a port. A port that is down is only a warning if it was
 * not named, because machines often have unused ports.
 */
static void state_check(const struct visit *visit)
{
	const struct ibsa_port_state *state = visit->state;
	const bool is_down = state->port_state == IBSA_PORT_DOWN;
	char text[3 * IBSA_VALUE_TEXT];

	state_text(visit, text, sizeof(text));
	if (state->port_state == IBSA_PORT_ACTIVE)
		doctor_ok(visit->doctor, &visit->spot, "port", "%s", text);
	else if (is_down && !visit->is_named)
		doctor_warn(visit->doctor, &visit->spot, "port",
			    state_advice(state), "%s", text);
	else
		doctor_wrong(visit->doctor, &visit->spot, "port", CLI_DEVICE,
			     state_advice(state), "%s", text);
}

static void check_sm(const struct visit *visit)
{
	const struct ibsa_port_state *state = visit->state;
	struct doctor *doctor = visit->doctor;

	if (doctor->cli->open.access.sa)
		doctor_skip(doctor, &visit->spot, "sm",
			    "--sa gives the address of the SA");
	else if (state->link == IBSA_LINK_ETHERNET)
		doctor_skip(doctor, &visit->spot, "sm",
			    "RoCE has no subnet manager");
	else if (state->port_state != IBSA_PORT_ACTIVE)
		doctor_skip(doctor, &visit->spot, "sm",
			    "the port is not active");
	else if (!ibsa_port_has_sm(state))
		doctor_wrong(doctor, &visit->spot, "sm", CLI_SILENT,
			     "start a subnet manager on the fabric, or name "
			     "the SA with --sa",
			     "LID %u; no subnet manager has configured the "
			     "port",
			     state->lid);
	else
		doctor_ok(doctor, &visit->spot, "sm",
			  "LID %u; subnet manager at LID %u, SL %u", state->lid,
			  state->sm_lid, state->sm_sl);
}

void doctor_port(struct visit *visit)
{
	struct doctor *doctor = visit->doctor;

	if (visit->state) {
		state_check(visit);
		check_sm(visit);
		return;
	}
	doctor_wrong(doctor, &visit->spot, "port", CLI_DEVICE,
		     "see the kernel log (dmesg)", "cannot be read: %s",
		     strerror(-visit->err));
	doctor_skip(doctor, &visit->spot, "sm", "the port cannot be read");
}
