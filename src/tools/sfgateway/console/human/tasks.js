// Tasks of people, as the inbox and the page of a task show them, and what is done with them.

import { call } from '../base/api.js';
import { h, say } from '../base/dom.js';
import { text, time } from '../base/values.js';
import { notice } from '../element/blocks.js';
import { nodeNote } from '../element/nodes.js';
import { badge } from '../element/statuses.js';
import { tr } from '../language/texts.js';

/** @import { Context } from '../frame/pages.js' */

// When a task is to be done; null: at any time.
export function due(at) {
  if (!at) return null;
  return new Date(at) < new Date() ? badge('late', [tr('overdue since '), time(at)]) : time(at, true);
}

/**
 * What keeps tasks from being given out.
 * @param {{ target: string, since: string, held_by: string, reason: string | null, node?: string }[]} held
 * @returns {HTMLElement[]}
 */
export function heldNotice(held) {
  return held.map(x =>
    notice('held',
      h('p', null, tr('The worklist '), text(x.target.slice('human:'.length)), nodeNote(x), tr(' is held since '),
        time(x.since), tr(' by '), text(x.held_by), x.reason ? [': ', text(x.reason)] : '',
        tr('. No task of it is given out.')))
  );
}

/**
 * Do something with a task; what is refused is shown, and the page comes up to date.
 * @param {Context} context
 * @param {string} action
 * @param {string | number} task
 * @param {string} said
 * @param {object} [request]
 */
export async function actOnTask(context, action, task, said, request = {}) {
  context.kept.wrong = null;
  try {
    await call(action, { ...request, targets: [String(task)] });
    say(said);
  } catch (error) {
    context.kept.wrong = error;
  }
  await context.reload();
}
