// What an operator looks at first: what failed and why, what is late, what runs, what comes next.

import { acknowledge, redriveMany, redriveOne, release } from './dialog.js';
import { h, s } from './dom.js';
import { between, clock, count, distance, duration, readCause, stateNames } from './format.js';
import { deadlines, limits } from './limits.js';
import { alertLink, badge, button, causeLines, errorName, executionLink, failedItem, hash, icon, machineLink, machineOf,
  may, notice, scheduleLink, section, table, text, time } from './parts.js';
import { compare } from './timeline.js';

const DAY = 24 * 3600 * 1000;

export function title() {
  return 'Tonight';
}

export function load({ ask }) {
  return Promise.all([ask('tonight', { since: new Date(Date.now() - DAY).toISOString() }), ask('night')]).then((
    [now, night],
  ) => ({ ...now, night }));
}

// How many executions have failed.
function failures(data) {
  return (data.kinds.failed ?? 0) + (data.kinds.timed_out ?? 0);
}

// How many alerts there are of what is late or stuck.
function late(data) {
  return Object.entries(data.kinds).filter(([kind]) => !['failed', 'timed_out', 'failed_again'].includes(kind)).reduce(
    (sum, [, n]) => sum + n,
    0,
  );
}

// A number of executions that were counted up to 1,000.
function upTo(number) {
  return number >= 1000 ? '1,000+' : String(number);
}

// How soon to look again.
export function pace(data) {
  return data.running.length ? 4000 : 10000;
}

// What a screen reader hears of a change.
export function news(before, after) {
  const known = new Set(before.failed.flatMap(f => f.executions));
  const failed = after.failed.flatMap(f => f.executions).filter(id => !known.has(id));
  if (failed.length) return `${count(failed.length, 'new failure')}: ${failed.slice(0, 3).join(', ')}`;
  return failures(after) < failures(before) ? `${count(failures(after), 'failure')} left` : '';
}

// Bring a part of the page into view; the keyboard goes on there.
function show(heading) {
  const found = document.getElementById(heading);
  found?.scrollIntoView();
  found?.closest('section').querySelector('a, button, summary')?.focus({ preventScroll: true });
}

// The tiles: each is a number and leads to its part of the page.
function tiles(data) {
  const next = data.next.find(n => n.next_run);
  const tile = (kind, number, words, target) =>
    h('li', { class: `tile ${number === 0 || number === '–' ? 'calm' : kind}` },
      h('button', { type: 'button', onclick: () => show(target) },
        h('span', { class: 'tile-top' }, icon(number === 0 ? 'ok' : kind), h('strong', null, String(number))),
        h('span', null, words)));
  return h('ul', { class: 'tiles', 'aria-label': 'Summary' }, tile('bad', failures(data), 'failed', 'h-failed'),
    tile('late', late(data), 'late or stuck', 'h-late-or-stuck'),
    tile('run', data.running_count >= 1000 ? '1,000+' : data.running_count, 'running', 'h-running'),
    tile('held', data.held.length, 'held', 'h-held'),
    tile(next && next.state !== 'active' ? 'bad' : 'wait', next ? distance(next.next_run).replace(/^in /, '') : '–',
      !next ? 'nothing scheduled' :
        `until ${next.schedule_name}${next.state === 'active' ? '' : `, which is ${next.state}`}`, 'h-next'));
}

// Failures of one machine with one error: which job, why, and what can be done about it.
function fault(f, rights, cut, context) {
  const cause = readCause(f.cause);
  const job = f.jobs?.[0];
  const [latest] = f.executions;
  const look = job ? { state: stateNames(job).at(-1) } : {};
  return h('article', { class: 'fault', key: `${f.state_machine}/${f.error}/${f.kind}`,
    'aria-label': f.n > 1 ? `${f.n} executions of ${f.state_machine}` : latest },
    h('div', { class: 'fault-head' }, badge(f.kind === 'timed_out' ? 'TIMED_OUT' : 'FAILED'),
      f.n > 1 ? h('strong', { class: 'id' }, `${f.n}${cut ? '+' : ''} executions of `, machineLink(f.state_machine)) :
        executionLink(latest, look),
      h('span', { class: 'muted' }, f.n > 1 ? 'the latest ' : null, time(f.since), ` (${distance(f.since)})`,
        f.n === 1 && f.started_at ? ` after ${duration(between(f.started_at, f.since))}` : '')),
    h('p', { class: 'why' }, job ? [h('a', { href: hash.execution(latest, look) }, text(job, 'job')), ' '] : null,
      f.error ? errorName(f.error) : null), causeLines(cause), failedItem(f.item),
    f.redrive_count > 0 ? h('p', { class: 'muted' }, `It was redriven ${count(f.redrive_count, 'time')} before.`) :
      null,
    f.n > 1 ?
      h('details', null, h('summary', null, 'Which'),
        h('ul', { class: 'ids' }, f.executions.map(id => h('li', { key: id }, executionLink(id, look)))),
        f.n > f.executions.length ?
          h('p', null,
            h('a', { href: hash.executions({ state_machine: f.state_machine, error: f.error }) }, 'All of them')) :
          null) : null,
    h('div', { class: 'row' },
      !may(rights, latest, 'START', 'OPERATE') ? null :
        button(f.n > 1 ? `Redrive ${f.executions.length}…` : 'Redrive…',
          () => context.act(f.n > 1 ? redriveMany(f.executions) : redriveOne(latest)), { class: 'primary',
          'aria-label': f.n > 1 ? `Redrive ${f.executions.length} executions of ${f.state_machine}` :
            `Redrive ${latest}` }),
      h('a', { class: 'button', href: hash.execution(latest, look), 'aria-label': `Look into it: ${latest}` },
        'Look into it'),
      !may(rights, latest, 'OPERATE') ? null :
        button('Acknowledge…', () => context.act(acknowledge(f.executions, f.kind, f.n)), {
          'aria-label': `Acknowledge ${f.n > 1 ? f.state_machine : latest}`,
        })));
}

// The night: what ran, runs and is to come, in the order of time; executions of one machine in one state are one row.
function night(data) {
  const target = r =>
    r.name.startsWith('schedule:') ? scheduleLink(r.name.slice(9), r.name) :
      r.n > 1 || !r.target ?
      h('a', { class: 'id', href: hash.executions({ state_machine: r.name, status: r.state }) },
        `${r.state === 'RUNNING' ? upTo(r.n) : r.n.toLocaleString('en')} of ${r.name}`) : executionLink(r.target);
  return section('The night', {}, table('The night', [
    ['At',
      r => [time(r.first_planned),
        r.n > 1 && r.last_planned !== r.first_planned ? [' – ', time(r.last_planned)] : null]],
    ['What', target, 'wide'],
    ['State', r => badge(r.state)],
    ['Took',
      r =>
        r.took === null ? '–' :
          [r.took < 100 ? 'under 100 ms' : `${r.n > 1 ? 'up to ' : ''}${duration(r.took)}`,
            r.usual > 0 ? h('small', null, ` ${compare(r.took, { runs: 2, p50: r.usual })}`) : null]],
    ['Ends about', r => new Date(r.expected_end ?? 0) > new Date() ? time(r.expected_end) : '–'],
    ['Why', r => r.detail ? text(r.detail) : '–', 'wide'],
    ['Then', r => r.next ? text(r.next) : '–', 'wide'],
  ], data.rows, r => r.name + r.state, 'Nothing.'));
}

// Failures that a Distributed Map tolerates.
function tolerated(data) {
  return data.tolerated.length ?
    section('Tolerated failures', { count: data.tolerated.length }, table('Tolerated failures', [
      ['Execution', r => executionLink(r.execution_id, { state: r.state })],
      ['Map', r => text(r.state)],
      ['Items that failed', r => `${r.items_failed} of ${r.items}`, 'num'],
      ['Map run', r => badge(r.status)],
      ['Began', r => time(r.started_at)],
    ], data.tolerated, r => r.execution_id + r.state + r.started_at)) : null;
}

// What runs for longest; of a machine with more than three executions the longest one, and how many more there are.
function running(data) {
  return section('Running', { count: upTo(data.running_count) }, table('Running', [
    ['Execution',
      r => [executionLink(r.execution_id),
        r.further > 0 ?
          h('small', { class: 'further' }, ' and ',
            h('a', { href: hash.executions({ state_machine: r.state_machine, status: 'RUNNING' }) },
              `${r.running >= 1000 ? '999+' : r.further} more of ${r.state_machine}`)) : null]],
    ['For', r => duration(between(r.started_at ?? r.requested_at)), 'short'],
    ['Done', r => r.progress?.total ? `${r.progress.done} of ${r.progress.total}` : '–', 'short'],
    ['Ends about', r => new Date(r.progress?.eta ?? 0) > new Date() ? time(r.progress.eta) : '–'],
    ['Waits for', r => r.waiting_on ? text(r.waiting_on) : '–', 'wide'],
  ], data.running.slice(0, 12), r => r.execution_id, 'Nothing runs.'),
    data.running.length > 12 || data.running.some(r => r.further > 0) ?
      h('p', null, h('a', { href: hash.executions({ status: 'RUNNING' }) }, 'All that runs')) : null);
}

// Starts and ends by hour, as bars; the same as a table for those who do not see them.
function hours(data) {
  const first = Math.floor((Date.now() - DAY) / 3600000) + 1;
  const by = Object.fromEntries(data.hours.map(x => [Math.floor(new Date(x.hour) / 3600000), x]));
  const list = Array.from({ length: 24 },
    (_, n) => ({ at: (first + n) * 3600000,
      ...(by[first + n] ?? { started: 0, succeeded: 0, failed: 0, aborted: 0 }) }));
  const most = Math.max(1, ...list.map(x => x.succeeded + x.failed + x.aborted));
  const width = 24, height = 90;
  return [
    s('svg', { class: 'hours', viewBox: `0 0 ${24 * width} ${height + 18}`, role: 'img',
      'aria-label': `Ends by hour: ${count(list.reduce((n, x) => n + x.succeeded, 0), 'success', 'successes')}, ${
        count(list.reduce((n, x) => n + x.failed, 0), 'failure')
      }` }, list.map((x, n) => {
        const ok = x.succeeded / most * height, bad = x.failed / most * height, stopped = x.aborted / most * height;
        return s('g', null,
          s('title', null, `${clock(x.at)}: ${x.succeeded} succeeded, ${x.failed} failed, ${x.aborted} stopped`),
          s('rect', { class: 'h-none', x: n * width + 2, y: 0, width: width - 4, height }),
          s('rect', { class: 'h-ok', x: n * width + 2, y: height - ok, width: width - 4, height: ok }),
          s('rect', { class: 'h-bad', x: n * width + 2, y: height - ok - bad, width: width - 4,
            height: bad > 0 ? Math.max(bad, 2) : 0 }),
          s('rect', { class: 'h-stop', x: n * width + 2, y: height - ok - bad - stopped, width: width - 4,
            height: stopped }),
          n % 4 === 0 ?
            s('text', { x: n * width + 2, y: height + 14 },
              `${String(new Date(x.at).getHours()).padStart(2, '0')}:00`) : null);
      })),
    h('p', { class: 'legend' }, h('span', { class: 'key success' }), 'succeeded', h('span', { class: 'key failure' }),
      'failed', h('span', { class: 'key stopped' }), 'stopped'),
  ];
}

export function draw(data, context) {
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, 'Tonight'),
    tiles(data),
    data.sees ? null :
      h('div', { key: 'unseen' },
        notice('late',
          h('p', null,
            'Your role may read no state machine, so this page stays empty. ' +
              'A member of the owner of a machine can give it the right:'),
          h('p', null, h('code', null, `SELECT sf_grant('READ', 'machine', '${context.role}')`)))),
    data.unwell.length ?
      section('Not well', { class: 'warn' },
        h('ul', { class: 'names' },
          data.unwell.map(u => h('li', null, h('strong', null, u.item), ': ', text(u.detail)))),
        h('p', null, h('a', { href: '#/health' }, 'Health'))) : null,
    section('Failed', { count: failures(data) },
      data.failed.length ? data.failed.map(f => fault(f, data.rights, failures(data) > 300, context)) :
        h('p', { class: 'none' }, icon('ok', 'ok'), 'Nothing has failed.'),
      data.failed.length === 25 ?
        h('p', null, h('a', { href: hash.executions({ status: 'FAILED' }) }, 'All that failed')) : null),
    section('Late or stuck', { count: late(data) }, table('Late or stuck', [
      ['What', r => badge('TIMED_OUT', r.kind.replaceAll('_', ' '))],
      ['Of',
        r =>
          r.further > 0 ?
            [alertLink(r),
              h('small', null, ' and ',
                h('a', { href: '#/alerts' }, `${r.further} more of ${machineOf(r.execution_id)}`))] : alertLink(r)],
      ['Since', r => time(r.since, true)],
      ['Why', r => text(r.detail), 'wide'],
      ['',
        r =>
          r.execution_id && may(data.rights, r.execution_id, 'OPERATE') ? button('Acknowledge…', () =>
            context.act(acknowledge([r.execution_id], r.kind)), { class: 'small',
            'aria-label': `Acknowledge ${r.kind} of ${r.execution_id}` }) : null],
    ], data.late, r => r.kind + r.execution_id + r.target + r.detail, 'Nothing is late.')),
    tolerated(data),
    h('div', { class: 'columns', key: 'columns' }, running(data), section('Next', {}, table('Next', [
      ['Schedule', r => scheduleLink(r.schedule_name)],
      ['Starts', r => machineLink(r.state_machine.split('/')[0])],
      ['At',
        r => [r.next_run ? [time(r.next_run), ' ', h('small', null, distance(r.next_run)), ' '] : null,
          r.next_run && r.state === 'active' ? null : badge(r.state)]],
    ], data.next, r => r.schedule_name, 'Nothing is scheduled.'))),
    data.deadlines?.length ? section('Deadlines', {}, deadlines(data.deadlines)) : null,
    data.limits?.length ? section('Limits that are used up', {}, limits(data.limits, context.reload)) : null,
    night(data.night),
    data.held.length ? section('Held', { count: data.held.length }, table('Held', [
      ['Target', r => text(r.state ? `${r.target}/${r.state}` : r.target, 'id')],
      ['Since', r => time(r.since)],
      ['By', r => text(r.held_by)],
      ['Why', r => r.reason ? text(r.reason) : '–', 'wide'],
      ['Waiting', r => String(r.waiting)],
      ['',
        r =>
          r.may_release ? button('Release…', () =>
            context.act(release(r)), { class: 'small', 'aria-label': `Release ${r.target}` }) : null],
    ], data.held, r => r.target + r.state)) : null,
    h('div', { class: 'columns', key: 'columns2' }, section('The last 24 hours', {}, hours(data)),
      section('By machine', {}, table('By machine', [
        ['Machine', r => machineLink(r.state_machine)],
        ['Started', r => String(r.started), 'num'],
        ['Succeeded', r => String(r.succeeded), 'num'],
        ['Failed',
          r =>
            r.failed > 0 ?
              h('a', { class: 'bad', href: hash.executions({ state_machine: r.state_machine, status: 'FAILED' }) },
                icon('bad', 'bad'), String(r.failed)) : '0', 'num'],
        ['Stopped', r => String(r.aborted), 'num'],
      ], data.machines, r => r.state_machine, 'Nothing ran.'))),
    section('Ended well', {}, table('Ended well', [
      ['Execution',
        r => [executionLink(r.execution_id),
          r.further > 0 ?
            h('small', null, ' and ',
              h('a', { href: hash.executions({ state_machine: r.state_machine, status: 'SUCCEEDED' }) },
                `${r.further} more of ${r.state_machine}`)) : null]],
      ['Ended', r => time(r.stopped_at)],
      ['Took', r => duration(r.took)],
    ], data.ended, r => r.execution_id, 'None yet.')),
  ];
}
