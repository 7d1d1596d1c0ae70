// The picture of a page: how it is asked for, and shown; an error stands in its place.

import { h } from '../base/dom.js';
import { errorNotice } from '../element/errors.js';
import { tr } from '../language/texts.js';
import { viewer } from './viewer.js';

// What the data of a page has of the picture of a machine or an execution: { layout }, or { layout: null,
// layoutError }.
export async function loadPicture(ask, target) {
  try {
    return { layout: await ask('layout', { target }) };
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return { layout: null, layoutError: error };
  }
}

// The picture with what states are to be shown of; the arguments between are those of viewer().
export function picture({ layout, layoutError }, states, chosen, choose, label, context) {
  if (layoutError) return errorNotice(layoutError);
  if (!layout) return h('p', { class: 'none' }, tr('There is no picture.'));
  return viewer(layout, states, chosen, choose, label, context);
}
