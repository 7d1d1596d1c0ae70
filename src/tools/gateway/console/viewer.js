// A picture that can be larger than its place: zoom, an overview of all of it, search of a state, and keys that go from
// state to state, so that the picture is one stop of the Tab key however many states it has.
//
// What the reader has done with a picture is kept in an object of the page, the view:
//   scale, auto: the zoom, and whether it was chosen by the size of the place; large: whether the tools are of use;
//   at: the state that has the focus, or gets it; find, found: what is looked for, and where in the list one is.

import { h, s, say } from './dom.js';
import { count } from './format.js';
import { graph } from './graph.js';
import { button } from './parts.js';
import { tr } from './texts.js';

const STEP = 1.25, MOST = 3, READABLE = 0.75, MANY = 25;
const OVERVIEW = { w: 180, h: 220, least: 36 };
const HEAD = 40; // of a state with others in it: its name is there

// --- places

// The scroll area of a picture.
function areaOf(root) {
  return root.querySelector('.graph-scroll');
}

// How large a picture can be without being scrolled.
function room(root) {
  const area = areaOf(root);
  const most = parseFloat(getComputedStyle(area).maxHeight);
  return { w: area.clientWidth, h: Number.isNaN(most) ? area.clientHeight : most };
}

// The zoom at which all of a picture is seen.
function fitting(layout, place) {
  return Math.min(place.w / layout.w, (place.h - 4) / layout.h, 1);
}

// The zoom at first: all of it if it can be read then, else its width, as far as that can be read.
function firstScale(layout, place) {
  const fit = fitting(layout, place);
  return fit >= READABLE ? fit : Math.min(1, Math.max(READABLE, place.w / layout.w));
}

// Change the zoom of the picture that is drawn. The point in its middle stays there, or the one at a place of the
// window.
function zoom(root, layout, view, scale, at = null) {
  const area = areaOf(root), svg = area.querySelector('.graph');
  const box = area.getBoundingClientRect(), before = svg.getBoundingClientRect();
  const x = at?.x ?? box.x + box.width / 2, y = at?.y ?? box.y + box.height / 2;
  const px = (x - before.x) / view.scale, py = (y - before.y) / view.scale;
  view.scale = Math.max(Math.min(fitting(layout, room(root)), 0.25), Math.min(MOST, scale));
  svg.setAttribute('width', layout.w * view.scale);
  svg.setAttribute('height', layout.h * view.scale);
  const after = svg.getBoundingClientRect();
  if (view.scale <= fitting(layout, room(root))) area.scrollTo(0, 0);
  else area.scrollBy(after.x + px * view.scale - x, after.y + py * view.scale - y);
  const shown = root.querySelector('.graph-scale');
  if (shown) shown.textContent = percent(view);
  moveWindow(root, layout, view);
}

// The zoom in words.
function percent(view) {
  return `${Math.round((view.scale ?? 1) * 100)} %`;
}

// Show in the overview which part is seen.
function moveWindow(root, layout, view) {
  const frame = root.querySelector('.graph-window');
  if (!frame) return;
  const area = areaOf(root), svg = area.querySelector('.graph');
  const box = area.getBoundingClientRect(), drawn = svg.getBoundingClientRect();
  frame.setAttribute('x', Math.max(0, (box.x - drawn.x) / view.scale));
  frame.setAttribute('y', Math.max(0, (box.y - drawn.y) / view.scale));
  frame.setAttribute('width', Math.min(layout.w, area.clientWidth / view.scale));
  frame.setAttribute('height', Math.min(layout.h, area.clientHeight / view.scale));
}

// Choose the zoom by the size of the place, and whether the tools are of use; draw again if that changes something.
function settle(root, layout, view, redraw) {
  if (!root?.isConnected) return;
  const place = room(root);
  if (place.w === 0) return;
  if (view.scale === undefined || view.auto) {
    const scale = firstScale(layout, place);
    view.auto = true;
    const isFirst = view.scale === undefined;
    view.scale ??= 1;
    if (scale !== view.scale) zoom(root, layout, view, scale);
    if (isFirst && view.at === undefined) areaOf(root).scrollLeft = (layout.w * scale - place.w) / 2;
  }
  const large = layout.states.length > MANY || layout.w > place.w + 1 || layout.h > place.h + 1;
  if (large !== view.large) {
    view.large = large;
    redraw();
  }
  moveWindow(root, layout, view);
}

// Have a picture that is drawn for the first time follow its place: its size, and how it is scrolled.
function attend(root) {
  if (!root || root.attended) return;
  root.attended = true;
  new ResizeObserver(() => root.settle()).observe(areaOf(root));
  areaOf(root).addEventListener('scroll', () => root.moved(), { passive: true });
}

// Bring a state into the middle of the picture, unless it is seen; `always`: in any case.
export function centre(name, always = false) {
  const scroll = document.querySelector('.graph-scroll');
  const found = [...scroll?.querySelectorAll('[data-state]') ?? []].find(e => e.dataset.state === name);
  if (!found) return;
  const outer = scroll.getBoundingClientRect(), inner = found.getBoundingClientRect();
  const isSeen = inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top &&
    inner.bottom <= outer.bottom;
  if (isSeen && !always) return;
  // of a state that is larger than the place the name is to be seen
  const high = Math.min(inner.height, outer.height);
  scroll.scrollBy(inner.x + inner.width / 2 - outer.x - outer.width / 2,
    inner.y + high / 2 - outer.y - outer.height / 2);
}

// --- keys

// The point of a state from which and to which arrows go.
function pointOf(layout, state) {
  const isOuter = layout.states.some(x => x.parent === state.id);
  return { x: state.x + state.w / 2, y: state.y + (isOuter ? Math.min(HEAD, state.h) : state.h) / 2 };
}

// The next state in a direction: near, and rather straight ahead.
function nextState(layout, from, dx, dy) {
  const start = pointOf(layout, from);
  let best = null, least = Infinity;
  for (const state of layout.states) {
    if (state === from) continue;
    const to = pointOf(layout, state);
    const ahead = (to.x - start.x) * dx + (to.y - start.y) * dy;
    const aside = Math.abs((to.x - start.x) * dy + (to.y - start.y) * dx);
    if (ahead < 4 || (dx !== 0 && aside > ahead * 3)) continue;
    const cost = ahead + aside * 2;
    if (cost < least) [best, least] = [state, cost];
  }
  return best;
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// The state to which a key goes from another one; null: none.
function target(layout, from, key) {
  const all = layout.states, n = all.indexOf(from);
  if (ARROWS[key]) return nextState(layout, from, ...ARROWS[key]);
  if (key === 'Home') return all[0];
  if (key === 'End') return all[all.length - 1];
  if (key === 'PageDown') return all[Math.min(n + 1, all.length - 1)];
  if (key === 'PageUp') return all[Math.max(n - 1, 0)];
  return null;
}

// Give the focus to a state, which is the one stop of the Tab key from then on.
function focus(root, view, name) {
  for (const e of root.querySelectorAll('[data-state]')) {
    e.setAttribute('tabindex', e.dataset.state === name ? '0' : '-1');
    if (e.dataset.state === name) e.focus({ preventScroll: true });
  }
  view.at = name;
  centre(name);
}

// Handle a key in the picture.
function press(event, layout, view) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const root = event.target.closest('.graph-view');
  const scale =
    { '+': view.scale * STEP, '=': view.scale * STEP, '-': view.scale / STEP,
      0: fitting(layout, room(root)) }[event.key];
  const from = layout.states.find(x => x.name === event.target.closest('[data-state]')?.dataset.state);
  const to = from && target(layout, from, event.key);
  if (scale !== undefined) {
    view.auto = false;
    zoom(root, layout, view, scale);
  } else if (to) {
    focus(root, view, to.name);
  } else if (!from || !(event.key in ARROWS || event.key === 'PageDown' || event.key === 'PageUp')) {
    return;
  }
  event.preventDefault();
}

// --- search

// The states in which a text is found.
function matches(layout, text) {
  const wanted = text?.trim().toLowerCase();
  if (!wanted) return [];
  return layout.states.filter(x => x.name.toLowerCase().includes(wanted) || x.subtitle?.toLowerCase().includes(wanted))
    .map(x => x.name);
}

// Look for a text, or go to a further place of it; Enter chooses the state.
function look(event, layout, view, choose, redraw) {
  const text = event.currentTarget.value;
  const isNew = text !== view.find;
  const found = matches(layout, text);
  const step = event.key === 'Enter' && !isNew ? (event.shiftKey ? -1 : 1) : 0;
  view.found = isNew || view.chose === undefined ? 0 : (view.found + step + found.length) % Math.max(1, found.length);
  view.find = text;
  view.chose = event.key === 'Enter' ? true : undefined;
  say(
    text === '' ? '' :
      found.length === 0 ? tr('No state is found') :
      tr('{0} of {1}: {2}', view.found + 1, found.length, found[view.found]),
  );
  if (found.length > 0) {
    view.at = found[view.found];
    if (event.key === 'Enter') choose(view.at);
    requestAnimationFrame(() => centre(view.at, true));
  }
  redraw();
}

// --- parts

// The field of the search, and the buttons of the zoom.
function tools(layout, view, found, choose, redraw) {
  const change = (event, scale) => {
    const root = event.currentTarget.closest('.graph-view');
    view.auto = false;
    zoom(root, layout, view, scale(root));
  };
  const search = event => look(event, layout, view, choose, redraw);
  return h('div', { class: 'graph-tools', key: 'tools', role: 'group', 'aria-label': tr('Search and zoom') },
    h('input', { type: 'search', placeholder: tr('Find a state'), 'aria-label': tr('Find a state'), autocomplete: 'off',
      spellcheck: 'false', oninput: search, onkeydown: event => {
        if (event.key === 'Enter') search(event);
      } }),
    h('span', { class: 'muted graph-found' },
      view.find?.trim() ? (found.length ? tr('{0} of {1}', view.found + 1, found.length) : tr('none')) :
        count(layout.states.length, '{0} state|{0} states')),
    h('span', { class: 'graph-zoom' },
      button('−', event => change(event, () => view.scale / STEP), { class: 'small', 'aria-label': tr('Smaller') }),
      h('span', { class: 'muted graph-scale' }, percent(view)),
      button('+', event => change(event, () => view.scale * STEP), { class: 'small', 'aria-label': tr('Larger') }),
      button(tr('Fit'), event => change(event, root => fitting(layout, room(root))), { class: 'small',
        title: tr('Show all of the picture') }),
      button('1:1', event => change(event, () => 1), { class: 'small', title: tr('Full size') })));
}

// All of the picture in small, with the part that is seen; one drags that with the mouse.
function overview(layout, states, chosen, found, view) {
  const status = Object.fromEntries((states ?? []).map(x => [x.id, x.aborted ? 'aborted' : x.status]));
  const outer = new Set(layout.states.map(x => x.parent));
  const classesOf = x =>
    ['o-state', outer.has(x.id) && 'outer', status[x.id], x.name === chosen && 'chosen', found.has(x.name) && 'found']
      .filter(Boolean).join(' ');
  const k = Math.min(OVERVIEW.w / layout.w, OVERVIEW.h / layout.h);
  const go = event => {
    if (event.type === 'pointermove' && !(event.buttons & 1)) return;
    const map = event.currentTarget, box = map.getBoundingClientRect();
    const area = areaOf(map.closest('.graph-view')), svg = area.querySelector('.graph');
    const outer = area.getBoundingClientRect(), drawn = svg.getBoundingClientRect();
    const x = (event.clientX - box.x) / box.width * drawn.width,
      y = (event.clientY - box.y) / box.height * drawn.height;
    area.scrollBy(drawn.x + x - outer.x - outer.width / 2, drawn.y + y - outer.y - outer.height / 2);
    event.preventDefault();
  };
  return s('svg', { class: 'graph-overview', key: 'overview', viewBox: `0 0 ${layout.w} ${layout.h}`,
    preserveAspectRatio: 'none', 'aria-hidden': 'true', width: Math.max(OVERVIEW.least, layout.w * k),
    height: Math.max(OVERVIEW.least, layout.h * k), onpointerdown: go, onpointermove: go },
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
function drag(view) {
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

// The picture of a machine with its tools; the arguments are those of graph(), then the view and how to draw the page.
export function viewer(layout, states, chosen, choose, label, view, redraw) {
  const shape = `${layout.w} ${layout.h} ${layout.states.length}`;
  if (view.shape !== shape) Object.assign(view, { shape, scale: undefined, auto: true, at: undefined });
  if (chosen !== view.chosen) view.at = view.chosen = chosen;
  const found = new Set(view.large ? matches(layout, view.find) : []);
  const at = layout.states.some(x => x.name === view.at) ? view.at : layout.states[0]?.name;
  const pick = name => {
    if (view.drag?.moved) return;
    view.at = name;
    choose(name);
  };
  requestAnimationFrame(() => {
    const root = document.querySelector('.graph-view');
    if (!root) return;
    root.settle = () => settle(root, layout, view, redraw);
    root.moved = () => moveWindow(root, layout, view);
    attend(root);
    root.settle();
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
        'aria-describedby': 'graph-keys', ...drag(view), onkeydown: event => press(event, layout, view),
        onwheel: event => {
          if (!event.ctrlKey) return;
          event.preventDefault();
          view.auto = false;
          zoom(event.currentTarget.closest('.graph-view'), layout, view,
            view.scale * (event.deltaY < 0 ? STEP : 1 / STEP), { x: event.clientX, y: event.clientY });
        } }, graph(layout, states, { chosen, at, found, pick, scale: view.scale ?? 1 })),
      view.large ? overview(layout, states, chosen, found, view) : null));
}
