// A picture that can be larger than its window: zoom, an overview of all of it, search of a state, and keys that go
// from state to state, so that the picture is one stop of the Tab key however many states it has.
//
// What the reader has done with a picture is kept in an object of the page, the view.

import { h, s, say } from '../base/dom.js';
import { count } from '../base/format.js';
import { button } from '../element/controls.js';
import { tr } from '../language/texts.js';
import { graph } from './graph.js';
import { handleKey } from './walk.js';
import { areaOf, centre, fitting, followWindow, percent, visibleSize, zoom, ZOOM_STEP } from './zoom.js';

/** @import { Context } from '../frame/pages.js' */
/** @import { Layout, StateFacts } from './graph.js' */

/**
 * What the reader has done with a picture.
 * @typedef {object} View
 * @property {number} [scale] the zoom
 * @property {boolean} [auto] whether the size of the window has chosen it
 * @property {boolean} [large] whether the tools are of use
 * @property {string} [at] the state that has the focus, or gets it
 * @property {{ x: number, y: number, moved: boolean } | null} [drag] where the mouse drags the picture
 * @property {{ text: string, at: number, isChosen: boolean }} [search] what is looked for, at which of the states with
 *   it the reader is, and whether Enter has chosen that
 * @property {string} [shape] the size of the picture and, in chosen, the state, to tell when they are others
 * @property {string} [chosen]
 */

const OVERVIEW = { w: 180, h: 220, least: 36 };

// The states in which a text is found.
function matches(layout, text) {
  const wanted = text?.trim().toLowerCase();
  if (!wanted) return [];
  return layout.states.filter(x => x.name.toLowerCase().includes(wanted) || x.subtitle?.toLowerCase().includes(wanted))
    .map(x => x.name);
}

// Look for a text, or go to a further occurrence of it; Enter chooses the state.
function search(event, layout, view, choose, redraw) {
  const text = event.currentTarget.value;
  const isEnter = event.key === 'Enter';
  const before = view.search;
  const isNew = text !== before?.text;
  const found = matches(layout, text);
  const step = isEnter && !isNew && before.isChosen ? (event.shiftKey ? -1 : 1) : 0;
  const at = isNew ? 0 : (before.at + step + found.length) % Math.max(1, found.length);
  view.search = { text, at, isChosen: isEnter };
  say(
    text === '' ? '' :
      found.length === 0 ? tr('No state is found') : tr('{0} of {1}: {2}', at + 1, found.length, found[at]),
  );
  if (found.length > 0) {
    view.at = found[at];
    if (isEnter) choose(view.at);
    requestAnimationFrame(() => centre(view.at, true));
  }
  redraw();
}

// The field of the search, and the buttons of the zoom.
function tools(layout, view, found, choose, redraw) {
  const change = (event, scale) => {
    const root = event.currentTarget.closest('.graph-view');
    view.auto = false;
    zoom(root, layout, view, scale(root));
  };
  const onsearch = event => search(event, layout, view, choose, redraw);
  return h('div', { class: 'graph-tools', key: 'tools', role: 'group', 'aria-label': tr('Search and zoom') },
    h('input', { type: 'search', placeholder: tr('Find a state'), 'aria-label': tr('Find a state'), autocomplete: 'off',
      spellcheck: 'false', oninput: onsearch, onkeydown: event => {
        if (event.key === 'Enter' && !event.isComposing) onsearch(event);
      } }),
    h('span', { class: 'muted graph-found' },
      view.search?.text.trim() ? (found.length ? tr('{0} of {1}', view.search.at + 1, found.length) : tr('none')) :
        count(layout.states.length, '{0} state|{0} states')),
    h('span', { class: 'graph-zoom' },
      button('−', event => change(event, () => view.scale / ZOOM_STEP), { class: 'small',
        'aria-label': tr('Smaller') }), h('span', { class: 'muted graph-scale' }, percent(view)),
      button('+', event => change(event, () => view.scale * ZOOM_STEP), { class: 'small', 'aria-label': tr('Larger') }),
      button(tr('Fit'), event => change(event, root => fitting(layout, visibleSize(root))), { class: 'small',
        title: tr('Show all of the picture') }),
      button('1:1', event => change(event, () => 1), { class: 'small', title: tr('Full size') })));
}

// Bring the point of the overview at which the mouse is into the middle of the picture.
function scrollByOverview(event) {
  const map = event.currentTarget, box = map.getBoundingClientRect();
  const area = areaOf(map.closest('.graph-view')), outer = area.getBoundingClientRect();
  const picture = area.querySelector('.graph').getBoundingClientRect();
  const x = (event.clientX - box.x) / box.width * picture.width;
  const y = (event.clientY - box.y) / box.height * picture.height;
  area.scrollBy(picture.x + x - outer.x - outer.width / 2, picture.y + y - outer.y - outer.height / 2);
}

// All of the picture in small, with the part that is seen; one drags that with the mouse.
function overview(layout, states, chosen, found, view) {
  const status = Object.fromEntries((states ?? []).map(x => [x.id, x.aborted ? 'aborted' : x.status]));
  const parents = new Set(layout.states.map(x => x.parent));
  const classesOf = x =>
    ['o-state', parents.has(x.id) && 'outer', status[x.id], x.name === chosen && 'chosen', found.has(x.name) && 'found']
      .filter(Boolean).join(' ');
  const k = Math.min(OVERVIEW.w / layout.w, OVERVIEW.h / layout.h);
  const scrollThere = event => {
    if (event.type === 'pointermove' && !(event.buttons & 1)) return;
    scrollByOverview(event);
    event.preventDefault();
  };
  return s('svg', { class: 'graph-overview', key: 'overview', viewBox: `0 0 ${layout.w} ${layout.h}`,
    preserveAspectRatio: 'none', 'aria-hidden': 'true', width: Math.max(OVERVIEW.least, layout.w * k),
    height: Math.max(OVERVIEW.least, layout.h * k), onpointerdown: scrollThere, onpointermove: scrollThere },
    layout.states.map(x =>
      s('rect', {
        class: classesOf(x),
        x: x.x,
        y: x.y,
        width: x.w,
        height: x.h,
      })
    ), s('rect', { class: 'graph-window', same: 'window' }));
}

// Move the picture with the mouse; a state is not chosen by that.
function dragHandlers(view) {
  return {
    onpointerdown: event => {
      view.drag = event.pointerType === 'mouse' && event.button === 0 ?
        { x: event.clientX, y: event.clientY, moved: false } : null;
    },
    onpointermove: event => {
      if (!view.drag || !(event.buttons & 1)) return;
      const dx = view.drag.x - event.clientX, dy = view.drag.y - event.clientY;
      if (!view.drag.moved && Math.abs(dx) + Math.abs(dy) < 5) return;
      event.currentTarget.scrollBy(dx, dy);
      view.drag = { x: event.clientX, y: event.clientY, moved: true };
    },
  };
}

// The zoom by the wheel of the mouse with the Control key, at the position of the mouse.
function zoomByWheel(event, layout, view) {
  if (!event.ctrlKey) return;
  event.preventDefault();
  view.auto = false;
  zoom(event.currentTarget.closest('.graph-view'), layout, view,
    view.scale * (event.deltaY < 0 ? ZOOM_STEP : 1 / ZOOM_STEP), {
    x: event.clientX,
    y: event.clientY,
  });
}

// Begin with what the reader has done anew where the picture or the state that is chosen is another one.
function bringUpToDate(view, layout, chosen) {
  const shape = `${layout.w} ${layout.h} ${layout.states.length}`;
  if (view.shape !== shape) Object.assign(view, { shape, scale: undefined, auto: true, at: undefined });
  if (chosen !== view.chosen) view.at = view.chosen = chosen;
}

/**
 * The picture of a machine with its tools; the arguments are those of graph(), then the context of the page.
 * @param {Layout} layout
 * @param {StateFacts[] | null} states
 * @param {string | undefined} chosen
 * @param {(name: string) => void} choose
 * @param {string} label
 * @param {Context} context
 * @returns {HTMLElement}
 */
export function viewer(layout, states, chosen, choose, label, { kept, redraw, afterDraw }) {
  const view = kept.picture ??= {};
  bringUpToDate(view, layout, chosen);
  const found = new Set(view.large ? matches(layout, view.search?.text) : []);
  const at = layout.states.some(x => x.name === view.at) ? view.at : layout.states[0]?.name;
  const pick = (name, event) => {
    const isEndOfDrag = event.detail > 0 && view.drag?.moved; // the detail of a click of the mouse is their number
    if (isEndOfDrag) return;
    view.at = name;
    choose(name);
  };
  afterDraw(() => {
    const root = document.querySelector('.graph-view');
    if (root) followWindow(root, { layout, view, redraw });
  });
  return h('div', { class: `graph-view${view.large ? ' large' : ''}`, key: 'view' },
    view.large ? tools(layout, view, [...found], choose, redraw) : null,
    h('p', { class: 'unseen', id: 'graph-keys', key: 'keys' },
      tr(
        'Arrow keys go from state to state, Page Down and Page Up through all of them, ' +
          'Home and End to the first and the last. Enter chooses. Plus and minus zoom, 0 shows all.',
      )),
    h('div', { class: 'graph-frame', key: 'frame' },
      h('div', { class: 'graph-scroll', key: 'graph', role: 'group', 'aria-label': label,
        'aria-describedby': 'graph-keys', ...dragHandlers(view), onkeydown: event => handleKey(event, layout, view),
        onwheel: event => zoomByWheel(event, layout, view) },
        graph(layout, states, { chosen, at, found, pick, scale: view.scale ?? 1 })),
      view.large ? overview(layout, states, chosen, found, view) : null));
}
