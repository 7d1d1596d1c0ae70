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
import { cutNote, rowKey, table } from '../element/table.js';
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
      { title: tr('Activity'), cell: r => text(r.activity, 'id') },
      { title: tr('Owner'), cell: r => text(r.owner), class: 'hide-narrow' },
      { title: tr('Queued'), cell: r => String(r.queued), class: 'num' },
      { title: tr('Oldest since'), cell: r => time(r.oldest_queued_at, true) },
      { title: tr('With programs'), cell: r => String(r.in_flight), class: 'num' },
      { title: tr('Last asked for'),
        cell: r => r.last_polled_at ? time(r.last_polled_at, true) : badge('late', tr('never')) },
      { title: tr('By'), cell: r => r.last_worker ? text(r.last_worker) : null },
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
        { title: tr('Execution'), cell: r => executionLink(r.execution_id, { state: r.state }) },
        { title: tr('State'), cell: r => text(r.branch ? `${r.branch}/${r.state}` : r.state) },
        { title: tr('Resource'), cell: r => text(r.resource), class: 'hide-narrow' },
        { title: tr('Died'), cell: r => time(r.died_at) },
        { title: tr('Taken'), cell: r => `${r.receives}×`, class: 'num' },
        { title: tr('Input'), cell: r => excerpt(r.input), class: 'wide' },
        { title: '',
          cell: r =>
            may(data.rights, r.execution_id, 'START', 'OPERATE') ? button(tr('Redrive…'), () =>
              context.refreshAfter(redriveOne(r.execution_id)), { class: 'small',
              'aria-label': tr('Redrive {0}', r.execution_id) }) : null },
      ], data.dead, r => rowKey(r.execution_id, r.branch, r.state), tr('None.')), cutNote(data, 'dead')),
  ];
}
