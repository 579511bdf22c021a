// SPDX-License-Identifier: GPL-2.0
/*
 * deep.js MS: functions that call each other, compiled or not, and wait at the end. Every stack at
 * fdatasync() has start(), then outer(), middle() and inner() for each level, then wait().
 */
'use strict';
const fs = require('fs');
const LEVELS = 5;
const file = fs.openSync('/dev/null', 'w');
const end = Date.now() + Number(process.argv[2]);

function wait() { try { fs.fdatasyncSync(file); } catch (e) { return 1; } return 0; }
function inner(n) { return n ? outer(n - 1) + 1 : wait(); }
function middle(n) { return [n].map(inner)[0] + JSON.stringify({ n }).length; }
function outer(n) { let s = 0; for (const c of String(n)) s += c.length; return s + middle(n); }
function start() { return outer(LEVELS - 1); }
function work()
{
	const o = {};

	for (let i = 0; i < 3000; i++)
		o['k' + i % 50] = [i, o.k1];
	return o;
}

let sum = 0;
(function turn() {
	for (let i = 0; i < 50; i++)
		sum += start();
	work();
	if (Date.now() < end)
		setTimeout(turn, 1);
})();
