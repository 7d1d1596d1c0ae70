// A month with the times of a schedule in it, and the days on which its calendar is closed.

import { h } from '../base/dom.js';
import { locale, tr } from '../language/texts.js';

/** @import { OneSchedule } from './schedules.js' */

const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
// Monday comes first; 1 January 2024 was one.
const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7].map(day => weekday.format(Date.UTC(2024, 0, day)));
const month = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });

// The first day of a month, some months from now, in UTC: dates of the schedule's own time zone are compared with it.
export function monthStart(offset) {
  const now = new Date();
  return new Date(Date.UTC(now.getFullYear(), now.getMonth() + offset, 1));
}

// A day of a month: the times of its runs, and whether its calendar is closed.
function dayCell(day, runs, isClosed, isToday) {
  const classes = [runs.length && 'on', isClosed && 'closed', isToday && 'today'];
  return h('td', { class: classes.filter(Boolean).join(' ') },
    h('span', { class: 'day' }, String(day), isClosed ? h('small', null, tr(' closed')) : null),
    runs.slice(0, 3).map(at => h('span', { class: 'at' }, at)),
    runs.length > 3 ? h('span', { class: 'at' }, `+${runs.length - 3}`) : null);
}

/**
 * A month with the times of a schedule in it, and the days on which its calendar is closed.
 * @param {OneSchedule} one
 * @returns {HTMLElement}
 */
export function monthTable({ times, closed, offset }) {
  const first = monthStart(offset);
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const lead = (first.getUTCDay() + 6) % 7;
  const runsOf = {};
  for (const t of times) (runsOf[t.local_time.slice(0, 10)] ??= []).push(t.local_time.slice(11, 16));
  const today = offset === 0 ? new Date().getDate() : null;
  const weeks = Array.from({ length: Math.ceil((lead + days) / 7) },
    (_, w) => Array.from({ length: 7 }, (_, d) => w * 7 + d - lead + 1));
  return h('table', { class: 'month', key: 'month' }, h('caption', null, month.format(first)),
    h('thead', null, h('tr', null, WEEKDAYS.map(name => h('th', { scope: 'col' }, name)))),
    h('tbody', null, weeks.map(week =>
      h('tr', null, week.map(day => {
        if (day < 1 || day > days) return h('td', { class: 'out' });
        const date = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth(), day)).toISOString().slice(0, 10);
        return dayCell(day, runsOf[date] ?? [], closed.includes(date), day === today);
      }))
    )));
}
