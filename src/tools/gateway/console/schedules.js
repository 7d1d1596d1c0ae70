// Schedules and calendars: what each schedule starts and when, as a calendar of months.

import { call } from './api.js';
import { choice, confirm, hold, onTargets, release } from './dialog.js';
import { h } from './dom.js';
import { clock, distance, duration } from './format.js';
import { badge, button, errorName, errorNotice, executionLink, facts, field, icon, machineLink, may, notice, section,
  table, text, time } from './parts.js';
import { excerpt } from './payload.js';
import { locale } from './texts.js';
import { tr } from './texts.js';

const ON_CLOSED = [['skip', tr('leave the run out')], ['previous', tr('run on the open day before')], ['next',
  tr('run on the open day after')], ['run', tr('run all the same')]];
const MISSED = [['run_once', tr('the latest one runs')], ['run_all', tr('all of them run')], ['skip',
  tr('none runs, with an alert')]];
const OVERLAP = [['skip', tr('leave it out')], ['queue', tr('have it wait')], ['parallel', tr('start it beside')]];
const dayName = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });
const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
// Monday comes first; 1 January 2024 was one.
const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7].map(day => weekday.format(Date.UTC(2024, 0, day)));
const month = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });

export function title() {
  return tr('Schedules');
}

// The first day of a month, some months from now, in UTC: dates of the schedule's own time zone are compared with it.
function monthStart(offset) {
  const now = new Date();
  return new Date(Date.UTC(now.getFullYear(), now.getMonth() + offset, 1));
}

export async function load({ ask, query }) {
  const offset = Number(query.month ?? 0) || 0;
  const day = 86400000;
  const [list, one] = await Promise.all([ask('schedules', {}), query.name ? ask('schedule', {
    name: query.name,
    from: new Date(monthStart(offset).getTime() - day).toISOString(),
    to: new Date(monthStart(offset + 1).getTime() + day).toISOString(),
  }).catch(error => ({ error })) : null]);
  return { ...list, one, offset };
}

// What a value means, of a list of [value, words].
function words(list, value) {
  return list.find(([v]) => v === value)?.[1];
}

// A time for a field: in the time zone of the browser, up to the minute.
function forField(at) {
  return at ? new Date(new Date(at) - new Date(at).getTimezoneOffset() * 60000).toISOString().slice(0, 16) : undefined;
}

// The values of the form as a request: times with their zone.
function asRequest(values) {
  const moment = value => value ? new Date(value).toISOString() : '';
  return { ...values, starts: moment(values.starts), ends: moment(values.ends) };
}

// Make a schedule, or change one; the dialog shows the next times that it would have.
async function edit(schedule, data) {
  const { rows, rights } = await call('machines', { limit: 200 });
  const before = schedule ?? { on_closed: 'skip', missed: 'run_once', overlap: 'skip', input: { text: '{}' } };
  return confirm({
    title: schedule ? tr('Edit {0}', schedule.schedule_name) : tr('New schedule'),
    yes: tr('Save'),
    body: [],
    fields: [
      field(tr('Name'),
        h('input', { name: 'name', required: true, maxlength: '80', autocomplete: 'off', value: schedule?.schedule_name,
          readonly: Boolean(schedule), autofocus: !schedule })),
      field(tr('State machine'),
        h('input', { name: 'state_machine', required: true, list: 'startable', autocomplete: 'off',
          value: before.state_machine }), tr('Or a version, as nightly/3.')),
      h('datalist', { id: 'startable' },
        rows.filter(m => may(rights, m.state_machine, 'START')).map(m => h('option', { value: m.state_machine }))),
      h('div', { class: 'pair' },
        field(tr('When'),
          h('input', { name: 'schedule', required: true, spellcheck: 'false', autocomplete: 'off',
            value: before.schedule, autofocus: Boolean(schedule) }),
          tr('Minute, hour, day, month, weekday: 0 2 * * *')),
        field(tr('Time zone'),
          h('input', { name: 'timezone', autocomplete: 'off',
            value: before.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone }))),
      h('div', { class: 'pair' },
        choice(tr('Calendar'), 'calendar', [['', tr('every day')], ...data.calendars.map(c => c.calendar)],
          before.calendar ?? ''), choice(tr('On a closed day'), 'on_closed', ON_CLOSED, before.on_closed)),
      h('div', { class: 'pair' }, choice(tr('Runs that did not come'), 'missed', MISSED, before.missed),
        choice(tr('While the run before still runs'), 'overlap', OVERLAP, before.overlap)),
      h('div', { class: 'pair' },
        field(tr('Not before'), h('input', { name: 'starts', type: 'datetime-local', value: forField(before.starts) })),
        field(tr('Not after'), h('input', { name: 'ends', type: 'datetime-local', value: forField(before.ends) }))),
      before.input.cut ? h('p', { class: 'muted' }, tr('Its input is long and stays as it is.')) :
        field(tr('Input (JSON)'), h('textarea', { name: 'input', rows: '3', spellcheck: 'false' }, before.input.text),
          tr('Placeholders such as <sfflow.scheduled-date> are filled in at each run.')),
    ],
    preview: async values => {
      if (!values.name || !values.schedule || !values.state_machine)
        return h('p', { class: 'muted' },
          tr('With a name, a state machine and an expression, the next runs show here.'));
      const { times } = await call('plan_schedule', asRequest(values));
      return h('div', null, h('strong', null, times.length ? tr('It will run:') : tr('It never runs.')),
        h('ul', { class: 'names' },
          times.map(t => h('li', null, clock(t.scheduled_for), h('small', null, ` ${distance(t.scheduled_for)}`)))));
    },
    act: values => call('set_schedule', { ...asRequest(values), new: !schedule }),
  });
}

const RULE = '{"Weekdays": ["MON", "TUE", "WED", "THU", "FRI"], "Closed": ["01-01", "12-25"]}';

// Make a calendar, or change one; the dialog shows the days that would be closed, and what its schedules would do.
function editCalendar(calendar = null) {
  return confirm({
    title: calendar ? tr('Edit {0}', calendar.calendar) : tr('New calendar'),
    yes: tr('Save'),
    body: [],
    fields: [
      field(tr('Name'),
        h('input', { name: 'name', required: true, maxlength: '80', autocomplete: 'off', value: calendar?.calendar,
          readonly: Boolean(calendar), autofocus: !calendar })),
      field(tr('Open days (JSON)'),
        h('textarea', { name: 'rule', rows: '4', required: true, spellcheck: 'false', autofocus: Boolean(calendar) },
          calendar?.rule.text ?? RULE)),
      field(tr('Days that it picks (JSON; empty: every open day)'),
        h('textarea', { name: 'days', rows: '2', spellcheck: 'false' }, calendar?.days?.text ?? ''),
        '{"OpenDays": [-1]}'),
    ],
    preview: async values => {
      if (!values.name) return h('p', { class: 'muted' }, tr('With a name, the days show here.'));
      const { days, schedules } = await call('plan_calendar', values);
      const told = list => list.length ? list.map(d => dayName.format(new Date(d.day))).join(', ') : tr('none');
      return notice('ok',
        h('p', null, h('strong', null, tr('Closed within 62 days: ')), told(days.filter(d => !d.is_open))),
        values.days ? h('p', null, h('strong', null, tr('Picked: ')), told(days.filter(d => d.is_picked))) : null,
        schedules.map(s =>
          h('p', null, text(s.schedule_name, 'id'), ': ', s.next_run ? time(s.next_run) : tr('It never runs.'))
        ));
    },
    act: values => call('set_calendar', { ...values, new: !calendar }),
  });
}

// Ask whether to remove a calendar.
function removeCalendar(name) {
  return confirm({ title: tr('Remove {0}?', name), yes: tr('Remove'), danger: true,
    body: [h('p', null, tr('No schedule and no calendar may use it.'))],
    act: () => onTargets(tr('Removed'), 'drop_calendar', [name], {}) });
}

// Ask whether to remove a schedule.
function remove(name) {
  return confirm({ title: tr('Remove {0}?', name), yes: tr('Remove'), danger: true,
    body: [h('p', null, tr('It starts nothing any more. Executions that it started stay.'))],
    act: () => onTargets(tr('Removed'), 'unschedule', [name], {}) });
}

// A month with the times of a schedule in it, and the days on which its calendar is closed.
function monthTable(times, closed, offset) {
  const first = monthStart(offset);
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const lead = (first.getUTCDay() + 6) % 7;
  const by = {};
  for (const t of times) (by[t.local_time.slice(0, 10)] ??= []).push(t.local_time.slice(11, 16));
  const today = new Date(),
    isMonth = first.getUTCFullYear() === today.getFullYear() && first.getUTCMonth() === today.getMonth();
  const weeks = Array.from({ length: Math.ceil((lead + days) / 7) },
    (_, w) => Array.from({ length: 7 }, (_, d) => w * 7 + d - lead + 1));
  return h('table', { class: 'month', key: 'month' }, h('caption', null, month.format(first)),
    h('thead', null, h('tr', null, WEEKDAYS.map(d => h('th', { scope: 'col' }, d)))),
    h('tbody', null, weeks.map(week =>
      h('tr', null, week.map(d => {
        if (d < 1 || d > days) return h('td', { class: 'out' });
        const date = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth(), d)).toISOString().slice(0, 10);
        const runs = by[date] ?? [];
        const isClosed = closed.includes(date);
        return h('td', {
          class: `${runs.length ? 'on' : ''}${isClosed ? ' closed' : ''}${
            isMonth && d === today.getDate() ? ' today' : ''
          }`,
        }, h('span', { class: 'day' }, String(d), isClosed ? h('small', null, tr(' closed')) : null),
          runs.slice(0, 3).map(r => h('span', { class: 'at' }, r)),
          runs.length > 3 ? h('span', { class: 'at' }, `+${runs.length - 3}`) : null);
      }))
    )));
}

// The schedule that is chosen.
function chosen(data, context) {
  const { name } = context.query;
  if (!name) return null;
  const schedule = data.rows.find(r => r.schedule_name === name);
  const move = n => context.go({ ...context.query, month: String(data.offset + n) });
  if (data.one?.error) return section(name, {}, errorNotice(data.one.error));
  return section(name, { key: 'chosen' },
    schedule?.may_edit ?
      h('div', { class: 'row actions', role: 'group', 'aria-label': tr('Actions') },
        button(tr('Edit…'), () => context.act(edit(schedule, data))),
        schedule.held ? button(tr('Release…'), () => context.act(release({ target: `schedule:${name}` }))) :
          button(tr('Hold…'), () => context.act(hold([`schedule:${name}`]))), button(tr('Remove…'), async () => {
          if (await remove(name)) context.go({});
        })) : null,
    schedule ?
      facts([[tr('Owner'), text(schedule.owner)], [tr('When'), [h('code', null, text(schedule.schedule)),
        tr(' in {0}', schedule.timezone)]], [tr('Calendar'),
        schedule.calendar ?
          [text(schedule.calendar), h('small', null, tr(' closed day: {0}', words(ON_CLOSED, schedule.on_closed)))] :
          null], [
        tr('Runs that did not come'),
        words(MISSED, schedule.missed),
      ], [tr('While the run before still runs'), words(OVERLAP, schedule.overlap)], [tr('Not before'),
        schedule.starts ? time(schedule.starts) : null], [tr('Not after'),
        schedule.ends ? time(schedule.ends) : null]]) : null,
    h('div', { class: 'row' }, button(tr('Earlier'), () => move(-1)),
      button(tr('This month'), () => context.go({ ...context.query, month: undefined })),
      button([tr('Later '), icon('next')], () => move(1)),
      schedule ? h('span', { class: 'muted' }, tr('Times in {0}', schedule.timezone)) : null),
    data.one ? monthTable(data.one.times, data.one.closed, data.offset) : null,
    data.one?.times.length === 500 ? h('p', { class: 'muted' }, tr('Only the first 500 times are shown.')) : null,
    h('h3', null, tr('Last runs')), table(tr('Last runs'), [
      [tr('For'), r => time(r.scheduled_for)],
      [tr('Status'), r => badge(r.status)],
      [tr('Execution'), r => r.execution_id ? executionLink(r.execution_id) : '–'],
      [tr('Took'), r => r.ended_at && r.took !== null ? duration(r.took) : '–'],
      [tr('Error'), r => r.error ? errorName(r.error) : '–', 'wide'],
    ], data.one?.runs ?? [], (r, n) => `${r.scheduled_for}${n}`, tr('It has not run yet.')));
}

export function draw(data, context) {
  return [
    h('div', { class: 'title', key: 'title' }, h('h1', { tabindex: '-1' }, tr('Schedules')),
      !data.may_create ? null :
        h('div', { class: 'row actions' }, button(tr('New schedule…'), () => context.act(edit(null, data))))),
    h('div', { class: 'card', key: 'list' }, table(tr('Schedules'), [
      [tr('Schedule'),
        r =>
          h('a', { href: `#/schedules?name=${encodeURIComponent(r.schedule_name)}`,
            'aria-current': r.schedule_name === context.query.name ? 'true' : null }, text(r.schedule_name))],
      [tr('State'),
        r => [badge(r.state), r.held ? [' ', badge('HELD')] : null, r.problem ? text(r.problem, 'muted') : null]],
      [tr('Starts'), r => machineLink(r.state_machine.split('/')[0])],
      [tr('When'), r => [h('code', null, text(r.schedule)), ' ', h('small', null, text(r.timezone))]],
      [tr('Next'), r => r.next_run ? [time(r.next_run), ' ', h('small', null, distance(r.next_run))] : '–'],
      [tr('Last'), r => r.last_execution_id ? executionLink(r.last_execution_id) : '–'],
      [tr('Input'), r => excerpt(r.input), 'wide'],
    ], data.rows, r => r.schedule_name,
      tr(
        "There is no schedule that you may see. Roles with START on a machine, and USAGE on pg_cron's " +
          'schema, make them.',
      ))),
    chosen(data, context),
    section(tr('Calendars'), { count: data.calendars.length },
      table(tr('Calendars'), [[tr('Calendar'), r => text(r.calendar)], [tr('Owner'), r => text(r.owner)], [tr('Rule'),
        r => excerpt(r.rule), 'wide'], [tr('Days'), r => excerpt(r.days) ?? '–', 'wide'], ['',
        r =>
          r.may_edit && !r.rule.cut && !r.days?.cut ? h('div', { class: 'row' }, button(tr('Edit…'), () =>
            context.act(editCalendar(r)), { class: 'small', 'aria-label': tr('Edit {0}', r.calendar) }),
            button(tr('Remove…'), () =>
              context.act(removeCalendar(r.calendar)), { class: 'small',
              'aria-label': tr('Remove {0}', r.calendar) })) : '–']], data.calendars, r => r.calendar,
        tr('There is no calendar.')),
      !data.may_create ? null :
        h('div', { class: 'row' }, button(tr('New calendar…'), () => context.act(editCalendar()), { class: 'small' }))),
  ];
}
