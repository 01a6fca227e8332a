/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes drawings of a fabric: switches by level, the highest on top, and links
 * between the same two boxes as one line. The program dot of Graphviz runs as a
 * separate process: its layout may take long, and it parses names that come
 * from outside.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_write.h"
#include "base/progress.h"
#include "topology/name_text.h"
#include "topology/topology.h"
#include "topology/boxes.h"

enum {
	/* With more boxes than this, the lines of the drawing are straight. */
	FEW_BOXES = 64,
	/*
	 * Size of an array with an element for each rate; there are fewer
	 * rates.
	 */
	RATES = 64,
};

/* A line of the drawing: all links of one rate between two boxes. */
struct line {
	size_t from; /* the upper box */
	size_t to;
	unsigned int lanes;
	const char *speed;
	size_t count;
};

struct drawing {
	FILE *file;
	const struct topology_view *view;
	struct boxes boxes;
	struct line *lines;
	size_t count;
	struct line usual; /* the most frequent rate */
};

static bool is_same_rate(const struct line *a, const struct line *b)
{
	return a->lanes == b->lanes && strcmp(a->speed, b->speed) == 0;
}

static int by_ends_and_rate(const void *a, const void *b)
{
	const struct line *one = a;
	const struct line *two = b;

	if (one->from != two->from)
		return one->from < two->from ? -1 : 1;
	if (one->to != two->to)
		return one->to < two->to ? -1 : 1;
	if (one->lanes != two->lanes)
		return one->lanes < two->lanes ? -1 : 1;
	return strcmp(one->speed, two->speed);
}

static void line_add(struct drawing *drawing, size_t node,
		     const struct ibsa_topology_port *port)
{
	const struct boxes *boxes = &drawing->boxes;
	size_t a = boxes->of[node];
	size_t b = boxes->of[port->far_node];
	struct line line = { a, b, port->lanes, port->speed, 1 };

	if (boxes->all[a].level < boxes->all[b].level ||
	    (boxes->all[a].level == boxes->all[b].level && a > b)) {
		line.from = b;
		line.to = a;
	}
	drawing->lines[drawing->count++] = line;
}

static void lines_collect(struct drawing *drawing)
{
	for (size_t i = 0; i < drawing->view->info.nodes; i++) {
		if (drawing->boxes.of[i] == SIZE_MAX)
			continue;
		for (unsigned int number = 1; number <= UINT8_MAX; number++) {
			const struct ibsa_topology_port port =
				topology_view_port(drawing->view, i, number);

			if (topology_is_first_end(drawing->view->topology, i,
						  &port) &&
			    drawing->boxes.of[port.far_node] != SIZE_MAX)
				line_add(drawing, i, &port);
		}
	}
}

/* Store the rate that most links have. */
static void usual_rate_find(struct drawing *drawing)
{
	struct line rates[RATES] = { { .speed = "" } };
	size_t count = 0;

	for (size_t i = 0; i < drawing->count; i++) {
		size_t n = 0;

		while (n < count &&
		       !is_same_rate(&rates[n], &drawing->lines[i]))
			n++;
		if (n == RATES)
			continue;
		if (n == count)
			rates[count++] = (struct line){
				.lanes = drawing->lines[i].lanes,
				.speed = drawing->lines[i].speed,
			};
		rates[n].count++;
	}
	drawing->usual = rates[0];
	for (size_t i = 1; i < count; i++)
		if (rates[i].count > drawing->usual.count)
			drawing->usual = rates[i];
}

/*
 * Merge the links between two boxes with one rate into one line. A link within
 * a box of several nodes is not drawn.
 */
static void lines_merge(struct drawing *drawing)
{
	struct line *lines = drawing->lines;
	size_t merged = 0;

	if (drawing->count)
		qsort(lines, drawing->count, sizeof(*lines), by_ends_and_rate);
	for (size_t i = 0; i < drawing->count; i++) {
		const struct box *box = &drawing->boxes.all[lines[i].from];

		if (lines[i].from == lines[i].to && box->first != box->last)
			continue;
		if (merged &&
		    by_ends_and_rate(&lines[merged - 1], &lines[i]) == 0)
			lines[merged - 1].count++;
		else
			lines[merged++] = lines[i];
	}
	drawing->count = merged;
}

/*
 * Return: the letter with which the name of a box begins in the output: h for
 * a box of several adapters, n for any other box.
 */
static char letter_of(const struct box *box)
{
	return box->first != box->last && !box->switches ? 'h' : 'n';
}

/*
 * Write a line of the drawing. The label of the line has the number of links,
 * unless it is one link (to a box of adapters: one for each adapter), and the
 * rate, unless it is the most frequent one.
 */
static void line_put(const struct drawing *drawing, const struct line *line)
{
	const struct box *from = &drawing->boxes.all[line->from];
	const struct box *to = &drawing->boxes.all[line->to];
	const bool is_usual = is_same_rate(line, &drawing->usual);
	const bool has_count = line->count !=
			       (letter_of(to) == 'h' ? to->adapters : 1);
	FILE *file = drawing->file;

	fprintf(file, "\t%c%zu -- %c%zu", letter_of(from), line->from,
		letter_of(to), line->to);
	if (has_count || !is_usual)
		fputs(" [label=\"", file);
	if (has_count)
		fprintf(file, "%zu×%s", line->count, is_usual ? "" : " ");
	if (!is_usual && line->lanes)
		fprintf(file, "%ux%s", line->lanes, line->speed);
	else if (!is_usual)
		fputs("unknown rate", file);
	if (has_count || !is_usual)
		fprintf(file, "\"%s]", is_usual ? "" : ", color=\"#c0392b\"");
	fputs(";\n", file);
}

static const char *node_name(const struct drawing *drawing, size_t node)
{
	return topology_view_node(drawing->view, node).name;
}

static void count_put(FILE *file, size_t count, const char *one,
		      const char *many)
{
	if (count)
		fprintf(file, "%zu %s\\n", count, count == 1 ? one : many);
}

/*
 * Write a box: for one node its name; for several nodes their number, and the
 * first and last name.
 */
static void box_put(const struct drawing *drawing, size_t index)
{
	const struct box *box = &drawing->boxes.all[index];
	const enum ibsa_node_type type =
		topology_view_node(drawing->view, box->first).type;
	FILE *file = drawing->file;

	fprintf(file, "\t\t%c%zu [label=\"", letter_of(box), index);
	if (box->first != box->last) {
		count_put(file, box->switches, "switch", "switches");
		count_put(file, box->adapters, "adapter", "adapters");
	}
	name_dot_put(file, node_name(drawing, box->first));
	if (box->first != box->last) {
		fputs("\\n… ", file);
		name_dot_put(file, node_name(drawing, box->last));
	}
	fprintf(file, "\"%s];\n",
		type == IBSA_NODE_SWITCH   ? ", fillcolor=\"#d6e6f5\""
		: type == IBSA_NODE_ROUTER ? ", fillcolor=\"#f5e6d6\""
					   : "");
}

/* Write the boxes of each level in a row, the highest level first. */
static void rows_put(const struct drawing *drawing)
{
	unsigned int highest = 0;

	for (size_t i = 0; i < drawing->boxes.count; i++)
		if (drawing->boxes.all[i].level > highest)
			highest = drawing->boxes.all[i].level;
	for (unsigned int level = highest + 1; level-- > 0;) {
		bool is_open = false;

		for (size_t i = 0; i < drawing->boxes.count; i++) {
			if (drawing->boxes.all[i].level != level)
				continue;
			if (!is_open)
				fputs("\t{\n\t\trank=same;\n", drawing->file);
			is_open = true;
			box_put(drawing, i);
		}
		if (is_open)
			fputs("\t}\n", drawing->file);
	}
}

static void all_put(const struct drawing *drawing)
{
	const bool is_few = drawing->boxes.count <= FEW_BOXES;
	FILE *file = drawing->file;

	fprintf(file,
		"graph fabric {\n"
		"\tgraph [ranksep=%s, nodesep=0.15, splines=%s, labelloc=t,\n"
		"\t\tfontname=\"sans-serif\"",
		is_few ? "1" : "4", is_few ? "true" : "line");
	if (drawing->usual.lanes)
		fprintf(file,
			",\n\t\tlabel=\"cables are %ux%s if not labelled\"",
			drawing->usual.lanes, drawing->usual.speed);
	fputs("];\n"
	      "\tnode [shape=box, style=\"rounded,filled\", "
	      "fillcolor=\"#f4f4f4\",\n"
	      "\t\tfontname=\"sans-serif\", fontsize=11];\n"
	      "\tedge [fontname=\"sans-serif\", fontsize=9, "
	      "color=\"#66666699\"];\n",
	      file);
	rows_put(drawing);
	for (size_t i = 0; i < drawing->count; i++)
		line_put(drawing, &drawing->lines[i]);
	fputs("}\n", file);
}

/*
 * Write the drawing as Graphviz input. @each: draw a box for every node,
 * however many there are. Return: 0 or -ENOMEM.
 */
static int topology_dot(FILE *file, const struct topology_view *view, bool each)
{
	struct drawing drawing = {
		.file = file,
		.view = view,
		.lines = calloc(view->info.links + 1, sizeof(*drawing.lines)),
	};
	int err = boxes_make(view, each, &drawing.boxes);

	if (!err && !drawing.lines)
		err = -ENOMEM;
	if (!err) {
		lines_collect(&drawing);
		usual_rate_find(&drawing);
		lines_merge(&drawing);
		all_put(&drawing);
	}
	boxes_free(&drawing.boxes);
	free(drawing.lines);
	return err;
}

extern char **environ;

/*
 * Start the program dot, which reads from @from and writes to @to. Return: 0
 * or errno.
 */
static int start_dot(int from, int to, pid_t *out)
{
	char *const args[] = { (char[]){ "dot" }, (char[]){ "-Tsvg" }, NULL };
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	err = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, to,
						       STDOUT_FILENO);
	if (!err)
		err = posix_spawnp(out, args[0], &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

/*
 * Wait until the program dot ends; on a terminal, print progress, because a
 * layout may take minutes. Return: its wait status.
 */
static int await_dot(pid_t dot)
{
	struct pollfd fd = { .fd = pidfd_open(dot, 0), .events = POLLIN };
	struct progress progress;
	int ended = 0;

	progress_start(&progress);
	while (fd.fd >= 0 && poll(&fd, 1, progress_pause_ms(&progress)) == 0)
		progress_text(&progress, "dot is drawing; its input comes with "
					 "--format dot at once");
	progress_end();
	if (fd.fd >= 0)
		close(fd.fd);
	while (waitpid(dot, &ended, 0) < 0 && errno == EINTR)
		;
	return ended;
}

/*
 * Write @text to the program dot and wait for its end. Return: the exit
 * status.
 */
static int run_dot(int to, const char *text, size_t len)
{
	void (*before)(int);
	int pipe_fds[2];
	int ended;
	pid_t dot;
	int err, put;

	if (pipe2(pipe_fds, O_CLOEXEC) != 0)
		return fail_device("--format svg: cannot create a pipe to dot: "
				   "%s",
				   strerror(errno));
	err = start_dot(pipe_fds[0], to, &dot);
	close(pipe_fds[0]);
	/*
	 * SIGPIPE is ignored: if dot has ended, writing to it must fail with
	 * EPIPE and a message, not end this process.
	 */
	before = signal(SIGPIPE, SIG_IGN);
	put = err ? 0 : text_write(pipe_fds[1], text, len);
	signal(SIGPIPE, before);
	if (put)
		complain("--format svg: cannot write to dot: %s",
			 strerror(-put));
	close(pipe_fds[1]);
	if (err)
		return fail_device("--format svg: cannot run dot: %s; install "
				   "Graphviz, or write its input with --format "
				   "dot",
				   strerror(err));
	ended = await_dot(dot);
	if (ended == 0)
		return CLI_DONE;
	return fail_device("--format svg: dot failed; to see why, write its "
			   "input with --format dot, and run dot on it");
}

/*
 * Write the picture that dot makes of @text. dot does not write to standard
 * output itself: for a full disk it would end with 0, or with a wrong message.
 */
static int svg_write(struct cli *cli, const char *text, size_t len)
{
	const int fd = memfd_create("svg", MFD_CLOEXEC);
	void *svg = MAP_FAILED;
	off_t size = 0;
	int status;

	if (fd < 0)
		return fail_device("--format svg: %s", strerror(errno));
	status = run_dot(fd, text, len);
	if (status == CLI_DONE)
		size = lseek(fd, 0, SEEK_END);
	if (size > 0)
		svg = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (svg != MAP_FAILED) {
		out_line(&cli->out, "%.*s", (int)size - 1, (const char *)svg);
		munmap(svg, (size_t)size);
	} else if (status == CLI_DONE) {
		status = fail_device("--format svg: dot has written nothing");
	}
	close(fd);
	return status;
}

int draw(struct cli *cli, bool each, const struct topology_view *view)
{
	struct memory_text memory;
	int status = memory_text_open(&memory);

	if (status == CLI_DONE) {
		memory.has_failed |= topology_dot(memory.file, view, each) != 0;
		status = memory_text_close(&memory);
	}
	if (status == CLI_DONE && cli->out.shape == OUT_DOT)
		out_line(&cli->out, "%.*s", (int)memory.len - 1, memory.text);
	else if (status == CLI_DONE)
		status = svg_write(cli, memory.text, memory.len);
	free(memory.text);
	return status;
}
