// The head of the page of an execution: what is known of it at a glance, and what can be done with it.

import { hold, release, stop } from '../action/actions.js';
import { redriveOne } from '../action/redrive.js';
import { h } from '../base/dom.js';
import { count, distance, duration, readCause } from '../base/format.js';
import { addressOf, executionLink, machineLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { facts, notice } from '../element/blocks.js';
import { button } from '../element/controls.js';
import { causeLines, errorName, failedItem } from '../element/errors.js';
import { may, noRight } from '../element/rights.js';
import { EXECUTION, heldBadge, JOB, statusBadge, statusWord } from '../element/statuses.js';
import { tr } from '../language/texts.js';
import { heldNotices } from '../steering/holds.js';
import { waits } from '../steering/limits.js';
import { compare } from './timeline.js';

/** @import { Content } from '../base/dom.js' */
/** @import { Context } from '../frame/pages.js' */
/** @import { Head } from './execution.js' */

// The buttons for what can be done with the execution.
function actionButtons(head, context) {
  const { execution_id: id, status } = head.execution;
  const own = head.held.find(x => x.target === id && !x.state);
  const someFailed = head.map_runs.some(r => r.failed + r.timed_out + r.aborted > 0);
  const canRedrive = ['FAILED', 'TIMED_OUT', 'ABORTED'].includes(status) || (status === 'SUCCEEDED' && someFailed);
  const mayOperate = may(head.rights, id, 'OPERATE');
  return h('div', { class: 'row actions', role: 'group', 'aria-label': tr('Actions') },
    h('a', { class: 'button', href: addressOf('compare', id) }, tr('Compare with the last good run')),
    mayOperate ? null : noRight(head.execution.state_machine),
    canRedrive && may(head.rights, id, 'START', 'OPERATE') ?
      button(tr('Redrive…'), () => context.refreshAfter(redriveOne(id)), { class: 'primary' }) : null,
    mayOperate && status === 'RUNNING' ? button(tr('Stop…'), () => context.refreshAfter(stop([id]))) : null,
    !mayOperate ? null :
      own ? button(tr('Release…'), () => context.refreshAfter(release(own))) :
      status !== 'SUCCEEDED' ? button(tr('Hold…'), () => context.refreshAfter(hold([id]))) : null);
}

// When the execution ran, and how that compares with what is usual.
function runFacts(head) {
  const { execution, took, usual } = head;
  return [
    [tr('Requested'), time(execution.requested_at)],
    [tr('Ran'),
      execution.started_at ?
        [`${duration(took)}${execution.status === 'RUNNING' ? tr(' so far') : ''}`,
          h('small', null, ` ${compare(took, usual?.p50, usual?.p95)}`)] : tr('not begun')],
    [tr('Ended'),
      execution.stopped_at ? [time(execution.stopped_at), h('small', null, ` ${distance(execution.stopped_at)}`)] :
        null],
    [tr('Redriven'),
      execution.redrive_count > 0 ?
        [count(execution.redrive_count, '{0} time|{0} times'), tr(', last '), time(execution.last_redriven_at)] : null],
  ];
}

// How far the execution is.
function progressWords({ execution, progress }) {
  if (!progress?.total || execution.status !== 'RUNNING') return null;
  const isAhead = new Date(progress.eta ?? 0) > new Date();
  return [tr('{0} of {1} jobs', progress.done, progress.total),
    isAhead ? [tr(', ends about '), time(progress.eta)] : null];
}

// The trace that the execution is part of.
function traceWords(trace) {
  if (!trace) return null;
  return [h('code', { class: 'trace' }, trace.trace_id),
    h('small', null, ' ',
      !trace.is_sampled ? tr('not sampled') :
        trace.exports_rejected > 0 ? tr('refused by the collector') :
        trace.exports_waiting > 0 ? tr('not exported yet') : '')];
}

// How many jobs have which status, as links to the tab that lists them.
function jobChips({ execution, jobs }, query) {
  const chips = Object.entries(jobs);
  return chips.length === 0 ? null :
    chips.map(([status, n]) =>
      h('a', { class: 'chip',
        href: addressOf('execution', execution.execution_id, { ...query, tab: 'jobs', job_status: status,
          jobs_after: undefined }) }, statusBadge(JOB, status, `${n} ${statusWord(JOB, status)}`))
    );
}

/**
 * The head of the page; the error is left out where the panel of the state tells it.
 * @param {Head} head
 * @param {Context} context
 * @param {boolean} isErrorTold
 * @returns {Content}
 */
export function headPart(head, context, isErrorTold) {
  const { execution } = head;
  return [
    h('div', { class: 'title', key: 'title' }, h('h1', { tabindex: '-1' }, text(execution.execution_id, 'id')),
      statusBadge(EXECUTION, execution.status), head.held.some(x => !x.state) ? heldBadge() : null,
      actionButtons(head, context)),
    h('div', { key: 'facts' }, facts([
      [tr('Machine'), [machineLink(execution.state_machine), tr(' version {0}', execution.version)]],
      ...runFacts(head),
      [tr('Started by'), execution.parent_execution_id ? executionLink(execution.parent_execution_id) : null],
      [tr('Done'), progressWords(head)],
      [tr('Waits for'), execution.waiting_on ? text(execution.waiting_on) : null],
      [tr('Trace'), traceWords(head.trace)],
      [tr('Jobs'), jobChips(head, context.query)],
    ])),
    (execution.error || execution.cause) && !isErrorTold ?
      h('div', { key: 'error' },
        notice('bad', h('p', null, errorName(execution.error ?? tr('no error name'))),
          causeLines(readCause(execution.cause)), failedItem(head.item))) : null,
    heldNotices(head.held, may(head.rights, execution.execution_id, 'OPERATE'), context.refreshAfter),
    waits(head.waits, execution.execution_id),
  ];
}
