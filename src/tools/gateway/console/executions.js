// Executions: filters, pages, and actions on those that are chosen.

import { hold, redriveMany, redriveOne, stop } from './dialog.js';
import { h } from './dom.js';
import { count, duration } from './format.js';
import { badge, button, executionLink, field, icon, labelLinks, machineOf, may, noRight, readLabels, table, text, time,
  why } from './parts.js';

const EXECUTION_STATUSES = ['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'];
const LIMIT = 50;

export function title() {
  return 'Executions';
}

// A time of a field, in the time zone of the browser.
function fromField(value) {
  return value ? new Date(value).toISOString() : undefined;
}

export async function load({ ask, query }) {
  const { key, state_machine, status, error, name, after, before, items, labels } = query;
  const [page, machines] = await Promise.all([
    ask('executions',
      Object.fromEntries(
        Object.entries({ key, state_machine, status, error, name, after: fromField(after), before: fromField(before),
          items: items === '1', limit: LIMIT, labels: readLabels(labels) }).filter(([, v]) => v),
      )),
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
    context.go(Object.fromEntries(new FormData(event.currentTarget)));
  };
  return h('form', { class: 'filters', role: 'search', 'aria-label': 'Filter executions', onsubmit: submit,
    key: `filters${JSON.stringify(query)}`, same: `${JSON.stringify(query)}${data.machines.length}` },
    field('Machine',
      h('input', { name: 'state_machine', value: query.state_machine, list: 'machines', autocomplete: 'off' })),
    h('datalist', { id: 'machines' }, data.machines.map(m => h('option', { value: m }))),
    field('Status',
      h('select', { name: 'status', onchange: event => event.currentTarget.form.requestSubmit() },
        h('option', { value: '' }, 'any'),
        EXECUTION_STATUSES.map(s =>
          h('option', { value: s, selected: query.status === s }, s.toLowerCase().replace('_', ' '))
        ))), field('Name begins with', h('input', { name: 'name', value: query.name, autocomplete: 'off' })),
    field('Error', h('input', { name: 'error', value: query.error, autocomplete: 'off' })),
    field('Labels',
      h('input', { name: 'labels', value: query.labels, autocomplete: 'off', placeholder: 'tenant=acme, order=17' })),
    field('Items of Maps',
      h('select', { name: 'items', onchange: event => event.currentTarget.form.requestSubmit() },
        h('option', { value: '' }, 'left out'), h('option', { value: '1', selected: query.items === '1' }, 'shown'))),
    field('Requested from', h('input', { name: 'after', type: 'datetime-local', value: query.after })),
    field('before', h('input', { name: 'before', type: 'datetime-local', value: query.before })),
    h('div', { class: 'row' }, h('button', { type: 'submit', class: 'primary' }, 'Filter'),
      h('a', { class: 'button', href: '#/executions' }, 'Clear')));
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
    'aria-label': 'Actions on the chosen executions', key: 'bulk' },
    h('span', { 'aria-live': 'polite' },
      ids.length ? `${count(ids.length, 'execution')} chosen. ` : 'Choose executions to act on several at once.',
      refused ? noRight(machineOf(refused)) : null),
    button('Redrive…',
      () => act(ids.length === 1 ? redriveOne(ids[0]) : redriveMany(failed, ids.length - failed.length)), {
      disabled: (ids.length === 1 ? ids : failed).length === 0 || noRedrive,
    }), button('Stop…', () => act(ids.length === 1 ? stop(ids) : stop(running, ids.length - running.length)), {
      disabled: (ids.length === 1 ? ids : running).length === 0 || Boolean(refused),
    }), button('Hold…', () => act(hold(ids)), { disabled: ids.length === 0 || Boolean(refused) }));
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
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, 'Executions'),
    filters(data, context),
    bulkActions(chosen, rights, statuses, context),
    h('div', { class: 'card', key: 'list' }, table('Executions', [
      [() => box('Choose all of this page', all, all.length > 0 && all.every(id => chosen.has(id))),
        r => box(`Choose ${r.execution_id}`, [r.execution_id], chosen.has(r.execution_id)), 'pick'],
      ['Status',
        r => [badge(r.status),
          r.redrive_count > 0 ? h('small', { class: 'muted' }, ` redriven ${r.redrive_count}×`) : null]],
      ['Execution', r => [executionLink(r.execution_id), ' ', labelLinks(r.labels)], 'wide'],
      ['Requested', r => time(r.requested_at)],
      ['Took', r => r.took === null ? '–' : duration(r.took), 'short'],
      ['Why', r => r.error ? why(r.error, r.cause) : r.waiting_on ? text(r.waiting_on, 'muted') : '–', 'wide'],
    ], data.rows, r => r.execution_id,
      Object.keys(context.query).length === 0 ? 'There is no execution that you may see.' :
        ['No execution fits. ', h('a', { href: '#/executions' }, 'Show all')])),
    h('nav', { class: 'row pager', 'aria-label': 'Pages of executions', key: 'pager' },
      context.query.key ? button('First page', () => context.go({ ...context.query, key: undefined })) : null,
      data.next ? button(['Next page ', icon('next')], () => context.go({ ...context.query, key: data.next })) : null),
  ];
}
