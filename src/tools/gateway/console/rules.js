// Rules: what is called when a status changes, and the deliveries that wait or are dead.

import { call } from './api.js';
import { confirm, onTargets } from './dialog.js';
import { h } from './dom.js';
import { badge, button, field, notice, section, table, text, time, why } from './parts.js';
import { excerpt } from './payload.js';

const PATTERN = `{"source": ["aws.states"],
 "detail": {"status": ["FAILED", "TIMED_OUT"],
            "stateMachineArn": [{"suffix": ":stateMachine:nightly"}]}}`;

export function title() {
  return 'Rules';
}

export function load({ ask }) {
  return ask('rules', {});
}

// Make a rule; the dialog tries the pattern.
function create() {
  return confirm({
    title: 'New rule',
    yes: 'Create',
    body: [h('p', null, 'The target is called for each change of a status that the pattern matches, from then on.')],
    fields: [
      field('Name',
        h('input', { name: 'name', required: true, maxlength: '80', autocomplete: 'off', autofocus: true })),
      field('Pattern (JSON)',
        h('textarea', { name: 'pattern', rows: '5', required: true, spellcheck: 'false' }, PATTERN)),
      field('Target', h('input', { name: 'target', required: true, autocomplete: 'off', spellcheck: 'false' }),
        'A state machine, sql:function, activity:name, event:name or notify:channel.'),
      field('Input (JSON; empty: the event itself)', h('textarea', { name: 'input', rows: '2', spellcheck: 'false' }),
        'As {"execution.$": "$.detail.name"}.'),
      field('An event to try the pattern with (JSON)',
        h('textarea', { name: 'event', rows: '2', spellcheck: 'false' })),
    ],
    preview: async ({ pattern, event }) => {
      const { matches } = await call('test_pattern', { pattern, event: event || '{}' });
      return notice('ok',
        h('p', null,
          !event ? 'The pattern is valid.' :
            matches ? 'The pattern matches the event.' : 'The pattern is valid, and does not match the event.'));
    },
    act: ({ name, pattern, target, input }) => call('create_rule', { name, pattern, target, input }),
  });
}

// Ask before something is done with a rule, or with one of its dead deliveries.
function confirmAction(word, action, said, body, rule, event = undefined) {
  return confirm({ title: `${word}?`, yes: word, danger: action !== 'redeliver',
    body: [h('p', null, text(rule, 'id')), h('p', null, body)],
    act: () => onTargets(said, action, [rule], event ? { event_id: event } : {}) });
}

export function draw(data, context) {
  const redeliver = (rule, event) =>
    context.act(
      confirmAction('Redeliver', 'redeliver', 'Waiting again',
        event ? 'The delivery is tried again.' : 'All dead deliveries of the rule are tried again.', rule, event),
    );
  const discard = (rule, event) =>
    context.act(
      confirmAction('Discard', 'discard', 'Discarded',
        event ? 'The delivery is deleted, and never made.' :
          'All dead deliveries of the rule are deleted, and never made.', rule, event),
    );
  return [
    h('div', { class: 'title', key: 'title' }, h('h1', { tabindex: '-1' }, 'Rules'),
      !data.may_create ? null : h('div', { class: 'row actions' }, button('New rule…', () => context.act(create())))),
    h('div', { class: 'card', key: 'list' }, table('Rules', [
      ['Rule', r => text(r.rule_name, 'id'), 'wide'],
      ['Owner', r => text(r.owner), 'hide-narrow'],
      ['When', r => excerpt(r.pattern), 'wide'],
      ['Calls', r => text(r.target), 'wide'],
      ['With', r => excerpt(r.input) ?? 'the event', 'wide'],
      ['Delivered', r => String(r.delivered), 'num'],
      ['Waiting', r => r.pending > 0 ? badge('PENDING', String(r.pending)) : '0', 'num'],
      ['Dead', r => r.dead > 0 ? badge('DEAD', String(r.dead)) : '0', 'num'],
      ['',
        r =>
          h('div', { class: 'row' }, r.dead > 0 ? [button('Redeliver…', () =>
            redeliver(r.rule_name), { class: 'small', 'aria-label': `Redeliver what is dead of ${r.rule_name}` }),
            button('Discard…', () =>
              discard(r.rule_name), { class: 'small', 'aria-label': `Discard what is dead of ${r.rule_name}` })] : null,
            button('Remove…', () =>
              context.act(
                confirmAction('Remove', 'drop_rule', 'Removed', 'The rule and its deliveries are removed.',
                  r.rule_name),
              ), {
              class: 'small',
              'aria-label': `Remove ${r.rule_name}`,
            }))],
    ], data.rows, r => r.rule_name,
      'You own no rule. A rule calls a function, a machine, an activity or a channel when an execution fails, ' +
        'ends or is late.')),
    section('Deliveries', { count: data.deliveries.length === 100 ? '100+' : data.deliveries.length },
      h('p', { class: 'muted' }, 'What waits for its next attempt, and what is not tried any more.'),
      table('Deliveries', [
        ['Rule', r => text(r.rule_name), 'wide'],
        ['Status', r => badge(r.status)],
        ['Made', r => time(r.created_at)],
        ['Attempts', r => String(r.attempts), 'num'],
        ['Next attempt', r => r.next_attempt ? time(r.next_attempt, true) : '–'],
        ['Error', r => r.error ? why(r.error, r.cause) : '–', 'wide'],
        ['Event', r => excerpt(r.event), 'wide'],
        ['',
          r =>
            r.status !== 'DEAD' ? null : h('div', { class: 'row' }, button('Redeliver…', () =>
              redeliver(r.rule_name, r.event_id), { class: 'small', 'aria-label': `Redeliver to ${r.rule_name}` }),
              button('Discard…', () =>
                discard(r.rule_name, r.event_id), { class: 'small', 'aria-label': `Discard for ${r.rule_name}` }))],
      ], data.deliveries, r => r.rule_name + r.event_id, 'Nothing waits, and nothing is dead.')),
  ];
}
