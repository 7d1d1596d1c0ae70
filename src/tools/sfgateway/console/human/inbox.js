// The inbox: tasks of people, as far as the role may do or assign them.

import { h } from '../base/dom.js';
import { executionLink, taskLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { button, field } from '../element/controls.js';
import { errorNotice } from '../element/errors.js';
import { missingNodes, nodeOf } from '../element/nodes.js';
import { pager } from '../element/pager.js';
import { rowKey, table } from '../element/table.js';
import { tabs } from '../element/tabs.js';
import { tr } from '../language/texts.js';
import { actOnTask, due, heldNotice } from './tasks.js';

/** @import { NodeRow } from '../element/rights.js' */
/** @import { Context } from '../frame/pages.js' */

/**
 * The data of the page: what `inbox` answers to which of the tabs.
 * @typedef {object} InboxData
 * @property {(NodeRow & Record<string, any>)[]} rows
 * @property {{ worklist: string, open: number, mine: number, overdue: number, tasks: number }[]} counts
 * @property {string[]} readable the executions that the role may read
 * @property {object[]} held
 * @property {string | null} next the key of the next page
 * @property {string} which
 */

// What can be chosen, with the count of each.
const WHICH = [
  { id: 'open', word: tr('For my roles') },
  { id: 'mine', word: tr('Mine') },
  { id: 'overdue', word: tr('Overdue') },
  { id: 'all', word: tr('All') },
];

export function title() {
  return tr('Inbox');
}

/**
 * @param {Context} context
 * @returns {Promise<InboxData>}
 */
export async function load({ ask, query }) {
  const which = whichOf(query);
  const found = await ask('inbox', { which, ...(query.worklist ? { worklist: query.worklist } : {}),
    ...(query.key ? { after: query.key } : {}) });
  return { ...found, which };
}

// How soon to look again: people wait for others.
export function pace() {
  return 5000;
}

// What a screen reader hears of a change.
export function news(before, after) {
  const was = sum(before.counts, 'open', undefined), is = sum(after.counts, 'open', undefined);
  return is > was ? tr('{0} tasks for your roles', is) : '';
}

// Which tasks are asked for.
function whichOf(query) {
  return WHICH.some(which => which.id === query.which) ? query.which : 'open';
}

// How many tasks there are, in a worklist or in all.
function sum(counts, which, worklist) {
  return counts.filter(c => !worklist || c.worklist === worklist).reduce(
    (n, c) => n + c[which === 'all' ? 'tasks' : which],
    0,
  );
}

// The tasks of a page. What can be done with them is that of the tab for which they were asked.
function list(data, context) {
  const { which } = data;
  const doing = which === 'open' ? { action: 'claim_task', word: tr('Claim'), done: tr('Claimed.') } :
    which === 'mine' ? { action: 'release_task', word: tr('Release'), done: tr('Given back.') } : null;
  return [
    table(tr('Tasks'), [
      { title: tr('Task'), cell: r => taskLink(r.task, r.title), class: 'wide' },
      { title: tr('Worklist'), cell: r => text(r.worklist) },
      { title: tr('Node'), cell: nodeOf },
      { title: tr('Priority'), cell: r => r.priority === 0 ? null : String(r.priority), class: 'num' },
      { title: tr('Due'), cell: r => due(r.due_at) },
      { title: tr('Claimed by'), cell: r => r.claimed_by === null ? null : text(r.claimed_by) },
      { title: tr('Execution'),
        cell: r =>
          data.readable.includes(r.execution_id) ? executionLink(r.execution_id, { state: r.state }) :
            text(r.execution_id, 'id'), class: 'wide' },
      { title: tr('Waits since'), cell: r => time(r.created_at, true) },
      { title: '',
        cell: r =>
          doing === null ? null : button(doing.word, () =>
            actOnTask(context, doing.action, r.task, doing.done), { class: 'small',
            'aria-label': `${doing.word} ${r.title}` }) },
    ], data.rows, r => rowKey(r.node, r.task),
      data.counts.length === 0 ?
        tr(
          'There is no worklist that you own or have a right on. sf_create_worklist makes one; a Task ' +
            'with the Resource human:NAME has its tasks done by people.',
        ) : tr('Nothing to do here.')),
    pager(tr('Pages of tasks'), context, 'key', data.next),
  ];
}

/**
 * @param {InboxData} data
 * @param {Context} context
 */
export function draw(data, context) {
  const { worklist } = context.query;
  const which = whichOf(context.query);
  const choose = changed => context.go({ ...context.query, key: undefined, ...changed });
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, tr('Inbox')),
    h('div', { key: 'wrong', role: 'alert' }, context.kept.wrong ? errorNotice(context.kept.wrong) : null),
    missingNodes(data),
    h('div', { key: 'held' }, heldNotice(data.held)),
    data.counts.length < 2 ? null :
      h('div', { class: 'filters', key: 'filters' },
        field(tr('Worklist'),
          h('select', { name: 'worklist', onchange: event => choose({ worklist: event.currentTarget.value }) },
            h('option', { value: '' }, tr('all')),
            data.counts.map(c => h('option', { value: c.worklist, selected: c.worklist === worklist }, c.worklist))))),
    h('div', { class: 'card', key: 'list' }, tabs(tr('Which tasks'), WHICH.map(({ id, word }) => ({
      id,
      label: [word, h('span', { class: 'count' }, String(sum(data.counts, id, worklist)))],
      content: () => list(data, context),
    })), which, chosen => choose({ which: chosen }))),
  ];
}
