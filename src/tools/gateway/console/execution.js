// One execution: its picture, its jobs, its timeline, its payloads, and what can be done with it.

import { hold, mark, redriveOne, release, stop } from './dialog.js';
import { h } from './dom.js';
import { between, clock, count, distance, duration, readCause, stateNames, visible } from './format.js';
import { heldNotices } from './holds.js';
import { waits } from './limits.js';
import { badge, button, causeLines, errorName, errorNotice, executionLink, facts, failedItem, hash, icon, machineLink,
  may, noRight, notice, section, statusWord, table, tabs, text, time, why } from './parts.js';
import { payload } from './payload.js';
import { tr } from './texts.js';
import { compare, timeline } from './timeline.js';
import { centre, viewer } from './viewer.js';

export function title({ argument }) {
  return argument;
}

const NO_STATE = '-'; // in the address: the panel of the state was closed

// The state that is chosen by itself, if the execution did not succeed: that of the job with the error; else a task
// that failed, rather than a Fail state or one that was aborted with others.
function failedState(head) {
  if (!['FAILED', 'TIMED_OUT', 'RUNNING'].includes(head.execution.status)) return undefined;
  const failed = head.states.filter(x => x.status === 'failure');
  const job = head.failed && stateOf(head.failed[0], new Set(failed.map(x => x.name)));
  return job ?? (failed.findLast(x => x.attempts > 0 && !x.aborted) ?? failed.at(-1))?.name;
}

// The state of a job, of some names.
function stateOf(job, names) {
  return stateNames(job).find(name => names.has(name));
}

// A page of items of a Distributed Map that did not succeed.
function failedItems(execution, states, ask) {
  return states.map_runs.some(r => r.failed + r.timed_out + r.aborted > 0) ?
    Promise.all(['FAILED', 'TIMED_OUT'].map(status => ask('executions', { parent: execution, status, limit: 25 })))
      .then(pages => pages.flatMap(p => p.rows)) : [];
}

export async function load({ argument: id, query, state, role, ask }, before) {
  const one = ask('execution', { execution_id: id });
  const [head, layout, times, jobs, chosen, events] = await Promise.all([
    one,
    before?.layout && state.version === before.head.execution.version ? before.layout :
      ask('layout', { target: id }).catch(() => null),
    query.tab === 'jobs' || query.tab === 'events' || query.tab === 'payloads' || query.tab === 'done' ?
      before?.times ?? null :
      ask('timeline', { execution_id: id, inside: query.inside === '1',
        ...(state.after ? { after: state.after } : {}) }),
    query.tab === 'jobs' ?
      ask('jobs', { execution_id: id, ...(query.job_status ? { status: query.job_status } : {}),
        ...(state.jobsAfter ? { after: state.jobsAfter } : {}) }) : before?.jobs ?? null,
    Promise.resolve(query.state ?? one.then(failedState)).then(name =>
      name && name !== NO_STATE ?
        ask('state', { execution_id: id, state: name, ...(query.event ? { event: Number(query.event) } : {}) }).then(
          found => ({ name, ...found }),
          error => ({ name, error }),
        ) : null
    ),
    query.tab === 'events' ?
      ask('events', { execution_id: id, ...(state.eventsAfter ? { after: state.eventsAfter } : {}) }) :
      before?.events ?? null,
  ]);
  state.version = head.execution.version;
  return { head, layout, times, jobs, chosen, events, items: await failedItems(id, head, ask), role };
}

// How soon to look again.
export function pace(data) {
  return data.head.execution.status === 'RUNNING' ? 1500 : 15000;
}

// What a screen reader hears of a change.
export function news(before, after) {
  const was = before.head.execution.status, is = after.head.execution.status;
  return was === is ? '' : `${after.head.execution.execution_id}: ${statusWord(is)}`;
}

// The buttons for what can be done with the execution.
function actionButtons(head, context) {
  const { execution_id: id, status } = head.execution;
  const own = head.held.find(x => x.target === id && !x.state);
  const someFailed = head.map_runs.some(r => r.failed + r.timed_out + r.aborted > 0);
  const canRedrive = ['FAILED', 'TIMED_OUT', 'ABORTED'].includes(status) || (status === 'SUCCEEDED' && someFailed);
  const mayOperate = may(head.rights, id, 'OPERATE');
  return h('div', { class: 'row actions', role: 'group', 'aria-label': tr('Actions') },
    h('a', { class: 'button', href: hash.compare(id) }, tr('Compare with the last good run')),
    mayOperate ? null : noRight(head.execution.state_machine),
    canRedrive && may(head.rights, id, 'START', 'OPERATE') ?
      button(tr('Redrive…'), () => context.act(redriveOne(id)), { class: 'primary' }) : null,
    mayOperate && status === 'RUNNING' ? button(tr('Stop…'), () => context.act(stop([id]))) : null,
    !mayOperate ? null :
      own ? button(tr('Release…'), () => context.act(release(own))) :
      status !== 'SUCCEEDED' ? button(tr('Hold…'), () => context.act(hold([id]))) : null);
}

// The head of the page.
function headPart(head, context, isTold) {
  const e = head.execution;
  const ms = head.took;
  const cause = readCause(e.cause);
  return [
    h('div', { class: 'title', key: 'title' }, h('h1', { tabindex: '-1' }, text(e.execution_id, 'id')), badge(e.status),
      head.held.some(x => !x.state) ? badge('HELD') : null, actionButtons(head, context)),
    h('div', { key: 'facts' }, facts([
      [tr('Machine'), [machineLink(e.state_machine), tr(' version {0}', e.version)]],
      [tr('Requested'), time(e.requested_at)],
      [tr('Ran'),
        e.started_at ?
          [`${duration(ms)}${e.status === 'RUNNING' ? tr(' so far') : ''}`,
            h('small', null, ` ${compare(ms, { runs: 2, p50: head.usual?.p50, p95: head.usual?.p95 })}`)] :
          tr('not begun')],
      [tr('Ended'), e.stopped_at ? [time(e.stopped_at), h('small', null, ` ${distance(e.stopped_at)}`)] : null],
      [tr('Redriven'),
        e.redrive_count > 0 ? [count(e.redrive_count, '{0} time|{0} times'), tr(', last '), time(e.last_redriven_at)] :
          null],
      [tr('Started by'), e.parent_execution_id ? executionLink(e.parent_execution_id) : null],
      [tr('Done'),
        head.progress?.total && e.status === 'RUNNING' ?
          [tr('{0} of {1} jobs', head.progress.done, head.progress.total),
            new Date(head.progress.eta ?? 0) > new Date() ? [tr(', ends about '), time(head.progress.eta)] : null] :
          null],
      [tr('Waits for'), e.waiting_on ? text(e.waiting_on) : null],
      [tr('Trace'),
        head.trace ?
          [h('code', { class: 'trace' }, head.trace.trace_id),
            h('small', null, ' ',
              !head.trace.is_sampled ? tr('not sampled') :
                head.trace.exports_rejected > 0 ? tr('refused by the collector') :
                head.trace.exports_waiting > 0 ? tr('not exported yet') : '')] : null],
      [tr('Jobs'),
        Object.keys(head.jobs).length === 0 ? null :
          Object.entries(head.jobs).map(([status, n]) =>
            h('a', { class: 'chip',
              href: hash.execution(e.execution_id, { ...context.query, tab: 'jobs', job_status: status }) },
              badge(status, `${n} ${statusWord(status)}`))
          )],
    ])),
    (e.error || e.cause) && !isTold ?
      h('div', { key: 'error' },
        notice('bad', h('p', null, errorName(e.error ?? tr('no error name'))), causeLines(cause),
          failedItem(head.item))) : null,
    heldNotices(head.held, may(head.rights, e.execution_id, 'OPERATE'), context.reload),
    waits(head.waits, e.execution_id),
  ];
}

// The name of the state that is chosen.
function stateName(data, context) {
  const name = context.query.state ?? data.chosen?.name;
  return name === NO_STATE ? undefined : name;
}

// The state that is chosen: payloads, error, attempts, events.
function statePanel(data, context) {
  const name = stateName(data, context);
  if (!name)
    return h('div', { class: 'card side none', key: 'side' },
      h('p', null, tr('Choose a state in the picture or in the timeline to see its input, output, error and events.')));
  const id = context.argument;
  const close = button(icon('close'), () => context.go({ ...context.query, state: NO_STATE, event: undefined }), {
    class: 'plain',
    'aria-label': tr('Close the state'),
  });
  const head = h('div', { class: 'side-head' }, h('h2', { id: 'h-state' }, text(name)), close);
  const box = (...parts) =>
    h('section', { class: 'card side', key: `side-${name}`, 'aria-labelledby': 'h-state' }, head, parts);
  if (!data.chosen || data.chosen.name !== name) return box(h('p', { class: 'muted' }, tr('Loading…')));
  if (data.chosen.error) return box(errorNotice(data.chosen.error));
  const { job, visits, chosen, input, output, events, usual } = data.chosen;
  const drawn = data.layout?.states.find(x => x.name === name);
  const facts0 = data.head.states.find(x => x.name === name);
  const spans = visits.filter(v => chosen && v.job_id === chosen.job_id && v.visit === chosen.visit);
  const last = spans[spans.length - 1];
  const cause = readCause(job?.cause);
  const canRedrive = data.head.execution.status !== 'RUNNING' && drawn && drawn.parent === undefined;
  return box(
    h('p', { class: 'row' }, badge(last?.status ?? facts0?.status ?? 'unknown'),
      h('span', { class: 'muted' }, drawn?.subtitle ? text(drawn.subtitle) : null)),
    facts([chosen && chosen.job_id !== name ? [tr('Job'), text(chosen.job_id)] : null,
      last ? [tr('Began'), time(spans[0].started_at)] : null,
      last ?
        [tr('Took'), [duration(between(last.started_at, last.stopped_at)),
          h('small', null, ` ${compare(between(last.started_at, last.stopped_at), usual)}`)]] : null,
      job ? [tr('Attempts'), String(job.attempts)] : null]),
    job?.error ?
      h('div', null,
        notice(last?.status === 'success' ? 'late' : 'bad', h('p', null, errorName(job.error)), causeLines(cause))) :
      null,
    payload(tr('Input'), input, { execution_id: id, what: 'event', event: input?.event, member: 'input' }),
    payload(tr('Output'), output, { execution_id: id, what: 'event', event: output?.event, member: 'output' }),
    !may(data.head.rights, id, 'OPERATE') ? null :
      h('div', { class: 'row', role: 'group', 'aria-label': tr('Actions on the state') },
        canRedrive ? button(tr('Redrive from here…'), () => context.act(redriveOne(id, name)), { class: 'small' }) :
          null, job && data.head.execution.status !== 'SUCCEEDED' ? button(tr('Mark…'), () =>
          context.act(mark(id, chosen?.job_id ?? name)), { class: 'small' }) : null,
        data.head.execution.status !== 'SUCCEEDED' ? button(tr('Hold this state…'), () =>
          context.act(hold([id], name)), { class: 'small' }) : null),
    visits.length > 1 ?
      h('details', { open: visits.length < 12 },
        h('summary', null,
          tr('Visits and attempts ({0}{1})', visits.length, visits.length === 200 ? tr(', the last ones') : '')),
        h('ul', { class: 'visits' }, visits.map(v =>
          h('li', { key: v.first_event },
            h('a', { href: hash.execution(id, { ...context.query, event: v.first_event }),
              'aria-current': v === last ? 'true' : null }, badge(v.status, text(v.job_id)),
              h('span', { class: 'muted' }, tr(' visit {0}, attempt {1} · ', v.visit, v.attempt), clock(v.started_at),
                ' · ', duration(between(v.started_at, v.stopped_at)))))
        ))) : null,
    events.length ?
      h('details', null,
        h('summary', null, tr('Events ({0}{1})', events.length, events.length === 100 ? tr(', the first ones') : '')),
        eventList(events, id)) : null,
  );
}

// Events with their details.
function eventList(events, id) {
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

// The buttons for the first page of a tab, and for the next one; `place` is where the page keeps what it is after.
function pager(context, place, back, next, on) {
  const turn = (words, after) =>
    button(words, () => {
      context.state[place] = after;
      context.reload();
    });
  return h('div', { class: 'row' }, context.state[place] ? turn(back, null) : null, next ? turn(on, next) : null);
}

// The jobs as a list.
function jobsTab(data, context) {
  if (!data.jobs) return h('p', { class: 'muted' }, tr('Loading…'));
  const names = new Set(data.layout?.states.map(x => x.name));
  const choose = status => context.go({ ...context.query, job_status: status });
  return [
    h('div', { class: 'row chips', role: 'group', 'aria-label': tr('Jobs by status') },
      button(tr('all'), () => choose(undefined), { class: 'small', 'aria-pressed': String(!context.query.job_status) }),
      Object.entries(data.head.jobs).map(([status, n]) =>
        button(badge(status, `${n} ${statusWord(status)}`), () => choose(status), { class: 'small',
          'aria-pressed': String(context.query.job_status === status) })
      )),
    table(tr('Jobs'), [
      [tr('Job'), r =>
        h('a', {
          href: hash.execution(context.argument, { ...context.query, state: stateOf(r.job_id, names) ?? r.job_id,
            event: undefined }),
        }, text(r.job_id))],
      [tr('Status'), r => badge(r.job_status)],
      [tr('Attempts'), r => String(r.attempts), 'num'],
      [tr('Began'), r => time(r.started_at)],
      [tr('Took'), r => r.started_at ? duration(between(r.started_at, r.stopped_at)) : '–'],
      [tr('Error'), r => r.error ? why(r.error, r.cause) : '–', 'wide'],
    ], data.jobs.rows, r => r.job_id, tr('No job fits.')),
    pager(context, 'jobsAfter', tr('First page'), data.jobs.next, tr('Next page')),
  ];
}

// The history, a page at a time.
function eventsTab(data, context) {
  if (!data.events) return h('p', { class: 'muted' }, tr('Loading…'));
  return [eventList(data.events.rows, context.argument),
    pager(context, 'eventsAfter', tr('From the beginning'), data.events.next, tr('Next events'))];
}

// Runs of Distributed Maps and their failed items; tasks that run.
function work(data) {
  const { tasks, map_runs: runs } = data.head;
  return [
    runs.length ? section(tr('Map runs'), { count: runs.length }, table(tr('Map runs'), [
      [tr('State'), r => text(r.state)],
      [tr('Status'), r => badge(r.status)],
      [tr('Items'), r => String(r.items ?? '–'), 'num'],
      [tr('Succeeded'), r => String(r.items_succeeded ?? '–'), 'num'],
      [tr('Failed'),
        r =>
          r.items_failed > 0 ?
            [badge('FAILED', String(r.items_failed)),
              r.aborted > 0 ? h('small', null, tr(' {0} stopped', count(r.aborted, '{0} execution|{0} executions'))) :
                null] : '0', 'num'],
      [tr('Not begun'),
        r =>
          r.status === 'RUNNING' || r.running > 0 || r.items === null ? '–' :
            String(r.items - r.items_succeeded - r.items_failed), 'num'],
      [tr('Running'), r => String(r.running), 'num'],
      [tr('Began'), r => time(r.started_at)],
    ], runs, r => r.map_run_arn),
      data.items.length ? [h('h3', null, tr('Items that failed')), table(tr('Items that failed'), [
        [tr('Execution'), r => executionLink(r.execution_id)],
        [tr('Status'), r => badge(r.status)],
        [tr('Error'), r => why(r.error, r.cause), 'wide'],
        [tr('Ended'), r => time(r.stopped_at)],
      ], data.items, r => r.execution_id)] : null) : null,
    tasks.length ? section(tr('Tasks under way'), { count: tasks.length }, table(tr('Tasks under way'), [
      [tr('State'), r => text(r.branch ? `${r.branch}/${r.state}` : r.state)],
      [tr('Status'), r => badge(r.status)],
      [tr('Resource'), r => text(r.resource), 'wide'],
      [tr('Attempt'), r => String(r.attempt + 1), 'num'],
      [tr('Since'), r => time(r.started_at ?? r.scheduled_at)],
      [tr('Deadline'), r => time(r.deadline)],
      [tr('By'), r => r.worker ? text(r.worker) : '–'],
    ], tasks, (r, n) => `${r.branch}${r.state}${n}`)) : null,
  ];
}

// Is the visit of a row of the timeline the one that the panel of the state shows?
function isShown(row, name, panel) {
  const visit = panel && panel.name === name ? panel.chosen : null;
  return row.state === name && (!visit || (row.job_id === visit.job_id && row.visit === visit.visit));
}

export function draw(data, context) {
  const { head } = data;
  const id = context.argument;
  const name = stateName(data, context);
  if (name && data.layout && context.state.centred !== name) requestAnimationFrame(() => centre(name));
  context.state.centred = data.layout ? name : undefined;
  const choose = (name, event) => context.go({ ...context.query, state: name, event });
  const list = [
    ['timeline', tr('Timeline'), () =>
      data.times ? [
        h('label', { class: 'tick' },
          h('input', { type: 'checkbox', checked: context.query.inside === '1',
            onchange: event =>
              context.go({ ...context.query, inside: event.currentTarget.checked ? '1' : undefined }) }),
          tr(' with iterations of Maps')),
        timeline(data.times, row => isShown(row, name, data.chosen), choose),
        pager(context, 'after', tr('From the beginning'), data.times.next, [icon('next'), tr('Further rows')]),
      ] : h('p', { class: 'muted' }, tr('Loading…'))],
    ['jobs', tr('Jobs'), () => jobsTab(data, context)],
    ['payloads', tr('Input and output'),
      () => [payload(tr('Input'), head.execution.input, { execution_id: id, what: 'input' }),
        payload(tr('Output'), head.execution.output, { execution_id: id, what: 'output' }),
        head.execution.cause ? payload(tr('Cause'), head.execution.cause, { execution_id: id, what: 'cause' }) : null]],
    ['events', tr('Events'), () => eventsTab(data, context)],
    ['done', tr('Who did what'), () =>
      table(tr('Who did what'), [
        [tr('When'), r => time(r.at)],
        [tr('What'), r => r.action],
        [tr('Role'), r => text(r.role)],
        [tr('Logged in as'), r => r.session_role ? text(r.session_role) : '–'],
        [tr('Why'), r => r.reason ? text(r.reason) : '–', 'wide'],
        [tr('More'), r => r.details ? h('code', null, visible(JSON.stringify(r.details))) : '–', 'wide'],
      ], head.done, r => r.at + r.action, tr('Nothing.'))],
  ];
  return [
    headPart(head, context,
      data.chosen?.job?.error !== undefined && data.chosen.job.error === head.execution.error &&
        name === data.chosen.name),
    h('div', { class: `split${name ? ' open' : ''}`, key: 'split' },
      h('section', { class: 'card graph-card', 'aria-labelledby': 'h-graph', key: 'graph-card' },
        h('h2', { id: 'h-graph', class: 'unseen' }, tr('Picture')),
        data.layout ?
          viewer(data.layout, head.states, name, chosen => choose(chosen), tr('States of the execution'),
            context.state.picture ??= {}, context.redraw) : h('p', { class: 'none' }, tr('There is no picture.'))),
      statePanel(data, context)),
    h('div', { class: 'card', key: 'tabs' }, tabs(tr('Views'), list, context.query.tab ?? 'timeline', tab => {
      context.go({ ...context.query, tab });
    })),
    work(data),
  ];
}
