// Limits and deadlines, as several pages show them, and how limits are changed.

import { call } from './api.js';
import { confirm, onTargets } from './dialog.js';
import { h } from './dom.js';
import { count, grouped } from './format.js';
import { badge, button, executionLink, field, notice, table, text, time } from './parts.js';
import { tr } from './texts.js';

// Set a limit, or change one: the question has the values of the limit that is there. `targets` are offered for a new
// one; without them the target is typed.
function setLimit(limit, targets = null) {
  const number = (name, value, more) => h('input', { name, type: 'number', min: '1', value: value ?? '', ...more });
  const target = limit.target ??
    (targets ? h('select', { name: 'target', autofocus: true }, targets.map(x => h('option', { value: x }, x))) :
      h('input', { name: 'target', required: true, autofocus: true, spellcheck: 'false', autocomplete: 'off' }));
  const chosen = (value, word) => h('option', { value, selected: value === limit.on_limit }, word);
  return confirm({
    title: limit.target ? tr('Change the limit?') : tr('Set a limit'),
    yes: limit.target ? tr('Change') : tr('Set'),
    body: [
      limit.target ?
        h('p', null, text(limit.target, 'id'), limit.key ? [tr(' by '), h('code', null, text(limit.key))] : null) :
        field(tr('Target'), target,
          tr('a machine, "machine/state", "activity:name" or a resource such as sql:schema.function')),
      h('p', { class: 'muted' }, tr('What runs goes on, and counts. What waits begins as soon as there is a place.')),
    ],
    fields: [
      limit.target ? null :
        field(tr('By each value of (path into the input; empty: one limit for all)'),
          h('input', { name: 'key', spellcheck: 'false', autocomplete: 'off', placeholder: '$.tenant' })),
      field(tr('Run at a time, at most (empty: no limit)'),
        number('max_running', limit.max_running, limit.target ? { autofocus: true } : {})),
      field(tr('Begin, at most (empty: no limit)'), number('rate', limit.rate, { min: '0', step: 'any' })),
      field(tr('… in each'), h('input', { name: 'per', value: limit.per ?? '1 s', autocomplete: 'off' })),
      field(tr('Beyond it'),
        h('select', { name: 'on_limit' }, chosen('queue', tr('waits')),
          chosen('fail', tr('fails with Sfflow.Throttled')))),
    ],
    preview: async values => {
      const request = { ...values, ...(limit.target ? { target: limit.target, key: limit.key ?? '' } : {}) };
      if (!request.target || (!request.max_running && !request.rate))
        return h('p', { class: 'muted' }, tr('With a target and a number, what would come of it shows here.'));
      const { before, after } = await call('plan_limit', request);
      const over = after.max_running === null ? 0 : after.in_use - after.max_running;
      return notice('ok', h('p', null, tr('{0} run now, and {1} wait.', grouped(after.in_use), grouped(after.waiting))),
        over > 0 ?
          h('p', null,
            tr('That is {0} more than the limit: so many must end before another one begins.', grouped(over))) : null,
        before ?
          h('p', { class: 'muted' },
            tr('Now: {0}',
              [before.max_running === null ? null : tr('{0} at a time', grouped(before.max_running)),
                before.rate === null ? null : tr('{0} per {1}', before.rate, before.per)].filter(Boolean).join(', '))) :
          null);
    },
    act: values =>
      call('set_limit', { ...values, ...(limit.target ? { target: limit.target, key: limit.key ?? '' } : {}) }),
  });
}

// Remove a limit.
function dropLimit(limit) {
  return confirm({
    title: tr('Remove the limit?'),
    yes: tr('Remove'),
    danger: true,
    body: [h('p', null, text(limit.target, 'id')),
      h('p', null,
        limit.waiting > 0 ? tr('What waits begins then: {0}.', count(limit.waiting, '{0} branch|{0} branches')) :
          tr('Nothing waits for it.'))],
    act: () => onTargets(tr('Removed'), 'drop_limit', [limit.target], limit.key ? { key: limit.key } : {}),
  });
}

// The button for a new limit of one of some targets; null: of any.
export function newLimit(reload, targets = null) {
  return button(tr('New limit…'), async () => {
    if (await setLimit({}, targets)) reload();
  }, { class: 'small' });
}

// The buttons of a limit.
function change(limit, reload) {
  if (limit.in_definition) return h('span', { class: 'muted' }, tr('in the definition'));
  if (!limit.may_change) return null;
  const act = ask => async () => {
    if (await ask(limit)) reload();
  };
  return h('div', { class: 'row' },
    button(tr('Change…'), act(setLimit), { class: 'small',
      'aria-label': tr('Change… the limit of {0}', limit.target) }),
    button(tr('Remove…'), act(dropLimit), { class: 'small',
      'aria-label': tr('Remove… the limit of {0}', limit.target) }));
}

// Limits: how much of each is in use, and how much waits.
export function limits(rows, reload) {
  return table(tr('Limits'), [
    [tr('Target'), r => text(r.target, 'id')],
    [tr('Key'), r => r.key ? text(r.key) : '–'],
    [tr('In use'), r => r.max_running === null ? String(r.in_use) : tr('{0} of {1}', r.in_use, r.max_running), 'num'],
    [tr('Rate'), r => r.rate === null ? '–' : tr('{0} per {1}', r.rate, r.per)],
    [tr('Waiting'), r => r.waiting > 0 ? badge('waiting', String(r.waiting)) : '0', 'num'],
    [tr('Oldest since'), r => r.oldest_waiting ? time(r.oldest_waiting, true) : '–'],
    [tr('Beyond it'), r => r.on_limit === 'fail' ? tr('fails') : tr('waits')],
    ['', r => change(r, reload)],
  ], rows, r => `${r.target}/${r.key}`, tr('There is no limit.'));
}

// What of an execution waits for limits: its place in each queue, and who has the places.
export function waits(rows, id) {
  return rows?.map(w =>
    h('div', { key: `wait ${w.target} ${w.branch} ${w.state}` },
      notice('late',
        h('p', null, h('strong', null, text(w.state)), w.branch ? [tr(' in '), text(w.branch)] : null,
          tr(' waits for a place of the limit '), text(w.target, 'id'),
          w.key ? [tr(' by '), h('code', null, text(w.key))] : null, tr(' since '), time(w.since), ': ',
          h('strong', null, w.position === 1 ? tr('it is the next one') : tr('place {0}', grouped(w.position))),
          tr(' of {0}', grouped(w.waiting)), '.'),
        h('p', { class: 'muted' },
          w.max_running === null ? null : tr('{0} of {1} places are taken', w.in_use, w.max_running),
          w.rate === null ? null : tr('{0}{1} may begin per {2}', w.max_running === null ? '' : '; ', w.rate, w.per),
          w.in_use_by.length ?
            [tr(', by '), w.in_use_by.map((x, n) => [n ? ', ' : '', x === id ? tr('itself') : executionLink(x)])] :
            null, '.')))
  );
}

// Deadlines: times of day, and what is late.
export function deadlines(rows) {
  return table(tr('Deadlines'), [
    [tr('Target'), r => text(r.target, 'id')],
    [tr('State'), r => r.late ? badge('TIMED_OUT', r.late.replaceAll('_', ' ')) : badge('SUCCEEDED', tr('in time'))],
    [tr('Starts by'), r => r.start_by?.slice(0, 5) ?? '–'],
    [tr('Ends by'), r => r.end_by?.slice(0, 5) ?? '–'],
    [tr('Time zone'), r => text(r.timezone)],
    [tr('Calendar'), r => r.calendar ? text(r.calendar) : '–'],
    [tr('Next look'), r => time(r.next_check)],
  ], rows, r => r.target, tr('There is no deadline.'));
}
