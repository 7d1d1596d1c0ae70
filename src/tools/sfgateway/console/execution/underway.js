// What is under way in an execution: tasks, and runs of Distributed Maps with the items that failed.

import { h } from '../base/dom.js';
import { count } from '../base/format.js';
import { executionLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { section } from '../element/blocks.js';
import { errorSummary } from '../element/errors.js';
import { badge, EXECUTION, statusBadge, TASK } from '../element/statuses.js';
import { table } from '../element/table.js';
import { tr } from '../language/texts.js';

/** @import { ExecutionData, Head } from './execution.js' */

/**
 * Runs of Distributed Maps, and items that failed.
 * @param {Head['map_runs']} runs
 * @param {ExecutionData['items']} items
 * @returns {HTMLElement}
 */
export function mapRuns(runs, items) {
  return section(tr('Map runs'), { count: runs.length }, table(tr('Map runs'), [
    { title: tr('State'), cell: r => text(r.state) },
    { title: tr('Status'), cell: r => statusBadge(EXECUTION, r.status) },
    { title: tr('Items'), cell: r => r.items, class: 'num' },
    { title: tr('Succeeded'), cell: r => r.items_succeeded, class: 'num' },
    { title: tr('Failed'),
      cell: r =>
        r.items_failed > 0 ?
          [badge('bad', String(r.items_failed)),
            r.aborted > 0 ? h('small', null, tr(' {0} stopped', count(r.aborted, '{0} execution|{0} executions'))) :
              null] : '0', class: 'num' },
    { title: tr('Not begun'),
      cell: r =>
        r.status === 'RUNNING' || r.running > 0 || r.items === null ? null :
          String(r.items - r.items_succeeded - r.items_failed), class: 'num' },
    { title: tr('Running'), cell: r => String(r.running), class: 'num' },
    { title: tr('Began'), cell: r => time(r.started_at) },
  ], runs, r => r.map_run_arn), items.length ? [h('h3', null, tr('Items that failed')), table(tr('Items that failed'), [
    { title: tr('Execution'), cell: r => executionLink(r.execution_id) },
    { title: tr('Status'), cell: r => statusBadge(EXECUTION, r.status) },
    { title: tr('Error'), cell: r => errorSummary(r.error, r.cause), class: 'wide' },
    { title: tr('Ended'), cell: r => time(r.stopped_at) },
  ], items, r => r.execution_id)] : null);
}

/**
 * Tasks that run or wait.
 * @param {Head['tasks']} tasks
 * @returns {HTMLElement}
 */
export function tasksUnderWay(tasks) {
  return section(tr('Tasks under way'), { count: tasks.length }, table(tr('Tasks under way'), [
    { title: tr('State'), cell: r => text(r.branch ? `${r.branch}/${r.state}` : r.state) },
    { title: tr('Status'), cell: r => statusBadge(TASK, r.status) },
    { title: tr('Resource'), cell: r => text(r.resource), class: 'wide' },
    { title: tr('Attempt'), cell: r => String(r.attempt + 1), class: 'num' },
    { title: tr('Since'), cell: r => time(r.started_at ?? r.scheduled_at) },
    { title: tr('Deadline'), cell: r => time(r.deadline) },
    { title: tr('By'), cell: r => r.worker ? text(r.worker) : null },
  ], tasks, (r, n) => `${r.branch}${r.state}${n}`));
}
