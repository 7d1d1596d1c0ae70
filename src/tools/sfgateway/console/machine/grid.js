// The last runs of a machine: a row per job, a column per run. The colour and the shape of a cell tell the status, its
// height how long the job took.

import { h } from '../base/dom.js';
import { clock, count, duration } from '../base/format.js';
import { icon } from '../base/icons.js';
import { addressOf } from '../base/links.js';
import { text } from '../base/values.js';
import { EXECUTION, JOB, statusWord, toneOf } from '../element/statuses.js';
import { tr } from '../language/texts.js';

// A cell, a job in a run, as an answer has it: a list, or null if the run has no such job.
function readCell(cell) {
  if (cell === null) return null;
  const [status, ms, jobs, failed, attempts] = cell;
  return { status, ms, jobs, failed, attempts };
}

// The words for a cell.
function wordsOf({ status, ms, jobs, failed, attempts }, usual) {
  return [statusWord(JOB, status),
    ...jobs > 1 ? [count(jobs, '{0} iteration|{0} iterations'), tr('{0} failed', failed)] : [], duration(ms),
    ms !== null && usual !== null ? tr('usual {0}', duration(usual)) : '',
    attempts > jobs ? count(attempts, '{0} attempt|{0} attempts') : ''].filter(Boolean).join(', ');
}

// A link in the grid; the arrow keys lead to it.
function gridLink(href, label, content, isFirst) {
  return h('a', { href, 'aria-label': label, title: label, tabindex: isFirst ? '0' : '-1' }, content);
}

// The cell of a job in a run; its bar is as high as the job was long, compared with the longest one of the row.
function gridCell(row, cell, run, most, isFirst) {
  if (!cell)
    return h('td', { role: 'gridcell', class: 'g-none', key: run.execution_id },
      h('span', { class: 'unseen' }, tr('no such job')));
  const { status, ms } = cell;
  const name = run.execution_id.replace(/^[^:]*:/, '');
  const height = ms === null ? 0 : Math.max(6, ms / (most || 1) * 100);
  return h('td', { role: 'gridcell', class: `g-cell ${status}`, key: run.execution_id },
    gridLink(addressOf('execution', run.execution_id, { state: row.job_id }),
      tr('{0} in {1}: {2}', row.job_id, name, wordsOf(cell, row.usual)), [
      row.usual !== null && most > 0 ? h('span', { class: 'g-usual', css: { bottom: `${row.usual / most * 100}%` } }) :
        null,
      h('span', { class: 'g-bar', css: { height: `${height}%` } }),
      status === 'success' ? null : icon(toneOf(JOB, status)),
    ], isFirst));
}

// Move the focus with the keys from cell to cell. Keys together with Alt, Control or Meta are the browser's.
function moveFocus(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const link = event.target.closest('a');
  const cell = link?.closest('td, th');
  if (!cell) return;
  const rows = [...cell.closest('table').rows];
  const y = rows.indexOf(cell.parentElement), x = cell.cellIndex;
  const last = cell.parentElement.cells.length - 1;
  const [dy, dx] =
    { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -last], End: [0, last],
      PageUp: [-10, 0], PageDown: [10, 0] }[event.key] ?? [0, 0];
  if (dy === 0 && dx === 0) return;
  event.preventDefault();
  const to = nextLink(rows, y, x, dy, dx);
  if (!to) return;
  link.setAttribute('tabindex', '-1');
  to.setAttribute('tabindex', '0');
  to.focus();
}

// The link some steps from a cell; cells without one are passed over, and a large step ends at the edge.
function nextLink(rows, y, x, dy, dx) {
  const clamp = (n, most) => Math.min(Math.max(n, 0), most);
  let row = clamp(y + dy, rows.length - 1), column = clamp(x + dx, rows[0].cells.length - 1);
  const isLarge = Math.abs(dy) > 1 || Math.abs(dx) > 1;
  const [down, right] = isLarge ? [-Math.sign(dy), -Math.sign(dx)] : [dy, dx];
  while (rows[row]?.cells[column]) {
    const link = rows[row].cells[column].querySelector('a');
    if (link) return link;
    row += down;
    column += right;
  }
  return null;
}

// The head of the grid: the runs, the oldest first.
function runsHead(runs, most) {
  return h('tr', { role: 'row' }, h('th', { role: 'columnheader', scope: 'col', key: 'job' }, tr('Run')),
    runs.map((run, n) =>
      h('th', { role: 'columnheader', scope: 'col', class: `g-cell run-${run.status}`, key: run.execution_id },
        gridLink(addressOf('execution', run.execution_id),
          `${run.execution_id}: ${
            [statusWord(EXECUTION, run.status), clock(run.requested_at), duration(run.ms)].filter(Boolean).join(', ')
          }`, [
          h('span', { class: 'g-bar', css: { height: `${run.ms === null ? 0 : Math.max(6, run.ms / most * 100)}%` } }),
          run.status === 'SUCCEEDED' ? null : icon(toneOf(EXECUTION, run.status)),
        ], n === runs.length - 1))
    ));
}

// The row of a job.
function gridRow(row, runs) {
  const cells = row.cells.map(readCell).toReversed();
  const longest = Math.max(...cells.map(cell => cell?.ms ?? 0), row.usual ?? 0);
  return h('tr', { role: 'row', key: row.job_id },
    h('th', { role: 'rowheader', scope: 'row', key: 'job' }, text(row.job_id),
      row.usual === null ? null : h('small', { class: 'muted' }, tr(' usual {0}', duration(row.usual)))),
    cells.map((cell, n) => gridCell(row, cell, runs[n], longest, false)));
}

/**
 * A cell, a job in a run: its status, milliseconds, jobs, how many of these failed, and attempts.
 * @typedef {[string, number | null, number, number, number]} Cell
 */

/**
 * What `grid` answers.
 * @typedef {object} Grid
 * @property {{ execution_id: string, requested_at: string, status: string, ms: number | null }[]} runs the newest first
 * @property {{ job_id: string, usual: number | null, cells: (Cell | null)[] }[]} rows a cell per run, null without such
 *   a job
 * @property {number} jobs how many there are, of which rows has the first
 */

/**
 * The grid of the last runs.
 * @param {Grid} found
 * @param {string} machine
 * @returns {HTMLElement}
 */
export function grid(found, machine) {
  if (found.runs.length === 0) return h('p', { class: 'none' }, tr('No execution has run.'));
  return h('div', { class: 'grid', id: 'grid', key: 'grid', same: JSON.stringify(found) },
    () => gridContent(found, machine));
}

// The table of the grid, and how it is to be read.
function gridContent(found, machine) {
  const runs = found.runs.toReversed();
  const most = Math.max(...runs.map(run => run.ms ?? 0), 1);
  return [
    h('div', { class: 'g-scroll' },
      h('table', { role: 'grid', 'aria-label': tr('Last runs of {0}', machine), onkeydown: moveFocus },
        h('thead', { role: 'rowgroup' }, runsHead(runs, most)),
        h('tbody', { role: 'rowgroup' }, found.rows.map(row => gridRow(row, runs))))),
    h('p', { class: 'legend' }, h('span', { class: 'key success' }), tr('success'), h('span', { class: 'key failure' }),
      tr('failure'), h('span', { class: 'key running' }), tr('running')),
    h('p', { class: 'muted' },
      tr(
        'The oldest run is on the left. The height of a bar is the time, compared with the longest one ' +
          'of its row; the line is the usual time. The arrow keys lead from cell to cell, Enter opens the ' +
          'execution.',
      ),
      found.rows.length < found.jobs ? tr(' The first {0} of {1} jobs are shown.', found.rows.length, found.jobs) : ''),
  ];
}
