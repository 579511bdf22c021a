// SPDX-License-Identifier: GPL-2.0
// flame.js - zoom, search, details and the keyboard for a flame graph in a browser. The script reads
// all of its data from the picture itself. Parents come before their children.
(function () {
	"use strict";
	var svg = document.documentElement, NS = svg.namespaceURI;
	var XHTML = "http://www.w3.org/1999/xhtml";
	var area = document.getElementById("frames"), details = document.getElementById("details");
	var matched = document.getElementById("matched");
	var rowHeight = +svg.getAttribute("data-row"), up = svg.getAttribute("data-up") === "1";
	var hint = details.textContent;
	var width = +svg.getAttribute("width"), height = +svg.getAttribute("height");
	var frames = [], rows = [], root = null, chosen = null, query = null, box, charWidth;

	function read() {
		var last = [], i, g, rect, f, row;
		var groups = area.querySelectorAll("g");
		for (i = 0; i < groups.length; i++) {
			g = groups[i];
			rect = g.querySelector("rect");
			f = {
				g: g, rect: rect, text: g.querySelector("text"),
				title: g.querySelector("title").textContent,
				x: parseFloat(rect.getAttribute("x")),
				w: parseFloat(rect.getAttribute("width")),
				depth: +g.getAttribute("data-d"), kids: [], parent: null, shown: true
			};
			f.name = f.title.split("\n")[0];
			row = rows[f.depth] || (rows[f.depth] = []);
			// the parent is the last frame of the row below that begins no later
			if (f.depth) {
				if (!row.length)
					last[f.depth] = 0;
				var below = rows[f.depth - 1], mid = f.x + f.w / 2;
				while (last[f.depth] + 1 < below.length &&
				       below[last[f.depth] + 1].x <= mid)
					last[f.depth]++;
				f.parent = below[last[f.depth]];
				f.parent.kids.push(f);
			}
			row.push(f);
			frames.push(f);
			g.frame = f;
		}
	}

	// How much of a name fits
	function label(f, w) {
		var px = w * (width - 20) / 100 - 6, nr = Math.floor(px / charWidth), name;
		if (nr < 2) {
			if (f.text)
				f.text.style.display = "none";
			return;
		}
		if (!f.text) {
			f.text = document.createElementNS(NS, "text");
			f.text.setAttribute("y", +f.rect.getAttribute("y") + 11);
			f.text.setAttribute("dx", 3);
			f.g.appendChild(f.text);
		}
		name = f.name.replace(/ \([^()]*\)$/, "");
		f.text.style.display = "";
		f.text.textContent = name.length <= nr ? name : name.slice(0, nr - 1) + "\u2026";
	}

	function place(f, x, w) {
		f.rect.setAttribute("x", x + "%");
		f.rect.setAttribute("width", w + "%");
		label(f, w);
		if (f.text)
			f.text.setAttribute("x", x + "%");
	}

	function draw() {
		var i, f, above = {}, p;
		for (p = root; p; p = p.parent)
			above[p.depth] = p;
		for (i = 0; i < frames.length; i++) {
			f = frames[i];
			f.inside = !root || f === root || (f.parent !== null && f.parent.inside);
			f.above = !f.inside && above[f.depth] === f;
			f.shown = f.inside || f.above;
			f.g.style.display = f.shown ? "" : "none";
			f.g.classList.toggle("above", f.above);
			if (f.above)
				place(f, 0, 100);
			else if (f.inside)
				place(f, root ? (f.x - root.x) * 100 / root.w : f.x,
				      root ? f.w * 100 / root.w : f.w);
		}
		document.getElementById("reset").style.visibility = root ? "visible" : "hidden";
		count();
	}

	function zoom(f) {
		root = f && f.w < 100 - 1e-9 ? f : null;
		draw();
		if (f)
			choose(f);
	}

	// The share of what is shown that a match is in; a match on a match counts once
	function count() {
		var i, f, sum = 0, nr = 0;
		for (i = 0; i < frames.length; i++) {
			f = frames[i];
			f.match = query !== null && query.test(f.name);
			f.covered = f.match || (f.parent !== null && f.parent.covered);
			f.g.classList.toggle("match", f.match);
			if (f.match && f.shown)
				nr++;
			if (!f.inside || !f.covered)
				continue;
			if (f === root || f.parent === null || !f.parent.covered)
				sum += f.w;
		}
		matched.textContent = query === null ? "" : "matched: " +
			(sum * 100 / (root ? root.w : 100)).toFixed(2) + "%, " + nr +
			(nr === 1 ? " frame" : " frames");
		svg.classList.toggle("searching", query !== null);
	}

	function search(text) {
		query = null;
		if (text) {
			try {
				query = new RegExp(text, "i");
			} catch (e) {
				query = new RegExp(text.replace(/[^\w\s]/g, "\\$&"), "i");
			}
		}
		count();
	}

	function tell(f) {
		var t = f ? f.title.replace(/\n/g, " \u00b7 ") : hint;
		if (f && root && f.inside)
			t += "   (" + (f.w * 100 / root.w).toFixed(2) + "% of what is shown)";
		details.textContent = t;
	}

	function choose(f) {
		if (chosen)
			chosen.g.classList.remove("chosen");
		chosen = f;
		if (f)
			f.g.classList.add("chosen");
		tell(f);
	}

	function widest(list) {
		return list.reduce(function (a, b) { return b.w > a.w ? b : a; });
	}

	function sibling(by) {
		var row = rows[chosen.depth], i = row.indexOf(chosen) + by;
		while (row[i] && !row[i].shown)
			i += by;
		return row[i] || chosen;
	}

	function step(key) {
		if (!chosen || !chosen.shown)
			return root || rows[0][0];
		if ((key === "ArrowUp") === up)
			return chosen.kids.length ? widest(chosen.kids) : chosen;
		if (key === "ArrowUp" || key === "ArrowDown")
			return chosen.parent || chosen;
		return sibling(key === "ArrowLeft" ? -1 : 1);
	}

	function next(by) {
		var list = frames.filter(function (f) { return f.match && f.shown; });
		if (list.length)
			choose(list[(list.indexOf(chosen) + by + list.length) % list.length]);
	}

	function key(e) {
		var k = e.key;
		if (e.target === box) {
			if (k === "Escape")
				box.value = "";
			if (k === "Escape" || k === "Enter") {
				search(box.value);
				box.blur();
			}
			return;
		}
		if (e.altKey || e.metaKey || (e.ctrlKey && k !== "f"))
			return;
		if (k === "/" || (e.ctrlKey && k === "f")) {
			box.focus();
			box.select();
		} else if (k.indexOf("Arrow") === 0 && rows.length) {
			choose(step(k));
		} else if (k === "Enter" && chosen) {
			zoom(chosen);
		} else if (k === "Backspace" && root) {
			zoom(root.parent);
		} else if (k === "Escape" || k === "Home") {
			if (k === "Escape" && !root && query !== null) {
				box.value = "";
				search("");
			}
			choose(null);
			zoom(null);
		} else if (k === "n" || k === "N") {
			next(k === "n" ? 1 : -1);
		} else {
			return;
		}
		e.preventDefault();
	}

	function resize() {
		// a scroll bar takes some of it
		width = Math.max((window.innerWidth || 0) - (height > window.innerHeight ? 16 : 0), 400);
		svg.setAttribute("width", width);
		svg.setAttribute("viewBox", "0 0 " + width + " " + height);
		area.setAttribute("width", width - 20);
		draw();
	}

	function controls() {
		var holder = document.createElementNS(NS, "foreignObject");
		var div = document.createElementNS(XHTML, "div");
		var reset = document.createElementNS(XHTML, "button");
		holder.setAttribute("x", "100%");
		holder.setAttribute("y", 10);
		holder.setAttribute("width", 340);
		holder.setAttribute("height", 28);
		holder.setAttribute("transform", "translate(-350)");
		div.setAttribute("class", "controls");
		reset.setAttribute("id", "reset");
		reset.textContent = "Reset zoom";
		reset.addEventListener("click", function () { zoom(null); });
		box = document.createElementNS(XHTML, "input");
		box.setAttribute("id", "search");
		box.setAttribute("type", "search");
		box.setAttribute("placeholder", "Search (press /)");
		box.setAttribute("aria-label", "Search frames, a regular expression");
		box.addEventListener("input", function () { search(box.value); });
		div.appendChild(reset);
		div.appendChild(box);
		holder.appendChild(div);
		svg.appendChild(holder);
	}

	function frameOf(e) {
		var g = e.target.closest ? e.target.closest("#frames g") : null;
		return g ? g.frame : null;
	}

	charWidth = 6.63;
	read();
	controls();
	var probe = document.createElementNS(NS, "text");
	probe.textContent = "mmmmmmmmmmmmmmmmmmmm";
	area.appendChild(probe);
	charWidth = probe.getComputedTextLength() / 20 || charWidth;
	area.removeChild(probe);
	area.addEventListener("click", function (e) {
		var f = frameOf(e);
		if (f)
			zoom(f);
	});
	area.addEventListener("mouseover", function (e) {
		var f = frameOf(e);
		if (f)
			tell(f);
	});
	area.addEventListener("mouseout", function () { tell(chosen); });
	window.addEventListener("keydown", key);
	window.addEventListener("resize", resize);
	document.getElementById("hint").textContent =
		"click or Enter: zoom \u00b7 Esc: reset \u00b7 /: search \u00b7 n, N: next, previous match \u00b7 arrows: move";
	svg.classList.add("live");
	resize();
})();
