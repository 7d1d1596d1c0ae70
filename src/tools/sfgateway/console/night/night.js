// What ran in the night, runs and is to come.

import { h } from '../base/dom.js';
import { duration, grouped, scheduleOf } from '../base/format.js';
import { addressOf, executionLink, scheduleLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { section } from '../element/blocks.js';
import { nodeOf } from '../element/nodes.js';
import { NIGHT, statusBadge } from '../element/statuses.js';
import { cutNote, table } from '../element/table.js';
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

// The night: what ran, runs and is to come, in the order of time; executions of one machine in one state are one row.
export function night(data) {
  const target = r =>
    scheduleOf(r.name) !== null ? schedule(r, scheduleOf(r.name), r.name) :
      r.n > 1 || !r.target ?
      h('a', { class: 'id', href: addressOf('executions', '', { state_machine: r.name, status: r.state }) },
        tr('{0} of {1}', r.state === 'RUNNING' ? upTo(r.n) : grouped(r.n), r.name)) : executionLink(r.target);
  return section(tr('The night'), {}, table(tr('The night'), [
    [tr('At'),
      r => [time(r.first_planned),
        r.n > 1 && r.last_planned !== r.first_planned ? [' – ', time(r.last_planned)] : null]],
    [tr('What'), target, 'wide'],
    [tr('Node'), nodeOf],
    [tr('State'), r => statusBadge(NIGHT, r.state)],
    [tr('Took'),
      r =>
        r.took === null ? null :
          [r.took < 100 ? tr('under 100 ms') : `${r.n > 1 ? tr('up to ') : ''}${duration(r.took)}`,
            r.usual > 0 ? h('small', null, ` ${compare(r.took, r.usual)}`) : null]],
    [tr('Ends about'), r => new Date(r.expected_end ?? 0) > new Date() ? time(r.expected_end) : null],
    [tr('Why'), r => r.detail ? text(r.detail) : null, 'wide'],
    [tr('Then'), r => r.next ? text(r.next) : null, 'wide'],
  ], data.rows, r => `${r.node ?? ''} ${r.name}${r.state}`, tr('Nothing.')), cutNote(data, 'rows'));
}
