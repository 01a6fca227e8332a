/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa reach --matrix: shows which pairs of ports have a path, as table, JSON
 * and picture.
 */
#include <stdlib.h>
#include <string.h>

#include "output/fields.h"
#include "base/file_write.h"
#include "reach/reach.h"

/*
 * The matrix: @results has a row for each source GID, with a cell for each
 * destination GID.
 */
struct matrix {
	const struct reach_targets *targets;
	struct reach_result *results;
	size_t *known; /* indices of the cells with a result */
	size_t known_count;
	bool has_groups; /* a host has several ports */
};

static size_t host_len(const struct reach_target *target)
{
	return target->node ? strcspn(target->node, " ") : 0;
}

/*
 * Whether two ports belong to one host. A port whose node is unknown forms a
 * host of its own.
 */
static bool is_same_host(const struct reach_target *a,
			 const struct reach_target *b)
{
	const size_t len = host_len(a);

	return len && len == host_len(b) && memcmp(a->node, b->node, len) == 0;
}

/*
 * Whether a new group of ports begins at @index: the port is of another host
 * than the port before it.
 */
static bool begins_group(const struct matrix *matrix, size_t index)
{
	const struct reach_targets *targets = matrix->targets;

	return matrix->has_groups && index > 0 &&
	       !is_same_host(targets->first[index - 1], targets->first[index]);
}

/* Sort the ports, so that the ports of each host follow its first port. */
static void group_by_host(struct reach_targets *targets)
{
	for (size_t i = 1; i < targets->gid_count; i++) {
		const struct reach_target *target = targets->first[i];
		const struct ibsa_gid gid = targets->gids[i];
		size_t to = i;

		while (to > 0 && !is_same_host(targets->first[to - 1], target))
			to--;
		if (to == 0)
			continue;
		memmove(&targets->first[to + 1], &targets->first[to],
			(i - to) * sizeof(*targets->first));
		memmove(&targets->gids[to + 1], &targets->gids[to],
			(i - to) * sizeof(*targets->gids));
		targets->first[to] = target;
		targets->gids[to] = gid;
	}
}

static bool has_groups(const struct reach_targets *targets)
{
	for (size_t i = 1; i < targets->gid_count; i++)
		if (is_same_host(targets->first[i - 1], targets->first[i]))
			return true;
	return false;
}

static char mark(const struct reach_result *result)
{
	if (!result->is_known)
		return ' ';
	switch (result->reach) {
	case IBSA_REACH_YES:
		return '.';
	case IBSA_REACH_NO:
		return 'X';
	default:
		return '?';
	}
}

static int digits_of(size_t number)
{
	int digits = 1;

	for (; number > 9; number /= 10)
		digits++;
	return digits;
}

/*
 * A line of the matrix: one character for each column, and a gap between
 * hosts.
 */
struct cells {
	char text[3 * REACH_MATRIX_MAX + 1];
	size_t len;
};

static void cells_add(struct cells *cells, const struct matrix *matrix,
		      size_t index, char c)
{
	if (begins_group(matrix, index))
		cells->text[cells->len++] = ' ';
	cells->text[cells->len++] = ' ';
	cells->text[cells->len++] = c;
	cells->text[cells->len] = '\0';
}

/* Draw the column numbers, vertically. */
static void draw_head(struct out *out, const struct matrix *matrix)
{
	const size_t count = matrix->targets->gid_count;
	const int digits = digits_of(count);

	for (int digit = digits; digit > 0; digit--) {
		struct cells line = { .len = 0 };

		for (size_t i = 0; i < count; i++) {
			size_t number = i + 1;

			for (int k = 1; k < digit; k++)
				number /= 10;
			cells_add(&line, matrix, i,
				  number ? (char)('0' + number % 10) : ' ');
		}
		out_line(out, "%*s %s%s", digits, "", line.text,
			 digit == 1 ? "  GID and node" : "");
	}
}

/* Return: the length of the longest GID of the targets as text. */
static int gid_width(const struct reach_targets *targets)
{
	int longest = 0;

	for (size_t i = 0; i < targets->gid_count; i++) {
		char gid[IBSA_GID_TEXT] = "";
		const int len = ibsa_gid_format(&targets->first[i]->gid, gid,
						sizeof(gid));

		longest = len > longest ? len : longest;
	}
	return longest;
}

static void draw_row(struct out *out, const struct matrix *matrix, size_t from)
{
	const struct reach_targets *targets = matrix->targets;
	const size_t count = targets->gid_count;
	const struct reach_target *target = targets->first[from];
	struct cells line = { .len = 0 };
	char node[IBSA_VALUE_TEXT] = "-";
	char gid[IBSA_GID_TEXT] = "";

	if (begins_group(matrix, from))
		out_line(out, "%s", "");
	for (size_t to = 0; to < count; to++)
		cells_add(&line, matrix, to,
			  mark(&matrix->results[from * count + to]));
	if (ibsa_gid_format(&target->gid, gid, sizeof(gid)) < 0)
		return;
	out_line(out, "%*zu %s  %-*s  %s", digits_of(count), from + 1,
		 line.text, gid_width(targets), gid,
		 target->node ? fields_clean(target->node, node) : node);
}

static void draw(struct out *out, const struct matrix *matrix)
{
	const size_t count = matrix->targets->gid_count;

	if (count == 0)
		return;
	draw_head(out, matrix);
	for (size_t from = 0; from < count; from++)
		draw_row(out, matrix, from);
	out_line(out, "rows reach columns: . yes, X no, ? unknown, blank not "
		      "asked");
}

/* Write the cell @name: the name of the host by which ports are grouped. */
static void host_cell(struct out *out, const char *name,
		      const struct reach_target *target)
{
	char host[IBSA_VALUE_TEXT];

	snprintf(host, sizeof(host), "%.*s", (int)host_len(target),
		 target->node ? target->node : "");
	fields_text_or_none(out, name, host[0] ? host : NULL);
}

static void pair_row(struct out *out, size_t index, void *arg)
{
	const struct matrix *matrix = arg;
	const struct reach_targets *targets = matrix->targets;
	const size_t cell = matrix->known[index];
	const struct reach_result *result = &matrix->results[cell];
	const struct reach_target *from =
		targets->first[cell / targets->gid_count];
	const struct reach_target *to =
		targets->first[cell % targets->gid_count];
	char words[REASON_CELL_TEXT];

	out_text(out, "reach", reach_word(result));
	fields_gid(out, "from", &from->gid);
	host_cell(out, "from_host", from);
	reach_node_cell(out, "from_node", from);
	fields_gid(out, "to", &to->gid);
	host_cell(out, "to_host", to);
	reach_node_cell(out, "to_node", to);
	out_text_or_none(out, "reason", reach_reason(result, words));
	out_text_or_none(out, "reason_code", reach_reason_code(result));
	out_text_or_none(out, "detail", result->detail);
	out_hex16(out, "status", result->status);
}

static int write_svg(struct cli *cli, const struct matrix *matrix)
{
	struct memory_text memory;
	int status = memory_text_open(&memory);

	if (status == CLI_DONE) {
		reach_svg(memory.file, matrix->targets, matrix->results);
		status = memory_text_close(&memory);
	}
	if (status == CLI_DONE)
		out_line(&cli->out, "%s", memory.text);
	free(memory.text);
	return status;
}

static bool is_group(const struct reach_target *target)
{
	return target->gid.raw[0] == 0xff;
}

/*
 * Whether the path of a cell is queried: not if its source is a multicast GID,
 * which sends no packets.
 */
static bool is_queried(const struct matrix *matrix, size_t cell)
{
	const struct reach_targets *targets = matrix->targets;

	return !is_group(targets->first[cell / targets->gid_count]);
}

static void reason_row(struct out *out, size_t index, void *arg)
{
	const struct matrix *matrix = arg;
	const size_t count = matrix->targets->gid_count;
	const size_t cell = matrix->known[index];
	char words[REASON_CELL_TEXT];

	out_count(out, "from", cell / count + 1);
	out_count(out, "to", cell % count + 1);
	out_text_or_none(out, "reason",
			 reach_reason(&matrix->results[cell], words));
}

/*
 * Below the matrix, list the reasons that were found: "from" is the number of a
 * cell's row, "to" that of its column.
 */
static void reasons_print(struct out *out, struct matrix *matrix)
{
	size_t count = 0;

	for (size_t i = 0; i < matrix->known_count; i++) {
		const size_t cell = matrix->known[i];

		if (matrix->results[cell].reason)
			matrix->known[count++] = cell;
	}
	matrix->known_count = count;
	if (count == 0)
		return;
	out_line(out, "%s", "");
	out_rows(out, count, reason_row, matrix);
}

static int matrix_print(struct cli *cli, struct matrix *matrix)
{
	const size_t count = matrix->targets->gid_count;
	struct reach_tally tally = { .yes = 0 };
	int status = CLI_DONE;

	for (size_t i = 0; i < count * count; i++) {
		if (is_queried(matrix, i))
			reach_count(&tally, &matrix->results[i]);
		if (matrix->results[i].is_known)
			matrix->known[matrix->known_count++] = i;
	}
	if (cli->out.shape == OUT_SVG) {
		status = write_svg(cli, matrix);
	} else if (!out_is_brief(&cli->out)) {
		out_rows(&cli->out, matrix->known_count, pair_row, matrix);
	} else {
		draw(&cli->out, matrix);
		reasons_print(&cli->out, matrix);
	}
	reach_summary(cli, &tally, "");
	return status;
}

static int rows_query(struct cli *cli, struct matrix *matrix)
{
	const struct reach_targets *targets = matrix->targets;
	const size_t count = targets->gid_count;
	struct reach_run run;
	size_t sources = 0;
	int status;

	for (size_t from = 0; from < count; from++)
		sources += !is_group(targets->first[from]);
	reach_run_start(&run, cli, sources * count);
	for (size_t from = 0; from < count; from++)
		if (!is_group(targets->first[from]) &&
		    !reach_run_query(&run, &targets->gids[from], targets->gids,
				     count, &matrix->results[from * count]))
			break;
	status = reach_run_end(&run);
	return reach_worse(status, matrix_print(cli, matrix));
}

/*
 * Print how many targets do not exist: they have no row and no column. Return:
 * the exit status.
 */
static int missing_report(const struct reach_targets *targets)
{
	size_t missing = 0;

	for (size_t i = 0; i < targets->count; i++)
		missing += targets->all[i].missing != 0;
	if (!missing)
		return CLI_DONE;
	return fail_no("%zu of %zu targets %s not in the matrix, because no "
		       "port was found",
		       missing, targets->count, missing == 1 ? "is" : "are");
}

int reach_matrix(struct cli *cli, struct reach_targets *targets)
{
	const size_t cells = targets->gid_count * targets->gid_count;
	struct matrix matrix = { .targets = targets };
	int status = missing_report(targets);

	if (targets->gid_count > REACH_MATRIX_MAX)
		return fail_usage("the targets have %zu ports, but a matrix "
				  "has at most %d; name fewer targets",
				  targets->gid_count, REACH_MATRIX_MAX);
	group_by_host(targets);
	matrix.has_groups = has_groups(targets);
	matrix.results = calloc(cells + 1, sizeof(*matrix.results));
	matrix.known = calloc(cells + 1, sizeof(*matrix.known));
	if (!matrix.results || !matrix.known) {
		status = no_memory();
	} else {
		status = reach_worse(status, rows_query(cli, &matrix));
	}
	reach_results_free(matrix.results, cells);
	free(matrix.known);
	return status;
}
