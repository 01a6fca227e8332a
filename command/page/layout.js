/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places of the picture's boxes, in units that the zoom multiplies. At the top are the
 * switches of the highest level; below, in rows, a panel for each group: its other
 * switches, then its leaf switches with their hosts.
 */
const CELLS = { few: { w: 22, h: 8 }, many: { w: 11, h: 7 } };	/* of hosts */
const FEW_HOSTS = 100;
const SWITCH_BOX = { w: 24, h: 9 };
const GAP = 2;
const PANEL_PAD = 4;
const TITLE = { least: 8, pixels: 13 };	/* height of a title; pixels when all is shown */
const PANEL_GAP = 8;
const ROW_MAX = 100;			/* panels in a row */
const ROW_GAP = 16;			/* above each row of panels, for cables */
const DIRECT_MAX = 150;			/* bundles of cables that are drawn each */
const DIRECT_SCALE = 0.6;		/* unless the picture gets smaller than this by it */
let cell = CELLS.many;

/* Number of columns for which count boxes have about this ratio of width to height. */
function columnsFor(count, box, ratio) {
	return Math.max(1, Math.min(count, Math.round(Math.sqrt(count * ratio * box.h / box.w))));
}

function gridSize(count, columns, box) {
	return { w: columns * (box.w + GAP) - GAP,
		 h: Math.ceil(count / columns) * (box.h + GAP) - GAP };
}

/* Give each node of a grid its box. Return the size of the grid. */
function gridPlace(list, columns, box, x, y) {
	list.forEach((node, i) => {
		node.box = { x: x + (i % columns) * (box.w + GAP),
			     y: y + Math.floor(i / columns) * (box.h + GAP),
			     w: box.w, h: box.h };
	});
	return gridSize(list.length, columns, box);
}

/* A leaf switch is as wide as the grid of its hosts below it. */
function leafSize(hosts) {
	const columns = columnsFor(hosts, cell, 3);
	const grid = gridSize(hosts, columns, cell);
	return { columns, w: Math.max(grid.w, SWITCH_BOX.w), h: SWITCH_BOX.h + GAP + grid.h };
}

function leafPlace(leaf, size, x, y) {
	leaf.box = { x, y, w: size.w, h: SWITCH_BOX.h };
	gridPlace(leaf.hosts, size.columns, cell, x, y + SWITCH_BOX.h + GAP);
}

/* The size of a panel, for leaves of the same size, below a title of this height. */
function panelSize(group, titleHeight) {
	const most = Math.max(1, ...group.leaves.map((leaf) => leaf.hosts.length));
	const leaf = leafSize(most);
	const slot = { w: leaf.w + GAP, h: leaf.h + GAP };
	const columns = columnsFor(group.leaves.length, slot, 1.2);
	const slots = gridSize(group.leaves.length, columns, slot);
	const leaves = group.leaves.length ? { w: slots.w - GAP, h: slots.h - GAP } :
		{ w: SWITCH_BOX.w, h: 0 };
	const otherColumns = Math.max(1, Math.floor((leaves.w + GAP) / (SWITCH_BOX.w + GAP)));
	const others = group.others.length ?
		gridSize(group.others.length, otherColumns, SWITCH_BOX) : { w: 0, h: -2 * GAP };
	const title = group.leaves.length + group.others.length > 1 ? titleHeight : 0;
	return { leaf, slot, columns, otherColumns, others, title,
		 w: leaves.w + 2 * PANEL_PAD,
		 h: title + others.h + 2 * GAP + leaves.h + 2 * PANEL_PAD };
}

function panelPlace(group, size, x, y) {
	group.box = { x, y, w: size.w, h: size.h };
	group.titleHeight = size.title;
	const left = x + PANEL_PAD;
	const top = y + PANEL_PAD + size.title;
	gridPlace(group.others, size.otherColumns, SWITCH_BOX, left, top);
	const below = top + size.others.h + 2 * GAP;
	group.leaves.forEach((leaf, i) =>
		leafPlace(leaf, size.leaf,
			  left + (i % size.columns) * (size.slot.w + GAP),
			  below + Math.floor(i / size.columns) * (size.slot.h + GAP)));
}

/* Divide the panels into rows that are at most this wide. */
function rowsMake(groups, sizes, width) {
	const rows = [];
	let row = null;
	groups.forEach((group, i) => {
		const { w, h } = sizes[i];
		if (!row || row.w + w > width) {
			row = { w: -PANEL_GAP, h: 0, groups: [], sizes: [] };
			rows.push(row);
		}
		row.groups.push(group);
		row.sizes.push(sizes[i]);
		row.w += w + PANEL_GAP;
		row.h = Math.max(row.h, h);
	});
	return rows;
}

/* The size of all: the switches of the highest level above rows of panels. */
function pictureSize(topCount, rows, topGap) {
	const w = Math.max(SWITCH_BOX.w, ...rows.map((row) => row.w));
	const columns = Math.max(1, Math.floor((w + GAP) / (SWITCH_BOX.w + GAP)));
	const top = topCount ? gridSize(topCount, Math.min(columns, topCount), SWITCH_BOX).h +
		topGap : 0;
	return { w, top, columns, h: top + rows.reduce((sum, row) => sum + row.h + ROW_GAP, -ROW_GAP) };
}

/*
 * The rows with which the picture is largest in a frame of this ratio. Cables that are
 * drawn each would cross the panels of other rows.
 */
function rowsChoose(groups, sizes, topCount, topGap, ratio, isOneRow) {
	let best = null;
	let width = -PANEL_GAP;
	for (const [i, size] of sizes.slice(0, ROW_MAX).entries()) {
		width += size.w + PANEL_GAP;
		if (isOneRow && i < sizes.length - 1)
			continue;
		const rows = rowsMake(groups, sizes, width);
		const picture = pictureSize(topCount, rows, topGap);
		const scale = Math.min(ratio / picture.w, 1 / picture.h);
		if (!best || scale > best.scale)
			best = { rows, picture, scale };
	}
	return best || { rows: [], picture: pictureSize(topCount, [], topGap), scale: 1 };
}

function rowsPlace(rows, y) {
	for (const row of rows) {
		let x = 0;
		row.y = y;
		row.groups.forEach((group, i) => {
			panelPlace(group, row.sizes[i], x, y);
			x += row.sizes[i].w + PANEL_GAP;
		});
		y += row.h + ROW_GAP;
	}
}

/* Cables between two switches are one bundle, with the worst severity of them. */
function bundlesFind() {
	const bundles = new Map();
	for (const link of links) {
		if (!link.a.isSwitch || !link.b.isSwitch || link.a === link.b)
			continue;
		const key = link.a.index * nodes.length + link.b.index;
		const bundle = bundles.get(key);
		if (bundle) {
			bundle.count++;
			bundle.severity = Math.max(bundle.severity, link.severity);
		} else {
			bundles.set(key, { a: link.a, b: link.b, count: 1,
					   severity: link.severity });
		}
	}
	return [...bundles.values()];
}

/* Number of cables of each group to the switches of the highest level. */
function uplinksCount(section) {
	const isTop = new Set(section.top);
	for (const group of section.pods) {
		group.uplinks = 0;
		group.severity = NONE;
		for (const node of [...group.leaves, ...group.others])
			for (const link of node.links)
				if (isTop.has(farNode(link, node))) {
					group.uplinks++;
					group.severity = Math.max(group.severity, link.severity);
				}
	}
}

/* Choose rows with titles that can be read when all is shown. */
function rowsFind(section, frame, isDirect) {
	const ratio = frame.w / frame.h;
	const topGap = (isDirect ? 3 : 1.5) * ROW_GAP;
	let title = TITLE.least;
	let chosen = null;
	for (let i = 0; i < 3; i++) {
		const sizes = section.pods.map((group) => panelSize(group, title));
		chosen = rowsChoose(section.pods, sizes, section.top.length, topGap, ratio,
				    isDirect && section.top.length > 0);
		title = Math.max(TITLE.least, TITLE.pixels / frame.h / chosen.scale);
	}
	return chosen;
}

/* Place a section below y, for a frame of this size in pixels. */
function sectionPlace(section, bundles, frame, y) {
	section.bundles = bundles.filter((bundle) => section.islands.has(bundle.a.island));
	uplinksCount(section);
	const direct = rowsFind(section, frame, true);
	const bus = rowsFind(section, frame, false);
	section.isDirect = section.bundles.length <= DIRECT_MAX &&
		(!section.top.length || direct.scale > bus.scale * DIRECT_SCALE);
	const { rows, picture } = section.isDirect ? direct : bus;
	const columns = Math.min(picture.columns, section.top.length || 1);
	const topSize = gridSize(section.top.length, columns, SWITCH_BOX);
	gridPlace(section.top, columns, SWITCH_BOX, Math.max(0, (picture.w - topSize.w) / 2), y);
	rowsPlace(rows, y + picture.top);
	Object.assign(section, { rows, y, w: picture.w, h: picture.h,
				 topBottom: y + topSize.h,
				 hasBus: section.top.length > 0 && !section.isDirect });
}

function sectionSize(section) {
	section.islands = new Set();
	section.size = section.top.length;
	for (const group of section.pods) {
		section.size += group.adapterCount + group.leaves.length + group.others.length;
		section.islands.add((group.leaves[0] || group.others[0]).island);
	}
	return section.size;
}

/* The whole picture for a frame of this size in pixels: sections below each other. */
function layoutMake(frame) {
	const sections = sectionsFind();
	const bundles = bundlesFind();
	const loose = nodes.filter((node) => !node.isSwitch && !node.leaf).sort(byName);
	const total = sections.reduce((sum, section) => sum + sectionSize(section), 1);
	let y = 0;
	let w = 0;
	cell = data.info.adapters <= FEW_HOSTS ? CELLS.few : CELLS.many;
	for (const section of sections) {
		const share = Math.max(0.1, section.size / total);
		sectionPlace(section, bundles, { w: frame.w, h: frame.h * share }, y);
		y += section.h + 2 * ROW_GAP;
		w = Math.max(w, section.w);
	}
	const looseColumns = columnsFor(loose.length, cell, 6);
	const size = gridPlace(loose, looseColumns, cell, 0, y);
	const left = sections.some((section) => section.hasBus) ? -ROW_GAP : 0;
	return {
		sections, loose, looseY: y,
		top: sections.flatMap((section) => section.top),
		pods: sections.flatMap((section) => section.pods),
		bounds: { x: left, y: 0, w: Math.max(w, size.w) - left,
			  h: loose.length ? y + size.h : y - 2 * ROW_GAP },
	};
}
