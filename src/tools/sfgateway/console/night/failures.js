// What failed, on the page Tonight: failures of one machine with one error, which job, why, and what can be done about
// it.

import { redriveMany, redriveOne } from '../action/redrive.js';
import { h } from '../base/dom.js';
import { between, count, distance, duration, readCause, stateNames } from '../base/format.js';
import { icon } from '../base/icons.js';
import { addressOf, executionLink, machineLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { section } from '../element/blocks.js';
import { button } from '../element/controls.js';
import { causeLines, errorName, failedItem } from '../element/errors.js';
import { nodeNote } from '../element/nodes.js';
import { may, rightsOf } from '../element/rights.js';
import { EXECUTION, statusBadge } from '../element/statuses.js';
import { isCut } from '../element/table.js';
import { tr } from '../language/texts.js';
import { acknowledge } from '../operation/acknowledge.js';

// How many executions have failed.
export function failures(data) {
  return (data.kinds.failed ?? 0) + (data.kinds.timed_out ?? 0);
}

// Where to look into a failure: at the execution that failed last, and the state of its job.
function lookInto({ executions: [latest], jobs }) {
  return { latest, query: jobs?.[0] ? { state: stateNames(jobs[0]).at(-1) } : {} };
}

// What failed, and when.
function faultHead(f, isCut) {
  const { latest, query } = lookInto(f);
  return h('div', { class: 'fault-head' }, statusBadge(EXECUTION, f.kind === 'timed_out' ? 'TIMED_OUT' : 'FAILED'),
    f.n > 1 ?
      h('strong', { class: 'id' }, tr('{0}{1} executions of ', f.n, isCut ? '+' : ''), machineLink(f.state_machine)) :
      executionLink(latest, query), nodeNote(f),
    h('span', { class: 'muted' }, f.n > 1 ? tr('the latest ') : null, time(f.since), ` (${distance(f.since)})`,
      f.n === 1 && f.started_at ? tr(' after {0}', duration(between(f.started_at, f.since))) : ''));
}

// Which executions failed.
function faultNames(f) {
  const { query } = lookInto(f);
  return h('details', null, h('summary', null, tr('Which')),
    h('ul', { class: 'ids' }, f.executions.map(id => h('li', { key: id }, executionLink(id, query)))),
    f.n > f.executions.length ?
      h('p', null,
        h('a', { href: addressOf('executions', '', { state_machine: f.state_machine, error: f.error }) },
          tr('All of them'))) : null);
}

// What can be done about it.
function faultButtons(f, rights, { act }) {
  const { latest, query } = lookInto(f);
  return h('div', { class: 'row' },
    !may(rights, latest, 'START', 'OPERATE') ? null :
      button(f.n > 1 ? tr('Redrive {0}…', f.executions.length) : tr('Redrive…'),
        () => act(f.n > 1 ? redriveMany(f.executions) : redriveOne(latest)), { class: 'primary',
        'aria-label': f.n > 1 ? tr('Redrive {0} executions of {1}', f.executions.length, f.state_machine) :
          tr('Redrive {0}', latest) }),
    h('a', { class: 'button', href: addressOf('execution', latest, query),
      'aria-label': tr('Look into it: {0}', latest) }, tr('Look into it')),
    !may(rights, latest, 'OPERATE') ? null :
      button(tr('Acknowledge…'), () => act(acknowledge(f.executions, f.kind, f.n)), {
        'aria-label': tr('Acknowledge {0}', f.n > 1 ? f.state_machine : latest),
      }));
}

// Failures of one machine with one error: which job, why, and what can be done about it.
function fault(f, data, context) {
  const job = f.jobs?.[0];
  const { latest, query } = lookInto(f);
  return h('article', { class: 'fault', key: `${f.node ?? ''} ${f.state_machine}/${f.error}/${f.kind}`,
    'aria-label': f.n > 1 ? tr('{0} executions of {1}', f.n, f.state_machine) : f.executions[0] },
    faultHead(f, isCut(data, 'failures')),
    h('p', { class: 'why' },
      job ? [h('a', { href: addressOf('execution', latest, query) }, text(job, 'job')), ' '] : null,
      f.error ? errorName(f.error) : null), causeLines(readCause(f.cause)), failedItem(f.item),
    f.redrive_count > 0 ?
      h('p', { class: 'muted' }, tr('It was redriven {0} before.', count(f.redrive_count, '{0} time|{0} times'))) :
      null, f.n > 1 ? faultNames(f) : null, faultButtons(f, rightsOf(data, f), context));
}

// The part of the page.
export function failuresPart(data, context) {
  return section(tr('Failed'), { id: 'h-failed', count: failures(data) },
    data.failed.length ? data.failed.map(f => fault(f, data, context)) :
      h('p', { class: 'none' }, icon('ok', 'ok'), tr('Nothing has failed.')),
    isCut(data, 'failed') ?
      h('p', null, h('a', { href: addressOf('executions', '', { status: 'FAILED' }) }, tr('All that failed'))) : null);
}
