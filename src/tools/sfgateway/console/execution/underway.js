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

// Runs of Distributed Maps, and items that failed.
export function mapRuns(runs, items) {
  return section(tr('Map runs'), { count: runs.length }, table(tr('Map runs'), [
    [tr('State'), r => text(r.state)],
    [tr('Status'), r => statusBadge(EXECUTION, r.status)],
    [tr('Items'), r => r.items, 'num'],
    [tr('Succeeded'), r => r.items_succeeded, 'num'],
    [tr('Failed'),
      r =>
        r.items_failed > 0 ?
          [badge('bad', String(r.items_failed)),
            r.aborted > 0 ? h('small', null, tr(' {0} stopped', count(r.aborted, '{0} execution|{0} executions'))) :
              null] : '0', 'num'],
    [tr('Not begun'),
      r =>
        r.status === 'RUNNING' || r.running > 0 || r.items === null ? null :
          String(r.items - r.items_succeeded - r.items_failed), 'num'],
    [tr('Running'), r => String(r.running), 'num'],
    [tr('Began'), r => time(r.started_at)],
  ], runs, r => r.map_run_arn), items.length ? [h('h3', null, tr('Items that failed')), table(tr('Items that failed'), [
    [tr('Execution'), r => executionLink(r.execution_id)],
    [tr('Status'), r => statusBadge(EXECUTION, r.status)],
    [tr('Error'), r => errorSummary(r.error, r.cause), 'wide'],
    [tr('Ended'), r => time(r.stopped_at)],
  ], items, r => r.execution_id)] : null);
}

// Tasks that run or wait.
export function tasksUnderWay(tasks) {
  return section(tr('Tasks under way'), { count: tasks.length }, table(tr('Tasks under way'), [
    [tr('State'), r => text(r.branch ? `${r.branch}/${r.state}` : r.state)],
    [tr('Status'), r => statusBadge(TASK, r.status)],
    [tr('Resource'), r => text(r.resource), 'wide'],
    [tr('Attempt'), r => String(r.attempt + 1), 'num'],
    [tr('Since'), r => time(r.started_at ?? r.scheduled_at)],
    [tr('Deadline'), r => time(r.deadline)],
    [tr('By'), r => r.worker ? text(r.worker) : null],
  ], tasks, (r, n) => `${r.branch}${r.state}${n}`));
}
