// Executions: filters, pages, and actions on those that are chosen.

import { hold, redriveMany, redriveOne, stop } from './dialog.js';
import { h } from './dom.js';
import { count, duration } from './format.js';
import { actOnAll } from './many.js';
import { badge, button, executionLink, field, icon, labelLinks, machineLink, machineOf, may, noRight, readLabels,
  statusWord, table, text, time, why } from './parts.js';
import { tr } from './texts.js';
import { chosenColumns, savedViews, sorted } from './views.js';

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
function inInput(written) {
  const [, path, value] = /^(.*?[^=!<>\s])\s*=\s*([^=\s].*)$/s.exec(written.trim()) ?? [];
  return path ? { path, value: value.replace(/^"(.*)"$/s, '$1') } : { path: written.trim() };
}

// The filter that an address has, as a request.
function filterOf({ state_machine, status, error, name, after, before, items, labels, text: words, input }) {
  return Object.fromEntries(
    Object.entries({ state_machine, status, error, name, after: fromField(after), before: fromField(before),
      items: items === '1', labels: readLabels(labels), text: words, ...(input?.trim() ? inInput(input) : {}) }).filter(
        ([, v]) =>
          v
      ),
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
    context.state.chosen?.clear();
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
        EXECUTION_STATUSES.map(s => h('option', { value: s, selected: query.status === s }, statusWord(s))))),
    field(tr('Name begins with'), h('input', { name: 'name', value: query.name, autocomplete: 'off' })),
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
      h('a', { class: 'button', href: '#/executions' }, tr('Clear'))));
}

// What can be done with the executions that are chosen.
function bulkActions(chosen, rights, statuses, context) {
  const act = async promise => {
    if (!await promise) return;
    chosen.clear();
    context.reload();
  };
  const ids = [...chosen];
  const running = ids.filter(id => statuses[id] === 'RUNNING');
  const failed = ids.filter(id => ['FAILED', 'TIMED_OUT', 'ABORTED'].includes(statuses[id]));
  const refused = ids.find(id => !may(rights, id, 'OPERATE'));
  const noRedrive = ids.some(id => !may(rights, id, 'START', 'OPERATE'));
  return h('div', { class: `bulk${ids.length ? ' on' : ''}`, role: 'group',
    'aria-label': tr('Actions on the chosen executions'), key: 'bulk' },
    h('span', { 'aria-live': 'polite' },
      ids.length ? tr('{0} chosen. ', count(ids.length, '{0} execution|{0} executions')) :
        tr('Choose executions to act on several at once.'), refused ? noRight(machineOf(refused)) : null),
    button(tr('Redrive…'),
      () => act(ids.length === 1 ? redriveOne(ids[0]) : redriveMany(failed, ids.length - failed.length)), {
      disabled: (ids.length === 1 ? ids : failed).length === 0 || noRedrive,
    }), button(tr('Stop…'), () => act(ids.length === 1 ? stop(ids) : stop(running, ids.length - running.length)), {
      disabled: (ids.length === 1 ? ids : running).length === 0 || Boolean(refused),
    }), button(tr('Hold…'), () => act(hold(ids)), { disabled: ids.length === 0 || Boolean(refused) }),
    button(tr('All that the filter has…'), async () => {
      if (await actOnAll(filterOf(context.query))) context.reload();
    }, { disabled: !Object.values(rights).some(list => list.includes('OPERATE') || list.includes('START')) }));
}

// The columns that a view can have: name, title, cell, class.
const COLUMNS = [
  ['status', tr('Status'),
    r => [badge(r.status),
      r.redrive_count > 0 ? h('small', { class: 'muted' }, tr(' redriven {0}×', r.redrive_count)) : null]],
  ['execution', tr('Execution'), r => [executionLink(r.execution_id), ' ', labelLinks(r.labels)], 'wide'],
  ['machine', tr('Machine'), r => machineLink(machineOf(r.state_machine.split('/')[0]))],
  ['requested', tr('Requested'), r => time(r.requested_at)],
  ['started', tr('Started'), r => r.started_at ? time(r.started_at) : '–'],
  ['ended', tr('Ended'), r => r.stopped_at ? time(r.stopped_at) : '–'],
  ['took', tr('Took'), r => r.took === null ? '–' : duration(r.took), 'short'],
  ['why', tr('Why'), r => r.error ? why(r.error, r.cause) : r.waiting_on ? text(r.waiting_on, 'muted') : '–', 'wide'],
];
const USUAL = ['status', 'execution', 'requested', 'took', 'why'];

// How a page can be sorted: the words, and what is compared.
const SORTS = [['', tr('newest first')], ['took', tr('longest first'), r => -(r.took ?? -1)], ['name', tr('by name'),
  r => r.execution_id], ['status', tr('by status'), r => r.status], ['ended', tr('last ended first'),
  r => -new Date(r.stopped_at ?? 8.64e15)]];

// How far a search has looked.
function lookedAt(data) {
  return data.looked === undefined ? null :
    h('p', { class: 'muted', key: 'looked', 'aria-live': 'polite' },
      tr('Looked into {0}{1}', count(data.looked, '{0} execution|{0} executions'),
        data.next ? tr('; there are more.') : '.'));
}

export function draw(data, context) {
  const chosen = context.state.chosen ??= new Set();
  const choose = (ids, on) => {
    for (const id of ids)
      if (on) chosen.add(id);
      else chosen.delete(id);
    context.redraw();
  };
  const box = (label, ids, on) =>
    h('input', { type: 'checkbox', 'aria-label': label, checked: on, onchange: event =>
      choose(ids, event.currentTarget.checked) });
  const all = data.rows.map(r => r.execution_id);
  const rights = Object.assign(context.state.rights ??= {}, data.rights);
  const statuses = Object.assign(context.state.statuses ??= {},
    Object.fromEntries(data.rows.map(r => [r.execution_id, r.status])));
  const pick = [() => box(tr('Choose all of this page'), all, all.length > 0 && all.every(id => chosen.has(id))),
    r => box(tr('Choose {0}', r.execution_id), [r.execution_id], chosen.has(r.execution_id)), 'pick'];
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, text(title(context))),
    filters(data, context),
    savedViews(context, COLUMNS, USUAL, SORTS),
    bulkActions(chosen, rights, statuses, context),
    lookedAt(data),
    h('div', { class: 'card', key: 'list' },
      table(tr('Executions'), [pick, ...chosenColumns(context.query, COLUMNS, USUAL).map(([, ...column]) => column)],
        sorted(data.rows, context.query, SORTS), r => r.execution_id,
        data.next ? tr('None of those that were looked into fits.') :
          Object.keys(context.query).length === 0 ? tr('There is no execution that you may see.') :
          [tr('No execution fits. '), h('a', { href: '#/executions' }, tr('Show all'))])),
    h('nav', { class: 'row pager', 'aria-label': tr('Pages of executions'), key: 'pager' },
      context.query.key ? button(tr('First page'), () => context.go({ ...context.query, key: undefined })) : null,
      data.next ?
        button([data.looked === undefined ? tr('Next page ') : tr('Look further '), icon('next')],
          () => context.go({ ...context.query, key: data.next })) : null),
  ];
}
