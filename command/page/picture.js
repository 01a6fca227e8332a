/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Draws the picture on a canvas, and moves it. */
const canvas = document.getElementById("picture");
const context = canvas.getContext("2d");
const SCALE_MAX = 24;
const FIT_MAX = 8;		/* the greatest zoom that shows all */
const MARGIN = 20;		/* pixels around the picture */
const FONT = '"DejaVu Sans", Verdana, system-ui, sans-serif';

const view = { scale: 1, x: 0, y: 0, width: 0, height: 0, fitted: true };
let layout = null;
let selected = null;
let colors = {};
let isDrawPlanned = false;

function colorsRead() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ["back", "panel", "line", "text", "faint", "host", "host-text",
			    "switch", "switch-text", "cable", "warning", "critical", "selected"])
		colors[name] = style.getPropertyValue(`--${name}`).trim();
}

function severityColor(severity) {
	return severity === CRITICAL ? colors.critical : colors.warning;
}

/* Pixels of a place of the layout. */
function px(x) {
	return (x - view.x) * view.scale;
}

function py(y) {
	return (y - view.y) * view.scale;
}

function fit() {
	const { bounds } = layout;
	const scale = Math.min((view.width - 2 * MARGIN) / bounds.w,
			       (view.height - 2 * MARGIN) / bounds.h, FIT_MAX);
	view.scale = Math.max(scale, 0.01);
	view.x = bounds.x + bounds.w / 2 - view.width / 2 / view.scale;
	view.y = bounds.y + bounds.h / 2 - view.height / 2 / view.scale;
	view.fitted = true;
	drawPlan();
}

/* Zoom by a factor; the place at these pixels does not move. */
function zoom(factor, x = view.width / 2, y = view.height / 2) {
	const { bounds } = layout;
	const least = Math.min(view.width / bounds.w, view.height / bounds.h, 1) / 2;
	const scale = Math.min(Math.max(view.scale * factor, least), SCALE_MAX);
	view.x += x / view.scale - x / scale;
	view.y += y / view.scale - y / scale;
	view.scale = scale;
	view.fitted = false;
	drawPlan();
}

function pan(dx, dy) {
	const { bounds } = layout;
	const clamp = (value, least, most) => Math.min(Math.max(value, least), most);
	const halfW = view.width / 2 / view.scale;
	const halfH = view.height / 2 / view.scale;
	view.x = clamp(view.x - dx / view.scale, bounds.x - halfW, bounds.x + bounds.w - halfW);
	view.y = clamp(view.y - dy / view.scale, bounds.y - halfH, bounds.y + bounds.h - halfH);
	view.fitted = false;
	drawPlan();
}

/* Show a node in the middle, near enough to read its name. */
function center(node) {
	if (!node.box)
		return;
	const { box } = node;
	view.scale = Math.min(SCALE_MAX, Math.max(view.scale, 84 / box.w));
	view.x = box.x + box.w / 2 - view.width / 2 / view.scale;
	view.y = box.y + box.h / 2 - view.height / 2 / view.scale;
	view.fitted = false;
	drawPlan();
}

function isSeen(box) {
	return px(box.x) < view.width && px(box.x + box.w) > 0 &&
		py(box.y) < view.height && py(box.y + box.h) > 0;
}

function rect(box) {
	context.rect(px(box.x), py(box.y), box.w * view.scale, box.h * view.scale);
}

/* Boxes of one colour are one path, which is much faster than each alone. */
function boxesFill(list, color) {
	context.fillStyle = color;
	context.beginPath();
	list.forEach((node) => rect(node.box));
	context.fill();
}

/*
 * The text, without its beginning if it is too wide: names differ at the end. "" if not
 * even a few letters fit.
 */
function textCut(text, width) {
	const whole = context.measureText(text).width;
	if (whole <= width)
		return text;
	let length = Math.floor(text.length * width / whole);
	while (length > 1 && context.measureText(`…${text.slice(-length)}`).width > width)
		length--;
	const rest = text.slice(-length).replace(/^\S{0,2}\s+/, "");
	return length > 1 ? `…${rest}` : "";
}

/* In a box that is high enough, the first text that fits, or the end of the last. */
function boxText(texts, box, color) {
	const height = box.h * view.scale;
	const width = box.w * view.scale;
	if (height < 11 || width < 24)
		return;
	context.font = `${Math.min(14, Math.max(10, height * 0.6))}px ${FONT}`;
	const fitting = texts.find((text) => context.measureText(text).width <= width - 6);
	context.fillStyle = color;
	context.textAlign = "center";
	context.textBaseline = "middle";
	context.fillText(fitting || textCut(texts.at(-1), width - 6), px(box.x) + width / 2,
			 py(box.y) + height / 2);
}

function panelTitle(group) {
	const parts = [group.name || "Group"];
	parts.push(countText(group.leaves.length, "leaf", "leaves"));
	parts.push(countText(group.hostCount, "host"));
	if (group.uplinks)
		parts.push(countText(group.uplinks, "link up", "links up"));
	return parts.join(" · ");
}

function panelDraw(group) {
	context.fillStyle = colors.panel;
	context.strokeStyle = colors.line;
	context.lineWidth = 1;
	context.beginPath();
	rect(group.box);
	context.fill();
	context.stroke();
	const height = (group.titleHeight + PANEL_PAD) * view.scale;
	const width = group.box.w * view.scale - 8;
	if (!group.titleHeight || height < 10 || width < 30)
		return;
	context.font = `${Math.min(14, height * 0.75)}px ${FONT}`;
	context.fillStyle = colors.text;
	context.textAlign = "left";
	context.textBaseline = "middle";
	const texts = [panelTitle(group), `${group.name || "Group"} · ` +
		countText(group.hostCount, "host"), group.name || "Group"];
	const fitting = texts.find((text) => context.measureText(text).width <= width);
	context.fillText(fitting || textCut(texts.at(-1), width), px(group.box.x) + 4,
			 py(group.box.y) + height / 2);
}

/* From the switches at the top to each panel: a trunk, a branch for each row, stubs. */
function busDraw(section) {
	const linked = section.rows.filter((row) => row.groups.some((group) => group.uplinks));
	if (!linked.length)
		return;
	const first = linked[0].groups.find((group) => group.uplinks).box;
	const trunk = px(linked.length > 1 ? -ROW_GAP * 0.6 : first.x + first.w / 2);
	const branch = (row) => py(row.y - ROW_GAP * 0.45);
	const middle = px(section.w / 2);
	context.strokeStyle = colors.cable;
	context.lineWidth = Math.max(1.5, view.scale);
	context.beginPath();
	context.moveTo(middle, py(section.topBottom));
	context.lineTo(middle, branch(linked[0]));
	context.lineTo(trunk, branch(linked[0]));
	context.lineTo(trunk, branch(linked.at(-1)));
	for (const row of linked) {
		const { box } = row.groups.filter((group) => group.uplinks).at(-1);
		context.moveTo(trunk, branch(row));
		context.lineTo(px(box.x + box.w / 2), branch(row));
	}
	context.stroke();
	for (const row of linked)
		row.groups.filter((group) => group.uplinks).forEach((group) =>
			stubDraw(group, branch(row)));
}

function stubDraw(group, from) {
	const x = px(group.box.x + group.box.w / 2);
	context.strokeStyle = group.severity ? severityColor(group.severity) : colors.cable;
	context.beginPath();
	context.moveTo(x, from);
	context.lineTo(x, py(group.box.y));
	context.stroke();
}

function boxMiddle(box, isLower) {
	return [px(box.x + box.w / 2), py(isLower ? box.y : box.y + box.h)];
}

/*
 * The end of a bundle at a switch: at the edge of its group, unless the bundle stays in
 * the group, so that it does not cross the group's title.
 */
function bundleEnd(node, far, isLower) {
	const panel = node.group === far.group ? null : node.group.box;
	const [x, y] = boxMiddle(node.box, isLower);
	return [x, panel ? boxMiddle(panel, isLower)[1] : y];
}

function bundleDraw(a, b, color, width) {
	const [above, below] = a.box.y <= b.box.y ? [a, b] : [b, a];
	const [upper, lower] = [above.box, below.box];
	context.strokeStyle = color;
	context.lineWidth = width;
	context.beginPath();
	if (lower.y > upper.y) {
		context.moveTo(...bundleEnd(above, below, false));
		context.lineTo(...bundleEnd(below, above, true));
		context.stroke();
		return;
	}
	context.moveTo(...boxMiddle(upper, false));
	context.arcTo(px((upper.x + lower.x + upper.w) / 2), py(upper.y + upper.h + ROW_GAP),
		      ...boxMiddle(lower, false), Math.abs(px(upper.x) - px(lower.x)) / 2);
	context.stroke();
}

function bundlesDraw(section) {
	for (const bundle of section.bundles)
		if (!bundle.severity)
			bundleDraw(bundle.a, bundle.b, colors.cable,
				   Math.max(1, Math.min(1 + bundle.count / 4, 3, view.scale)));
}

/*
 * Cables with findings, above the boxes, so that none is hidden. Those of the bus would
 * cross the panels: its stub and both ends are marked instead.
 */
function badBundlesDraw() {
	for (const section of layout.sections)
		for (const bundle of section.bundles)
			if (bundle.severity && (section.isDirect ||
						bundle.a.group === bundle.b.group))
				bundleDraw(bundle.a, bundle.b, severityColor(bundle.severity), 2);
}

function namesDraw(list, color) {
	for (const node of list)
		boxText([node.label, shortName(node)], node.box, color);
}

/* A switch without the name of its group; of a host's description, the first word. */
function shortName(node) {
	if (!node.isSwitch)
		return node.label.split(" ")[0];
	const { name } = node.group;
	return node.label.slice(name.length).replace(/^[\s._:-]+/, "") || node.label;
}

/* A ring that is seen at each zoom, so many pixels outside of the box. */
function ringDraw(box, color, width, least, outside = 0) {
	const w = Math.max(box.w * view.scale, least) + 2 * outside;
	const h = Math.max(box.h * view.scale, least) + 2 * outside;
	context.strokeStyle = color;
	context.lineWidth = width;
	context.strokeRect(px(box.x + box.w / 2) - w / 2, py(box.y + box.h / 2) - h / 2, w, h);
}

function findingsDraw(list) {
	for (const node of list.filter((each) => each.severity))
		ringDraw(node.box, severityColor(node.severity), 2.5, 7);
}

function selectionDraw() {
	if (!selected || !selected.box)
		return;
	for (const link of selected.links) {
		const far = farNode(link, selected);
		if (far.box && far !== selected && far !== selected.leaf && selected !== far.leaf)
			bundleDraw(selected, far, colors.selected, 1.5);
	}
	for (const far of new Set(selected.links.map((link) => farNode(link, selected))))
		if (far.box)
			ringDraw(far.box, colors.selected, 1.5, 3, view.scale > 2 ? 2.5 : 0);
	ringDraw(selected.box, colors.back, 6, 12);
	ringDraw(selected.box, colors.selected, 3.5, 12);
}

/* This port is marked by a dot: in a corner, once its box is large. */
function hereDraw() {
	if (!here || !here.node.box || !isSeen(here.node.box))
		return;
	const { box } = here.node;
	const isLarge = box.h * view.scale > 24;
	const x = isLarge ? px(box.x) + 7 : px(box.x + box.w / 2);
	const y = isLarge ? py(box.y) + 7 : py(box.y + box.h / 2);
	context.beginPath();
	context.arc(x, y, 5, 0, 2 * Math.PI);
	context.fillStyle = colors.text;
	context.fill();
	context.strokeStyle = colors.back;
	context.lineWidth = 2;
	context.stroke();
}

/* The nodes outside of panels have a caption above, in the free space. */
function captionsDraw() {
	context.font = `12px ${FONT}`;
	context.fillStyle = colors.faint;
	context.textAlign = "left";
	context.textBaseline = "bottom";
	if (layout.loose.length && ROW_GAP * view.scale > 12)
		context.fillText(`${countText(layout.loose.length, "node")} without a switch`,
				 px(0), py(layout.looseY) - 3);
	for (const section of layout.sections)
		if (section.top.length && ROW_GAP * view.scale > 5)
			context.fillText(topTitle(section.top), px(section.top[0].box.x),
					 py(section.y) - 3);
}

function topTitle(top) {
	const island = data.info.islands > 1 ? `Island ${top[0].island}: ` : "";
	return `${island}${countText(top.length, "switch", "switches")} of level ${top[0].level}`;
}

function draw() {
	isDrawPlanned = false;
	const ratio = window.devicePixelRatio || 1;
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.fillStyle = colors.back;
	context.fillRect(0, 0, view.width, view.height);
	layout.sections.filter((section) => section.hasBus).forEach(busDraw);
	const panels = layout.pods.filter((group) => isSeen(group.box));
	panels.forEach(panelDraw);
	layout.sections.filter((section) => section.isDirect).forEach(bundlesDraw);
	const switches = layout.top.filter((node) => isSeen(node.box));
	const hosts = layout.loose.filter((node) => isSeen(node.box));
	for (const group of panels) {
		switches.push(...group.others, ...group.leaves);
		for (const leaf of group.leaves)
			if (leaf.hosts.length && isLeafSeen(leaf))
				hosts.push(...leaf.hosts);
	}
	boxesFill(hosts, colors.host);
	boxesFill(switches, colors.switch);
	boxesFill([...hosts, ...switches].filter((node) => node.severity === CRITICAL),
		  colors.critical);
	if (cell.h * view.scale >= 11)
		namesDraw(hosts.filter((node) => isSeen(node.box)), colors["host-text"]);
	if (SWITCH_BOX.h * view.scale >= 11)
		namesDraw(switches.filter((node) => isSeen(node.box)), colors["switch-text"]);
	badBundlesDraw();
	findingsDraw([...hosts, ...switches]);
	captionsDraw();
	selectionDraw();
	hereDraw();
}

/* A leaf switch with its hosts below. */
function isLeafSeen(leaf) {
	const last = leaf.hosts.at(-1).box;
	return isSeen({ x: leaf.box.x, y: leaf.box.y, w: leaf.box.w,
			h: last.y + last.h - leaf.box.y });
}

function drawPlan() {
	if (isDrawPlanned)
		return;
	isDrawPlanned = true;
	requestAnimationFrame(draw);
}

/* The node at these pixels, or null. */
function nodeAt(x, y) {
	const place = { x: x / view.scale + view.x, y: y / view.scale + view.y };
	const has = (box) => box && place.x >= box.x && place.x < box.x + box.w + GAP &&
		place.y >= box.y && place.y < box.y + box.h + GAP;
	const group = layout.pods.find((each) => has(each.box));
	if (!group)
		return [...layout.top, ...layout.loose].find((node) => has(node.box)) || null;
	return [...group.others, ...group.leaves].find((node) => has(node.box)) ||
		group.leaves.flatMap((leaf) => leaf.hosts).find((node) => has(node.box)) || null;
}

/* The middle of the picture stays where it is, as of a node that was searched. */
function resize() {
	const ratio = window.devicePixelRatio || 1;
	view.x += (view.width - canvas.clientWidth) / 2 / view.scale;
	view.y += (view.height - canvas.clientHeight) / 2 / view.scale;
	view.width = canvas.clientWidth;
	view.height = canvas.clientHeight;
	canvas.width = Math.round(view.width * ratio);
	canvas.height = Math.round(view.height * ratio);
	if (view.fitted)
		fit();
	/* An empty canvas until the next frame would flicker. */
	draw();
}

function pointersListen(choose) {
	let last = null;
	let moved = 0;
	canvas.addEventListener("pointerdown", (event) => {
		last = { x: event.offsetX, y: event.offsetY };
		moved = 0;
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointermove", (event) => {
		if (!last) {
			const node = nodeAt(event.offsetX, event.offsetY);
			canvas.title = node ? node.label : "";
			return;
		}
		moved += Math.abs(event.offsetX - last.x) + Math.abs(event.offsetY - last.y);
		pan(event.offsetX - last.x, event.offsetY - last.y);
		last = { x: event.offsetX, y: event.offsetY };
	});
	canvas.addEventListener("pointerup", (event) => {
		if (last && moved < 5)
			choose(nodeAt(event.offsetX, event.offsetY));
		last = null;
	});
	canvas.addEventListener("pointercancel", () => { last = null; });
	canvas.addEventListener("dblclick", (event) => zoom(2, event.offsetX, event.offsetY));
	canvas.addEventListener("wheel", (event) => {
		if (!event.ctrlKey)
			return;
		event.preventDefault();
		zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
	}, { passive: false });
}

function keysListen() {
	const keys = {
		ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0),
		ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60),
		"+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: fit,
	};
	canvas.addEventListener("keydown", (event) => {
		const key = keys[event.key];
		if (!key || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		key();
	});
}

function pictureStart(choose) {
	colorsRead();
	layout = layoutMake({ w: Math.max(1, canvas.clientWidth - 2 * MARGIN),
			      h: Math.max(1, canvas.clientHeight - 2 * MARGIN) });
	canvas.setAttribute("aria-label", "Picture of the fabric: " +
		countText(data.info.switches, "switch", "switches") + " and " +
		countText(data.info.adapters, "host adapter"));
	pointersListen(choose);
	keysListen();
	document.getElementById("zoom-in").addEventListener("click", () => zoom(1.6));
	document.getElementById("zoom-out").addEventListener("click", () => zoom(1 / 1.6));
	document.getElementById("zoom-all").addEventListener("click", fit);
	new ResizeObserver(resize).observe(canvas);
	const recolor = () => { colorsRead(); drawPlan(); };
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
	matchMedia("print").addEventListener("change", () => { colorsRead(); draw(); });
	resize();
}
