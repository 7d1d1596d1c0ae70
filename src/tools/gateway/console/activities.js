// Activities, whose tasks programs outside do, and tasks that no program answered.

import { redriveOne } from './dialog.js';
import { h } from './dom.js';
import { badge, button, executionLink, may, section, table, text, time } from './parts.js';
import { excerpt } from './payload.js';
import { tr } from './texts.js';

export function title() {
  return tr('Activities');
}

export function load({ ask }) {
  return ask('activities', {});
}

export function draw(data, context) {
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, tr('Activities')),
    h('div', { class: 'card', key: 'list' }, table(tr('Activities'), [
      [tr('Activity'), r => text(r.activity, 'id')],
      [tr('Owner'), r => text(r.owner), 'hide-narrow'],
      [tr('Queued'), r => String(r.queued), 'num'],
      [tr('Oldest since'), r => time(r.oldest_queued_at, true)],
      [tr('With programs'), r => String(r.in_flight), 'num'],
      [tr('Last asked for'), r => r.last_polled_at ? time(r.last_polled_at, true) : badge('TIMED_OUT', tr('never'))],
      [tr('By'), r => r.last_worker ? text(r.last_worker) : '–'],
    ], data.rows, r => r.activity,
      tr(
        'There is no activity that you own or may work on. sf_create_activity makes one; its tasks are ' +
          'queued here until a program takes them.',
      ))),
    section(tr('Dead letters'), { count: data.dead.length },
      h('p', { class: 'muted' },
        tr(
          'Tasks that programs took as often as allowed and never answered. Redrive the execution to hand ' +
            'them out again.',
        )), table(tr('Dead letters'), [
        [tr('Execution'), r => executionLink(r.execution_id, { state: r.state })],
        [tr('State'), r => text(r.branch ? `${r.branch}/${r.state}` : r.state)],
        [tr('Resource'), r => text(r.resource), 'hide-narrow'],
        [tr('Died'), r => time(r.died_at)],
        [tr('Taken'), r => `${r.receives}×`, 'num'],
        [tr('Input'), r => excerpt(r.input), 'wide'],
        ['',
          r =>
            may(data.rights, r.execution_id, 'START', 'OPERATE') ? button(tr('Redrive…'), () =>
              context.act(redriveOne(r.execution_id)), { class: 'small',
              'aria-label': tr('Redrive {0}', r.execution_id) }) : null],
      ], data.dead, r => r.execution_id + r.branch + r.state, tr('None.'))),
  ];
}
