// The tabs of the page of an execution: timeline, jobs, payloads, events, and what operators did.

import { h } from '../base/dom.js';
import { between, duration, stateOf, visible } from '../base/format.js';
import { addressOf } from '../base/links.js';
import { text, time } from '../base/values.js';
import { loading } from '../element/blocks.js';
import { button } from '../element/controls.js';
import { errorSummary } from '../element/errors.js';
import { pager } from '../element/pager.js';
import { payload } from '../element/payload.js';
import { JOB, statusBadge, statusWord } from '../element/statuses.js';
import { rowKey, table } from '../element/table.js';
import { tabs } from '../element/tabs.js';
import { tr } from '../language/texts.js';
import { eventList } from './events.js';
import { timeline } from './timeline.js';

/** @import { Context } from '../frame/pages.js' */
/** @import { ExecutionData } from './execution.js' */

// Is the visit of a row of the timeline the one that the panel of the state shows?
function isShown(row, name, panel) {
  const visit = panel && panel.name === name ? panel.chosen : null;
  return row.state === name && (!visit || (row.job_id === visit.job_id && row.visit === visit.visit));
}

// The timeline, a page at a time.
function timelineTab(data, name, context) {
  if (!data.times) return loading();
  const { query } = context;
  return [
    h('label', { class: 'tick' },
      h('input', { type: 'checkbox', checked: query.inside === '1',
        onchange: event =>
          context.go({ ...query, inside: event.currentTarget.checked ? '1' : undefined, after: undefined }) }),
      tr(' with iterations of Maps')),
    timeline(data.times, row => isShown(row, name, data.state),
      (state, event) => context.go({ ...query, state, event })),
    pager(tr('Pages of the timeline'), context, 'after', data.times.next, tr('Further rows ')),
  ];
}

// The jobs as a list.
function jobsTab(data, context) {
  if (!data.jobs) return loading();
  const names = new Set(data.layout?.states.map(x => x.name));
  const choose = status => context.go({ ...context.query, job_status: status, jobs_after: undefined });
  return [
    h('div', { class: 'row chips', role: 'group', 'aria-label': tr('Jobs by status') },
      button(tr('all'), () => choose(undefined), { class: 'small', 'aria-pressed': String(!context.query.job_status) }),
      Object.entries(data.head.jobs).map(([status, n]) =>
        button(statusBadge(JOB, status, `${n} ${statusWord(JOB, status)}`), () => choose(status), { class: 'small',
          'aria-pressed': String(context.query.job_status === status) })
      )),
    table(tr('Jobs'), [
      { title: tr('Job'), cell: r =>
        h('a', {
          href: addressOf('execution', context.argument, { ...context.query,
            state: stateOf(r.job_id, names) ?? r.job_id, event: undefined }),
        }, text(r.job_id)) },
      { title: tr('Status'), cell: r => statusBadge(JOB, r.job_status) },
      { title: tr('Attempts'), cell: r => String(r.attempts), class: 'num' },
      { title: tr('Began'), cell: r => time(r.started_at) },
      { title: tr('Took'), cell: r => r.started_at ? duration(between(r.started_at, r.stopped_at)) : null },
      { title: tr('Error'), cell: r => r.error ? errorSummary(r.error, r.cause) : null, class: 'wide' },
    ], data.jobs.rows, r => r.job_id, tr('No job fits.')),
    pager(tr('Pages of jobs'), context, 'jobs_after', data.jobs.next),
  ];
}

// Input, output and cause.
function payloadsTab({ head: { execution } }) {
  const whole = what => ({ execution_id: execution.execution_id, what });
  return [payload(tr('Input'), execution.input, whole('input')),
    payload(tr('Output'), execution.output, whole('output')),
    execution.cause ? payload(tr('Cause'), execution.cause, whole('cause')) : null];
}

// The history, a page at a time.
function eventsTab(data, context) {
  if (!data.events) return loading();
  return [eventList(data.events.rows, context.argument),
    pager(tr('Pages of events'), context, 'events_after', data.events.next, tr('Next events '))];
}

// What operators did to the execution.
function auditTab(data) {
  return table(tr('Who did what'), [
    { title: tr('When'), cell: r => time(r.at) },
    { title: tr('What'), cell: r => r.action },
    { title: tr('Role'), cell: r => text(r.role) },
    { title: tr('Logged in as'), cell: r => r.session_role ? text(r.session_role) : null },
    { title: tr('Why'), cell: r => r.reason ? text(r.reason) : null, class: 'wide' },
    { title: tr('More'), cell: r => r.details ? h('code', null, visible(JSON.stringify(r.details))) : null,
      class: 'wide' },
  ], data.head.done, r => rowKey(r.at, r.action), tr('Nothing.'));
}

/**
 * The tabs, beside the state of a name.
 * @param {ExecutionData} data
 * @param {string | undefined} name
 * @param {Context} context
 * @returns {HTMLElement[]}
 */
export function executionTabs(data, name, context) {
  const list = [
    { id: 'timeline', label: tr('Timeline'), content: () => timelineTab(data, name, context) },
    { id: 'jobs', label: tr('Jobs'), content: () => jobsTab(data, context) },
    { id: 'payloads', label: tr('Input and output'), content: () => payloadsTab(data) },
    { id: 'events', label: tr('Events'), content: () => eventsTab(data, context) },
    { id: 'done', label: tr('Who did what'), content: () => auditTab(data) },
  ];
  return tabs(tr('Views'), list, context.query.tab ?? 'timeline', tab => context.go({ ...context.query, tab }));
}
