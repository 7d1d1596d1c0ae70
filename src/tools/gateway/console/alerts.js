// Alerts: what an operator should look at, and has not acknowledged.

import { acknowledge } from './dialog.js';
import { h } from './dom.js';
import { readCause } from './format.js';
import { alertLink, badge, button, errorName, executionLink, labelLinks, may, section, table, text,
  time } from './parts.js';

const KINDS = { failed: ['FAILED', 'failed'], timed_out: ['TIMED_OUT', 'timed out'],
  failed_again: ['FAILED', 'failed again'] };

export function title() {
  return 'Alerts';
}

export function load({ ask }) {
  return ask('alerts', { limit: 200 });
}

// The detail of an alert: an error and its cause, which is often JSON.
function detail(row) {
  const [, error, cause] = KINDS[row.kind] && /^([\w.]+): (.*)$/s.exec(row.detail ?? '') || [];
  return error ? [errorName(error), ' ', text(readCause(cause).message)] : text(row.detail);
}

export function draw(data, context) {
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, 'Alerts'),
    h('div', { class: 'card', key: 'list' }, table('Alerts', [
      ['Kind', r => badge(...(KINDS[r.kind] ?? ['TIMED_OUT', r.kind.replaceAll('_', ' ')]))],
      ['Of', r => [alertLink(r), ' ', labelLinks(r.labels)]],
      ['Since', r => time(r.since)],
      ['What', detail, 'wide'],
      ['',
        r =>
          r.execution_id && may(data.rights, r.execution_id, 'OPERATE') ? button('Acknowledge…', () =>
            context.act(acknowledge([r.execution_id], r.kind)), { class: 'small',
            'aria-label': `Acknowledge ${r.kind} of ${r.execution_id}` }) : null],
    ], data.rows, r => r.kind + r.execution_id + r.target + r.detail,
      'Nothing to look at: nothing has failed, is late or is stuck that was not acknowledged.'),
      data.rows.length === 200 ? h('p', { class: 'muted' }, 'Only 200 are shown: of failures the latest ones.') : null),
    section('Acknowledged', { count: data.acknowledged.length }, table('Acknowledged', [
      ['Execution', r => executionLink(r.execution_id)],
      ['Kind', r => r.kind.replaceAll('_', ' ')],
      ['When', r => time(r.acknowledged_at)],
      ['By', r => text(r.acknowledged_by)],
      ['Comment', r => r.comment ? text(r.comment) : '–', 'wide'],
    ], data.acknowledged, r => r.execution_id + r.kind, 'None.')),
  ];
}
