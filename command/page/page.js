/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the page around the picture: findings, tables, search, details. */
const ROWS_FIRST = 8;		/* of a table, until more are asked for */
const ROWS_MORE = 500;
const MATCHES_MAX = 20;

/* An element with attributes and children; texts are never parsed as HTML. */
function element(name, attributes, ...children) {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		made.setAttribute(key, value);
	made.append(...children.filter((child) => child !== null));
	return made;
}

function fill(id, ...children) {
	document.getElementById(id).replaceChildren(...children);
}

function note(text) {
	return element("p", { class: "note" }, text);
}

/* A button that selects a node in the picture. */
function nodeButton(node, text = node.label) {
	const button = element("button", { type: "button", class: "name" }, text);
	button.addEventListener("click", () => {
		choose(node, true);
		document.getElementById("picture-title").scrollIntoView();
	});
	return button;
}

function cellMake(column, value) {
	const child = value === null || value === undefined || value === "" ? "–" :
		typeof value === "number" ? value.toLocaleString("en") : value;
	return element("td", column.class ? { class: column.class } : {},
		       ...(Array.isArray(child) ? child : [child]));
}

/*
 * A table of these rows. Columns have a title, a function that returns the value of a
 * row, and perhaps a class. More rows than ROWS_FIRST are added by a button.
 */
function tableMake(columns, rows, first = ROWS_FIRST) {
	const body = element("tbody");
	const head = element("tr", {}, ...columns.map((column) =>
		element("th", { scope: "col", ...(column.class && { class: column.class }) },
			column.title)));
	const more = element("button", { type: "button" });
	const count = element("span");
	const rest = element("p", { class: "note more" }, count, " ", more);
	let shown = 0;
	const add = (next) => {
		body.append(...rows.slice(shown, shown + next).map((row) =>
			element("tr", {}, ...columns.map((column) =>
				cellMake(column, column.value(row))))));
		shown = Math.min(shown + next, rows.length);
		rest.hidden = shown === rows.length;
		count.textContent = `${shown.toLocaleString("en")} of ` +
			`${rows.length.toLocaleString("en")} are shown.`;
		more.textContent = rows.length - shown <= ROWS_MORE ? "Show all" :
			`Show ${ROWS_MORE} more`;
	};
	more.addEventListener("click", () => add(ROWS_MORE));
	add(first);
	return element("div", {}, element("div", { class: "scroll" },
		element("table", {}, element("thead", {}, head), body)), rest);
}

function severityMark(severity) {
	return severity === CRITICAL ? element("span", { class: "critical-text" }, "critical") :
		element("span", { class: "warning-text" }, "warning");
}

const findingColumns = [
	{ title: "Severity", value: (finding) => severityMark(finding.severity) },
	{ title: "Finding", value: (finding) => finding.kind },
	{ title: "Node", value: (finding) => finding.node ? nodeButton(finding.node) :
		finding.expected },
	{ title: "Port", class: "number", value: (finding) => finding.port || null },
	{ title: "What", value: (finding) => finding.what },
];

/* Buttons for the kinds of findings; each shows only its kind. */
function kindsMake(show) {
	const counts = new Map();
	for (const finding of findings)
		counts.set(finding.kind, (counts.get(finding.kind) || 0) + 1);
	const buttons = [["all", findings.length], ...counts].map(([kind, count]) => {
		const button = element("button", { type: "button", "aria-pressed": kind === "all" },
				       `${kind} ${count.toLocaleString("en")}`);
		button.addEventListener("click", () => {
			buttons.forEach((each) => each.setAttribute("aria-pressed", each === button));
			show(kind === "all" ? findings :
				findings.filter((finding) => finding.kind === kind));
		});
		return button;
	});
	return element("div", { class: "kinds", role: "group", "aria-label": "Kinds of findings" },
		       ...buttons);
}

/* What the SA hides is not found, either. */
function hiddenNotes() {
	const { hidden, unmatched } = data.info;
	return hidden || unmatched ? [note(`The SA may hide nodes and links from this port: the ` +
		`other ends of ${countText(hidden, "active port")} are not in its records, and ` +
		`${countText(unmatched, "record")} ${unmatched === 1 ? "has" : "have"} a LID ` +
		"that no node has. They are not in this page.")] : [];
}

function findingsShow() {
	if (!findings.length) {
		fill("findings", element("p", { class: "good-text" }, data.file === undefined ?
			"✓ No findings: all links are active at the width and speed that both ends " +
			"support, and there is a path from here to each port." :
			"✓ No findings. A file has no states of links and no paths."), ...hiddenNotes());
		return;
	}
	const table = element("div");
	const show = (list) => table.replaceChildren(tableMake(findingColumns, list));
	show(findings);
	fill("findings", ...hiddenNotes(), ...(new Set(findings.map((finding) => finding.kind)).size > 1 ?
		[kindsMake(show)] : []), table, ...(findings.length < data.critical + data.warnings ?
		[note(`The page has the first ${countText(findings.length, "finding")} of ` +
			`${(data.critical + data.warnings).toLocaleString("en")}; see ibsa check.`)] : []));
}

function timeText(ns) {
	return ns < 1e6 ? `${(ns / 1e3).toPrecision(3)} µs` : `${(ns / 1e6).toPrecision(3)} ms`;
}

function summaryShow() {
	const { critical, warnings, info, latency, sm } = data;
	const facts = [
		["Critical findings", critical, critical ? "critical-text" : "good-text"],
		["Warnings", warnings, warnings ? "warning-text" : "good-text"],
		["Hosts", hostsCount(nodes.filter((node) => !node.isSwitch))], ["Switches", info.switches], ["Links", info.links],
	];
	if (info.islands > 1)
		facts.push(["Islands", info.islands]);
	if (sm)
		facts.push(["Subnet manager", sm.node === null ? `LID ${sm.lid}` :
			nodes[sm.node].label]);
	if (latency && latency.answers)
		facts.push(["SA latency, median", timeText(latency.median_ns)]);
	fill("summary", ...facts.map(([name, value, kind]) =>
		element("div", {}, element("dt", {}, name),
			element("dd", kind ? { class: kind } : {}, typeof value === "number" ?
				value.toLocaleString("en") : value))));
}

function originShow() {
	const from = data.file !== undefined ? `from the file ${data.file}` : here ?
		`as the SA returns it to ${here.node.label} port ${here.number}` :
		"as the SA returns it";
	const time = data.time.replace("T", " ").replace("Z", " UTC");
	fill("origin", `${from}, ${time}`);
	fill("footer", `Written by ibsa ${data.version} at ${time}. The page loads nothing from ` +
		"the network.");
	document.title = here ? `InfiniBand fabric of ${here.node.label}` : "InfiniBand fabric";
}

function leastCode(list, kind) {
	const known = list.filter((port) => port.path === PATH_FOUND && port[kind]);
	return known.reduce((least, port) => !least || port[kind] < least[kind] ? port : least, null);
}

/* Rates are not in the order of their codes: 14 Gb/s has a greater code than 120. */
function rateNumber(code) {
	return parseFloat(codeText("rate", code)) || 0;
}

/* leaf is null for hosts that no switch has. */
function leafRow(leaf, hosts) {
	const all = hosts.flatMap((host) => host.ports);
	const reached = all.filter((port) => port.path);
	const rates = reached.filter((port) => port.path === PATH_FOUND).map((port) => port.rate)
		.sort((a, b) => rateNumber(a) - rateNumber(b));
	const mtu = leastCode(all, "mtu");
	return { leaf, total: all.length, reached: reached.length,
		 rate: rates.length ? codeText("rate", rates[0]) : null,
		 mtu: mtu ? codeText("mtu", mtu.mtu) : null };
}

function pathsShow() {
	if (!here) {
		fill("paths", note("A file has no paths. Write the page of a fabric to see them."));
		return;
	}
	const rows = nodes.filter((node) => node.hosts.length > 0).sort(byName)
		.map((leaf) => leafRow(leaf, leaf.hosts));
	if (layout.loose.length)
		rows.unshift(leafRow(null, layout.loose));
	rows.sort((a, b) => (b.total - b.reached) - (a.total - a.reached));
	const total = rows.reduce((sum, row) => sum + row.total, 0);
	const reached = rows.reduce((sum, row) => sum + row.reached, 0);
	fill("paths",
	     element("p", { class: reached === total ? "good-text" : "critical-text" },
		     `${reached === total ? "✓" : "✗"} From ${here.node.label} port ${here.number}, ` +
		     `the SA has paths to ${reached.toLocaleString("en")} of ` +
		     `${countText(total, "host port")}.`),
	     tableMake([
		     { title: "Leaf switch", value: (row) => row.leaf ? nodeButton(row.leaf) :
			     "without a leaf switch" },
		     { title: "Host ports", class: "number", value: (row) => row.total },
		     { title: "With a path", class: "number", value: (row) => row.reached },
		     { title: "", value: (row) => row.reached === row.total ? "✓ all" :
			     element("span", { class: "critical-text" },
				     `✗ ${row.total - row.reached} without a path`) },
		     { title: "Lowest rate", value: (row) => row.rate },
		     { title: "Lowest MTU", value: (row) => row.mtu },
	     ], rows));
}

/* The ports by name, hosts first; the number of those that are not written. */
function membersMake(indexes, most = 4) {
	const cells = [];
	const isSwitch = (index) => index !== null && ports[index].node.isSwitch;
	const ordered = [...indexes].sort((a, b) => isSwitch(a) - isSwitch(b));
	ordered.slice(0, most).forEach((index, i) => {
		if (i)
			cells.push(", ");
		cells.push(index === null ? "a port that has no record" :
			nodeButton(ports[index].node));
	});
	if (indexes.length > most)
		cells.push(` and ${(indexes.length - most).toLocaleString("en")} more`);
	return cells.length ? cells : null;
}

/* A part that the SA may refuse: its table, or why there is none. */
function sectionShow(id, section, none, columns) {
	if (!section)
		fill(id, note("A file has none."));
	else if (section.why)
		fill(id, note(`Unknown: ${section.why}.`), ...(section.hint ? [note(section.hint)] : []));
	else if (!section.list.length)
		fill(id, note(none));
	else
		fill(id, ...(section.note ? [note(section.note)] : []),
		     tableMake(columns, section.list));
}

function partitionsNote(list) {
	const known = new Set(list.flatMap((row) => [...row.full, ...row.limited])).size;
	return known < ports.length ? `The P_Keys of ${known.toLocaleString("en")} of ` +
		`${countText(ports.length, "port")} are known.` : null;
}

/* Without the P_Key tables of other ports: what this port may see. */
function ownPartitionsShow() {
	const own = { list: data.own_partitions,
		      note: "The SA did not return the P_Key tables of other ports: these are the " +
			"partitions of the port from which the page was made, and the ports to " +
			"which it has a path in each. Many SAs return the tables to requests with " +
			"the SM_Key, which --sm-key sets." };
	sectionShow("partitions", own, "The port is in no partition.", [
		{ title: "P_Key", class: "fixed", value: (row) => row.pkey },
		{ title: "This port", value: (row) => `${row.member} member` },
		{ title: "Ports with a path", class: "number",
		  value: (row) => row.why ? null : row.ports.length },
		{ title: "Ports",
		  value: (row) => row.why ? `Unknown: ${row.why}.` : membersMake(row.ports) },
	]);
}

function partitionsShow() {
	const { partitions } = data;
	if (partitions && partitions.why && data.own_partitions.length) {
		ownPartitionsShow();
		return;
	}
	if (partitions && partitions.why)
		partitions.hint = "Many SAs return the P_Key tables of other ports only to requests " +
			"with the SM_Key, which --sm-key sets.";
	if (partitions && partitions.list.length)
		partitions.note = partitionsNote(partitions.list);
	sectionShow("partitions", partitions, "The SA returned no P_Key table.", [
		{ title: "P_Key", class: "fixed", value: (row) => row.pkey },
		{ title: "Full members", class: "number", value: (row) => row.full.length },
		{ title: "Limited members", class: "number", value: (row) => row.limited.length },
		{ title: "Ports", value: (row) => membersMake([...row.full, ...row.limited]) },
	]);
}

function servicesShow() {
	sectionShow("services", data.services, "The SA returned no service.", [
		{ title: "Name", value: (row) => row.service_name },
		{ title: "Id", class: "fixed", value: (row) => row.id },
		{ title: "Port", value: (row) => row.port === null ? row.gid :
			nodeButton(ports[row.port].node) },
		{ title: "P_Key", class: "fixed", value: (row) => row.pkey },
		{ title: "Lease in seconds", value: (row) => row.service_lease },
	]);
}

function groupsShow() {
	const none = "The SA returned no multicast group. To requests with the SM_Key, OpenSM " +
		"returns only groups that have members.";
	sectionShow("groups", data.groups, none, [
		{ title: "MGID", class: "fixed", value: (row) => row.mgid },
		{ title: "MLID", class: "fixed", value: (row) => row.mlid },
		{ title: "P_Key", class: "fixed", value: (row) => row.pkey },
		{ title: "MTU", value: (row) => row.mtu },
		{ title: "Rate", value: (row) => row.rate },
		{ title: "Members", class: "number", value: (row) => row.members.length },
		{ title: "Ports", value: (row) => membersMake(row.members) },
	]);
}

function latencyText(latency) {
	return latency.answers === 1 ?
		`Latency of the SA: ${timeText(latency.min_ns)} (one path query).` :
		`Latency of the SA: ${timeText(latency.min_ns)} to ${timeText(latency.max_ns)}, ` +
		`median ${timeText(latency.median_ns)} (${latency.answers} path queries, one after ` +
		"the other).";
}

function smShow() {
	const { sm, latency } = data;
	if (!sm) {
		fill("sm", note("A file has none."));
		return;
	}
	const parts = [element("p", {}, "The SM of this port has LID ", String(sm.lid),
			       ...(sm.node === null ? [] : [", ", nodeButton(nodes[sm.node])]), ".")];
	if (latency.answers)
		parts.push(element("p", {}, latencyText(latency)));
	if (latency.answers < latency.queries)
		parts.push(element("p", { class: "critical-text" },
			`${latency.queries - latency.answers} of ${latency.queries} ` +
			"path queries had no answer."));
	if (sm.why)
		parts.push(note(`Other SMs are unknown: ${sm.why}.`));
	else if (sm.list.length)
		parts.push(tableMake([
			{ title: "Node", value: (row) => row.port === null ? null :
				nodeButton(ports[row.port].node) },
			{ title: "Port GUID", class: "fixed", value: (row) => row.guid },
			{ title: "State", value: (row) => row.sm_state },
			{ title: "Priority", class: "number", value: (row) => row.priority },
			{ title: "Activity", class: "number", value: (row) => row.act_count },
		], sm.list));
	fill("sm", ...parts);
}

function factsMake(facts) {
	return element("dl", {}, ...facts.filter(([, value]) => value !== null).flatMap(
		([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function portFacts(port) {
	const path = port.path === PATH_OWN ? "this port" : port.path ?
		`path from here: ${codeText("rate", port.rate)}, MTU ${codeText("mtu", port.mtu)}` :
		here ? "no path from here" : "";
	return element("li", {}, `Port ${port.number}: LID ${port.lid || "–"}, GUID ${port.guid}` +
		(path ? `, ${path}` : ""));
}

function linksMakeTable(node) {
	return tableMake([
		{ title: "Port", class: "number", value: (link) => ownPort(link, node) },
		{ title: "Link", value: (link) => link.severity ?
			element("span", { class: link.severity === CRITICAL ? "critical-text" :
				"warning-text" }, widthText(link)) : widthText(link) },
		{ title: "State", value: (link) => codeText("state", link.state) },
		{ title: "To", value: (link) => nodeButton(farNode(link, node)) },
		{ title: "Port", class: "number", value: (link) => farPort(link, node) },
	], node.links, 64);
}

function detailsShow(node) {
	if (!node) {
		fill("details", note("Select a host or a switch, or search for one, to see its ports " +
			"and links."));
		return;
	}
	fill("details", element("h3", {}, node.label),
	     factsMake([
		     ["Type", codeText("type", node.type)],
		     ["Node GUID", node.guid],
		     ["Leaf switch", node.leaf && nodeButton(node.leaf)],
		     ["Leaf port", node.leaf && String(node.leafPort)],
		     ["Level", node.isSwitch ? String(node.level) : null],
		     ["Hosts", node.hosts.length ? String(hostsCount(node.hosts)) : null],
		     ["Ports", String(node.portCount)],
	     ]),
	     ...(node.findings.length ? [element("ul", {}, ...node.findings.map((finding) =>
		     element("li", {}, severityMark(finding.severity), ` ${finding.what}`)))] : []),
	     ...(node.ports.length ? [element("ul", {}, ...node.ports.map(portFacts))] : []),
	     node.links.length ? linksMakeTable(node) : note("No links."));
}

/* Select a node, or nothing; isCentered: show it in the middle of the picture. */
function choose(node, isCentered) {
	selected = node;
	detailsShow(node);
	if (node && isCentered)
		center(node);
	else
		drawPlan();
}

/* What the search finds of a node that is missing, which is not in the picture. */
const absents = findings.filter((finding) => finding.expected).map((finding) => (
	{ label: finding.expected, near: finding.near, note: finding.what, ports: [] }));

/* Nodes whose name, GUID or LID matches; names that begin with the text first. */
function matchesFind(text) {
	const wanted = text.trim().toLowerCase();
	if (!wanted)
		return [];
	const found = [...nodes, ...absents].filter((node) => node.words.includes(wanted) ||
		node.ports.some((port) => String(port.lid) === wanted));
	const rank = (node) => node.label.toLowerCase() === wanted ? 0 :
		node.label.toLowerCase().startsWith(wanted) ? 1 : 2;
	return found.sort((a, b) => rank(a) - rank(b) || byName(a, b));
}

/* The search field and the list of its matches. */
class Search {
	constructor() {
		this.input = document.getElementById("search");
		this.list = document.getElementById("matches");
		this.matches = [];
		this.current = 0;
		for (const node of nodes)
			node.words = [node.name, node.guid, ...node.ports.map((port) => port.guid)]
				.join("\n").toLowerCase();
		for (const absent of absents)
			absent.words = absent.label.toLowerCase();
		this.input.addEventListener("input", () => this.show());
		this.input.addEventListener("focus", () => this.input.value && this.show());
		this.input.addEventListener("blur", () => this.close());
		this.input.addEventListener("keydown", (event) => this.keyTake(event));
	}

	close() {
		this.list.hidden = true;
		this.input.setAttribute("aria-expanded", "false");
		this.input.removeAttribute("aria-activedescendant");
	}

	take(node) {
		this.close();
		if (!absents.includes(node))
			choose(node, true);
		else if (node.near)
			choose(node.near, true);
		else
			document.getElementById("findings").scrollIntoView();
	}

	/* Mark the match that Enter takes. */
	mark(index) {
		this.current = Math.min(Math.max(index, 0), this.matches.length - 1);
		[...this.list.children].forEach((item, i) =>
			item.setAttribute("aria-selected", String(i === this.current)));
		const item = this.list.children[this.current];
		if (!item)
			return;
		this.input.setAttribute("aria-activedescendant", item.id);
		item.scrollIntoView({ block: "nearest" });
	}

	item(node, index) {
		const place = node.leaf ? `, ${node.leaf.label} port ${node.leafPort}` : "";
		const made = element("li", { role: "option", id: `match-${index}` }, node.label,
				     element("small", {}, node.note || node.guid + place));
		made.addEventListener("mousedown", (event) => event.preventDefault());
		made.addEventListener("click", () => this.take(node));
		return made;
	}

	show() {
		const all = matchesFind(this.input.value);
		const more = all.length - MATCHES_MAX;
		this.matches = all.slice(0, MATCHES_MAX);
		this.list.replaceChildren(...this.matches.map((node, i) => this.item(node, i)));
		if (!all.length || more > 0)
			this.list.append(element("li", { class: "none" }, all.length ?
				`${more.toLocaleString("en")} more` : "No such node"));
		this.list.hidden = !this.input.value.trim();
		this.input.setAttribute("aria-expanded", String(!this.list.hidden));
		this.mark(0);
	}

	keyTake(event) {
		const keys = {
			ArrowDown: () => this.mark(this.current + 1),
			ArrowUp: () => this.mark(this.current - 1),
			Enter: () => this.matches.length && this.take(this.matches[this.current]),
			Escape: () => this.close(),
		};
		if (!keys[event.key] || event.isComposing)
			return;
		event.preventDefault();
		keys[event.key]();
	}
}

originShow();
summaryShow();
findingsShow();
detailsShow(null);
pictureStart((node) => choose(node, false));
pathsShow();
smShow();
partitionsShow();
servicesShow();
groupsShow();
new Search();
