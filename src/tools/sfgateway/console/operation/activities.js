// Activities, whose tasks programs outside do, and tasks that no program answered. The data of the page, of
// `activities`: rows: [{ activity, owner, queued, oldest_queued_at, in_flight, last_polled_at, last_worker }], dead:
// [{ execution_id, state, branch, resource, input: a payload, receives, died_at }], rights.

import { redriveOne } from '../action/redrive.js';
import { h } from '../base/dom.js';
import { executionLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { section } from '../element/blocks.js';
import { button } from '../element/controls.js';
import { excerpt } from '../element/payload.js';
import { may } from '../element/rights.js';
import { badge } from '../element/statuses.js';
import { cutNote, table } from '../element/table.js';
import { tr } from '../language/texts.js';

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
      [tr('Last asked for'), r => r.last_polled_at ? time(r.last_polled_at, true) : badge('late', tr('never'))],
      [tr('By'), r => r.last_worker ? text(r.last_worker) : null],
    ], data.rows, r => r.activity,
      tr(
        'There is no activity that you own or may work on. sf_create_activity makes one; its tasks are ' +
          'queued here until a program takes them.',
      )), cutNote(data, 'rows')),
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
      ], data.dead, r => r.execution_id + r.branch + r.state, tr('None.')), cutNote(data, 'dead')),
  ];
}
