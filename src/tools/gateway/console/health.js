// Whether the database is driven, what the workers do, what is held, and what operators did.

import { release } from './dialog.js';
import { h } from './dom.js';
import { deadlines, limits, newLimit } from './limits.js';
import { badge, button, executionLink, section, table, text, time } from './parts.js';

export function title() {
  return 'Health';
}

export function load({ ask }) {
  return ask('operations', {});
}

export function draw(data, context) {
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, 'Health'),
    h('div', { class: 'columns', key: 'columns' },
      section('Database', {},
        table('Health', [['Item', r => r.item], ['State',
          r => r.ok ? badge('SUCCEEDED', 'ok') : badge('FAILED', 'not ok')], ['Detail', r => text(r.detail), 'wide']],
          data.health, r => r.item)), section('Workers', { count: data.workers.length }, table('Workers', [
          ['Process', r => String(r.pid ?? '–'), 'num'],
          ['Role', r => r.role],
          ['State', r => r.state],
          ['At', r => r.execution_id ? [executionLink(r.execution_id), r.job_id ? [' ', text(r.job_id)] : null] : '–'],
          ['Since', r => time(r.since, true)],
          ['Steps', r => String(r.steps), 'num'],
        ], data.workers, (r, n) => r.pid ?? n, 'No worker runs.'))),
    section('Held', { count: data.held.length }, table('Held', [
      ['Target', r => text(r.state ? `${r.target}/${r.state}` : r.target, 'id')],
      ['Since', r => time(r.since)],
      ['By', r => text(r.held_by)],
      ['Why', r => r.reason ? text(r.reason) : '–', 'wide'],
      ['Waiting', r => String(r.waiting), 'num'],
      ['',
        r =>
          r.may_release ? button('Release…', () =>
            context.act(release(r)), { class: 'small', 'aria-label': `Release ${r.target}` }) : null],
    ], data.held, r => r.target + r.state, 'Nothing is held.')),
    data.deadlines ? section('Deadlines', { count: data.deadlines.length }, deadlines(data.deadlines)) : null,
    data.limits ?
      section('Limits', { count: data.limits.length }, limits(data.limits, context.reload),
        data.may_limit ? h('div', { class: 'row' }, newLimit(context.reload)) : null) : null,
    section('Who did what', {}, table('Who did what', [
      ['When', r => time(r.at)],
      ['What', r => r.action],
      ['Target', r => text(r.target, 'id')],
      ['Role', r => text(r.role)],
      ['Why', r => r.reason ? text(r.reason) : '–', 'wide'],
    ], data.done, (r, n) => r.at + r.action + n, 'Nothing.')),
  ];
}
