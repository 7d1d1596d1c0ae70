// What an operator looks at first: what failed and why, what is late, what runs, what comes next.

import { acknowledge, redriveMany, redriveOne, release } from './dialog.js';
import { h, s } from './dom.js';
import { between, clock, count, distance, duration, grouped, readCause, stateNames } from './format.js';
import { deadlines, limits } from './limits.js';
import { alertLink, badge, button, causeLines, errorName, executionLink, failedItem, hash, icon, machineLink, machineOf,
  may, notice, scheduleLink, section, statusWord, table, text, time } from './parts.js';
import { tr } from './texts.js';
import { compare } from './timeline.js';

const DAY = 24 * 3600 * 1000;

export function title() {
  return tr('Tonight');
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
  if (failed.length)
    return `${count(failed.length, '{0} new failure|{0} new failures')}: ${failed.slice(0, 3).join(', ')}`;
  return failures(after) < failures(before) ? count(failures(after), '{0} failure left|{0} failures left') : '';
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
  return h('ul', { class: 'tiles', 'aria-label': tr('Summary') }, tile('bad', failures(data), tr('failed'), 'h-failed'),
    tile('late', late(data), tr('late or stuck'), 'h-late-or-stuck'),
    tile('run', data.running_count >= 1000 ? `${grouped(1000)}+` : data.running_count, tr('running'), 'h-running'),
    tile('held', data.held.length, tr('held'), 'h-held'),
    tile(next && next.state !== 'active' ? 'bad' : 'wait',
      next ? duration(Math.max(0, between(new Date(), next.next_run))).replace(/[.,]\d/, '').replace(/ \d+ s$/, '') :
        '–',
      !next ? tr('nothing scheduled') :
        tr('until {0}', next.schedule_name) +
        (next.state === 'active' ? '' : tr(', which is {0}', statusWord(next.state))), 'h-next'));
}

// Failures of one machine with one error: which job, why, and what can be done about it.
function fault(f, rights, cut, context) {
  const cause = readCause(f.cause);
  const job = f.jobs?.[0];
  const [latest] = f.executions;
  const look = job ? { state: stateNames(job).at(-1) } : {};
  return h('article', { class: 'fault', key: `${f.state_machine}/${f.error}/${f.kind}`,
    'aria-label': f.n > 1 ? tr('{0} executions of {1}', f.n, f.state_machine) : latest },
    h('div', { class: 'fault-head' }, badge(f.kind === 'timed_out' ? 'TIMED_OUT' : 'FAILED'),
      f.n > 1 ?
        h('strong', { class: 'id' }, tr('{0}{1} executions of ', f.n, cut ? '+' : ''), machineLink(f.state_machine)) :
        executionLink(latest, look),
      h('span', { class: 'muted' }, f.n > 1 ? tr('the latest ') : null, time(f.since), ` (${distance(f.since)})`,
        f.n === 1 && f.started_at ? tr(' after {0}', duration(between(f.started_at, f.since))) : '')),
    h('p', { class: 'why' }, job ? [h('a', { href: hash.execution(latest, look) }, text(job, 'job')), ' '] : null,
      f.error ? errorName(f.error) : null), causeLines(cause), failedItem(f.item),
    f.redrive_count > 0 ?
      h('p', { class: 'muted' }, tr('It was redriven {0} before.', count(f.redrive_count, '{0} time|{0} times'))) :
      null,
    f.n > 1 ?
      h('details', null, h('summary', null, tr('Which')),
        h('ul', { class: 'ids' }, f.executions.map(id => h('li', { key: id }, executionLink(id, look)))),
        f.n > f.executions.length ?
          h('p', null,
            h('a', { href: hash.executions({ state_machine: f.state_machine, error: f.error }) }, tr('All of them'))) :
          null) : null,
    h('div', { class: 'row' },
      !may(rights, latest, 'START', 'OPERATE') ? null :
        button(f.n > 1 ? tr('Redrive {0}…', f.executions.length) : tr('Redrive…'),
          () => context.act(f.n > 1 ? redriveMany(f.executions) : redriveOne(latest)), { class: 'primary',
          'aria-label': f.n > 1 ? tr('Redrive {0} executions of {1}', f.executions.length, f.state_machine) :
            tr('Redrive {0}', latest) }),
      h('a', { class: 'button', href: hash.execution(latest, look), 'aria-label': tr('Look into it: {0}', latest) },
        tr('Look into it')),
      !may(rights, latest, 'OPERATE') ? null :
        button(tr('Acknowledge…'), () => context.act(acknowledge(f.executions, f.kind, f.n)), {
          'aria-label': tr('Acknowledge {0}', f.n > 1 ? f.state_machine : latest),
        })));
}

// The night: what ran, runs and is to come, in the order of time; executions of one machine in one state are one row.
function night(data) {
  const target = r =>
    r.name.startsWith('schedule:') ? scheduleLink(r.name.slice(9), r.name) :
      r.n > 1 || !r.target ?
      h('a', { class: 'id', href: hash.executions({ state_machine: r.name, status: r.state }) },
        tr('{0} of {1}', r.state === 'RUNNING' ? upTo(r.n) : grouped(r.n), r.name)) : executionLink(r.target);
  return section(tr('The night'), {}, table(tr('The night'), [
    [tr('At'),
      r => [time(r.first_planned),
        r.n > 1 && r.last_planned !== r.first_planned ? [' – ', time(r.last_planned)] : null]],
    [tr('What'), target, 'wide'],
    [tr('State'), r => badge(r.state)],
    [tr('Took'),
      r =>
        r.took === null ? '–' :
          [r.took < 100 ? tr('under 100 ms') : `${r.n > 1 ? tr('up to ') : ''}${duration(r.took)}`,
            r.usual > 0 ? h('small', null, ` ${compare(r.took, { runs: 2, p50: r.usual })}`) : null]],
    [tr('Ends about'), r => new Date(r.expected_end ?? 0) > new Date() ? time(r.expected_end) : '–'],
    [tr('Why'), r => r.detail ? text(r.detail) : '–', 'wide'],
    [tr('Then'), r => r.next ? text(r.next) : '–', 'wide'],
  ], data.rows, r => r.name + r.state, tr('Nothing.')));
}

// Failures that a Distributed Map tolerates.
function tolerated(data) {
  return data.tolerated.length ?
    section(tr('Tolerated failures'), { count: data.tolerated.length }, table(tr('Tolerated failures'), [
      [tr('Execution'), r => executionLink(r.execution_id, { state: r.state })],
      [tr('Map'), r => text(r.state)],
      [tr('Items that failed'), r => tr('{0} of {1}', r.items_failed, r.items), 'num'],
      [tr('Map run'), r => badge(r.status)],
      [tr('Began'), r => time(r.started_at)],
    ], data.tolerated, r => r.execution_id + r.state + r.started_at)) : null;
}

// What runs for longest; of a machine with more than three executions the longest one, and how many more there are.
function running(data) {
  return section(tr('Running'), { id: 'h-running', count: upTo(data.running_count) }, table(tr('Running'), [
    [tr('Execution'),
      r => [executionLink(r.execution_id),
        r.further > 0 ?
          h('small', { class: 'further' }, tr(' and '),
            h('a', { href: hash.executions({ state_machine: r.state_machine, status: 'RUNNING' }) },
              tr('{0} more of {1}', r.running >= 1000 ? '999+' : r.further, r.state_machine))) : null]],
    [tr('For'), r => duration(between(r.started_at ?? r.requested_at)), 'short'],
    [tr('Done'), r => r.progress?.total ? tr('{0} of {1}', r.progress.done, r.progress.total) : '–', 'short'],
    [tr('Ends about'), r => new Date(r.progress?.eta ?? 0) > new Date() ? time(r.progress.eta) : '–'],
    [tr('Waits for'), r => r.waiting_on ? text(r.waiting_on) : '–', 'wide'],
  ], data.running.slice(0, 12), r => r.execution_id, tr('Nothing runs.')),
    data.running.length > 12 || data.running.some(r => r.further > 0) ?
      h('p', null, h('a', { href: hash.executions({ status: 'RUNNING' }) }, tr('All that runs'))) : null);
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
      'aria-label': tr('Ends by hour: {0}, {1}',
        count(list.reduce((n, x) => n + x.succeeded, 0), '{0} success|{0} successes'),
        count(list.reduce((n, x) => n + x.failed, 0), '{0} failure|{0} failures')) }, list.map((x, n) => {
        const ok = x.succeeded / most * height, bad = x.failed / most * height, stopped = x.aborted / most * height;
        return s('g', null,
          s('title', null,
            tr('{0}: {1} succeeded, {2} failed, {3} stopped', clock(x.at), x.succeeded, x.failed, x.aborted)),
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
    h('p', { class: 'legend' }, h('span', { class: 'key success' }), tr('succeeded'),
      h('span', { class: 'key failure' }), tr('failed'), h('span', { class: 'key stopped' }), tr('stopped')),
  ];
}

export function draw(data, context) {
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, tr('Tonight')),
    tiles(data),
    data.sees ? null :
      h('div', { key: 'unseen' },
        notice('late',
          h('p', null,
            tr(
              'Your role may read no state machine, so this page stays empty. A member of the owner of a ' +
                'machine can give it the right:',
            )), h('p', null, h('code', null, `SELECT sf_grant('READ', 'machine', '${context.role}')`)))),
    data.unwell.length ?
      section(tr('Not well'), { class: 'warn' },
        h('ul', { class: 'names' },
          data.unwell.map(u => h('li', null, h('strong', null, u.item), ': ', text(u.detail)))),
        h('p', null, h('a', { href: '#/health' }, tr('Health')))) : null,
    section(tr('Failed'), { id: 'h-failed', count: failures(data) },
      data.failed.length ? data.failed.map(f => fault(f, data.rights, failures(data) > 300, context)) :
        h('p', { class: 'none' }, icon('ok', 'ok'), tr('Nothing has failed.')),
      data.failed.length === 25 ?
        h('p', null, h('a', { href: hash.executions({ status: 'FAILED' }) }, tr('All that failed'))) : null),
    section(tr('Late or stuck'), { id: 'h-late-or-stuck', count: late(data) }, table(tr('Late or stuck'), [
      [tr('What'), r => badge('TIMED_OUT', r.kind.replaceAll('_', ' '))],
      [tr('Of'),
        r =>
          r.further > 0 ?
            [alertLink(r),
              h('small', null, tr(' and '),
                h('a', { href: '#/alerts' }, tr('{0} more of {1}', r.further, machineOf(r.execution_id))))] :
            alertLink(r)],
      [tr('Since'), r => time(r.since, true)],
      [tr('Why'), r => text(r.detail), 'wide'],
      ['',
        r =>
          r.execution_id && may(data.rights, r.execution_id, 'OPERATE') ? button(tr('Acknowledge…'), () =>
            context.act(acknowledge([r.execution_id], r.kind)), { class: 'small',
            'aria-label': tr('Acknowledge {0} of {1}', r.kind, r.execution_id) }) : null],
    ], data.late, r => r.kind + r.execution_id + r.target + r.detail, tr('Nothing is late.'))),
    tolerated(data),
    h('div', { class: 'columns', key: 'columns' }, running(data),
      section(tr('Next'), { id: 'h-next' }, table(tr('Next'), [
        [tr('Schedule'), r => scheduleLink(r.schedule_name)],
        [tr('Starts'), r => machineLink(r.state_machine.split('/')[0])],
        [tr('At'),
          r => [r.next_run ? [time(r.next_run), ' ', h('small', null, distance(r.next_run)), ' '] : null,
            r.next_run && r.state === 'active' ? null : badge(r.state)]],
      ], data.next, r => r.schedule_name, tr('Nothing is scheduled.')))),
    data.deadlines?.length ? section(tr('Deadlines'), {}, deadlines(data.deadlines)) : null,
    data.limits?.length ? section(tr('Limits that are used up'), {}, limits(data.limits, context.reload)) : null,
    night(data.night),
    data.held.length ? section(tr('Held'), { id: 'h-held', count: data.held.length }, table(tr('Held'), [
      [tr('Target'), r => text(r.state ? `${r.target}/${r.state}` : r.target, 'id')],
      [tr('Since'), r => time(r.since)],
      [tr('By'), r => text(r.held_by)],
      [tr('Why'), r => r.reason ? text(r.reason) : '–', 'wide'],
      [tr('Waiting'), r => String(r.waiting)],
      ['',
        r =>
          r.may_release ? button(tr('Release…'), () =>
            context.act(release(r)), { class: 'small', 'aria-label': tr('Release {0}', r.target) }) : null],
    ], data.held, r => r.target + r.state)) : null,
    h('div', { class: 'columns', key: 'columns2' }, section(tr('The last 24 hours'), {}, hours(data)),
      section(tr('By machine'), {}, table(tr('By machine'), [
        [tr('Machine'), r => machineLink(r.state_machine)],
        [tr('Started'), r => String(r.started), 'num'],
        [tr('Succeeded'), r => String(r.succeeded), 'num'],
        [tr('Failed'),
          r =>
            r.failed > 0 ?
              h('a', { class: 'bad', href: hash.executions({ state_machine: r.state_machine, status: 'FAILED' }) },
                icon('bad', 'bad'), String(r.failed)) : '0', 'num'],
        [tr('Stopped'), r => String(r.aborted), 'num'],
      ], data.machines, r => r.state_machine, tr('Nothing ran.')))),
    section(tr('Ended well'), {}, table(tr('Ended well'), [
      [tr('Execution'),
        r => [executionLink(r.execution_id),
          r.further > 0 ?
            h('small', null, tr(' and '),
              h('a', { href: hash.executions({ state_machine: r.state_machine, status: 'SUCCEEDED' }) },
                tr('{0} more of {1}', r.further, r.state_machine))) : null]],
      [tr('Ended'), r => time(r.stopped_at)],
      [tr('Took'), r => duration(r.took)],
    ], data.ended, r => r.execution_id, tr('None yet.'))),
  ];
}
