// Activities, whose tasks programs outside do, and tasks that no program answered.

import { redriveOne } from './dialog.js';
import { h } from './dom.js';
import { badge, button, executionLink, may, section, table, text, time } from './parts.js';
import { excerpt } from './payload.js';

export function title() {
  return 'Activities';
}

export function load({ ask }) {
  return ask('activities', {});
}

export function draw(data, context) {
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, 'Activities'),
    h('div', { class: 'card', key: 'list' }, table('Activities', [
      ['Activity', r => text(r.activity, 'id')],
      ['Owner', r => text(r.owner), 'hide-narrow'],
      ['Queued', r => String(r.queued), 'num'],
      ['Oldest since', r => time(r.oldest_queued_at, true)],
      ['With programs', r => String(r.in_flight), 'num'],
      ['Last asked for', r => r.last_polled_at ? time(r.last_polled_at, true) : badge('TIMED_OUT', 'never')],
      ['By', r => r.last_worker ? text(r.last_worker) : '–'],
    ], data.rows, r => r.activity,
      'There is no activity that you own or may work on. sf_create_activity makes one; its tasks are queued here ' +
        'until a program takes them.')),
    section('Dead letters', { count: data.dead.length },
      h('p', { class: 'muted' },
        'Tasks that programs took as often as allowed and never answered. ' +
          'Redrive the execution to hand them out again.'), table('Dead letters', [
        ['Execution', r => executionLink(r.execution_id, { state: r.state })],
        ['State', r => text(r.branch ? `${r.branch}/${r.state}` : r.state)],
        ['Resource', r => text(r.resource), 'hide-narrow'],
        ['Died', r => time(r.died_at)],
        ['Taken', r => `${r.receives}×`, 'num'],
        ['Input', r => excerpt(r.input), 'wide'],
        ['',
          r =>
            may(data.rights, r.execution_id, 'START', 'OPERATE') ? button('Redrive…', () =>
              context.act(redriveOne(r.execution_id)), { class: 'small', 'aria-label': `Redrive ${r.execution_id}` }) :
              null],
      ], data.dead, r => r.execution_id + r.branch + r.state, 'None.')),
  ];
}
