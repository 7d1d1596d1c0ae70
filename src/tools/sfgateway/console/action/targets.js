// What actions are done to: lists of targets, an action that is carried out on them, and what came of it.

import { call, isOverNodes } from '../base/api.js';
import { h, say } from '../base/dom.js';
import { count } from '../base/format.js';
import { text } from '../base/values.js';
import { tell } from '../element/dialog.js';
import { tr } from '../language/texts.js';

/**
 * What came of an action on a target; error: why it was refused.
 * @typedef {{ target: string, error?: string | null, sqlstate?: string | null }} Outcome
 */

const NO_EXECUTION = 'SF005'; // there is none of the name here, or the role may not read it

// A list of the first names, and how many of so many (`all`) are not in it; lines of other words come before them.
export function nameList(names, all = names.length, otherLines = []) {
  const shown = names.slice(0, 12);
  return h('ul', { class: 'names' }, otherLines.map(words => h('li', null, words)),
    shown.map(name => h('li', null, text(name))),
    all > shown.length ? h('li', { class: 'muted' }, tr('and {0} more', all - shown.length)) : null);
}

// How many of the executions that were chosen are left out of an action.
export function leftOut(number, forms) {
  return number > 0 ? h('p', { class: 'muted' }, count(number, forms)) : null;
}

/**
 * Tell what came of an action; over when it has been read.
 * @param {string} word
 * @param {Outcome[]} rows
 */
async function report(word, rows) {
  const refused = rows.filter(row => row.error);
  if (refused.length === 0) {
    say(`${word}: ${count(rows.length, '{0} target|{0} targets')}.`);
    return;
  }
  await tell(tr('{0} of {1} refused', count(refused.length, '{0} target|{0} targets'), rows.length),
    h('ul', { class: 'names' }, refused.map(row => h('li', null, text(row.target), ': ', text(row.error)))));
}

// Carry an action out on a target that this database does not have: alone, it is done by the node that has it.
async function onNode(action, target, request) {
  try {
    return (await call(action, { ...request, targets: [target] })).rows[0];
  } catch (error) {
    return { target, error: error.message };
  }
}

// Carry an action out on targets, as many as a request can have at a time. Where one is not answered, what was done
// before it is told, and the others have its error.
async function inRequests(action, targets, request) {
  const rows = [];
  try {
    while (rows.length < targets.length)
      rows.push(...(await call(action, { ...request, targets: targets.slice(rows.length, rows.length + 50) })).rows);
  } catch (error) {
    if (rows.length === 0) throw error;
    rows.push(...targets.slice(rows.length).map(target => ({ target, error: error.message })));
  }
  return rows;
}

/**
 * Carry an action out on targets, and tell what came of it; `word` is that for what was done.
 * @param {string} word
 * @param {string} action
 * @param {string[]} targets
 * @param {object} request
 * @returns {Promise<{ rows: Outcome[] }>}
 */
export async function onTargets(word, action, targets, request) {
  const rows = await inRequests(action, targets, request);
  if (isOverNodes()) {
    for (const [n, row] of rows.entries())
      if (row.sqlstate === NO_EXECUTION) rows[n] = await onNode(action, row.target, request);
  }
  await report(word, rows);
  return { rows };
}
