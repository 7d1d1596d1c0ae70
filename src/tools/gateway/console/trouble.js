// What keeps pages from being brought up to date: the database is down, or sfgateway is not reached. A bar below the
// menu says so, and since when; it goes by itself when the next answer has come.

import { h, patch, say } from './dom.js';
import { clock, distance } from './format.js';
import { icon } from './parts.js';
import { tr } from './texts.js';

let trouble = null; // { what, isGateway, since, shown: when what is shown was asked for }

// What an error says of the database or the gateway; null: it is about what was asked for.
export function troubleOf(error) {
  if (error.status === 0) return { what: tr('sfgateway cannot be reached'), isGateway: true };
  if (error.status !== 503 || error.sqlstate) return null;
  const what = error.downSince ? tr('The database is down') : error.message.replace(/^./, c => c.toUpperCase());
  return { what, since: error.downSince };
}

// Whether something is wrong.
export function isTroubled() {
  return trouble !== null;
}

// Note what is wrong, or that all is well again (null). `shown` is when the data of the page was asked for.
export function setTrouble(found, shown) {
  if (found === null && trouble !== null) say(tr('{0}. The page is kept up to date again.', trouble.back));
  if (found !== null && found.what !== trouble?.what) say(tr('{0}. The page comes back by itself.', found.what));
  trouble = found === null ? null : {
    what: found.what,
    isGateway: found.isGateway,
    since: found.since ?? trouble?.since ?? new Date().toISOString(),
    shown,
    back: found.isGateway ? tr('sfgateway is reached again') : tr('The database is back'),
  };
  drawTrouble();
}

// A time of the bar.
function when(at) {
  return h('time', { datetime: at }, clock(at));
}

// Draw the bar.
export function drawTrouble() {
  const words = () =>
    h('div', null,
      h('p', null, h('strong', null, trouble.what, tr(' since '), when(trouble.since), '.'),
        ` (${distance(trouble.since)})`),
      h('p', { class: 'muted' }, trouble.isGateway ? null : tr('You stay signed in. '),
        tr('The page comes back by itself.'),
        trouble.shown ? [tr(' What it shows is of '), when(trouble.shown), '.'] : null));
  patch(document.getElementById('trouble'),
    h('div', { id: 'trouble' },
      trouble === null ? null : h('div', { class: 'notice bad' }, icon('bad', 'bad'), words())));
}
