// When an execution was in its states, against how long they usually take: a row per branch and visit.

import { h } from '../base/dom.js';
import { between, clock, decimal, duration } from '../base/format.js';
import { text } from '../base/values.js';
import { JOB, statusBadge, statusWord } from '../element/statuses.js';
import { tr } from '../language/texts.js';

/**
 * An attempt of a visit of a state.
 * @typedef {object} Span
 * @property {string} branch
 * @property {string} job_id
 * @property {string} state
 * @property {string} type
 * @property {number} visit
 * @property {number} attempt
 * @property {number} first_event
 * @property {string} started_at
 * @property {string | null} stopped_at null while it lasts
 * @property {string} status
 */

/**
 * How long a job usually takes, in milliseconds.
 * @typedef {{ runs: number, p50: number, p95: number }} Usual
 */

/**
 * What `timeline` answers.
 * @typedef {object} Times
 * @property {string} now
 * @property {Span[]} rows
 * @property {string | number | null} next after what the next page is
 * @property {Record<string, Usual>} usual by job
 */

/**
 * The spans of one branch, job and visit.
 * @typedef {Span & { key: string, spans: Span[] }} TimelineRow
 */

/**
 * The spans of one branch, job and visit as a row: attempts follow each other.
 * @param {Span[]} spans
 * @returns {TimelineRow[]}
 */
function rowsOf(spans) {
  const rows = new Map();
  for (const span of spans) {
    const key = `${span.branch}/${span.job_id}/${span.visit}`;
    if (!rows.has(key)) rows.set(key, { key, ...span, spans: [] });
    const row = rows.get(key);
    row.spans.push(span);
    row.status = span.status;
  }
  return [...rows.values()];
}

// The periods of the axis, { from, to }: without the long times in which nothing ran, as between a failure and its
// redrive.
function busyPeriods(spans, now) {
  const times = spans.map(s => ({ from: +new Date(s.started_at), to: s.stopped_at ? +new Date(s.stopped_at) : now }))
    .sort((a, b) => a.from - b.from);
  const busy = [];
  for (const part of times) {
    const last = busy[busy.length - 1];
    if (last && part.from <= last.to) last.to = Math.max(last.to, part.to);
    else busy.push({ ...part });
  }
  const total = lengthOf(busy);
  const merged = [];
  for (const part of busy) {
    const last = merged[merged.length - 1];
    if (last && part.from - last.to <= Math.max(total * 0.5, 2000)) last.to = part.to;
    else merged.push({ ...part });
  }
  return merged;
}

// How long the parts of the axis are together.
function lengthOf(parts) {
  return parts.reduce((sum, { from, to }) => sum + to - from, 0);
}

/**
 * The milliseconds that the timeline of an answer shows.
 * @param {Times} data
 * @returns {number}
 */
export function shownTime(data) {
  return lengthOf(busyPeriods(data.rows, +new Date(data.now)));
}

// Make a function from times to per cent of the width, which stands for so many milliseconds at least.
function timeScale(parts, least) {
  const gap = parts.length > 1 ? 3 : 0;
  const total = Math.max(lengthOf(parts), least) || 1;
  const room = 100 - gap * (parts.length - 1);
  return at => {
    let left = 0;
    for (const { from, to } of parts) {
      if (at <= to || parts[parts.length - 1].to === to)
        return left + Math.max(0, Math.min(at, to) - from) / total * room;
      left += (to - from) / total * room + gap;
    }
    return left;
  };
}

// The bar of a span.
function spanBar(span, percent, now) {
  const from = percent(+new Date(span.started_at));
  const to = percent(span.stopped_at ? +new Date(span.stopped_at) : now);
  return h('span', { class: `bar ${span.status}`, css: { left: `${from}%`, width: `max(3px, ${to - from}%)` },
    title: `${span.job_id}: ${clock(span.started_at)}, ${duration(between(span.started_at, span.stopped_at))}` });
}

// The usual time from the beginning of a row: half of the runs take that long at most, 95 of 100 up to the end of the
// line.
function usualMark(row, usual, percent, last) {
  const known = usual[row.state];
  if (!known || known.runs < 2) return null;
  const begin = +new Date(row.spans[row.spans.length - 1].started_at);
  const left = percent(begin), most = percent(begin + known.p95), half = percent(begin + known.p50);
  return [h('span', { class: 't-usual', css: { left: `${left}%`, width: `${Math.max(0, most - left)}%` } }),
    begin + known.p50 > last ? null : h('span', { class: 't-usual-mark', css: { left: `${half}%` } })];
}

// How far a time is above the usual one and the longest usual one, in words; none if it is not, or nothing is usual.
export function excess(ms, usual, longest) {
  const times = usual > 0 ? ms / usual : 0;
  if (!(times >= 1.5 && ms > (longest ?? 0) && ms - usual > 500)) return '';
  return times < 100 ? tr('{0} × usual', times < 10 ? decimal(times, 1) : Math.round(times)) :
    tr('far above the usual {0}', duration(usual));
}

// How a time compares with the usual one, in words.
export function compare(ms, usual, longest) {
  return usual > 0 ? excess(ms, usual, longest) || tr('usual {0}', duration(usual)) : '';
}

/**
 * The same with what is known of a job; of fewer than two runs nothing is usual.
 * @param {number} ms
 * @param {Usual | null | undefined} known
 * @returns {string}
 */
export function compareToKnown(ms, known) {
  return known && known.runs >= 2 ? compare(ms, known.p50, known.p95) : '';
}

// The axis: the time at which each period begins, and that at which all is over.
function axis(periods, percent, end) {
  return h('div', { class: 't-axis', 'aria-hidden': 'true' }, h('span', null),
    h('span', { class: 't-lane' }, periods.map(({ from }, n) => [
      n ?
        h('span', { class: 't-gap', css: { left: `${percent(from) - 3}%` },
          title: tr('{0} in which nothing ran', duration(from - periods[n - 1].to)) }) : null,
      h('span', { class: `t-tick${percent(from) > 80 ? ' left' : ''}`, css: { left: `${percent(from)}%` } },
        clock(from)),
    ]), h('span', { class: 't-tick left', css: { left: `${percent(end)}%` } }, clock(end))), h('span', null));
}

// A row: the job as a button, its bars, and how long it took in all.
function timelineRow(row, isChosen, choose, bars, ms, usual) {
  const depth = row.branch === '' ? 0 : row.branch.split('/').length;
  return h('li', { key: row.key, class: isChosen ? 'chosen' : '' },
    h('button', { type: 'button', class: 't-name', onclick: () => choose(row.state, row.first_event),
      css: { 'padding-left': `${0.5 + depth * 0.8}rem` }, title: row.branch || null,
      'aria-current': isChosen ? 'true' : null },
      h('span', { class: `t-icon ${row.status}` },
        statusBadge(JOB, row.status, h('span', { class: 'unseen' }, statusWord(JOB, row.status)))), text(row.job_id),
      row.visit > 1 ? h('small', null, tr(' visit {0}', row.visit)) : null,
      row.spans.length > 1 ? h('small', null, tr(' {0} attempts', row.spans.length)) : null),
    h('span', { class: 't-lane' }, bars),
    h('span', { class: 't-time' }, duration(ms),
      h('small', null, row.type === 'Task' ? compareToKnown(ms, usual) : '')));
}

// What the colours of the bars mean.
function timelineLegend() {
  const key = (name, words) => [h('span', { class: `key ${name}` }), words];
  return h('p', { class: 'legend' }, key('success', tr('success')), key('failure', tr('failure')),
    key('aborted', tr('aborted')), key('running', tr('running')),
    key('usual', tr('usual time, up to the 95th percentile; the notch is the median')));
}

/**
 * The timeline of an answer; `isChosen` tells of a row whether its visit is the one that is shown beside the picture.
 * Two timelines whose width stands for the same time can be compared: for `least` milliseconds, or for more.
 * @param {Times} data
 * @param {(row: TimelineRow) => boolean} isChosen
 * @param {(state: string, event: number) => void} choose
 * @param {number} [least]
 * @returns {HTMLElement}
 */
export function timeline(data, isChosen, choose, least = 0) {
  const now = +new Date(data.now);
  if (data.rows.length === 0)
    return h('p', { class: 'none' },
      tr('Nothing that takes time has begun, or the history of this machine is not kept.'));
  const periods = busyPeriods(data.rows, now);
  const percent = timeScale(periods, least);
  const end = periods[periods.length - 1].to;
  return h('div', { class: 'timeline' }, axis(periods, percent, end),
    h('ul', { class: 't-rows', 'aria-label': tr('Timeline') }, rowsOf(data.rows).map(row => {
      const ms = row.spans.reduce((sum, span) => sum + between(span.started_at, span.stopped_at ?? data.now), 0);
      const bars = [usualMark(row, data.usual, percent, end), row.spans.map(span => spanBar(span, percent, now))];
      return timelineRow(row, isChosen(row), choose, bars, ms, data.usual[row.state]);
    })), timelineLegend());
}
