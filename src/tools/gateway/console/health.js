// Whether the database is driven, what the workers do, what is held, and what operators did.

import { release } from './dialog.js';
import { h } from './dom.js';
import { deadlines, limits, newLimit } from './limits.js';
import { badge, button, executionLink, section, table, text, time } from './parts.js';
import { tr } from './texts.js';

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
        table(tr('Health'), [[tr('Item'), r => r.item], [tr('State'),
          r => r.ok ? badge('SUCCEEDED', tr('ok')) : badge('FAILED', tr('not ok'))], [tr('Detail'), r => text(r.detail),
          'wide']], data.health, r => r.item)),
      section(tr('Workers'), { count: data.workers.length }, table(tr('Workers'), [
        [tr('Process'), r => String(r.pid ?? '–'), 'num'],
        [tr('Role'), r => r.role],
        [tr('State'), r => r.state],
        [tr('At'),
          r => r.execution_id ? [executionLink(r.execution_id), r.job_id ? [' ', text(r.job_id)] : null] : '–'],
        [tr('Since'), r => time(r.since, true)],
        [tr('Steps'), r => String(r.steps), 'num'],
      ], data.workers, (r, n) => r.pid ?? n, tr('No worker runs.')))),
    section(tr('Held'), { count: data.held.length }, table(tr('Held'), [
      [tr('Target'), r => text(r.state ? `${r.target}/${r.state}` : r.target, 'id')],
      [tr('Since'), r => time(r.since)],
      [tr('By'), r => text(r.held_by)],
      [tr('Why'), r => r.reason ? text(r.reason) : '–', 'wide'],
      [tr('Waiting'), r => String(r.waiting), 'num'],
      ['',
        r =>
          r.may_release ? button(tr('Release…'), () =>
            context.act(release(r)), { class: 'small', 'aria-label': tr('Release {0}', r.target) }) : null],
    ], data.held, r => r.target + r.state, tr('Nothing is held.'))),
    data.deadlines ? section(tr('Deadlines'), { count: data.deadlines.length }, deadlines(data.deadlines)) : null,
    data.limits ?
      section(tr('Limits'), { count: data.limits.length }, limits(data.limits, context.reload),
        data.may_limit ? h('div', { class: 'row' }, newLimit(context.reload)) : null) : null,
    section(tr('Who did what'), {}, table(tr('Who did what'), [
      [tr('When'), r => time(r.at)],
      [tr('What'), r => r.action],
      [tr('Target'), r => text(r.target, 'id')],
      [tr('Role'), r => text(r.role)],
      [tr('Why'), r => r.reason ? text(r.reason) : '–', 'wide'],
    ], data.done, (r, n) => r.at + r.action + n, tr('Nothing.'))),
  ];
}
