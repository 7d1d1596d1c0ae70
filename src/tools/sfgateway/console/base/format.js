// Times, durations, numbers and texts for people.

import { locale, tr, trForm } from '../language/texts.js';

/**
 * A payload as the server gives it.
 * @typedef {object} Doc
 * @property {string} text all of it, or its beginning
 * @property {number} [bytes] of all of it
 * @property {boolean} [cut] whether text is only the beginning
 */

/**
 * The parts of a cause, which are those of an error of PostgreSQL, or its text as the message.
 * @typedef {object} Cause
 * @property {string} message
 * @property {string} [detail]
 * @property {string} [hint]
 * @property {string} [context]
 * @property {string} [sqlstate]
 */

// A number with so many digits after the point, or the comma of the reader.
export function decimal(n, digits) {
  return n.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// A whole number, in groups as the reader writes it.
export function grouped(n) {
  return Number(n).toLocaleString(locale);
}

// A duration in milliseconds: three digits or so.
export function duration(ms) {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return '';
  if (ms < 1) return '0 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${decimal(s, 1)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.floor(s / 60 % 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600 % 24)} h`;
}

// The time between two times; the second may be missing: now.
export function between(from, to) {
  return from ? (to ? new Date(to) : new Date()) - new Date(from) : null;
}

// How far a time is from now.
export function distance(at) {
  const ms = new Date(at) - Date.now();
  if (Math.abs(ms) < 5000) return tr('now');
  const far = duration(Math.abs(ms)).replace(/[.,]\d/, '').replace(/ \d+ s$/, '');
  return ms < 0 ? tr('{0} ago', far) : tr('in {0}', far);
}

const sameDay = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const otherDay = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', hour: '2-digit',
  minute: '2-digit' });
const otherYear = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit',
  minute: '2-digit' });

// A time, as short as it is clear, in the time zone of the browser.
export function clock(at) {
  const t = new Date(at), now = new Date();
  const format = t.toDateString() === now.toDateString() ? sameDay :
    t.getFullYear() === now.getFullYear() ? otherDay : otherYear;
  return format.format(t);
}

// A number of bytes.
export function bytes(n) {
  if (n < 1000) return tr('{0} bytes', n);
  return n < 1e6 ? `${decimal(n / 1000, n < 1e4 ? 1 : 0)} kB` : `${decimal(n / 1e6, 1)} MB`;
}

// A count with its noun: forms as "{0} job|{0} jobs", of which the catalogue has as many as its language.
export function count(n, forms) {
  return trForm(forms, Number(n), grouped(n));
}

/**
 * The message of a cause, which is often JSON with the parts of an error of PostgreSQL; else its text.
 * @param {Doc | string | null | undefined} cause
 * @returns {Cause}
 */
export function readCause(cause) {
  const text = typeof cause === 'string' ? cause : cause?.text ?? '';
  try {
    const parts = JSON.parse(text);
    if (parts && typeof parts.message === 'string')
      return { message: parts.message, detail: parts.detail, hint: parts.hint, context: parts.context,
        sqlstate: parts.sqlstate };
  } catch {
    // no JSON: the text itself says it
  }
  return { message: text };
}

// The states that a job can be of: its name without iterations of Maps, and that without what it lies in.
export function stateNames(job) {
  const name = job.replace(/\[\d+\]$/, '');
  return [name, name.replace(/^.*\//, '')];
}

// Characters that change the order of a text, or cannot be seen, as escapes.
const UNSEEN = new RegExp(
  '[\\0-\\x08\\v\\f\\x0e-\\x1f\\x7f-\\x9f\\xad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f' +
    '\\ufeff\\ufff9-\\ufffb]',
  'g',
);
export function visible(text) {
  return text.replace(UNSEEN, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// The machine of an execution, or of "machine/state".
export function machineOf(target) {
  return /^[^:/]*/.exec(target)[0];
}

// The name of a schedule that is a target; null: the target is something else.
export function scheduleOf(target) {
  return /^schedule:(.*)$/s.exec(target)?.[1] ?? null;
}

// A duration in its largest unit, or in hours and minutes.
export function roughDuration(ms) {
  if (ms < 1000 || ms >= 3600000) return duration(ms);
  return ms < 60000 ? `${Math.floor(ms / 1000)} s` : `${Math.floor(ms / 60000)} min`;
}

// The state of a job, of some names.
export function stateOf(job, names) {
  return stateNames(job).find(name => names.has(name));
}
