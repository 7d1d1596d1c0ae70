// Alerts: what an operator should look at, and has not acknowledged. The data of the page, of `alerts`: rows: [{ kind,
// execution_id, since, detail, error and cause (a payload) of a failure, target, labels; node and rights, of another
// node }], acknowledged: [{ kind, execution_id, acknowledged_at, acknowledged_by, comment }], rights, nodes_missing.

import { h } from '../base/dom.js';
import { readCause } from '../base/format.js';
import { alertLink, executionLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { section } from '../element/blocks.js';
import { errorName } from '../element/errors.js';
import { labelLinks } from '../element/labels.js';
import { missingNodes, nodeOf } from '../element/nodes.js';
import { ALERT, statusBadge, statusWord } from '../element/statuses.js';
import { cutNote, isCut, rowKey, table } from '../element/table.js';
import { tr } from '../language/texts.js';
import { acknowledgeButton } from './acknowledge.js';

export function title() {
  return tr('Alerts');
}

export function load({ ask }) {
  return ask('alerts', { limit: 200 });
}

// What an alert tells: of a failure the error and the cause, which is often JSON.
function detail({ error, cause, detail: words }) {
  return error && cause ? [errorName(error), ' ', text(readCause(cause).message)] : words ? text(words) : null;
}

export function draw(data, context) {
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, tr('Alerts')),
    missingNodes(data),
    h('div', { class: 'card', key: 'list' }, table(tr('Alerts'), [
      { title: tr('Kind'), cell: r => statusBadge(ALERT, r.kind) },
      { title: tr('Of'), cell: r => [alertLink(r), ' ', labelLinks(r.labels)] },
      { title: tr('Node'), cell: nodeOf },
      { title: tr('Since'), cell: r => time(r.since) },
      { title: tr('What'), cell: detail, class: 'wide' },
      { title: '', cell: r => acknowledgeButton(r, data, context.refreshAfter) },
    ], data.rows, r => rowKey(r.kind, r.node, r.execution_id, r.target, r.detail),
      tr('Nothing to look at: nothing has failed, is late or is stuck that was not acknowledged.')),
      isCut(data, 'rows') ?
        h('p', { class: 'muted' }, tr('Only {0} are shown: of failures the latest ones.', data.rows.length)) : null),
    section(tr('Acknowledged'), { count: data.acknowledged.length }, table(tr('Acknowledged'), [
      { title: tr('Execution'), cell: r => executionLink(r.execution_id) },
      { title: tr('Node'), cell: nodeOf },
      { title: tr('Kind'), cell: r => statusWord(ALERT, r.kind) },
      { title: tr('When'), cell: r => time(r.acknowledged_at) },
      { title: tr('By'), cell: r => text(r.acknowledged_by) },
      { title: tr('Comment'), cell: r => r.comment ? text(r.comment) : null, class: 'wide' },
    ], data.acknowledged, r => rowKey(r.node, r.execution_id, r.kind), tr('None.')), cutNote(data, 'acknowledged')),
  ];
}
