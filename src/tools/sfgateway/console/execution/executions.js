// Executions: filters, pages, and actions on those that are chosen.

import { hold, stop } from '../action/actions.js';
import { actOnAll } from '../action/many.js';
import { redriveMany, redriveOne } from '../action/redrive.js';
import { h } from '../base/dom.js';
import { count, duration, machineOf } from '../base/format.js';
import { addressOf, executionLink, machineLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { button, field } from '../element/controls.js';
import { errorSummary } from '../element/errors.js';
import { labelLinks, readLabels } from '../element/labels.js';
import { missingNodes, nodeOf } from '../element/nodes.js';
import { pager } from '../element/pager.js';
import { may, noRight, rightsOf } from '../element/rights.js';
import { EXECUTION, statusBadge, statusWord } from '../element/statuses.js';
import { rowKey, table } from '../element/table.js';
import { chosenColumns, savedViews, sorted } from '../element/views.js';
import { tr } from '../language/texts.js';

/** @import { NodeRow, Rights } from '../element/rights.js' */
/** @import { Context } from '../frame/pages.js' */

/**
 * The data of the page, of `executions`; rows are of sf_list_executions.
 * @typedef {object} ExecutionsData
 * @property {(NodeRow & Record<string, any>)[]} rows
 * @property {Rights} rights
 * @property {string | null} next the key of the next page
 * @property {number} [looked] into how many a search has looked
 * @property {object[]} [nodes_missing]
 * @property {string[]} machines the names for the filter
 */

const EXECUTION_STATUSES = ['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'];
const LIMIT = 50;

export function title({ query }) {
  return query.view || tr('Executions');
}

// A time of a field, in the time zone of the browser.
function fromField(value) {
  return value ? new Date(value).toISOString() : undefined;
}

// What is looked for in inputs: "$.order.id = 17" is a path and a value, anything else a path alone.
function inputSearch(written) {
  const [, path, value] = /^(.*?[^=!<>\s])\s*=\s*([^=\s].*)$/s.exec(written.trim()) ?? [];
  return path ? { path, value: value.replace(/^"(.*)"$/s, '$1') } : { path: written.trim() };
}

// The filter that an address has, as a request.
function filterOf({ state_machine, status, error, name, after, before, items, labels, text: words, input }) {
  return Object.fromEntries(
    Object.entries({ state_machine, status, error, name, after: fromField(after), before: fromField(before),
      items: items === '1', labels: readLabels(labels), text: words, ...(input?.trim() ? inputSearch(input) : {}) })
      .filter(([, value]) => value),
  );
}

export async function load({ ask, query }) {
  const [page, machines] = await Promise.all([
    ask('executions', { ...filterOf(query), limit: LIMIT, ...(query.key ? { key: query.key } : {}) }),
    ask('machines', { limit: 200 }),
  ]);
  return { ...page, machines: machines.rows.map(m => m.state_machine) };
}

// How soon to look again.
export function pace(data) {
  return data.rows.some(r => r.status === 'RUNNING') ? 4000 : 10000;
}

// The form of filters; it changes the address, so that a filter can be kept as a bookmark.
function filters(data, context) {
  const { query } = context;
  const submit = event => {
    event.preventDefault();
    const { columns, sort } = query;
    context.go({ ...Object.fromEntries(new FormData(event.currentTarget)), columns, sort });
  };
  return h('form', { class: 'filters', role: 'search', 'aria-label': tr('Filter executions'), onsubmit: submit,
    key: `filters${JSON.stringify(query)}`, same: `${JSON.stringify(query)}${data.machines.length}` },
    field(tr('Machine'),
      h('input', { name: 'state_machine', value: query.state_machine, list: 'machines', autocomplete: 'off' })),
    h('datalist', { id: 'machines' }, data.machines.map(m => h('option', { value: m }))),
    field(tr('Status'),
      h('select', { name: 'status', onchange: event => event.currentTarget.form.requestSubmit() },
        h('option', { value: '' }, tr('any')),
        EXECUTION_STATUSES.map(s =>
          h('option', { value: s, selected: query.status === s }, statusWord(EXECUTION, s))
        ))), field(tr('Name begins with'), h('input', { name: 'name', value: query.name, autocomplete: 'off' })),
    field(tr('Error'), h('input', { name: 'error', value: query.error, autocomplete: 'off' })),
    field(tr('Text in error or cause'), h('input', { name: 'text', value: query.text, autocomplete: 'off' })),
    field(tr('In the input'),
      h('input', { name: 'input', value: query.input, autocomplete: 'off', spellcheck: 'false',
        placeholder: '$.order.id = 17' })),
    field(tr('Labels'),
      h('input', { name: 'labels', value: query.labels, autocomplete: 'off', placeholder: 'tenant=acme, order=17' })),
    field(tr('Items of Maps'),
      h('select', { name: 'items', onchange: event => event.currentTarget.form.requestSubmit() },
        h('option', { value: '' }, tr('left out')),
        h('option', { value: '1', selected: query.items === '1' }, tr('shown')))),
    field(tr('Requested from'), h('input', { name: 'after', type: 'datetime-local', value: query.after })),
    field(tr('before'), h('input', { name: 'before', type: 'datetime-local', value: query.before })),
    h('div', { class: 'row' }, h('button', { type: 'submit', class: 'primary' }, tr('Filter')),
      h('a', { class: 'button', href: addressOf('executions') }, tr('Clear'))));
}

// The executions that are chosen, over all pages of a filter, with what is known of each: id -> { status, rights }.
// With another filter the choice begins anew.
function chosenExecutions(data, { kept, query }) {
  const { key: _key, columns: _columns, sort: _sort, view: _view, ...filter } = query;
  const filterText = JSON.stringify(filter);
  if (kept.filterText !== filterText) Object.assign(kept, { filterText, chosen: new Map() });
  for (const row of data.rows)
    if (kept.chosen.has(row.execution_id)) kept.chosen.set(row.execution_id, knownOf(data, row));
  return kept.chosen;
}

// What the actions need to know of the execution of a row.
function knownOf(data, row) {
  return { status: row.status, rights: rightsOf(data, row) };
}

// What can be done with the executions that are chosen.
function bulkActions(chosen, data, context) {
  const clearAfter = question =>
    context.refreshAfter(question.then(done => {
      if (done) chosen.clear();
      return done;
    }));
  const ids = [...chosen.keys()];
  const known = id => chosen.get(id);
  const running = ids.filter(id => known(id).status === 'RUNNING');
  const failed = ids.filter(id => ['FAILED', 'TIMED_OUT', 'ABORTED'].includes(known(id).status));
  const refused = ids.find(id => !may(known(id).rights, id, 'OPERATE'));
  const noRedrive = ids.some(id => !may(known(id).rights, id, 'START', 'OPERATE'));
  return h('div', { class: `bulk${ids.length ? ' on' : ''}`, role: 'group',
    'aria-label': tr('Actions on the chosen executions'), key: 'bulk' },
    h('span', { 'aria-live': 'polite' },
      ids.length ? tr('{0} chosen. ', count(ids.length, '{0} execution|{0} executions')) :
        tr('Choose executions to act on several at once.'), refused ? noRight(machineOf(refused)) : null),
    button(tr('Redrive…'),
      () => clearAfter(ids.length === 1 ? redriveOne(ids[0]) : redriveMany(failed, ids.length - failed.length)), {
      disabled: (ids.length === 1 ? ids : failed).length === 0 || noRedrive,
    }),
    button(tr('Stop…'), () => clearAfter(ids.length === 1 ? stop(ids) : stop(running, ids.length - running.length)), {
      disabled: (ids.length === 1 ? ids : running).length === 0 || Boolean(refused),
    }), button(tr('Hold…'), () => clearAfter(hold(ids)), { disabled: ids.length === 0 || Boolean(refused) }),
    button(tr('All that the filter has…'),
      () => context.refreshAfter(actOnAll(filterOf(context.query), Boolean(data.nodes_missing))), {
      disabled: !Object.values(data.rights).some(list => list.includes('OPERATE') || list.includes('START')),
    }));
}

// The columns that a view can have: those of a table, with names.
const COLUMNS = [
  { name: 'status', title: tr('Status'),
    cell:
      r => [statusBadge(EXECUTION, r.status),
        r.redrive_count > 0 ? h('small', { class: 'muted' }, tr(' redriven {0}×', r.redrive_count)) : null] },
  { name: 'execution', title: tr('Execution'), cell: r => [executionLink(r.execution_id), ' ', labelLinks(r.labels)],
    class: 'wide' },
  { name: 'node', title: tr('Node'), cell: nodeOf },
  { name: 'machine', title: tr('Machine'), cell: r => machineLink(machineOf(r.state_machine)) },
  { name: 'requested', title: tr('Requested'), cell: r => time(r.requested_at) },
  { name: 'started', title: tr('Started'), cell: r => time(r.started_at) },
  { name: 'ended', title: tr('Ended'), cell: r => time(r.stopped_at) },
  { name: 'took', title: tr('Took'), cell: r => r.took === null ? null : duration(r.took), class: 'short' },
  { name: 'why', title: tr('Why'),
    cell: r => r.error ? errorSummary(r.error, r.cause) : r.waiting_on ? text(r.waiting_on, 'muted') : null,
    class: 'wide' },
];
const USUAL = ['status', 'execution', 'node', 'requested', 'took', 'why'];

// The columns to choose from, and the usual ones; a single server has no node to show.
function columnsOf(data) {
  const isOffered = name => name !== 'node' || Boolean(data.nodes_missing);
  return { columns: COLUMNS.filter(column => isOffered(column.name)), usual: USUAL.filter(isOffered) };
}

// How a page can be sorted: the words, and what is compared.
const SORTS = [
  { name: '', words: tr('newest first') },
  { name: 'took', words: tr('longest first'), by: r => -(r.took ?? -1) },
  { name: 'name', words: tr('by name'), by: r => r.execution_id },
  { name: 'status', words: tr('by status'), by: r => r.status },
  { name: 'ended', words: tr('last ended first'), by: r => -new Date(r.stopped_at ?? 8.64e15) },
];

// How far a search has looked.
function lookedAt(data) {
  return data.looked === undefined ? null :
    h('p', { class: 'muted', key: 'looked', 'aria-live': 'polite' },
      tr('Looked into {0}{1}', count(data.looked, '{0} execution|{0} executions'),
        data.next ? tr('; there are more.') : '.'));
}

/**
 * @param {ExecutionsData} data
 * @param {Context} context
 */
export function draw(data, context) {
  const chosen = chosenExecutions(data, context);
  const choose = (rows, isOn) => {
    for (const row of rows)
      if (isOn) chosen.set(row.execution_id, knownOf(data, row));
      else chosen.delete(row.execution_id);
    context.redraw();
  };
  const box = (label, rows) =>
    h('input', { type: 'checkbox', 'aria-label': label, checked: rows.length > 0 && rows.every(r =>
      chosen.has(r.execution_id)
    ), onchange: event => choose(rows, event.currentTarget.checked) });
  const pick = { title: () => box(tr('Choose all of this page'), data.rows),
    cell: r => box(tr('Choose {0}', r.execution_id), [r]), class: 'pick' };
  const { columns, usual } = columnsOf(data);
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, text(title(context))),
    filters(data, context),
    savedViews(context, columns, usual, SORTS),
    bulkActions(chosen, data, context),
    missingNodes(data),
    lookedAt(data),
    h('div', { class: 'card', key: 'list' },
      table(tr('Executions'), [pick, ...chosenColumns(context.query, columns, usual)],
        sorted(data.rows, context.query, SORTS), r => rowKey(r.node, r.execution_id),
        data.next ? tr('None of those that were looked into fits.') :
          Object.keys(context.query).length === 0 ? tr('There is no execution that you may see.') :
          [tr('No execution fits. '), h('a', { href: addressOf('executions') }, tr('Show all'))])),
    pager(tr('Pages of executions'), context, 'key', data.next,
      data.looked === undefined ? undefined : tr('Look further ')),
  ];
}
