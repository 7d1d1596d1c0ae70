// Rules: what is called when a status changes, and the deliveries that wait or are dead. The data of the page, of
// `rules`: rows: [{ rule_name, owner, may_edit, pattern, target, input, pending, delivered, dead }], deliveries: [{
// rule_name, event_id, status, attempts, next_attempt, error, cause, created_at, event }], may_create. pattern, input,
// cause and event are payloads.

import { onTargets } from '../action/targets.js';
import { call } from '../base/api.js';
import { h } from '../base/dom.js';
import { text, time } from '../base/values.js';
import { notice, section } from '../element/blocks.js';
import { button, field } from '../element/controls.js';
import { confirm } from '../element/dialog.js';
import { errorSummary } from '../element/errors.js';
import { excerpt } from '../element/payload.js';
import { badge, DELIVERY, statusBadge } from '../element/statuses.js';
import { countOf, cutNote, rowKey, table } from '../element/table.js';
import { tr } from '../language/texts.js';

const PATTERN = `{"source": ["aws.states"],
 "detail": {"status": ["FAILED", "TIMED_OUT"],
            "stateMachineArn": [{"suffix": ":stateMachine:nightly"}]}}`;

export function title() {
  return tr('Rules');
}

export function load({ ask }) {
  return ask('rules', {});
}

// Make a rule, or change one; the dialog tries the pattern.
function editRule(rule = null) {
  return confirm({
    title: rule ? tr('Edit {0}', rule.rule_name) : tr('New rule'),
    yes: rule ? tr('Save') : tr('Create'),
    body: [
      h('p', null, tr('The target is called for each change of a status that the pattern matches, from then on.')),
    ],
    fields: [
      field(tr('Name'),
        h('input', { name: 'name', required: true, maxlength: '80', autocomplete: 'off', value: rule?.rule_name,
          readonly: Boolean(rule), autofocus: !rule })),
      field(tr('Pattern (JSON)'),
        h('textarea', { name: 'pattern', rows: '5', required: true, spellcheck: 'false', autofocus: Boolean(rule) },
          rule?.pattern.text ?? PATTERN)),
      field(tr('Target'),
        h('input', { name: 'target', required: true, autocomplete: 'off', spellcheck: 'false', value: rule?.target }),
        tr('A state machine, sql:function, activity:name, event:name or notify:channel.')),
      field(tr('Input (JSON; empty: the event itself)'),
        h('textarea', { name: 'input', rows: '2', spellcheck: 'false' }, rule?.input?.text ?? ''),
        tr('As {"execution.$": "$.detail.name"}.')),
      field(tr('An event to try the pattern with (JSON)'),
        h('textarea', { name: 'event', rows: '2', spellcheck: 'false' })),
    ],
    preview: async ({ pattern, event }) => {
      const { matches } = await call('test_pattern', { pattern, event: event || '{}' });
      return notice('ok',
        h('p', null,
          !event ? tr('The pattern is valid.') :
            matches ? tr('The pattern matches the event.') :
            tr('The pattern is valid, and does not match the event.')));
    },
    perform: ({ name, pattern, target, input }) =>
      call('create_rule', { name, pattern, target, input, replace: Boolean(rule) }),
  });
}

// Ask before something is done with a rule, or with one of its dead deliveries.
function confirmAction(word, action, done, body, rule, event = undefined) {
  return confirm({ title: `${word}?`, yes: word, danger: action !== 'redeliver',
    body: [h('p', null, text(rule, 'id')), h('p', null, body)],
    perform: () => onTargets(done, action, [rule], event ? { event_id: event } : {}) });
}

// Try a dead delivery again, or all of a rule.
function redeliver(rule, event = undefined) {
  const body = event ? tr('The delivery is tried again.') : tr('All dead deliveries of the rule are tried again.');
  return confirmAction(tr('Redeliver'), 'redeliver', tr('Waiting again'), body, rule, event);
}

// Delete a dead delivery, or all of a rule.
function discard(rule, event = undefined) {
  const body = event ? tr('The delivery is deleted, and never made.') :
    tr('All dead deliveries of the rule are deleted, and never made.');
  return confirmAction(tr('Discard'), 'discard', tr('Discarded'), body, rule, event);
}

// Remove a rule.
function dropRule(rule) {
  return confirmAction(tr('Remove'), 'drop_rule', tr('Removed'), tr('The rule and its deliveries are removed.'), rule);
}

// The buttons of a rule.
function ruleButtons(rule, { refreshAfter }) {
  const small = (words, question, label) =>
    button(words, () => refreshAfter(question()), { class: 'small', 'aria-label': label });
  const isWhole = !rule.pattern.cut && !rule.input?.cut;
  return h('div', { class: 'row' }, rule.dead > 0 ? [
    small(tr('Redeliver…'), () => redeliver(rule.rule_name), tr('Redeliver what is dead of {0}', rule.rule_name)),
    small(tr('Discard…'), () => discard(rule.rule_name), tr('Discard what is dead of {0}', rule.rule_name)),
  ] : null, rule.may_edit && isWhole ? small(tr('Edit…'), () => editRule(rule), tr('Edit {0}', rule.rule_name)) : null,
    small(tr('Remove…'), () => dropRule(rule.rule_name), tr('Remove {0}', rule.rule_name)));
}

// The buttons of a dead delivery.
function deliveryButtons({ rule_name: rule, event_id: event }, { refreshAfter }) {
  return h('div', { class: 'row' },
    button(tr('Redeliver…'), () => refreshAfter(redeliver(rule, event)), { class: 'small',
      'aria-label': tr('Redeliver to {0}', rule) }),
    button(tr('Discard…'), () => refreshAfter(discard(rule, event)), { class: 'small',
      'aria-label': tr('Discard for {0}', rule) }));
}

export function draw(data, context) {
  return [
    h('div', { class: 'title', key: 'title' }, h('h1', { tabindex: '-1' }, tr('Rules')),
      !data.may_create ? null :
        h('div', { class: 'row actions' }, button(tr('New rule…'), () => context.refreshAfter(editRule())))),
    h('div', { class: 'card', key: 'list' }, table(tr('Rules'), [
      { title: tr('Rule'), cell: r => text(r.rule_name, 'id'), class: 'wide' },
      { title: tr('Owner'), cell: r => text(r.owner), class: 'hide-narrow' },
      { title: tr('When'), cell: r => excerpt(r.pattern), class: 'wide' },
      { title: tr('Calls'), cell: r => text(r.target), class: 'wide' },
      { title: tr('With'), cell: r => excerpt(r.input) ?? tr('the event'), class: 'wide' },
      { title: tr('Delivered'), cell: r => String(r.delivered), class: 'num' },
      { title: tr('Waiting'), cell: r => r.pending > 0 ? badge('wait', String(r.pending)) : '0', class: 'num' },
      { title: tr('Dead'), cell: r => r.dead > 0 ? badge('bad', String(r.dead)) : '0', class: 'num' },
      { title: '', cell: r => ruleButtons(r, context) },
    ], data.rows, r => r.rule_name,
      tr(
        'You own no rule. A rule calls a function, a machine, an activity or a channel when an ' +
          'execution fails, ends or is late.',
      )), cutNote(data, 'rows')),
    section(tr('Deliveries'), { count: countOf(data, 'deliveries') },
      h('p', { class: 'muted' }, tr('What waits for its next attempt, and what is not tried any more.')),
      table(tr('Deliveries'), [
        { title: tr('Rule'), cell: r => text(r.rule_name), class: 'wide' },
        { title: tr('Status'), cell: r => statusBadge(DELIVERY, r.status) },
        { title: tr('Made'), cell: r => time(r.created_at) },
        { title: tr('Attempts'), cell: r => String(r.attempts), class: 'num' },
        { title: tr('Next attempt'), cell: r => time(r.next_attempt, true) },
        { title: tr('Error'), cell: r => r.error ? errorSummary(r.error, r.cause) : null, class: 'wide' },
        { title: tr('Event'), cell: r => excerpt(r.event), class: 'wide' },
        { title: '', cell: r => r.status === 'DEAD' ? deliveryButtons(r, context) : null },
      ], data.deliveries, r => rowKey(r.rule_name, r.event_id), tr('Nothing waits, and nothing is dead.')),
      cutNote(data, 'deliveries')),
  ];
}
