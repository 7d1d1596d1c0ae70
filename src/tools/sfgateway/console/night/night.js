// What ran in the night, runs and is to come.

import { h } from '../base/dom.js';
import { duration, grouped, scheduleOf } from '../base/format.js';
import { addressOf, executionLink, scheduleLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { section } from '../element/blocks.js';
import { nodeOf } from '../element/nodes.js';
import { NIGHT, statusBadge } from '../element/statuses.js';
import { cutNote, rowKey, table } from '../element/table.js';
import { compare } from '../execution/timeline.js';
import { tr } from '../language/texts.js';

// A number of executions that were counted up to 1,000.
export function upTo(number) {
  return number >= 1000 ? `${grouped(1000)}+` : String(number);
}

// A schedule; only those of this database have a page.
export function schedule(row, name, words = name) {
  return row.node ? text(words, 'id') : scheduleLink(name, words);
}

/**
 * Runs of one machine, or of one schedule, in one state; times are in milliseconds.
 * @typedef {object} NightRow
 * @property {string} name
 * @property {string} state
 * @property {number} n how many there are
 * @property {string | null} target the execution, if there is one
 * @property {string} first_planned
 * @property {string} last_planned
 * @property {string | null} expected_end
 * @property {number | null} took
 * @property {number | null} usual
 * @property {string | null} detail
 * @property {string | null} next
 * @property {string} [node]
 */

/**
 * The night: what ran, runs and is to come, in the order of time; executions of one machine in one state are one row.
 * @param {{ rows: NightRow[] }} data
 * @returns {HTMLElement}
 */
export function night(data) {
  const target = r =>
    scheduleOf(r.name) !== null ? schedule(r, scheduleOf(r.name), r.name) :
      r.n > 1 || !r.target ?
      h('a', { class: 'id', href: addressOf('executions', '', { state_machine: r.name, status: r.state }) },
        tr('{0} of {1}', r.state === 'RUNNING' ? upTo(r.n) : grouped(r.n), r.name)) : executionLink(r.target);
  return section(tr('The night'), {}, table(tr('The night'), [
    { title: tr('At'),
      cell:
        r => [time(r.first_planned),
          r.n > 1 && r.last_planned !== r.first_planned ? [' – ', time(r.last_planned)] : null] },
    { title: tr('What'), cell: target, class: 'wide' },
    { title: tr('Node'), cell: nodeOf },
    { title: tr('State'), cell: r => statusBadge(NIGHT, r.state) },
    { title: tr('Took'),
      cell: r =>
        r.took === null ? null :
          [r.took < 100 ? tr('under 100 ms') : `${r.n > 1 ? tr('up to ') : ''}${duration(r.took)}`,
            r.usual > 0 ? h('small', null, ` ${compare(r.took, r.usual)}`) : null] },
    { title: tr('Ends about'), cell: r => new Date(r.expected_end ?? 0) > new Date() ? time(r.expected_end) : null },
    { title: tr('Why'), cell: r => r.detail ? text(r.detail) : null, class: 'wide' },
    { title: tr('Then'), cell: r => r.next ? text(r.next) : null, class: 'wide' },
  ], data.rows, r => rowKey(r.node, r.name, r.state), tr('Nothing.')), cutNote(data, 'rows'));
}
