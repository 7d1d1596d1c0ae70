// Alerts: what an operator should look at, and has not acknowledged.

import { acknowledge } from './dialog.js';
import { h } from './dom.js';
import { readCause } from './format.js';
import { alertLink, badge, button, errorName, executionLink, labelLinks, may, section, table, text,
  time } from './parts.js';
import { tr } from './texts.js';

const KINDS = { failed: ['FAILED', tr('failed')], timed_out: ['TIMED_OUT', tr('timed out')],
  failed_again: ['FAILED', tr('failed again')] };

export function title() {
  return tr('Alerts');
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
    h('h1', { tabindex: '-1', key: 'h1' }, tr('Alerts')),
    h('div', { class: 'card', key: 'list' }, table(tr('Alerts'), [
      [tr('Kind'), r => badge(...(KINDS[r.kind] ?? ['TIMED_OUT', r.kind.replaceAll('_', ' ')]))],
      [tr('Of'), r => [alertLink(r), ' ', labelLinks(r.labels)]],
      [tr('Since'), r => time(r.since)],
      [tr('What'), detail, 'wide'],
      ['',
        r =>
          r.execution_id && may(data.rights, r.execution_id, 'OPERATE') ? button(tr('Acknowledge…'), () =>
            context.act(acknowledge([r.execution_id], r.kind)), { class: 'small',
            'aria-label': tr('Acknowledge {0} of {1}', r.kind, r.execution_id) }) : null],
    ], data.rows, r => r.kind + r.execution_id + r.target + r.detail,
      tr('Nothing to look at: nothing has failed, is late or is stuck that was not acknowledged.')),
      data.rows.length === 200 ? h('p', { class: 'muted' }, tr('Only 200 are shown: of failures the latest ones.')) :
        null),
    section(tr('Acknowledged'), { count: data.acknowledged.length }, table(tr('Acknowledged'), [
      [tr('Execution'), r => executionLink(r.execution_id)],
      [tr('Kind'), r => r.kind.replaceAll('_', ' ')],
      [tr('When'), r => time(r.acknowledged_at)],
      [tr('By'), r => text(r.acknowledged_by)],
      [tr('Comment'), r => r.comment ? text(r.comment) : '–', 'wide'],
    ], data.acknowledged, r => r.execution_id + r.kind, tr('None.'))),
  ];
}
