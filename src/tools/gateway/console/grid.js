// The last runs of a machine: a row per job, a column per run. The colour and the shape of a cell tell the status, its
// height how long the job took.

import { h } from './dom.js';
import { clock, count, duration } from './format.js';
import { hash, icon, statusIcon, statusWord, text } from './parts.js';
import { tr } from './texts.js';

// The words for a cell: [status, milliseconds, jobs, failed, attempts].
function wordsOf([status, ms, jobs, failed, attempts], usual) {
  return [statusWord(status),
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
  const [status, ms] = cell;
  const name = run.execution_id.replace(/^[^:]*:/, '');
  const height = ms === null ? 0 : Math.max(6, ms / (most || 1) * 100);
  return h('td', { role: 'gridcell', class: `g-cell ${status}`, key: run.execution_id },
    gridLink(hash.execution(run.execution_id, { state: row.job_id }),
      `${row.job_id} in ${name}: ${wordsOf(cell, row.usual)}`, [
      row.usual !== null && most > 0 ? h('span', { class: 'g-usual', css: { bottom: `${row.usual / most * 100}%` } }) :
        null,
      h('span', { class: 'g-bar', css: { height: `${height}%` } }),
      status === 'success' ? null : icon(statusIcon(status)),
    ], isFirst));
}

// Lead the focus with the keys from cell to cell.
function step(event) {
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
  const within = (n, most) => Math.min(Math.max(n, 0), most);
  const width = rows[0].cells.length - 1;
  let at = [within(y + dy, rows.length - 1), within(x + dx, width)];
  const way = Math.abs(dy) > 1 || Math.abs(dx) > 1 ? [-Math.sign(dy), -Math.sign(dx)] : [dy, dx];
  while (rows[at[0]]?.cells[at[1]]) {
    const link = rows[at[0]].cells[at[1]].querySelector('a');
    if (link) return link;
    at = [at[0] + way[0], at[1] + way[1]];
  }
  return null;
}

// The head of the grid: the runs, the oldest first.
function runsHead(runs, most) {
  return h('tr', { role: 'row' }, h('th', { role: 'columnheader', scope: 'col', key: 'job' }, tr('Run')),
    runs.map((run, n) =>
      h('th', { role: 'columnheader', scope: 'col', class: `g-cell run-${run.status}`, key: run.execution_id },
        gridLink(hash.execution(run.execution_id),
          `${run.execution_id}: ${
            [statusWord(run.status), clock(run.requested_at), duration(run.ms)].filter(Boolean).join(', ')
          }`, [
          h('span', { class: 'g-bar', css: { height: `${run.ms === null ? 0 : Math.max(6, run.ms / most * 100)}%` } }),
          run.status === 'SUCCEEDED' ? null : icon(statusIcon(run.status)),
        ], n === runs.length - 1))
    ));
}

// What the answer of `grid` shows; `state` is kept between drawings, so that what has not changed is not made again.
export function grid(found, machine, state) {
  if (found.runs.length === 0) return h('p', { class: 'none' }, tr('No execution has run.'));
  if (state.found !== found) Object.assign(state, { found, mark: JSON.stringify(found) });
  const shell = content => h('div', { class: 'grid', id: 'grid', key: 'grid', same: state.mark }, content);
  const there = document.getElementById('grid');
  if (there && there.same === state.mark) return shell(null);
  const runs = found.runs.toReversed();
  const most = Math.max(...runs.map(run => run.ms ?? 0), 1);
  return shell([
    h('div', { class: 'g-scroll' },
      h('table', { role: 'grid', 'aria-label': tr('Last runs of {0}', machine), onkeydown: step },
        h('thead', { role: 'rowgroup' }, runsHead(runs, most)), h('tbody', { role: 'rowgroup' }, found.rows.map(row => {
          const cells = row.cells.toReversed();
          const longest = Math.max(...cells.map(cell => cell?.[1] ?? 0), row.usual ?? 0);
          return h('tr', { role: 'row', key: row.job_id },
            h('th', { role: 'rowheader', scope: 'row', key: 'job' }, text(row.job_id),
              row.usual === null ? null : h('small', { class: 'muted' }, tr(' usual {0}', duration(row.usual)))),
            cells.map((cell, n) => gridCell(row, cell, runs[n], longest, false)));
        })))),
    h('p', { class: 'legend' }, h('span', { class: 'key success' }), tr('success'), h('span', { class: 'key failure' }),
      tr('failure'), h('span', { class: 'key running' }), tr('running')),
    h('p', { class: 'muted' },
      tr(
        'The oldest run is on the left. The height of a bar is the time, compared with the longest one ' +
          'of its row; the line is the usual time. The arrow keys lead from cell to cell, Enter opens the ' +
          'execution.',
      ),
      found.rows.length < found.jobs ? tr(' The first {0} of {1} jobs are shown.', found.rows.length, found.jobs) : ''),
  ]);
}
