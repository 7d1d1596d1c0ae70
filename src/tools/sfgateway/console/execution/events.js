// Events of an execution with their details.

import { h } from '../base/dom.js';
import { clock } from '../base/format.js';
import { text } from '../base/values.js';
import { payload } from '../element/payload.js';
import { tr } from '../language/texts.js';

/**
 * An event of the history; the details are JSON, or its beginning, and bytes counts all of it.
 * @typedef {object} HistoryEvent
 * @property {number} id
 * @property {string} type
 * @property {string | null} state
 * @property {string} timestamp
 * @property {string} details
 * @property {number} bytes
 */

/**
 * Events with their details.
 * @param {HistoryEvent[]} events
 * @param {string} id of the execution
 * @returns {HTMLElement}
 */
export function eventList(events, id) {
  return h('ol', { class: 'events' },
    events.map(e =>
      h('li', { key: e.id },
        h('details', null,
          h('summary', null, h('span', { class: 'muted num' }, `#${e.id}`), ' ', h('strong', null, e.type), ' ',
            e.state ? text(e.state) : null, ' ', h('span', { class: 'muted' }, clock(e.timestamp))),
          payload(tr('Details of event {0}', e.id), { text: e.details, bytes: e.bytes,
            cut: e.bytes > new TextEncoder().encode(e.details).length }, { execution_id: id, what: 'event',
            event: e.id })))
    ));
}
