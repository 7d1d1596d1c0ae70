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
import { acknowledge } from '../monitoring/acknowledge.js';

/** @import { Doc } from '../base/format.js' */
/** @import { FailedItem } from '../element/errors.js' */
/** @import { Context } from '../frame/pages.js' */
/** @import { TonightData } from './tonight.js' */

/**
 * Failures of one machine with one error.
 * @typedef {object} Failure
 * @property {'failed' | 'timed_out'} kind
 * @property {string} state_machine
 * @property {string | null} error
 * @property {Doc | null} cause that of the latest one, as what follows
 * @property {number} n how many there are
 * @property {string[]} executions the latest ones
 * @property {string} since
 * @property {string | null} started_at
 * @property {number} redrive_count
 * @property {string[] | null} jobs those that failed
 * @property {FailedItem | null} item
 * @property {string} [node] and rights, of another node
 * @property {string[]} [rights]
 */

/**
 * How many executions have failed.
 * @param {TonightData} data
 * @returns {number}
 */
export function failures(data) {
  return (data.kinds.failed ?? 0) + (data.kinds.timed_out ?? 0);
}

// Where to look into a failure: at the execution that failed last, and the state of its job.
function lookInto({ executions: [latest], jobs }) {
  return { latest, query: jobs?.[0] ? { state: stateNames(jobs[0]).at(-1) } : {} };
}

// What failed, and when; hasMore: whether there are more failures than were looked at.
function failureHead(failure, hasMore) {
  const { latest, query } = lookInto(failure);
  return h('div', { class: 'fault-head' },
    statusBadge(EXECUTION, failure.kind === 'timed_out' ? 'TIMED_OUT' : 'FAILED'),
    failure.n > 1 ?
      h('strong', { class: 'id' }, tr('{0}{1} executions of ', failure.n, hasMore ? '+' : ''),
        machineLink(failure.state_machine)) : executionLink(latest, query), nodeNote(failure),
    h('span', { class: 'muted' }, failure.n > 1 ? tr('the latest ') : null, time(failure.since),
      ` (${distance(failure.since)})`,
      failure.n === 1 && failure.started_at ? tr(' after {0}', duration(between(failure.started_at, failure.since))) :
        ''));
}

// Which executions failed.
function failureNames(failure) {
  const { query } = lookInto(failure);
  return h('details', null, h('summary', null, tr('Which')),
    h('ul', { class: 'ids' }, failure.executions.map(id => h('li', { key: id }, executionLink(id, query)))),
    failure.n > failure.executions.length ?
      h('p', null,
        h('a', { href: addressOf('executions', '', { state_machine: failure.state_machine, error: failure.error }) },
          tr('All of them'))) : null);
}

// What can be done about it.
function failureButtons(failure, rights, { refreshAfter }) {
  const { latest, query } = lookInto(failure);
  return h('div', { class: 'row' },
    !may(rights, latest, 'START', 'OPERATE') ? null :
      button(failure.n > 1 ? tr('Redrive {0}…', failure.executions.length) : tr('Redrive…'),
        () => refreshAfter(failure.n > 1 ? redriveMany(failure.executions) : redriveOne(latest)), { class: 'primary',
        'aria-label': failure.n > 1 ?
          tr('Redrive {0} executions of {1}', failure.executions.length, failure.state_machine) :
          tr('Redrive {0}', latest) }),
    h('a', { class: 'button', href: addressOf('execution', latest, query),
      'aria-label': tr('Look into it: {0}', latest) }, tr('Look into it')),
    !may(rights, latest, 'OPERATE') ? null :
      button(tr('Acknowledge…'), () => refreshAfter(acknowledge(failure.executions, failure.kind, failure.n)), {
        'aria-label': tr('Acknowledge {0}', failure.n > 1 ? failure.state_machine : latest),
      }));
}

/**
 * Failures of one machine with one error: which job, why, and what can be done about it.
 * @param {Failure} failure
 * @param {TonightData} data
 * @param {Context} context
 * @returns {HTMLElement}
 */
function failureCard(failure, data, context) {
  const job = failure.jobs?.[0];
  const { latest, query } = lookInto(failure);
  return h('article', { class: 'fault',
    key: `${failure.node ?? ''} ${failure.state_machine}/${failure.error}/${failure.kind}`,
    'aria-label': failure.n > 1 ? tr('{0} executions of {1}', failure.n, failure.state_machine) :
      failure.executions[0] }, failureHead(failure, isCut(data, 'failures')),
    h('p', { class: 'why' },
      job ? [h('a', { href: addressOf('execution', latest, query) }, text(job, 'job')), ' '] : null,
      failure.error ? errorName(failure.error) : null), causeLines(readCause(failure.cause)), failedItem(failure.item),
    failure.redrive_count > 0 ?
      h('p', { class: 'muted' },
        tr('It was redriven {0} before.', count(failure.redrive_count, '{0} time|{0} times'))) : null,
    failure.n > 1 ? failureNames(failure) : null, failureButtons(failure, rightsOf(data, failure), context));
}

/**
 * The part of the page.
 * @param {TonightData} data
 * @param {Context} context
 * @returns {HTMLElement}
 */
export function failuresPart(data, context) {
  return section(tr('Failed'), { id: 'h-failed', count: failures(data) },
    data.failed.length ? data.failed.map(failure => failureCard(failure, data, context)) :
      h('p', { class: 'none' }, icon('ok', 'ok'), tr('Nothing has failed.')),
    isCut(data, 'failed') ?
      h('p', null, h('a', { href: addressOf('executions', '', { status: 'FAILED' }) }, tr('All that failed'))) : null);
}
