/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa doctor: checks what prevents queries to the SA, and advises what to do.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "names/machine.h"
#include "names/port_roles.h"
#include "output/column_table.h"
#include "doctor/doctor.h"
#include "doctor/report.h"
#include "output/fields.h"
#include "session/scope.h"
#include "options/command.h"

static const char second_signal_text[] =
	"ended before the findings were printed";

static const struct spot everything = { .device = NULL, .port = NO_PORT };

bool doctor_is_interrupted(const struct doctor *doctor)
{
	return interrupt_seen(&doctor->interrupt);
}

void doctor_add(struct doctor *doctor, const struct finding *finding,
		const char *format, ...)
{
	struct finding *added = list_add(&doctor->findings, &doctor->count,
					 sizeof(*added));
	va_list args;

	doctor->out_of_memory |= !added;
	if (!added)
		return;
	*added = *finding;
	va_start(args, format);
	vsnprintf(added->detail, sizeof(added->detail), format, args);
	va_end(args);
}

/*
 * Skip the checks of the kernel: an embedded fabric has no kernel modules and
 * no device files. The JSON output lists each skipped check; the table has one
 * line for all of them.
 */
static void skip_kernel(struct doctor *doctor, const struct spot *spot,
			const char *const *names)
{
	for (; *names; names++)
		doctor_skip(doctor, spot, *names, "embedded fabric");
}

/*
 * Whether a finding is printed: with -v and in JSON, every finding; otherwise
 * only problems.
 */
static bool finding_is_shown(const struct doctor *doctor,
			     const struct finding *finding)
{
	return out_is_data(&doctor->cli->out) || doctor->cli->output.verbose ||
	       finding->verdict == VERDICT_WARNING ||
	       finding->verdict == VERDICT_WRONG;
}

static size_t count_shown(const struct doctor *doctor)
{
	size_t count = 0;

	for (size_t i = 0; i < doctor->count; i++)
		count += finding_is_shown(doctor, &doctor->findings[i]);
	return count;
}

static void rest_text(const struct doctor *doctor, char *out, size_t size)
{
	size_t ok = 0;
	size_t unchecked = 0;

	for (size_t i = 0; i < doctor->count; i++) {
		ok += doctor->findings[i].verdict == VERDICT_OK;
		unchecked += doctor->findings[i].verdict == VERDICT_UNCHECKED;
	}
	snprintf(out, size, "%zu ok, %zu not checked; -v shows them", ok,
		 unchecked);
}

/* Move the findings that are to be printed to the front of the list. */
static void shown_move_first(struct doctor *doctor)
{
	size_t to = 0;

	for (size_t i = 0; i < doctor->count; i++)
		if (finding_is_shown(doctor, &doctor->findings[i]))
			doctor->findings[to++] = doctor->findings[i];
}

static void finding_row(struct out *out, size_t index, void *arg)
{
	static const char *const verdicts[] = {
		[VERDICT_OK] = "ok",
		[VERDICT_UNCHECKED] = "not checked",
		[VERDICT_WARNING] = "warning",
		[VERDICT_WRONG] = "wrong",
	};
	const struct doctor *doctor = arg;
	const struct finding *finding = &doctor->findings[index];

	out_text(out, "name", finding->name);
	fields_text_or_none(out, "device", finding->spot.device);
	out_count_or_none(out, "port", finding->spot.port != NO_PORT,
			  (uint64_t)finding->spot.port);
	out_text(out, "verdict", verdicts[finding->verdict]);
	out_text(out, "detail", finding->detail);
	out_below(out, "advice", finding->advice);
}

/*
 * Return: the weight of an exit status. The command ends with the status that
 * has the greatest weight. CLI_DEVICE has more weight than CLI_SILENT: without
 * a device, no SA can answer.
 */
static int status_weight(int status)
{
	static const int order[] = { CLI_DONE, CLI_REFUSED, CLI_SILENT,
				     CLI_DEVICE };
	int i = 0;

	while (order[i] != status)
		i++;
	return i;
}

static void first_wrong_complain(const struct finding *finding, size_t wrong,
				 size_t count)
{
	const struct spot *spot = &finding->spot;
	char clean[IBSA_VALUE_TEXT];
	char where[sizeof(clean) + 32] = "";
	char port[16] = "";

	if (spot->port != NO_PORT)
		snprintf(port, sizeof(port), "/%d", spot->port);
	if (spot->device)
		snprintf(where, sizeof(where), " of %s%s",
			 fields_clean(spot->device, clean), port);
	complain("%zu of %zu checks %s the verdict 'wrong', first '%s'%s: "
		 "%s%s%s",
		 wrong, count, wrong == 1 ? "has" : "have", finding->name,
		 where, finding->detail, finding->advice ? "; " : "",
		 finding->advice ? finding->advice : "");
}

static void findings_print(struct doctor *doctor)
{
	const size_t shown = count_shown(doctor);
	const bool is_cut = shown < doctor->count;
	char rest[80];

	if (!out_is_data(&doctor->cli->out))
		doctor->cli->out.shape = OUT_TABLE;
	rest_text(doctor, rest, sizeof(rest));
	if (is_cut)
		shown_move_first(doctor);
	if (shown > 0 || !is_cut)
		out_rows(&doctor->cli->out, shown, finding_row, doctor);
	if (is_cut)
		out_line(&doctor->cli->out, "%s", rest);
}

/*
 * Print the findings on stdout, and the first problem on stderr. Return: the
 * exit status.
 */
static int findings_report(struct doctor *doctor)
{
	const struct finding *first = NULL;
	int status = CLI_DONE;
	struct finding worst;
	size_t wrong = 0;

	progress_end();
	if (doctor->out_of_memory)
		return no_memory();
	for (size_t i = doctor->count; i-- > 0;) {
		const struct finding *finding = &doctor->findings[i];

		if (finding->verdict != VERDICT_WRONG)
			continue;
		first = finding;
		wrong++;
		if (status_weight(finding->status) > status_weight(status))
			status = finding->status;
	}
	if (first)
		worst = *first;
	findings_print(doctor);
	if (first)
		first_wrong_complain(&worst, wrong, doctor->count);
	if (!doctor_is_interrupted(doctor))
		return status;
	complain("interrupted");
	return status_weight(status) > status_weight(CLI_SILENT) ? status
								 : CLI_SILENT;
}

/*
 * Skip the SMI port of a planarized adapter: it does not receive the SA's
 * replies.
 */
static bool smi_skip(struct doctor *doctor, const struct spot *spot,
		     const struct ibsa_port *port)
{
	const struct ibsa_device *device;
	const struct ibsa_port *gsi = ibsa_port_gsi(doctor->list, port,
						    &device);

	if (gsi)
		doctor_skip(doctor, spot, "port",
			    "SMI of %s/%u; that port receives the SA's answers",
			    device->name, gsi->number);
	return gsi;
}

/* Whether the port is not checked, because it is not for a network. */
static bool role_skip(struct doctor *doctor, const struct spot *spot)
{
	const struct machine_port *port = port_roles_find(
		doctor->roles, spot->device, (unsigned int)spot->port);

	if (!port ||
	    (port->role != ROLE_UNCABLED && port->role != ROLE_MANAGEMENT))
		return false;
	doctor_skip(doctor, spot, "port", "%s", port->role_reason);
	return true;
}

static void visit_port(struct doctor *doctor, const struct scope *scope,
		       const struct ibsa_device *device,
		       const struct ibsa_port *port, bool has_umad)
{
	struct visit visit = {
		.doctor = doctor,
		.spot = { .device = device->name, .port = (int)port->number },
		.device = device->name,
		.rate = port->rate,
		.state = port->err ? NULL : port->state,
		.err = port->err,
		.is_named = scope->device != NULL,
	};

	if (!scope->device && smi_skip(doctor, &visit.spot, port))
		return;
	doctor_files(&visit, port, has_umad);
	if (!scope->device && role_skip(doctor, &visit.spot))
		return;
	doctor_port(&visit);
	doctor_sa(&visit);
}

static void check_device(struct doctor *doctor,
			 const struct ibsa_device *device)
{
	const struct spot spot = { .device = device->name, .port = NO_PORT };

	if (device->err)
		doctor_wrong(doctor, &spot, "device", CLI_DEVICE,
			     "see the kernel log (dmesg)", "cannot be read: %s",
			     strerror(-device->err));
	else if (device->port_count == 0)
		doctor_warn(doctor, &spot, "device",
			    "see the kernel log (dmesg)", "has no ports");
	else
		doctor_ok(doctor, &spot, "device", "%zu %s%s%s",
			  device->port_count,
			  device->port_count == 1 ? "port" : "ports",
			  *device->firmware ? ", firmware " : "",
			  device->firmware);
}

/* Return: the number of the device's ports that @scope includes. */
static size_t count_ports(const struct ibsa_device *device,
			  const struct scope *scope)
{
	size_t count = 0;

	for (size_t i = 0; i < device->port_count; i++)
		count += scope_has_device_port(
			scope, device->name,
			ibsa_device_port_at(device, i)->number);
	return count;
}

static void no_such(struct doctor *doctor, const struct scope *scope,
		    bool has_device)
{
	const struct spot spot = {
		.device = scope->device,
		.port = scope->port ? (int)scope->port : NO_PORT,
	};
	struct ibsa_error error;

	scope_none(scope, has_device, &error);
	doctor_wrong(doctor, &spot, has_device ? "port" : "device", CLI_DEVICE,
		     NULL, "%s", error.text);
}

static void visit_device(struct doctor *doctor, const struct scope *scope,
			 const struct ibsa_device *device, bool has_umad)
{
	check_device(doctor, device);
	if (scope->port && count_ports(device, scope) == 0)
		no_such(doctor, scope, true);
	for (size_t i = 0;
	     i < device->port_count && !doctor_is_interrupted(doctor); i++)
		if (scope_has_device_port(
			    scope, device->name,
			    ibsa_device_port_at(device, i)->number))
			visit_port(doctor, scope, device,
				   ibsa_device_port_at(device, i), has_umad);
}

static void visit_list(struct doctor *doctor, const struct scope *scope,
		       const struct ibsa_device_list *list)
{
	const bool has_umad = doctor_umad(doctor);
	bool has_device = false;

	doctor->list = list;
	(void)port_roles_of_list(list, machine_is_local(doctor->cli),
				 &doctor->roles);
	for (size_t i = 0; i < list->count && !doctor_is_interrupted(doctor);
	     i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		progress_count(&doctor->progress, i, list->count);
		if (!scope_has_device(scope, device->name))
			continue;
		has_device = true;
		visit_device(doctor, scope, device, has_umad);
	}
	if (doctor_is_interrupted(doctor))
		return;
	if (scope->device && !has_device)
		no_such(doctor, scope, false);
	else if (!scope->device)
		doctor_default(doctor, NULL, list);
}

/* Add the finding that tells why the list of devices could not be read. */
static void device_list_failed(struct doctor *doctor, int err)
{
	struct ibsa_error error;

	if (server_failure(&error))
		doctor_wrong(doctor, &everything, "modules", CLI_DEVICE, NULL,
			     "%s", error.text);
	else if (err == -ENOSYS && sysfs_is_empty())
		doctor_wrong(doctor, &everything, "modules", CLI_DEVICE,
			     "mount sysfs at /sys, or set SYSFS_PATH to its "
			     "mount point",
			     "no sysfs at /sys, or at SYSFS_PATH if that is "
			     "set");
	else if (err == -ENOSYS)
		doctor_wrong(doctor, &everything, "modules", CLI_DEVICE,
			     "modprobe ib_umad and the adapter's driver, such "
			     "as mlx5_ib; or try an embedded fabric: --fabric",
			     "the kernel's RDMA modules are not loaded");
	else
		doctor_wrong(doctor, &everything, "modules", CLI_DEVICE,
			     err == -EACCES ? "give this user read access to "
					      "/sys/class/infiniband"
					    : NULL,
			     "cannot list /sys/class/infiniband: %s",
			     strerror(-err));
}

/*
 * Check this machine. @err: the error from reading the list of devices; if it
 * is not 0, @list is not valid.
 */
static int machine_doctor(struct doctor *doctor, const struct scope *scope,
			  const struct ibsa_device_list *list, int err)
{
	if (err) {
		device_list_failed(doctor, err);
		return findings_report(doctor);
	}
	if (list->count > 0)
		doctor_ok(doctor, &everything, "modules", "%zu RDMA %s",
			  list->count, list->count == 1 ? "device" : "devices");
	else
		doctor_wrong(doctor, &everything, "modules", CLI_DEVICE,
			     "modprobe the adapter's driver, such as mlx5_ib; "
			     "or try an embedded fabric: --fabric",
			     "the kernel has no RDMA device");
	visit_list(doctor, scope, list);
	return findings_report(doctor);
}

static void visit_fabric_port(struct doctor *doctor, const struct scope *scope,
			      struct ibsa_fabric *fabric,
			      const struct ibsa_fabric_port *port)
{
	static const char *const files[] = { "node", "issm", NULL };
	struct visit visit = {
		.doctor = doctor,
		.spot = { .device = port->node, .port = (int)port->number },
		.fabric = fabric,
		.device = port->id,
		.rate = port->rate,
		.state = &port->state,
		.is_named = scope->device != NULL,
	};

	if (out_is_data(&doctor->cli->out))
		skip_kernel(doctor, &visit.spot, files);
	doctor_port(&visit);
	doctor_sa(&visit);
}

static void visit_fabric(struct doctor *doctor, const struct scope *scope,
			 struct ibsa_fabric *fabric)
{
	static const char *const kernels[] = { "modules", "umad", NULL };
	struct ibsa_fabric_port port;
	bool has_device = false;
	bool has_port = false;

	if (out_is_data(&doctor->cli->out))
		skip_kernel(doctor, &everything, kernels);
	else
		doctor_skip(doctor, &everything, "kernel",
			    "an embedded fabric needs no kernel modules and "
			    "no device files");
	for (size_t i = 0; !doctor_is_interrupted(doctor) &&
			   !ibsa_fabric_port_at(fabric, i, &port);
	     i++) {
		if (!scope_has_node(scope, &port))
			continue;
		has_device = true;
		if (!scope_has_port(scope, port.number))
			continue;
		has_port = true;
		visit_fabric_port(doctor, scope, fabric, &port);
	}
	if (doctor_is_interrupted(doctor))
		return;
	if (!scope->device)
		doctor_default(doctor, fabric, NULL);
	else if (!has_port)
		no_such(doctor, scope, has_device);
}

static int fabric_doctor(struct doctor *doctor, struct scope *scope,
			 const char *file)
{
	struct ibsa_fabric *fabric;
	int status = scope_fabric_load(scope, file, &fabric);

	if (status != CLI_DONE)
		return status;
	visit_fabric(doctor, scope, fabric);
	status = findings_report(doctor);
	ibsa_fabric_put(fabric);
	return status;
}

static int examine(struct doctor *doctor, struct scope *scope)
{
	const char *file = fabric_file(doctor->cli);
	struct ibsa_device_list *list = NULL;
	int err = file ? 0 : ibsa_devices_read(&list);
	/*
	 * From interrupt_start() on, a signal ends the checks with a report;
	 * before it, a signal ends the process at once.
	 */
	int status = interrupt_start(&doctor->interrupt, second_signal_text);

	if (status != CLI_DONE) {
		ibsa_devices_free(list);
		return status;
	}
	progress_start(&doctor->progress);
	status = file ? fabric_doctor(doctor, scope, file)
		      : machine_doctor(doctor, scope, list, err);
	if (doctor_own(doctor->cli)->report && !doctor_is_interrupted(doctor)) {
		const int written = report_write(doctor, scope);

		status = status == CLI_DONE ? written : status;
	}
	interrupt_stop(&doctor->interrupt);
	ibsa_devices_free(list);
	port_roles_free(doctor->roles);
	free(doctor->findings);
	return status;
}

/* clang-format off */
static const struct column doctor_list[] = {
	WORDS("name", "modules|umad|device|node|issm|port|sm|sa|sm_key|"
		      "default"),
	MAYBE("device", TEXT),
	MAYBE("port", NUMBER),
	WORDS("verdict", "ok|wrong|warning|not checked"),
	ALWAYS("detail", TEXT),
	MAYBE("advice", TEXT),
};
/* clang-format on */

static const struct columns columns_doctor = COLUMN_TABLE("doctor",
							  doctor_list);

static int cmd_doctor(struct cli *cli)
{
	struct doctor doctor = { .cli = cli };
	struct scope scope;
	int status = scope_find(cli, &scope);

	if (status == CLI_DONE)
		status = report_check(cli, &scope);
	if (status == CLI_DONE)
		status = columns_use(cli, &columns_doctor);
	if (status == CLI_DONE)
		status = examine(&doctor, &scope);
	scope_free(&scope);
	return status;
}

/* clang-format off */
static const struct option_row rows[] = {
	{ 0, "anonymous", NULL, "replace GUIDs, GIDs and names in the report",
	  OPTION_AT(struct doctor_options, anonymous) },
	{ 0, "report", "FILE",
	  "write what the SA answers, as a file for --fabric",
	  OPTION_AT(struct doctor_options, report), .file = OPTION_REPLACES },
};

static const struct option_table table =
	OPTION_TABLE(rows, struct doctor_options);

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "[DEVICE[/PORT]]",
	.help = "check why the SA cannot be queried",
	.options = &table,
	.groups = GROUP_ALL | GROUP_RECORD,
	.columns = (const struct columns *const[]){ &columns_doctor, NULL },
	.run = cmd_doctor,
	.text =
	"Checks whether this user can query the SA, from all ports or from one:\n"
	"\n"
	"  modules  the kernel has RDMA devices\n"
	"  umad     the kernel module ib_umad is loaded\n"
	"  device   the device can be read\n"
	"  node     the port's device file exists and can be opened\n"
	"  issm     the device file for a subnet manager\n"
	"  port     state and link of the port\n"
	"  sm       LIDs of the port and of the subnet manager\n"
	"  sa       the SA answers; the time that the answer took\n"
	"  sm_key   the SA trusts --sm-key, or requests without a key\n"
	"  default  the port that queries use if none is named\n",
};
/* clang-format on */
