// Texts of pictures in boxes whose size the server has computed: it does not know the font of the browser.

const FONTS = {
  name: '550 12px system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif',
  small: '10px system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif',
};
const TIGHTEST = 0.8; // letters of a line are made narrower up to this, before the line is cut
const MOST_KEPT = 20000;
const widths = new Map();
const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
let canvas = null;

// The width of a text in one of the fonts.
export function widthOf(text, font) {
  const key = `${font} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    canvas ??= document.createElement('canvas').getContext('2d');
    canvas.font = FONTS[font];
    width = canvas.measureText(text).width;
    if (widths.size >= MOST_KEPT) widths.clear();
    widths.set(key, width);
  }
  return width;
}

// Cut a text so that it ends within a width, with an ellipsis: between what is seen as characters.
function cut(text, font, room) {
  const pieces = [...segments.segment(text)].map(x => x.segment);
  let least = 0, most = pieces.length;
  while (least < most) {
    const n = Math.ceil((least + most) / 2);
    if (widthOf(`${pieces.slice(0, n).join('')}…`, font) <= room) least = n;
    else most = n - 1;
  }
  return `${pieces.slice(0, Math.max(1, least)).join('')}…`;
}

/**
 * What of a text is drawn in a room, and, if its letters have to be narrower than the font's, how long it is then.
 * @param {string} text
 * @param {'name' | 'small'} font
 * @param {number} room
 * @returns {{ text: string, length?: number }}
 */
export function fitText(text, font, room) {
  const width = widthOf(text, font);
  if (width <= room) return { text };
  if (width * TIGHTEST <= room) return { text, length: room };
  const shorter = cut(text, font, room / TIGHTEST);
  return widthOf(shorter, font) <= room ? { text: shorter } : { text: shorter, length: room };
}
