// Whether the database is driven, what the workers do, what is held, and what operators did. The data of the page, of
// `operations`: health: [{ item, ok, detail }], workers: [{ pid, role, state, execution_id, job_id, since, steps }],
// held, done: [{ at, action, target, role, reason }]; limits, may_limit and deadlines, if the build has them.

import { h } from '../base/dom.js';
import { executionLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { section } from '../element/blocks.js';
import { badge } from '../element/statuses.js';
import { cutNote, table } from '../element/table.js';
import { tr } from '../language/texts.js';
import { deadlines } from '../steering/deadlines.js';
import { heldTable } from '../steering/holds.js';
import { limits, newLimit } from '../steering/limits.js';

export function title() {
  return tr('Health');
}

export function load({ ask }) {
  return ask('operations', {});
}

export function draw(data, context) {
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, tr('Health')),
    h('div', { class: 'columns', key: 'columns' },
      section(tr('Database'), {},
        table(tr('Health'), [{ title: tr('Item'), cell: r => r.item }, { title: tr('State'),
          cell: r => r.ok ? badge('ok', tr('ok')) : badge('bad', tr('not ok')) }, { title: tr('Detail'),
          cell: r => text(r.detail), class: 'wide' }], data.health, r => r.item)),
      section(tr('Workers'), { count: data.workers.length }, table(tr('Workers'), [
        { title: tr('Process'), cell: r => r.pid, class: 'num' },
        { title: tr('Role'), cell: r => r.role },
        { title: tr('State'), cell: r => r.state },
        { title: tr('At'),
          cell: r => r.execution_id ? [executionLink(r.execution_id), r.job_id ? [' ', text(r.job_id)] : null] : null },
        { title: tr('Since'), cell: r => time(r.since, true) },
        { title: tr('Steps'), cell: r => String(r.steps), class: 'num' },
      ], data.workers, (r, n) => r.pid ?? n, tr('No worker runs.')), cutNote(data, 'workers'))),
    section(tr('Held'), { count: data.held.length }, heldTable(data.held, context.refreshAfter), cutNote(data, 'held')),
    data.deadlines ?
      section(tr('Deadlines'), { count: data.deadlines.length }, deadlines(data.deadlines),
        cutNote(data, 'deadlines')) : null,
    data.limits ?
      section(tr('Limits'), { count: data.limits.length }, limits(data.limits, context.refreshAfter),
        cutNote(data, 'limits'), data.may_limit ? h('div', { class: 'row' }, newLimit(context.refreshAfter)) : null) :
      null,
    section(tr('Who did what'), {}, table(tr('Who did what'), [
      { title: tr('When'), cell: r => time(r.at) },
      { title: tr('What'), cell: r => r.action },
      { title: tr('Target'), cell: r => text(r.target, 'id') },
      { title: tr('Role'), cell: r => text(r.role) },
      { title: tr('Why'), cell: r => r.reason ? text(r.reason) : null, class: 'wide' },
    ], data.done, (r, n) => r.at + r.action + n, tr('Nothing.')), cutNote(data, 'done')),
  ];
}
