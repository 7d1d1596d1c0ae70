// Limits, as several pages show them, and how they are changed. A limit is { target, key, max_running, rate, per,
// on_limit, in_use, waiting, oldest_waiting, in_definition, may_change }.

import { onTargets } from '../action/targets.js';
import { call } from '../base/api.js';
import { h } from '../base/dom.js';
import { count, grouped } from '../base/format.js';
import { executionLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { notice } from '../element/blocks.js';
import { button, choice, field } from '../element/controls.js';
import { confirm } from '../element/dialog.js';
import { nodeOf } from '../element/nodes.js';
import { badge } from '../element/statuses.js';
import { rowKey, table } from '../element/table.js';
import { tr } from '../language/texts.js';

// What a limit is for: the target that it has, or a field for that of a new one.
function limitTarget(limit, targets) {
  if (limit.target)
    return h('p', null, text(limit.target, 'id'), limit.key ? [tr(' by '), h('code', null, text(limit.key))] : null);
  const control = targets ?
    h('select', { name: 'target', autofocus: true }, targets.map(target => h('option', { value: target }, target))) :
    h('input', { name: 'target', required: true, autofocus: true, spellcheck: 'false', autocomplete: 'off' });
  return field(tr('Target'), control,
    tr('a machine, "machine/state", "activity:name" or a resource such as sql:schema.function'));
}

// The fields of a limit.
function limitFields(limit) {
  const number = (name, more) => h('input', { name, type: 'number', min: '1', value: limit[name] ?? '', ...more });
  return [
    limit.target ? null :
      field(tr('By each value of (path into the input; empty: one limit for all)'),
        h('input', { name: 'key', spellcheck: 'false', autocomplete: 'off', placeholder: '$.tenant' })),
    field(tr('Run at a time, at most (empty: no limit)'), number('max_running', { autofocus: Boolean(limit.target) })),
    field(tr('Begin, at most (empty: no limit)'), number('rate', { min: '0', step: 'any' })),
    field(tr('… in each'), h('input', { name: 'per', value: limit.per ?? '1 s', autocomplete: 'off' })),
    choice(tr('Beyond it'), 'on_limit', [['queue', tr('waits')], ['fail', tr('fails with Sfflow.Throttled')]],
      limit.on_limit),
  ];
}

// How much would run and wait with a limit.
async function previewLimit(request) {
  if (!request.target || (!request.max_running && !request.rate))
    return h('p', { class: 'muted' }, tr('With a target and a number, what would come of it shows here.'));
  const { before, after } = await call('plan_limit', request);
  const tooMany = after.max_running === null ? 0 : after.in_use - after.max_running;
  const now = before &&
    [before.max_running === null ? null : tr('{0} at a time', grouped(before.max_running)),
      before.rate === null ? null : tr('{0} per {1}', before.rate, before.per)];
  return notice('ok', h('p', null, tr('{0} run now, and {1} wait.', grouped(after.in_use), grouped(after.waiting))),
    tooMany > 0 ?
      h('p', null,
        tr('That is {0} more than the limit: so many must end before another one begins.', grouped(tooMany))) : null,
    now ? h('p', { class: 'muted' }, tr('Now: {0}', now.filter(Boolean).join(', '))) : null);
}

// Set a limit, or change one: the question has the values of the limit that is there. `targets` are offered for a new
// one; without them the target is typed.
function setLimit(limit, targets = null) {
  const request = values => limit.target ? { ...values, target: limit.target, key: limit.key ?? '' } : values;
  return confirm({
    title: limit.target ? tr('Change the limit?') : tr('Set a limit'),
    yes: limit.target ? tr('Change') : tr('Set'),
    body: [
      limitTarget(limit, targets),
      h('p', { class: 'muted' }, tr('What runs goes on, and counts. What waits begins as soon as there is a slot.')),
    ],
    fields: limitFields(limit),
    preview: values => previewLimit(request(values)),
    perform: values => call('set_limit', request(values)),
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
    perform: () => onTargets(tr('Removed'), 'drop_limit', [limit.target], limit.key ? { key: limit.key } : {}),
  });
}

// The button for a new limit of one of some targets; null: of any.
export function newLimit(refreshAfter, targets = null) {
  return button(tr('New limit…'), () => refreshAfter(setLimit({}, targets)), { class: 'small' });
}

// The buttons of a limit.
function limitButtons(limit, refreshAfter) {
  if (limit.in_definition) return h('span', { class: 'muted' }, tr('in the definition'));
  if (!limit.may_change) return null;
  return h('div', { class: 'row' },
    button(tr('Change…'), () => refreshAfter(setLimit(limit)), { class: 'small',
      'aria-label': tr('Change… the limit of {0}', limit.target) }),
    button(tr('Remove…'), () => refreshAfter(dropLimit(limit)), { class: 'small',
      'aria-label': tr('Remove… the limit of {0}', limit.target) }));
}

// Limits: how much of each is in use, and how much waits. `refreshAfter` is that of the page.
export function limits(rows, refreshAfter) {
  return table(tr('Limits'), [
    { title: tr('Target'), cell: r => text(r.target, 'id') },
    { title: tr('Node'), cell: nodeOf },
    { title: tr('Key'), cell: r => r.key ? text(r.key) : null },
    { title: tr('In use'),
      cell: r => r.max_running === null ? String(r.in_use) : tr('{0} of {1}', r.in_use, r.max_running), class: 'num' },
    { title: tr('Rate'), cell: r => r.rate === null ? null : tr('{0} per {1}', r.rate, r.per) },
    { title: tr('Waiting'), cell: r => r.waiting > 0 ? badge('wait', String(r.waiting)) : '0', class: 'num' },
    { title: tr('Oldest since'), cell: r => time(r.oldest_waiting, true) },
    { title: tr('Beyond it'), cell: r => r.on_limit === 'fail' ? tr('fails') : tr('waits') },
    { title: '', cell: r => limitButtons(r, refreshAfter) },
  ], rows, r => rowKey(r.node, r.target, r.key), tr('There is no limit.'));
}

// What of an execution waits for limits: its position in each queue, and who has the slots.
export function waits(rows, id) {
  return rows?.map(w =>
    h('div', { key: `wait ${w.target} ${w.branch} ${w.state}` },
      notice('late',
        h('p', null, h('strong', null, text(w.state)), w.branch ? [tr(' in '), text(w.branch)] : null,
          tr(' waits for a slot of the limit '), text(w.target, 'id'),
          w.key ? [tr(' by '), h('code', null, text(w.key))] : null, tr(' since '), time(w.since), ': ',
          h('strong', null, w.position === 1 ? tr('it is the next one') : tr('position {0}', grouped(w.position))),
          tr(' of {0}', grouped(w.waiting)), '.'),
        h('p', { class: 'muted' },
          w.max_running === null ? null : tr('{0} of {1} slots are taken', w.in_use, w.max_running),
          w.rate === null ? null : tr('{0}{1} may begin per {2}', w.max_running === null ? '' : '; ', w.rate, w.per),
          w.in_use_by.length ?
            [tr(', by '), w.in_use_by.map((x, n) => [n ? ', ' : '', x === id ? tr('itself') : executionLink(x)])] :
            null, '.')))
  );
}
