// The picture of a page: how it is asked for, and shown; an error stands in its place.

import { h } from '../base/dom.js';
import { errorNotice } from '../element/errors.js';
import { tr } from '../language/texts.js';
import { viewer } from './viewer.js';

/** @import { Ask, Context } from '../frame/pages.js' */
/** @import { Layout, StateFacts } from './graph.js' */

/**
 * What the data of a page has of the picture of a machine or an execution.
 * @typedef {{ layout: Layout } | { layout: null, layoutError: Error }} Drawing
 */

/**
 * Ask for the picture of a machine or an execution.
 * @param {Ask} ask
 * @param {string} target
 * @returns {Promise<Drawing>}
 */
export async function loadPicture(ask, target) {
  try {
    return { layout: await ask('layout', { target }) };
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return { layout: null, layoutError: error };
  }
}

/**
 * The picture with what states are to be shown of; the arguments between are those of viewer().
 * @param {Drawing} drawing
 * @param {StateFacts[] | null} states
 * @param {string | undefined} chosen
 * @param {(name: string) => void} choose
 * @param {string} label
 * @param {Context} context
 * @returns {HTMLElement}
 */
export function picture({ layout, layoutError }, states, chosen, choose, label, context) {
  if (layoutError) return errorNotice(layoutError);
  if (!layout) return h('p', { class: 'none' }, tr('There is no picture.'));
  return viewer(layout, states, chosen, choose, label, context);
}
