// Statuses: of each kind of things the tone, which gives the icon and the colour, and the word.

import { h } from '../base/dom.js';
import { icon } from '../base/icons.js';
import { tr } from '../language/texts.js';

// Of executions and of Map runs.
export const EXECUTION = {
  SUCCEEDED: ['ok', tr('Succeeded')],
  FAILED: ['bad', tr('Failed')],
  TIMED_OUT: ['late', tr('Timed out')],
  ABORTED: ['stop', tr('Stopped')],
  RUNNING: ['run', tr('Running')],
};

// Of rows of the night, which are runs of schedules, too.
export const NIGHT = {
  ...EXECUTION,
  DUE: ['wait', tr('Due')],
  QUEUED: ['wait', tr('Queued')],
  SKIPPED: ['skip', tr('Left out')],
  MISSED: ['late', tr('Missed')],
  INACTIVE: ['stop', tr('Inactive')],
  FAILING: ['bad', tr('Failing')],
};

// Of states of an execution, their visits, and jobs.
export const JOB = {
  success: ['ok', tr('success')],
  failure: ['bad', tr('failure')],
  running: ['run', tr('running')],
  entry: ['entry', tr('not reached yet')],
  skip: ['skip', tr('skipped')],
  aborted: ['stop', tr('aborted')],
  held: ['held', tr('held')],
  unknown: ['unknown', tr('unknown')],
};

// Of tasks under way.
export const TASK = {
  queued: ['wait', tr('queued')],
  waiting: ['wait', tr('waiting')],
  running: ['run', tr('running')],
  answered: ['run', tr('answered')],
  retrying: ['wait', tr('retrying')],
  held: ['held', tr('held')],
  dead: ['bad', tr('dead')],
};

// Of schedules.
export const SCHEDULE = {
  active: ['ok', tr('active')],
  failing: ['bad', tr('failing')],
  missed: ['late', tr('missed')],
  gone: ['bad', tr('gone')],
  inactive: ['stop', tr('inactive')],
  'not driven': ['stop', tr('not driven')],
};

// Of runs of a schedule.
export const SCHEDULE_RUN = {
  succeeded: ['ok', tr('succeeded')],
  failed: ['bad', tr('failed')],
  running: ['run', tr('running')],
  queued: ['wait', tr('queued')],
  skipped: ['skip', tr('skipped')],
  overlap: ['skip', tr('left out: overlap')],
  missed: ['late', tr('missed')],
};

// Of deliveries of rules.
export const DELIVERY = {
  PENDING: ['wait', tr('waiting')],
  DEAD: ['bad', tr('dead')],
};

// What deadlines tell.
export const DEADLINE = {
  late: ['late', tr('late')],
  will_be_late: ['late', tr('will be late')],
  never_started: ['late', tr('never started')],
};

// Kinds of alerts.
export const ALERT = {
  ...DEADLINE,
  failed: ['bad', tr('failed')],
  timed_out: ['late', tr('timed out')],
  failed_again: ['bad', tr('failed again')],
  slow_task: ['late', tr('slow task')],
  dead_letter: ['late', tr('dead letter')],
  no_poller: ['late', tr('no poller')],
  archive_behind: ['late', tr('archive behind')],
  overdue: ['late', tr('overdue')],
  missed_run: ['late', tr('missed run')],
  task_due: ['late', tr('task due')],
  unreceived_event: ['late', tr('unreceived event')],
  unknown_owner: ['late', tr('unknown owner')],
};

// How bad is what a definition has.
export const SEVERITY = {
  ERROR: ['bad', tr('error')],
  WARNING: ['late', tr('warning')],
};

// The icon of a status, and its colour.
export function toneOf(statuses, status) {
  return statuses[status]?.[0] ?? 'unknown';
}

// The word for a status.
export function statusWord(statuses, status) {
  return statuses[status]?.[1] ?? String(status);
}

// Words in a tone: with its icon and in its colour.
export function badge(tone, words) {
  return h('span', { class: `badge ${tone}` }, icon(tone), words);
}

// A status: its word, or others, in its tone.
export function statusBadge(statuses, status, words = statusWord(statuses, status)) {
  return badge(toneOf(statuses, status), words);
}

// What says that something is held.
export function heldBadge() {
  return badge('held', tr('Held'));
}
