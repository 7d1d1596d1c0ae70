// One long poll tells what operators do. What the database does by itself is looked for now and then (frame.js), more
// often while something runs. Neither happens while the window is hidden.

import { poll } from '../base/api.js';
import { tr } from '../language/texts.js';
import { meetDown, refreshShown, stopLooking } from './frame.js';
import { setLive } from './top_bar.js';
import { isTroubled } from './trouble.js';

const PAUSE = 500; // milliseconds between two refreshes by the poll
const FIRST_RETRY = 1000, LAST_RETRY = 30000; // milliseconds after an error; each time twice as long

let following = null; // the AbortController of the poll that is under way

// Wait a while.
function pause(ms) {
  return new Promise(resolve => setTimeout(resolve, ms));
}

// Keep the page up to date until stopFollowing(), or until the session ends.
export async function follow() {
  if (following) return;
  const own = following = new AbortController();
  let seen = null; // the token of the last answer; without one an answer has no news
  let retryAfter = FIRST_RETRY;
  while (following === own) {
    try {
      const answer = await poll(seen, own.signal);
      const isNews = answer.changed && seen !== null;
      seen = answer.token;
      retryAfter = FIRST_RETRY;
      if (answer.down_since) meetDown(answer.down_since);
      else if (!isTroubled()) setLive(tr('Live'));
      if (isNews && following === own) {
        await refreshShown();
        await pause(PAUSE);
      }
    } catch (error) {
      if (following !== own) return;
      if (error.status === 401) break;
      setLive(tr('Not reached'));
      await pause(retryAfter);
      retryAfter = Math.min(retryAfter * 2, LAST_RETRY);
    }
  }
  if (following === own) following = null;
}

// Do not keep the page up to date.
export function stopFollowing() {
  following?.abort();
  following = null;
  stopLooking();
}

// Follow while the window is seen.
export function followVisibility() {
  if (document.hidden) {
    stopFollowing();
    setLive(tr('Paused'));
  } else {
    refreshShown();
    follow();
  }
}
