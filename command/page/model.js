/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The data of the page as nodes, links and ports that refer to each other. */
"use strict";

const SWITCH = 2;
const PATH_FOUND = 1;
const PATH_OWN = 2;
const NONE = 0;
const WARNING = 1;
const CRITICAL = 2;

const data = JSON.parse(document.getElementById("data").textContent);
const collator = new Intl.Collator("en", { numeric: true });

function byName(a, b) {
	return collator.compare(a.label, b.label);
}

function nodesMake() {
	const columns = data.nodes;
	return columns.name.map((name, index) => ({
		index,
		name,
		label: name || columns.guid[index],
		guid: columns.guid[index],
		type: columns.type[index],
		isSwitch: columns.type[index] === SWITCH,
		portCount: columns.ports[index],
		level: columns.level[index],
		island: columns.island[index],
		links: [],
		ports: [],
		hosts: [],	/* of a leaf switch */
		leaf: null,	/* of a host */
		findings: [],
		severity: NONE,
		group: null,	/* of a switch, in the picture */
		box: null,	/* in the picture */
	}));
}

function portsMake() {
	return data.ports.map(([node, number, guid, lid, path, mtu, rate]) => {
		const port = { node: nodes[node], number, guid, lid, path, mtu, rate };
		port.node.ports.push(port);
		return port;
	});
}

function linksMake() {
	return data.links.map(([a, aPort, b, bPort, lanes, speed, state, mtu, rate, ends]) => {
		const link = { a: nodes[a], aPort, b: nodes[b], bPort, lanes, speed,
			       state, mtu, rate, ends, severity: NONE };
		link.a.links.push(link);
		if (link.a !== link.b)
			link.b.links.push(link);
		return link;
	});
}

/* The end of a link at a node, and the other end. */
function ownPort(link, node) {
	return link.a === node ? link.aPort : link.bPort;
}

function farNode(link, node) {
	return link.a === node ? link.b : link.a;
}

function farPort(link, node) {
	return link.a === node ? link.bPort : link.aPort;
}

/*
 * Number of hosts that these adapters belong to: adapters with a description of two words,
 * such as "host mlx5_0", are of the host with the first word as its name.
 */
function hostsCount(adapters) {
	return new Set(adapters.map((node) => /^\S+ \S+$/.test(node.label) ?
		node.label.split(" ")[0] : node)).size;
}

/* A host is drawn at the switch of its first linked port. */
function leavesFind() {
	for (const node of nodes) {
		node.links.sort((x, y) => ownPort(x, node) - ownPort(y, node));
		const link = node.isSwitch ? null :
			node.links.find((each) => farNode(each, node).isSwitch);
		if (!link)
			continue;
		node.leaf = farNode(link, node);
		node.leafPort = farPort(link, node);
		node.leaf.hosts.push(node);
	}
	for (const node of nodes)
		node.hosts.sort((x, y) => x.leafPort - y.leafPort);
}

function findingsMake() {
	return data.findings.map(([kind, severity, index, port, what, expected, peer]) => {
		const node = index === null ? null : nodes[index];
		const finding = { kind, severity: severity ? CRITICAL : WARNING, node, port, what,
				  expected };
		if (node)
			findingAdd(finding, node);
		else if (Number.isInteger(peer))
			findingMark(finding, finding.near = nodes[peer]);
		return finding;
	});
}

/* Findings about a link, which are also findings of the node at the other end. */
const LINK_KINDS = new Set(["link-down", "link-degraded", "one-end", "missing", "new", "moved",
			    "slower"]);

function findingRaise(finding, what) {
	what.severity = Math.max(what.severity, finding.severity);
}

/* Also the finding of a missing node, at the node to which it was connected. */
function findingMark(finding, node) {
	node.findings.push(finding);
	findingRaise(finding, node);
}

function findingAdd(finding, node) {
	findingMark(finding, node);
	for (const link of node.links) {
		if (!LINK_KINDS.has(finding.kind) || ownPort(link, node) !== finding.port)
			continue;
		findingRaise(finding, link);
		const far = farNode(link, node);
		if (far !== node)
			findingMark(finding, far);
	}
}

const nodes = nodesMake();
const ports = portsMake();
const links = linksMake();
leavesFind();
const findings = findingsMake();
const here = data.here === null ? null : ports[data.here];

/* "4x HDR" of a link, and the text of a code. */
function widthText(link) {
	return [link.lanes ? `${link.lanes}x` : "", link.speed].join(" ").trim() || "–";
}

function codeText(kind, code) {
	return data.codes[kind][code] || (code ? String(code) : "–");
}

function countText(count, one, many) {
	return `${count.toLocaleString("en")} ${count === 1 ? one : many || `${one}s`}`;
}

/* The beginning that the names have in common, without separators or a part of a number. */
function commonName(names) {
	let prefix = names[0] || "";
	for (const name of names)
		while (!name.startsWith(prefix))
			prefix = prefix.slice(0, -1);
	const cutsNumber = names.some((name) => /^\d/.test(name.slice(prefix.length)));
	return (cutsNumber ? prefix.replace(/\d+$/, "") : prefix).replace(/[\s._:-]+$/, "");
}

/* The switches that stay connected without those of the highest level. */
function podOf(first, isTop, seen) {
	const pod = [first];
	seen.add(first);
	for (const node of pod)
		for (const link of node.links) {
			const far = farNode(link, node);
			if (far.isSwitch && !isTop(far) && !seen.has(far)) {
				seen.add(far);
				pod.push(far);
			}
		}
	return pod;
}

function groupMake(switches) {
	const leaves = switches.filter((node) => node.hosts.length > 0).sort(byName);
	const others = switches.filter((node) => node.hosts.length === 0).sort(byName);
	const isSingle = switches.length === 1;
	const group = {
		leaves,
		others,
		name: isSingle ? "" : commonName(switches.map((node) => node.label)),
		adapterCount: leaves.reduce((sum, leaf) => sum + leaf.hosts.length, 0),
		hostCount: hostsCount(leaves.flatMap((leaf) => leaf.hosts)),
	};
	for (const node of switches)
		node.group = group;
	return group;
}

/*
 * The sections of the picture. An island whose switches have several levels is one: the
 * switches of the highest level, and the pods below. The switches of all other islands
 * are one section, each as a pod of its own.
 */
function sectionsFind() {
	const tops = new Map();
	for (const node of nodes)
		if (node.isSwitch)
			tops.set(node.island, Math.max(tops.get(node.island) || 0, node.level));
	const isTop = (node) => tops.get(node.island) > 1 && node.level === tops.get(node.island) &&
		node.hosts.length === 0;
	const seen = new Set();
	const sections = new Map();
	for (const node of nodes) {
		if (!node.isSwitch || seen.has(node))
			continue;
		const key = tops.get(node.island) > 1 ? node.island : "rest";
		const section = sections.get(key) || { top: [], pods: [] };
		sections.set(key, section);
		if (isTop(node))
			section.top.push(node);
		else
			section.pods.push(groupMake(key === "rest" ? [node] :
				podOf(node, isTop, seen)));
	}
	for (const section of sections.values())
		sectionSort(section);
	return [...sections.values()].sort((a, b) => b.adapterCount - a.adapterCount);
}

function sectionSort(section) {
	section.top = groupMake(section.top).others;
	section.pods.sort((a, b) => byName(a.leaves[0] || a.others[0], b.leaves[0] || b.others[0]));
	section.adapterCount = section.pods.reduce((sum, group) => sum + group.adapterCount, 0);
}
