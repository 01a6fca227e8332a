/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text formats of metrics.
 *
 * Source: OpenMetrics 1.0, "Text format"; Prometheus, "Exposition formats",
 * text format 0.0.4. Text without counters is the same in both.
 */
#ifndef COMMAND_METRICS_TEXT_H
#define COMMAND_METRICS_TEXT_H

#include "metrics/metrics.h"

enum metric_type { METRIC_GAUGE, METRIC_COUNTER };

struct metrics_text;

/**
 * struct metric - a row of the table of metrics
 * @name:  name, without "_total" of a counter
 * @type:  its type
 * @unit:  its unit, with which @name ends; "": none
 * @help:  one sentence
 * @write: writes its samples
 */
struct metric {
	const char *name;
	enum metric_type type;
	const char *unit;
	const char *help;
	void (*write)(struct metrics_text *text);
};

/* The output of metrics. @metric: the metric that is being written. */
struct metrics_text {
	FILE *file;
	const struct metrics *metrics;
	enum metrics_format format;
	const struct metric *metric;
	/* NAME=VALUE of --label, which each sample gets; or NULL */
	const char *label;
	bool has_header;
};

/*
 * Write a sample with the value @value. The other arguments are pairs: the name
 * of a label and its value, which may contain any bytes; NULL ends them.
 */
void metrics_sample(struct metrics_text *text, double value, ...)
	__attribute__((sentinel));

#endif
