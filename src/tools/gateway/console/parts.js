// Parts of pages: icons, statuses, times, tables, buttons.

import { h, s } from './dom.js';
import { clock, distance, readCause, visible } from './format.js';
import { tr } from './texts.js';

// Pictures of 16 by 16, by name: paths; filled shapes have a letter before.
const ICONS = {
  ok: ['c8 8 7', 'M4.6 8.3l2.4 2.4 4.6-5'],
  bad: ['c8 8 7', 'M5.2 5.2l5.6 5.6M10.8 5.2l-5.6 5.6'],
  run: ['o8 8 6.2', 'f M6.3 4.9v6.2L11.4 8z'],
  wait: ['o8 8 6.2', 'M8 4.4V8l2.6 1.8'],
  stop: ['o8 8 6.2', 'f M5.4 5.4h5.2v5.2H5.4z'],
  held: ['o8 8 6.2', 'M6.2 5.2v5.6M9.8 5.2v5.6'],
  entry: ['o8 8 6.2'],
  skip: ['o8 8 6.2', 'M4.9 8h6.2'],
  unknown: ['o8 8 6.2', 'M8 11.4v.1M6.3 6.4c0-2.2 3.4-2.2 3.4 0C9.7 7.7 8 7.8 8 9.3'],
  late: ['f M8 1.2L15.4 14.4H.6z', 'n M8 5.6v4M8 11.9v.2'],
  copy: ['M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3'],
  eye: ['M1.5 8S4 3.7 8 3.7 14.5 8 14.5 8 12 12.3 8 12.3 1.5 8 1.5 8z', 'o8 8 1.9'],
  fold: ['M4 6l4 4 4-4'],
  next: ['M6 3.5L10.5 8 6 12.5'],
  close: ['M3.5 3.5l9 9M12.5 3.5l-9 9'],
  menu: ['M2 4h12M2 8h12M2 12h12'],
};

// A picture; it says nothing to screen readers, since words stand beside it.
export function icon(name, more = '') {
  return s('svg', { class: `icon ${more}`, viewBox: '0 0 16 16', 'aria-hidden': 'true', focusable: 'false' },
    iconShapes(name));
}

// The shapes of a picture, also for use inside of another one.
export function iconShapes(name) {
  return ICONS[name].map(shape => {
    const circle = /^([co])([\d.]+) ([\d.]+) ([\d.]+)$/.exec(shape);
    if (circle)
      return s('circle', { class: circle[1] === 'c' ? 'disc' : 'ring', cx: circle[2], cy: circle[3], r: circle[4] });
    const [, kind, d] = /^(?:([fn]) )?(.*)$/.exec(shape);
    return s('path', { class: kind === 'f' ? 'disc' : ICONS[name][0][0] === 'c' || kind === 'n' ? 'cut' : 'ring', d });
  });
}

// Statuses of executions, jobs, states, tasks and schedules: the icon and the word.
const STATUSES = {
  SUCCEEDED: ['ok', tr('Succeeded')],
  FAILED: ['bad', tr('Failed')],
  TIMED_OUT: ['late', tr('Timed out')],
  ABORTED: ['stop', tr('Stopped')],
  RUNNING: ['run', tr('Running')],
  HELD: ['held', tr('Held')],
  success: ['ok', tr('success')],
  failure: ['bad', tr('failure')],
  running: ['run', tr('running')],
  entry: ['entry', tr('not reached yet')],
  skip: ['skip', tr('skipped')],
  aborted: ['stop', tr('aborted')],
  unknown: ['unknown', tr('unknown')],
  queued: ['wait', tr('queued')],
  waiting: ['wait', tr('waiting')],
  answered: ['run', tr('answered')],
  retrying: ['wait', tr('retrying')],
  held: ['held', tr('held')],
  active: ['ok', tr('active')],
  failing: ['bad', tr('failing')],
  missed: ['late', tr('missed')],
  gone: ['bad', tr('gone')],
  inactive: ['stop', tr('inactive')],
  'not driven': ['stop', tr('not driven')],
  DEAD: ['bad', tr('dead')],
  PENDING: ['wait', tr('waiting')],
  DUE: ['wait', tr('Due')],
  QUEUED: ['wait', tr('Queued')],
  SKIPPED: ['skip', tr('Left out')],
  MISSED: ['late', tr('Missed')],
  INACTIVE: ['stop', tr('Inactive')],
  FAILING: ['bad', tr('Failing')],
  succeeded: ['ok', tr('succeeded')],
  failed: ['bad', tr('failed')],
  skipped: ['skip', tr('skipped')],
  overlap: ['skip', tr('left out: overlap')],
};

// The icon of a status.
export function statusIcon(status) {
  return (STATUSES[status] ?? ['unknown'])[0];
}

// The word for a status.
export function statusWord(status) {
  return (STATUSES[status] ?? [null, String(status)])[1];
}

// A status: its icon and its word.
export function badge(status, word = statusWord(status)) {
  const kind = statusIcon(status);
  return h('span', { class: `badge ${kind}` }, icon(kind), word);
}

// A time, with the exact one as a tooltip.
export function time(at, relative = false) {
  if (!at) return '–';
  return h('time', { datetime: at, title: new Date(at).toISOString() }, relative ? distance(at) : clock(at));
}

// A text of somebody else: in its own direction, with what cannot be seen as escapes.
export function text(value, more = '') {
  return h('bdi', { class: more }, visible(String(value ?? '')));
}

// The name of an error. Lines break behind its signs and between its words, within a piece only if that is very long.
export function errorName(value) {
  const pieces = visible(String(value)).match(/\p{Lu}{0,12}[^\p{Lu}\s_.:/-]{0,18}[\s_.:/-]{0,4}/gu).filter(piece =>
    piece !== ''
  );
  return h('code', { class: 'error' }, h('bdi', null, pieces.map((piece, n) => (n === 0 ? piece : [h('wbr'), piece]))));
}

// Links to pages.
export const hash = {
  execution: (id, query = {}) => `#/execution/${encodeURIComponent(id)}${queryString(query)}`,
  machine: (name, query = {}) => `#/machine/${encodeURIComponent(name)}${queryString(query)}`,
  compare: (id, query = {}) => `#/compare/${encodeURIComponent(id)}${queryString(query)}`,
  executions: (query = {}) => `#/executions${queryString(query)}`,
};

// A query for a link, of the values that are there.
export function queryString(query) {
  const entries = Object.entries(query).filter(([, v]) => v !== null && v !== undefined && v !== '');
  return entries.length ? `?${new URLSearchParams(entries)}` : '';
}

// A link to an execution.
export function executionLink(id, query) {
  return h('a', { href: hash.execution(id, query), class: 'id' }, text(id));
}

// Labels as a field has them: tenant=acme, order=17. What cannot be written so is written in JSON.
export function labelsText(labels) {
  const pairs = Object.entries(labels);
  return pairs.some(pair => pair.some(s => s !== s.trim() || /[,={}]/.test(s))) ? JSON.stringify(labels) :
    pairs.map(pair => pair.join('=')).join(', ');
}

// The labels of a text as a field has it; undefined: it has none.
export function readLabels(written) {
  if (!written?.trim()) return undefined;
  if (written.trim().startsWith('{')) return JSON.parse(written);
  return Object.fromEntries(written.split(',').filter(s => s.trim()).map(pair => {
    const [name, ...value] = pair.split('=');
    return [name.trim(), value.join('=').trim()];
  }));
}

// The labels of an execution, each a link to the executions that have it.
export function labelLinks(labels) {
  return Object.entries(labels ?? {}).map(([name, value]) => [
    h('a', { href: hash.executions({ labels: labelsText({ [name]: value }) }), class: 'label' },
      text(`${name}=${value}`)),
    ' ',
  ]);
}

// A link to a machine.
export function machineLink(name) {
  return h('a', { href: hash.machine(name), class: 'id' }, text(name));
}

// A link to a schedule.
export function scheduleLink(name, words = name) {
  return h('a', { href: `#/schedules${queryString({ name })}` }, text(words, words === name ? '' : 'id'));
}

// What an alert is about: an execution, or its target.
export function alertLink({ kind, execution_id: execution, target }) {
  if (kind === 'task_due')
    return [executionLink(execution), ' ', h('a', { href: '#/inbox?which=overdue' }, tr('in the inbox'))];
  if (execution || !target) return execution ? executionLink(execution) : '–';
  if (target.startsWith('schedule:')) return scheduleLink(target.slice(9), target);
  return target.startsWith('activity:') ? h('a', { href: '#/activities', class: 'id' }, text(target)) :
    machineLink(machineOf(target));
}

// A button.
export function button(label, onclick, props = {}) {
  return h('button', { type: 'button', onclick, ...props }, label);
}

// Does the role have one of some rights on the machine of a target? `rights` is what SQL says of the machines of a
// page.
export function may(rights, target, ...wanted) {
  const has = rights?.[machineOf(target)] ?? [];
  return wanted.some(right => has.includes(right));
}

// The machine of an execution, or of "machine/state".
export function machineOf(target) {
  return /^[^:/]*/.exec(target)[0];
}

// Why an action is not offered.
export function noRight(machine) {
  return h('span', { class: 'muted no-right' }, tr('Your role does not have the right OPERATE on '), text(machine),
    '.');
}

// An error and, if the cause was not cut, its message.
export function why(error, cause) {
  const { message } = cause?.cut ? {} : readCause(cause);
  return [errorName(error ?? '–'),
    message ? [' ', text(message.length > 200 ? `${message.slice(0, 200)}…` : message, 'muted')] : null];
}

// The parts of a cause, as readCause() gives them, below each other; the hint of an error says what to do.
export function causeLines({ message, detail, hint }) {
  return [message ? h('p', { class: 'message' }, text(message)) : null,
    detail ? h('p', { class: 'muted message' }, text(detail)) : null,
    hint ? h('p', { class: 'muted message hint' }, tr('Hint: '), text(hint)) : null];
}

// The item of a Distributed Map for which an execution failed.
export function failedItem(item) {
  return item ?
    h('p', { class: 'message' }, tr('Such as '),
      h('a', { href: hash.execution(item.execution_id), class: 'id' }, text(tr('item {0}', item.name))), ': ',
      why(item.error, item.cause)) : null;
}

// A table: columns are [title, cell of a row, class]; one without anything in it is left out. In a narrow window each
// row is a list of its cells.
export function table(caption, all, rows, keyOf, none = tr('None.')) {
  if (rows.length === 0) return h('p', { class: 'none' }, none);
  const cells = rows.map((row, n) => all.map(([, cell]) => cell(row, n)));
  const used = all.map((_, n) => n).filter(n => cells.some(row => row[n] !== '–'));
  const columns = used.map(n => all[n]);
  return h('table', { role: 'table' }, h('caption', { class: 'unseen' }, caption),
    h('thead', { role: 'rowgroup' },
      h('tr', { role: 'row' },
        columns.map(([title, , more]) =>
          h('th', { scope: 'col', role: 'columnheader', class: more ?? '' }, headOf(title))
        ))),
    h('tbody', { role: 'rowgroup' },
      rows.map((row, n) =>
        h('tr', { role: 'row', key: keyOf ? keyOf(row) : n }, used.map(c =>
          tableCell(all[c][0], cells[n][c], all[c][2])
        ))
      )));
}

// The head of a column; that of buttons is only read aloud.
function headOf(title) {
  if (typeof title !== 'string') return title();
  return title === '' ? h('span', { class: 'unseen' }, tr('Actions')) : title;
}

// A cell of a table; one that has nothing is left out in a narrow window.
function tableCell(title, content, more = '') {
  return h('td', { role: 'cell', class: `${more}${content === '–' ? ' dash' : ''}`,
    'data-label': typeof title === 'string' ? title : '' }, h('div', null, content));
}

// A part of a page with a heading.
export function section(title, props, ...children) {
  const { id = `h-${title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')}`, count: number, ...rest } = props ?? {};
  return h('section', { 'aria-labelledby': id, key: id, ...rest, class: `card ${rest.class ?? ''}` },
    h('h2', { id }, title, number !== undefined ? h('span', { class: 'count' }, String(number)) : null), children);
}

// Names and values.
export function facts(pairs) {
  return h('dl', { class: 'facts' },
    pairs.filter(p => p && p[1] !== null && p[1] !== undefined && p[1] !== '').map(([name, value]) =>
      h('div', { key: name }, h('dt', null, name), h('dd', null, value))
    ));
}

// Something that the user should read.
export function notice(kind, ...children) {
  return h('div', { class: `notice ${kind}`, role: kind === 'bad' ? 'alert' : null }, icon(kind, kind),
    h('div', null, children));
}

// An error of the server.
export function errorNotice(error) {
  return notice('bad',
    h('p', null, text(error.message), error.downSince ? [tr(': it is down since '), time(error.downSince)] : null),
    error.detail ? h('p', { class: 'muted' }, text(error.detail)) : null,
    error.hint ? h('p', { class: 'muted' }, text(error.hint)) : null);
}

// Tabs; each is [id, label, content]. The chosen one is in the address.
export function tabs(label, list, chosen, choose) {
  const ids = list.map(([id]) => id);
  const at = Math.max(0, ids.indexOf(chosen));
  const move = event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to = event.key === 'Home' ? 0 :
      event.key === 'End' ? ids.length - 1 : step ? (at + step + ids.length) % ids.length : -1;
    if (to < 0) return;
    event.preventDefault();
    choose(ids[to]);
    queueMicrotask(() => document.getElementById(`tab-${ids[to]}`)?.focus());
  };
  return [
    h('div', { role: 'tablist', 'aria-label': label, class: 'tabs', onkeydown: move, key: 'tabs' },
      list.map(([id, word], n) =>
        h('button', { type: 'button', role: 'tab', id: `tab-${id}`, 'aria-selected': String(n === at),
          'aria-controls': `panel-${id}`, tabindex: n === at ? '0' : '-1', onclick: () => choose(id) }, word)
      )),
    h('div', { role: 'tabpanel', id: `panel-${ids[at]}`, 'aria-labelledby': `tab-${ids[at]}`, key: `panel-${ids[at]}`,
      class: 'panel', tabindex: '0' }, list[at][2]()),
  ];
}

// A field of a form with its label.
export function field(label, control, hint) {
  return h('label', { class: 'field' }, h('span', null, label), control, hint ? h('small', null, hint) : null);
}
