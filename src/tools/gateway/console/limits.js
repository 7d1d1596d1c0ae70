// Limits and deadlines, as several pages show them, and how limits are changed.

import { call } from './api.js';
import { confirm, onTargets } from './dialog.js';
import { h } from './dom.js';
import { count } from './format.js';
import { badge, button, executionLink, field, notice, table, text, time } from './parts.js';

// Set a limit, or change one: the question has the values of the limit that is there. `targets` are offered for a new
// one; without them the target is typed.
function setLimit(limit, targets = null) {
  const number = (name, value, more) => h('input', { name, type: 'number', min: '1', value: value ?? '', ...more });
  const target = limit.target ??
    (targets ? h('select', { name: 'target', autofocus: true }, targets.map(x => h('option', { value: x }, x))) :
      h('input', { name: 'target', required: true, autofocus: true, spellcheck: 'false', autocomplete: 'off' }));
  const chosen = (value, word) => h('option', { value, selected: value === limit.on_limit }, word);
  return confirm({
    title: limit.target ? 'Change the limit?' : 'Set a limit',
    yes: limit.target ? 'Change' : 'Set',
    body: [
      limit.target ?
        h('p', null, text(limit.target, 'id'), limit.key ? [' by ', h('code', null, text(limit.key))] : null) :
        field('Target', target,
          'a machine, "machine/state", "activity:name" or a resource such as sql:schema.function'),
      h('p', { class: 'muted' }, 'What runs goes on, and counts. What waits begins as soon as there is a place.'),
    ],
    fields: [
      limit.target ? null :
        field('By each value of (path into the input; empty: one limit for all)',
          h('input', { name: 'key', spellcheck: 'false', autocomplete: 'off', placeholder: '$.tenant' })),
      field('Run at a time, at most (empty: no limit)',
        number('max_running', limit.max_running, limit.target ? { autofocus: true } : {})),
      field('Begin, at most (empty: no limit)', number('rate', limit.rate, { min: '0', step: 'any' })),
      field('… in each', h('input', { name: 'per', value: limit.per ?? '1 s', autocomplete: 'off' })),
      field('Beyond it',
        h('select', { name: 'on_limit' }, chosen('queue', 'waits'), chosen('fail', 'fails with Sfflow.Throttled'))),
    ],
    act: values =>
      call('set_limit', { ...values, ...(limit.target ? { target: limit.target, key: limit.key ?? '' } : {}) }),
  });
}

// Remove a limit.
function dropLimit(limit) {
  return confirm({
    title: 'Remove the limit?',
    yes: 'Remove',
    danger: true,
    body: [h('p', null, text(limit.target, 'id')),
      h('p', null,
        limit.waiting > 0 ? `What waits begins then: ${count(limit.waiting, 'branch', 'branches')}.` :
          'Nothing waits for it.')],
    act: () => onTargets('Removed', 'drop_limit', [limit.target], limit.key ? { key: limit.key } : {}),
  });
}

// The button for a new limit of one of some targets; null: of any.
export function newLimit(reload, targets = null) {
  return button('New limit…', async () => {
    if (await setLimit({}, targets)) reload();
  }, { class: 'small' });
}

// The buttons of a limit.
function change(limit, reload) {
  if (limit.in_definition) return h('span', { class: 'muted' }, 'in the definition');
  if (!limit.may_change) return null;
  const act = ask => async () => {
    if (await ask(limit)) reload();
  };
  return h('div', { class: 'row' },
    button('Change…', act(setLimit), { class: 'small', 'aria-label': `Change… the limit of ${limit.target}` }),
    button('Remove…', act(dropLimit), { class: 'small', 'aria-label': `Remove… the limit of ${limit.target}` }));
}

// Limits: how much of each is in use, and how much waits.
export function limits(rows, reload) {
  return table('Limits', [
    ['Target', r => text(r.target, 'id')],
    ['Key', r => r.key ? text(r.key) : '–'],
    ['In use', r => r.max_running === null ? String(r.in_use) : `${r.in_use} of ${r.max_running}`, 'num'],
    ['Rate', r => r.rate === null ? '–' : `${r.rate} per ${r.per}`],
    ['Waiting', r => r.waiting > 0 ? badge('waiting', String(r.waiting)) : '0', 'num'],
    ['Oldest since', r => r.oldest_waiting ? time(r.oldest_waiting, true) : '–'],
    ['Beyond it', r => r.on_limit === 'fail' ? 'fails' : 'waits'],
    ['', r => change(r, reload)],
  ], rows, r => `${r.target}/${r.key}`, 'There is no limit.');
}

// What of an execution waits for limits: its place in each queue, and who has the places.
export function waits(rows, id) {
  return rows?.map(w =>
    h('div', { key: `wait ${w.target} ${w.branch} ${w.state}` },
      notice('late',
        h('p', null, h('strong', null, text(w.state)), w.branch ? [' in ', text(w.branch)] : null,
          ' waits for a place of the limit ', text(w.target, 'id'),
          w.key ? [' by ', h('code', null, text(w.key))] : null, ' since ', time(w.since), ': ',
          h('strong', null, w.position === 1 ? 'it is the next one' : `place ${w.position.toLocaleString('en')}`),
          ` of ${w.waiting.toLocaleString('en')}`, '.'),
        h('p', { class: 'muted' }, w.max_running === null ? null : `${w.in_use} of ${w.max_running} places are taken`,
          w.rate === null ? null : `${w.max_running === null ? '' : '; '}${w.rate} may begin per ${w.per}`,
          w.in_use_by.length ?
            [', by ', w.in_use_by.map((x, n) => [n ? ', ' : '', x === id ? 'itself' : executionLink(x)])] : null, '.')))
  );
}

// Deadlines: times of day, and what is late.
export function deadlines(rows) {
  return table('Deadlines', [
    ['Target', r => text(r.target, 'id')],
    ['State', r => r.late ? badge('TIMED_OUT', r.late.replaceAll('_', ' ')) : badge('SUCCEEDED', 'in time')],
    ['Starts by', r => r.start_by?.slice(0, 5) ?? '–'],
    ['Ends by', r => r.end_by?.slice(0, 5) ?? '–'],
    ['Time zone', r => text(r.timezone)],
    ['Calendar', r => r.calendar ? text(r.calendar) : '–'],
    ['Next look', r => time(r.next_check)],
  ], rows, r => r.target, 'There is no deadline.');
}
