// Addresses of pages, and links to them.

import { tr } from '../language/texts.js';
import { h } from './dom.js';
import { machineOf, scheduleOf } from './format.js';
import { icon } from './icons.js';
import { text } from './values.js';

/** @import { Content } from './dom.js' */

// A query for a link, of the values that are there.
function queryString(query) {
  const entries = Object.entries(query).filter(([, v]) => v !== null && v !== undefined && v !== '');
  return entries.length ? `?${new URLSearchParams(entries)}` : '';
}

/**
 * The address of a page: #/name/argument?query.
 * @param {string} name
 * @param {string} [argument]
 * @param {Record<string, string | number | null | undefined>} [query]
 * @returns {string}
 */
export function addressOf(name, argument = '', query = {}) {
  return `#/${name}${argument ? `/${encodeURIComponent(argument)}` : ''}${queryString(query)}`;
}

// A link to an execution.
export function executionLink(id, query) {
  return h('a', { href: addressOf('execution', id, query), class: 'id' }, text(id));
}

// A link to a machine.
export function machineLink(name) {
  return h('a', { href: addressOf('machine', name), class: 'id' }, text(name));
}

/**
 * How many executions of a machine failed, as a link to them.
 * @param {{ state_machine: string, failed: number }} row
 * @returns {Content}
 */
export function failedLink({ state_machine, failed }) {
  return failed > 0 ?
    h('a', { class: 'bad', href: addressOf('executions', '', { state_machine, status: 'FAILED' }) }, icon('bad', 'bad'),
      String(failed)) : '0';
}

// A link to a schedule.
export function scheduleLink(name, words = name) {
  return h('a', { href: addressOf('schedules', '', { name }) }, text(words, words === name ? '' : 'id'));
}

// A task as a link.
export function taskLink(task, words) {
  return h('a', { href: addressOf('task', task) }, text(words));
}

// A link to the inbox.
export function inboxLink(query, words) {
  return h('a', { href: addressOf('inbox', '', query) }, words);
}

/**
 * What an alert is about: an execution, or its target.
 * @param {{ kind: string, execution_id?: string, target?: string }} alert
 * @returns {Content}
 */
export function alertLink({ kind, execution_id: execution, target }) {
  if (kind === 'task_due')
    return [executionLink(execution), ' ',
      h('a', { href: addressOf('inbox', '', { which: 'overdue' }) }, tr('in the inbox'))];
  if (execution || !target) return execution ? executionLink(execution) : '–';
  const schedule = scheduleOf(target);
  if (schedule !== null) return scheduleLink(schedule, target);
  return target.startsWith('activity:') ? h('a', { href: addressOf('activities'), class: 'id' }, text(target)) :
    machineLink(machineOf(target));
}
