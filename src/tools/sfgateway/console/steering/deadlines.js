// Deadlines: times of day, and what is late.

import { text, time } from '../base/values.js';
import { nodeOf } from '../element/nodes.js';
import { badge, DEADLINE, statusWord } from '../element/statuses.js';
import { rowKey, table } from '../element/table.js';
import { tr } from '../language/texts.js';

// The words for what is late: names, with a space between each other.
function lateWords(late) {
  return late.split(' ').map(name => statusWord(DEADLINE, name)).join(', ');
}

// Deadlines as a list: { target, start_by, end_by, timezone, calendar, next_check, late }.
export function deadlines(rows) {
  return table(tr('Deadlines'), [
    { title: tr('Target'), cell: r => text(r.target, 'id') },
    { title: tr('Node'), cell: nodeOf },
    { title: tr('State'), cell: r => r.late ? badge('late', lateWords(r.late)) : badge('ok', tr('in time')) },
    { title: tr('Starts by'), cell: r => r.start_by?.slice(0, 5) },
    { title: tr('Ends by'), cell: r => r.end_by?.slice(0, 5) },
    { title: tr('Time zone'), cell: r => text(r.timezone) },
    { title: tr('Calendar'), cell: r => r.calendar ? text(r.calendar) : null },
    { title: tr('Next look'), cell: r => time(r.next_check) },
  ], rows, r => rowKey(r.node, r.target), tr('There is no deadline.'));
}
