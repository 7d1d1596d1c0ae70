// What the role that is signed in may do.

import { h } from '../base/dom.js';
import { machineOf } from '../base/format.js';
import { text } from '../base/values.js';
import { tr } from '../language/texts.js';

/**
 * The rights that the role has on each machine of a page.
 * @typedef {Record<string, ('READ' | 'START' | 'OPERATE' | 'OWN')[]>} Rights
 */

/**
 * A row of a list that can have rows of other nodes: such a row names its node and has its own rights.
 * @typedef {object} NodeRow
 * @property {string} [node]
 * @property {string[]} [rights] on the machine of the row, on its node
 * @property {string} [execution_id]
 * @property {string[]} [executions]
 */

/**
 * Does the role have one of some rights on the machine of a target?
 * @param {Rights | undefined} rights
 * @param {string} target
 * @param {...string} wanted
 * @returns {boolean}
 */
export function may(rights, target, ...wanted) {
  const has = rights?.[machineOf(target)] ?? [];
  return wanted.some(right => has.includes(right));
}

/**
 * The rights that count for a row of a list: those on its node.
 * @param {{ rights: Rights }} data
 * @param {NodeRow} row
 * @returns {Rights}
 */
export function rightsOf(data, row) {
  return row.node ? { [machineOf(row.execution_id ?? row.executions?.[0] ?? '')]: row.rights } : data.rights;
}

// Why an action is not offered.
export function noRight(machine) {
  return h('span', { class: 'muted no-right' }, tr('Your role does not have the right OPERATE on '), text(machine),
    '.');
}
