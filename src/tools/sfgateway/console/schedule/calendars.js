// Calendars, whose days schedules keep.

import { onTargets } from '../action/targets.js';
import { call } from '../base/api.js';
import { h } from '../base/dom.js';
import { text, time } from '../base/values.js';
import { notice, section } from '../element/blocks.js';
import { button, field } from '../element/controls.js';
import { confirm } from '../element/dialog.js';
import { excerpt } from '../element/payload.js';
import { cutNote, table } from '../element/table.js';
import { locale, tr } from '../language/texts.js';

/** @import { Doc } from '../base/format.js' */
/** @import { Context } from '../frame/pages.js' */
/** @import { SchedulesData } from './schedules.js' */

/**
 * A calendar; days has which of its open days it picks.
 * @typedef {{ calendar: string, owner: string, rule: Doc, days: Doc | null, may_edit: boolean }} Calendar
 */

const dayName = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });

const EXAMPLE = '{"Weekdays": ["MON", "TUE", "WED", "THU", "FRI"], "Closed": ["01-01", "12-25"]}';

// The days that a calendar would close and pick, and when its schedules would run next.
async function previewCalendar(values) {
  if (!values.name) return h('p', { class: 'muted' }, tr('With a name, the days show here.'));
  const { days, schedules } = await call('plan_calendar', values);
  const listed = list => list.length ? list.map(d => dayName.format(new Date(d.day))).join(', ') : tr('none');
  return notice('ok',
    h('p', null, h('strong', null, tr('Closed within 62 days: ')), listed(days.filter(d => !d.is_open))),
    values.days ? h('p', null, h('strong', null, tr('Picked: ')), listed(days.filter(d => d.is_picked))) : null,
    schedules.map(s =>
      h('p', null, text(s.schedule_name, 'id'), ': ', s.next_run ? time(s.next_run) : tr('It never runs.'))
    ));
}

// Make a calendar, or change one.
function editCalendar(calendar = null) {
  return confirm({
    title: calendar ? tr('Edit {0}', calendar.calendar) : tr('New calendar'),
    yes: tr('Save'),
    fields: [
      field(tr('Name'),
        h('input', { name: 'name', required: true, maxlength: '80', autocomplete: 'off', value: calendar?.calendar,
          readonly: Boolean(calendar), autofocus: !calendar })),
      field(tr('Open days (JSON)'),
        h('textarea', { name: 'rule', rows: '4', required: true, spellcheck: 'false', autofocus: Boolean(calendar) },
          calendar?.rule.text ?? EXAMPLE)),
      field(tr('Days that it picks (JSON; empty: every open day)'),
        h('textarea', { name: 'days', rows: '2', spellcheck: 'false' }, calendar?.days?.text ?? ''),
        '{"OpenDays": [-1]}'),
    ],
    preview: previewCalendar,
    perform: values => call('set_calendar', { ...values, new: !calendar }),
  });
}

// Ask whether to remove a calendar.
function removeCalendar(name) {
  return confirm({ title: tr('Remove {0}?', name), yes: tr('Remove'), danger: true,
    body: [h('p', null, tr('No schedule and no calendar may use it.'))],
    perform: () => onTargets(tr('Removed'), 'drop_calendar', [name], {}) });
}

/**
 * The calendars that schedules can use.
 * @param {SchedulesData} data
 * @param {Context} context
 * @returns {HTMLElement}
 */
export function calendarsPart(data, context) {
  const buttons = r =>
    h('div', { class: 'row' }, button(tr('Edit…'), () =>
      context.refreshAfter(editCalendar(r)), { class: 'small', 'aria-label': tr('Edit {0}', r.calendar) }),
      button(tr('Remove…'), () =>
        context.refreshAfter(removeCalendar(r.calendar)), { class: 'small',
        'aria-label': tr('Remove {0}', r.calendar) }));
  return section(tr('Calendars'), { count: data.calendars.length }, table(tr('Calendars'), [
    { title: tr('Calendar'), cell: r => text(r.calendar) },
    { title: tr('Owner'), cell: r => text(r.owner) },
    { title: tr('Rule'), cell: r => excerpt(r.rule), class: 'wide' },
    { title: tr('Days'), cell: r => excerpt(r.days), class: 'wide' },
    { title: '', cell: r => r.may_edit && !r.rule.cut && !r.days?.cut ? buttons(r) : null },
  ], data.calendars, r => r.calendar, tr('There is no calendar.')), cutNote(data, 'calendars'),
    !data.may_create ? null :
      h('div', { class: 'row' },
        button(tr('New calendar…'), () => context.refreshAfter(editCalendar()), { class: 'small' })));
}
