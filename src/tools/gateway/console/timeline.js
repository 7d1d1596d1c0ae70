// When an execution was in its states, against how long they usually take: a row per branch and visit.

import { h } from './dom.js';
import { between, clock, decimal, duration } from './format.js';
import { badge, statusWord, text } from './parts.js';
import { tr } from './texts.js';

// The spans of one place as a row: attempts follow each other.
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

// Leave out of the axis the long times in which nothing ran, as between a failure and its redrive.
function pieces(spans, now) {
  const ends = spans.map(s => [+new Date(s.started_at), s.stopped_at ? +new Date(s.stopped_at) : now]).sort((a, b) =>
    a[0] - b[0]
  );
  const busy = [];
  for (const [from, to] of ends) {
    const last = busy[busy.length - 1];
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else busy.push([from, to]);
  }
  const total = busy.reduce((sum, [from, to]) => sum + to - from, 0);
  const merged = [];
  for (const part of busy) {
    const last = merged[merged.length - 1];
    if (last && part[0] - last[1] <= Math.max(total * 0.5, 2000)) last[1] = part[1];
    else merged.push([...part]);
  }
  return merged;
}

// How long the parts of the axis are together.
function extent(parts) {
  return parts.reduce((sum, [from, to]) => sum + to - from, 0);
}

// The milliseconds that the timeline of an answer shows.
export function shownTime(data) {
  return extent(pieces(data.rows, +new Date(data.now)));
}

// Make a function from times to per cent of the width, which stands for so many milliseconds at least.
function scale(parts, least) {
  const gap = parts.length > 1 ? 3 : 0;
  const total = Math.max(extent(parts), least) || 1;
  const room = 100 - gap * (parts.length - 1);
  return at => {
    let left = 0;
    for (const [from, to] of parts) {
      if (at <= to || parts[parts.length - 1][1] === to)
        return left + Math.max(0, Math.min(at, to) - from) / total * room;
      left += (to - from) / total * room + gap;
    }
    return left;
  };
}

// The bar of a span.
function bar(span, place, now) {
  const from = place(+new Date(span.started_at));
  const to = place(span.stopped_at ? +new Date(span.stopped_at) : now);
  return h('span', { class: `bar ${span.status}`, css: { left: `${from}%`, width: `max(3px, ${to - from}%)` },
    title: `${span.job_id}: ${clock(span.started_at)}, ${duration(between(span.started_at, span.stopped_at))}` });
}

// The usual time from the beginning of a row: half of the runs take that long at most, 95 of 100 up to the end of the
// line.
function usualMark(row, usual, place, last) {
  const known = usual[row.state];
  if (!known || known.runs < 2) return null;
  const begin = +new Date(row.spans[row.spans.length - 1].started_at);
  const left = place(begin), most = place(begin + known.p95), half = place(begin + known.p50);
  return [h('span', { class: 't-usual', css: { left: `${left}%`, width: `${Math.max(0, most - left)}%` } }),
    begin + known.p50 > last ? null : h('span', { class: 't-usual-mark', css: { left: `${half}%` } })];
}

// How a time compares with the usual one, in words.
export function compare(ms, known) {
  if (!known || known.runs < 2 || !(known.p50 > 0)) return '';
  const times = ms / known.p50;
  if (times >= 1.5 && ms > (known.p95 ?? 0) && ms - known.p50 > 500)
    return times < 100 ? tr('{0} × usual', times < 10 ? decimal(times, 1) : Math.round(times)) :
      tr('far above the usual {0}', duration(known.p50));
  return tr('usual {0}', duration(known.p50));
}

// The timeline of what `timeline` of sf_console_api answers; `isChosen` tells of a row whether its visit is the one
// that is shown beside the picture. Two timelines whose width stands for the same time can be compared.
export function timeline(data, isChosen, choose, least = 0) {
  const now = +new Date(data.now);
  if (data.rows.length === 0)
    return h('p', { class: 'none' },
      tr('Nothing that takes time has begun, or the history of this machine is not kept.'));
  const parts = pieces(data.rows, now);
  const place = scale(parts, least);
  const end = parts[parts.length - 1][1];
  const rows = rowsOf(data.rows);
  return h('div', { class: 'timeline' },
    h('div', { class: 't-axis', 'aria-hidden': 'true' }, h('span', null),
      h('span', { class: 't-lane' }, parts.map(([from], n) => [
        n ?
          h('span', { class: 't-gap', css: { left: `${place(from) - 3}%` },
            title: tr('{0} in which nothing ran', duration(from - parts[n - 1][1])) }) : null,
        h('span', { class: `t-tick${place(from) > 80 ? ' left' : ''}`, css: { left: `${place(from)}%` } }, clock(from)),
      ]), h('span', { class: 't-tick left', css: { left: `${place(end)}%` } }, clock(end))), h('span', null)),
    h('ul', { class: 't-rows', 'aria-label': tr('Timeline') }, rows.map(row => {
      const ms = row.spans.reduce((sum, span) => sum + between(span.started_at, span.stopped_at ?? data.now), 0);
      const depth = row.branch === '' ? 0 : row.branch.split('/').length;
      return h('li', { key: row.key, class: isChosen(row) ? 'chosen' : '' },
        h('button', { type: 'button', class: 't-name', onclick: () => choose(row.state, row.first_event),
          css: { 'padding-left': `${0.5 + depth * 0.8}rem` }, title: row.branch || null,
          'aria-current': isChosen(row) ? 'true' : null },
          h('span', { class: `t-icon ${row.status}` },
            badge(row.status, h('span', { class: 'unseen' }, statusWord(row.status)))), text(row.job_id),
          row.visit > 1 ? h('small', null, tr(' visit {0}', row.visit)) : null,
          row.spans.length > 1 ? h('small', null, tr(' {0} attempts', row.spans.length)) : null),
        h('span', { class: 't-lane' }, usualMark(row, data.usual, place, end),
          row.spans.map(span => bar(span, place, now))),
        h('span', { class: 't-time' }, duration(ms),
          h('small', null, row.type === 'Task' ? compare(ms, data.usual[row.state]) : '')));
    })),
    h('p', { class: 'legend' }, h('span', { class: 'key success' }), tr('success'), h('span', { class: 'key failure' }),
      tr('failure'), h('span', { class: 'key aborted' }), tr('aborted'), h('span', { class: 'key running' }),
      tr('running'), h('span', { class: 'key usual' }),
      tr('usual time, up to the 95th percentile; the notch is the median')));
}
