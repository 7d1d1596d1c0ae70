// The view of a picture: its zoom, which part of it is seen, and what of it is in the middle.

/** @import { Layout } from './graph.js' */
/** @import { View } from './viewer.js' */

/**
 * What a picture is drawn with.
 * @typedef {{ layout: Layout, view: View, redraw: () => void }} Drawn
 */

/**
 * The size of a window.
 * @typedef {{ w: number, h: number }} Size
 */

export const ZOOM_STEP = 1.25;
const MOST = 3, READABLE = 0.75, MANY = 25;

/**
 * The scroll area of a picture.
 * @param {Element} root
 * @returns {HTMLElement}
 */
export function areaOf(root) {
  return root.querySelector('.graph-scroll');
}

/**
 * How large a picture can be without being scrolled.
 * @param {Element} root
 * @returns {Size}
 */
export function visibleSize(root) {
  const area = areaOf(root);
  const most = parseFloat(getComputedStyle(area).maxHeight);
  return { w: area.clientWidth, h: Number.isNaN(most) ? area.clientHeight : most };
}

/**
 * The zoom at which all of a picture is seen.
 * @param {Layout} layout
 * @param {Size} size
 * @returns {number}
 */
export function fitting(layout, size) {
  return Math.min(size.w / layout.w, (size.h - 4) / layout.h, 1);
}

// The zoom at first: all of it if it can be read then, else its width, as far as that can be read.
function firstScale(layout, size) {
  const fit = fitting(layout, size);
  return fit >= READABLE ? fit : Math.min(1, Math.max(READABLE, size.w / layout.w));
}

/**
 * Change the zoom of the picture that is drawn. The point in its middle stays there, or the one at a point of the
 * window.
 * @param {Element} root
 * @param {Layout} layout
 * @param {View} view
 * @param {number} scale
 * @param {{ x: number, y: number } | null} [at]
 */
export function zoom(root, layout, view, scale, at = null) {
  const area = areaOf(root), svg = area.querySelector('.graph');
  const box = area.getBoundingClientRect(), before = svg.getBoundingClientRect();
  const x = at?.x ?? box.x + box.width / 2, y = at?.y ?? box.y + box.height / 2;
  const px = (x - before.x) / view.scale, py = (y - before.y) / view.scale;
  view.scale = Math.max(Math.min(fitting(layout, visibleSize(root)), 0.25), Math.min(MOST, scale));
  svg.setAttribute('width', layout.w * view.scale);
  svg.setAttribute('height', layout.h * view.scale);
  const after = svg.getBoundingClientRect();
  if (view.scale <= fitting(layout, visibleSize(root))) area.scrollTo(0, 0);
  else area.scrollBy(after.x + px * view.scale - x, after.y + py * view.scale - y);
  const shown = root.querySelector('.graph-scale');
  if (shown) shown.textContent = percent(view);
  moveWindow(root, { layout, view });
}

/**
 * The zoom in words.
 * @param {View} view
 * @returns {string}
 */
export function percent(view) {
  return `${Math.round((view.scale ?? 1) * 100)} %`;
}

// Show in the overview which part is seen.
function moveWindow(root, { layout, view }) {
  const frame = root.querySelector('.graph-window');
  if (!frame) return;
  const area = areaOf(root), svg = area.querySelector('.graph');
  const box = area.getBoundingClientRect(), picture = svg.getBoundingClientRect();
  frame.setAttribute('x', Math.max(0, (box.x - picture.x) / view.scale));
  frame.setAttribute('y', Math.max(0, (box.y - picture.y) / view.scale));
  frame.setAttribute('width', Math.min(layout.w, area.clientWidth / view.scale));
  frame.setAttribute('height', Math.min(layout.h, area.clientHeight / view.scale));
}

// Choose the zoom by the size of the window, and whether the tools are of use; draw again if that changes something.
function fitToWindow(root, { layout, view, redraw }) {
  if (!root.isConnected) return;
  const size = visibleSize(root);
  if (size.w === 0) return;
  if (view.scale === undefined || view.auto) {
    const scale = firstScale(layout, size);
    view.auto = true;
    const isFirst = view.scale === undefined;
    view.scale ??= 1;
    if (scale !== view.scale) zoom(root, layout, view, scale);
    if (isFirst && view.at === undefined) areaOf(root).scrollLeft = (layout.w * scale - size.w) / 2;
  }
  const large = layout.states.length > MANY || layout.w > size.w + 1 || layout.h > size.h + 1;
  if (large !== view.large) {
    view.large = large;
    redraw();
  }
  moveWindow(root, { layout, view });
}

// What the elements of pictures were last drawn with.
/** @type {WeakMap<Element, Drawn>} */
const drawn = new WeakMap();

/**
 * Have a picture follow its window: its size, and how it is scrolled.
 * @param {Element} root
 * @param {Drawn} picture
 */
export function followWindow(root, picture) {
  const isFirst = !drawn.has(root);
  drawn.set(root, picture);
  const fit = () => fitToWindow(root, drawn.get(root));
  if (isFirst) {
    new ResizeObserver(fit).observe(areaOf(root));
    areaOf(root).addEventListener('scroll', () => moveWindow(root, drawn.get(root)), { passive: true });
  }
  fit();
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
  // of a state that is larger than the window the name is to be seen
  const high = Math.min(inner.height, outer.height);
  scroll.scrollBy(inner.x + inner.width / 2 - outer.x - outer.width / 2,
    inner.y + high / 2 - outer.y - outer.height / 2);
}
