// Ends of executions by hour, as bars.

import { h, s } from '../base/dom.js';
import { clock, count } from '../base/format.js';
import { tr } from '../language/texts.js';

/** @import { Content } from '../base/dom.js' */
/** @import { TonightData } from './tonight.js' */

export const DAY = 24 * 3600 * 1000;

/**
 * Ends by hour, as bars; their sums stand in the picture's name for those who do not see them.
 * @param {TonightData} data
 * @returns {Content}
 */
export function hours(data) {
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
