// Limits and deadlines, as several pages show them.

import { badge, table, text, time } from './parts.js';

// Limits: how much of each is in use, and how much waits.
export function limits(rows) {
  return table('Limits', [
    ['Target', r => text(r.target, 'id')], ['Key', r => r.key ? text(r.key) : '–'], ['In use', r => r.max_running === null ? String(r.in_use) : `${r.in_use} of ${r.max_running}`, 'num'],
    ['Rate', r => r.rate === null ? '–' : `${r.rate} per ${r.per}`], ['Waiting', r => r.waiting > 0 ? badge('waiting', String(r.waiting)) : '0', 'num'], ['Oldest since', r => r.oldest_waiting ? time(r.oldest_waiting, true) : '–'],
    ['Beyond it', r => r.on_limit === 'fail' ? 'fails' : 'waits']], rows, r => `${r.target}/${r.key}`, 'There is no limit.');
}

// Deadlines: times of day, and what is late.
export function deadlines(rows) {
  return table('Deadlines', [
    ['Target', r => text(r.target, 'id')], ['State', r => r.late ? badge('TIMED_OUT', r.late.replaceAll('_', ' ')) : badge('SUCCEEDED', 'in time')], ['Starts by', r => r.start_by?.slice(0, 5) ?? '–'],
    ['Ends by', r => r.end_by?.slice(0, 5) ?? '–'], ['Time zone', r => text(r.timezone)], ['Calendar', r => r.calendar ? text(r.calendar) : '–'], ['Next look', r => time(r.next_check)]],
  rows, r => r.target, 'There is no deadline.');
}
