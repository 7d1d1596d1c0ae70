// What keeps pages from being brought up to date: the database is down, or sfgateway is not reached. A bar below the
// menu says so, and since when; it goes by itself when the next answer has come.

import { h, patch, say } from '../base/dom.js';
import { clock, distance } from '../base/format.js';
import { icon } from '../base/icons.js';
import { tr } from '../language/texts.js';

/** @import { ApiError } from '../base/api.js' */

/**
 * What is wrong.
 * @typedef {object} Trouble
 * @property {string} what in words
 * @property {boolean} [isGateway] whether sfgateway is not reached
 * @property {string} [since]
 */

/** @type {(Trouble & { shown?: string, back: string }) | null} */
let trouble = null; // shown: when what is shown was asked for; back: the words for its end

/**
 * That the database is down, and since when.
 * @param {string} since
 * @returns {Trouble}
 */
export function databaseDown(since) {
  return { what: tr('The database is down'), since };
}

/**
 * What an error says of the database or the gateway; null: it is about what was asked for.
 * @param {Error & Partial<ApiError>} error
 * @returns {Trouble | null}
 */
export function troubleOf(error) {
  if (error.status === 0) return { what: tr('sfgateway cannot be reached'), isGateway: true };
  if (error.status !== 503 || error.sqlstate) return null;
  return error.downSince ? databaseDown(error.downSince) : { what: error.message.replace(/^./, c => c.toUpperCase()) };
}

// Whether something is wrong.
export function isTroubled() {
  return trouble !== null;
}

/**
 * Note what is wrong, or that all is well again (null). `shown` is when the data of the page was asked for.
 * @param {Trouble | null} found
 * @param {string} [shown]
 */
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

// Forget what was wrong, without a word: nobody is signed in any more.
export function forgetTrouble() {
  trouble = null;
  drawTrouble();
}

// A time of the bar.
function clockTime(at) {
  return h('time', { datetime: at }, clock(at));
}

// Draw the bar.
export function drawTrouble() {
  const words = () =>
    h('div', null,
      h('p', null, h('strong', null, trouble.what, tr(' since '), clockTime(trouble.since), '.'),
        ` (${distance(trouble.since)})`),
      h('p', { class: 'muted' }, trouble.isGateway ? null : tr('You stay signed in. '),
        tr('The page comes back by itself.'),
        trouble.shown ? [tr(' What it shows is of '), clockTime(trouble.shown), '.'] : null));
  patch(document.getElementById('trouble'),
    h('div', { id: 'trouble' },
      trouble === null ? null : h('div', { class: 'notice bad' }, icon('bad', 'bad'), words())));
}
