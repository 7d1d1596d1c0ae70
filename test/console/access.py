"""The console without a mouse, without eyes, without colours.

    access.py URL
"""
import sys

from selenium.webdriver.common.keys import Keys

from browser import Console, ok, psql

console = Console(sys.argv[1])
PAGES = {
    'tonight': '#/tonight',
    'executions': '#/executions',
    'an execution': '#/execution/nightly%3A20250205',
    'a machine': '#/machine/order',
    'try': '#/machine/order?tab=try',
    'schedules': '#/schedules?name=nightly-0200',
    'rules': '#/rules',
    'activities': '#/activities',
    'inbox': '#/inbox',
    'alerts': '#/alerts',
    'health': '#/health',
    'machines': '#/machines',
}

press = console.press

# --- the sign-in by keyboard, and what it says of a mistake
console.driver.get(console.url)
console.wait(lambda: console.find('input[name=role]'))
ok(console.run('return document.activeElement.name') == 'role', 'the focus begins in the first field')
press('retail', Keys.TAB, 'wrong', Keys.ENTER)
ok(console.wait(lambda: console.find('[role=alert] [role=alert], form [role=alert] .notice')), 'a mistake is an alert')
ok(console.run('return document.activeElement.name') == 'password', '... and the focus is where one mends it')
press('retail-secret', Keys.ENTER)
ok(console.wait(lambda: console.find('#menu a')) and console.drawn(), 'signed in without a mouse')

# --- the order of the focus: that of the page, and seen everywhere
FOCUSED = """
const e = document.activeElement;
if (e === document.body) return null;
const style = getComputedStyle(e), box = e.querySelector(':scope > .box');
const seen = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2) || (box &&
    parseFloat(getComputedStyle(box).strokeWidth) >= 3);
e.visited = true;
const r = e.getBoundingClientRect();
return [seen, r.width > 0 && r.height > 0,
    (e.getAttribute('aria-label') ?? e.innerText ?? e.textContent ?? '').slice(0, 40), e.nodeName];
"""
# What the order of the elements says about the focus, and which of those that take it were not reached
ORDER = """
const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter(e => !e.disabled && e.tabIndex >= 0 && e.checkVisibility());
return [document.querySelectorAll('[tabindex]:not([tabindex="0"]):not([tabindex="-1"])').length,
    all.filter(e => !e.visited).map(e => e.outerHTML.slice(0, 90)), all.length];
"""
for page in ('tonight', 'an execution', 'schedules', 'rules'):
    console.go(PAGES[page])
    console.run(
        "document.activeElement.blur(); window.getSelection().removeAllRanges(); "
        "document.body.setAttribute('tabindex', '-1'); document.body.focus(); "
        "document.body.removeAttribute('tabindex')"
    )
    unseen, n, first = [], 0, None
    for _ in range(150):
        press(Keys.TAB)
        got = console.run(FOCUSED)
        if got is None:
            break
        first = first or got[2]
        n += 1
        if not (got[0] and got[1]):
            unseen.append(got)
    positive, missed, total = console.run(ORDER)
    ok(first == 'Skip to the content', f'{page}: the first stop leads to the content', first)
    ok(not unseen, f'{page}: the focus is seen at each of {n} stops', unseen[:5])
    ok(
        positive == 0 and (not missed or n == 150),
        f'{page}: the order is that of the page, and all {total} places are reached',
        missed[:5],
    )

# --- the link to the content; a dialog keeps the focus and gives it back
console.go('#/machines')
console.run("document.querySelector('.skip-link').focus()")
press(Keys.ENTER)
ok(
    console.wait(lambda: console.run("return document.activeElement.id") == 'main')
    and 'Machines' in console.text('h1'),
    'the link to the content goes there, and to no other page',
    console.text('h1'),
)
console.go('#/execution/nightly%3A20250205')
console.run("[...document.querySelectorAll('.title button')].find(b => b.innerText === 'Redrive…').focus()")
press(Keys.ENTER)
console.wait(lambda: console.find('dialog'))
for _ in range(8):
    press(Keys.TAB)
ok(
    console.run(
        "const d = document.querySelector('dialog'), a = document.activeElement; "
        "return d.contains(a) || a === document.body"
    ),
    'the focus stays in a dialog',
)
ok(
    console.run(
        "const d = document.querySelector('dialog'); "
        "return document.getElementById(d.getAttribute('aria-labelledby')).textContent"
    )
    == 'Redrive?',
    '... which has a name',
)
press(Keys.ESCAPE)
ok(
    console.wait(lambda: not console.find('dialog'))
    and console.run('return document.activeElement.innerText') == 'Redrive…',
    'Escape ends it, and the focus is back',
)

# --- what a screen reader is told: changes that nobody on this page has made
ok(
    console.run(
        "const e = document.getElementById('said'); return [e.getAttribute('role'), e.getAttribute('aria-live')]"
    )
    == ['status', 'polite'],
    'there is a place for what is said',
)
console.go('#/tonight')
psql("""SELECT sf_start('order', '{"order": "S-1", "article": "table", "pieces": 100}')""", 'retail')
psql("""SELECT sf_start('order', '{"order": "S-2", "article": "none", "pieces": 1}')""", 'retail')
psql("SELECT sf_stop('order:S-2')", 'retail')
psql(
    """SELECT sf_create_state_machine('sad', '{"StartAt": "F", "States": {"F": {"Type": "Fail", """
    """"Error": "Sad"}}}'), sf_start('sad', '{}', 'x')""",
    'retail',
)
ok(
    console.wait(
        lambda: 'new failure' in console.run("return document.getElementById('said').textContent")
        and 'sad:x' in console.run("return document.getElementById('said').textContent")
    ),
    'a new failure is said',
    console.run("return document.getElementById('said').textContent"),
)
console.go('#/executions')
ok(console.find('.bulk [aria-live=polite]'), 'how many executions are chosen is said')

# --- headings in order, lists and tables as such; times have a machine-readable form
HEADINGS = """
const problems = [];
let before = 0;
for (const e of document.querySelectorAll('main h1, main h2, main h3, main h4')) {
  const level = Number(e.nodeName[1]);
  if (level > before + 1) problems.push(`h${level} after h${before}: ${e.textContent}`);
  before = level;
}
for (const e of document.querySelectorAll('main table')) {
  if (!e.querySelector('caption')?.textContent.trim()) problems.push('a table without a caption');
  for (const th of e.querySelectorAll('th')) if (!th.getAttribute('scope')) problems.push('a head without a scope');
}
for (const e of document.querySelectorAll('main time'))
    if (Number.isNaN(+new Date(e.getAttribute('datetime')))) problems.push('no time: ' + e.outerHTML);
for (const e of document.querySelectorAll('.badge')) if (!e.querySelector('svg') ||
    !e.textContent.trim()) problems.push('a status of colour alone: ' + e.outerHTML.slice(0, 90));
for (const e of document.querySelectorAll('main button, main a.button')) { const r = e.getBoundingClientRect();
    if (r.height > 0 && (r.height < 24 || r.width < 24)) problems.push('small: ' + e.outerHTML.slice(0, 90)); }
return problems;
"""
# Contrast of the texts of pictures with the box behind them, and of what has a meaning with its surroundings
CONTRAST = r"""
const problems = [];
const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const rgb = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
const light = ([r, g, b]) => [r, g,
    b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v,
    n) => s + v * [0.2126, 0.7152, 0.0722][n], 0);
const ratio = (a, b) => { const [x, y] = [light(a), light(b)]; return (Math.max(x, y) + 0.05) / (Math.min(x,
    y) + 0.05); };
const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c[3] === 255) return c; } return [255, 255, 255, 255]; };
for (const t of document.querySelectorAll('main svg text')) {
  const box = t.closest('.state')?.querySelector(':scope > .box') ?? t.closest('.label')?.querySelector('rect');
  const back = box ? rgb(getComputedStyle(box).fill) : behind(t.closest('svg').parentElement);
  const r = ratio(rgb(getComputedStyle(t).fill), back);
  if (r < 4.5) problems.push(`text ${r.toFixed(2)}: ${t.textContent}`);
}
for (const [selector, property] of [['.bar', 'backgroundColor'], ['.key:not(.usual)', 'backgroundColor'], ['.h-ok',
    'fill'], ['.h-bad', 'fill'], ['.h-stop', 'fill'], ['.graph .line', 'stroke'],
    ['button:not(:disabled):not(.plain):not(.tile button)', 'borderTopColor']])
  for (const e of document.querySelectorAll(`main ${selector}`)) {
    if (!e.checkVisibility() || e.closest('[role=tablist], .t-rows, .tile') && e.nodeName === 'BUTTON') continue;
    const colour = rgb(getComputedStyle(e)[property]);
    if (colour[3] === 255 && ratio(colour,
        behind(e.parentElement.closest('svg')?.parentElement ?? e.parentElement)) < 3)
        problems.push(`${selector} ${ratio(colour, behind(e.parentElement)).toFixed(2)}`);
  }
return [...new Set(problems)];
"""
for dark in (False, True):
    console.view(1280, dark)
    for page, address in PAGES.items():
        console.go(address)
        found = console.run(CONTRAST) + ([] if dark else console.run(HEADINGS))
        ok(
            found == [],
            f"{page}, {'dark' if dark else 'light'}: contrasts of pictures"
            + ('' if dark else ', headings, tables, sizes'),
            '\n'.join(found[:8]),
        )

# --- motion only for those who want it
MOVING = "return document.getAnimations().filter(a => a.playState === 'running').length"
console.view(1280, False)
console.go('#/execution/order%3AA-17')
console.wait(lambda: console.find('.graph .running'))
ok(console.wait(lambda: console.run(MOVING) > 0), 'what runs pulses')
console.driver.execute_cdp_cmd(
    'Emulation.setEmulatedMedia', {'features': [{'name': 'prefers-reduced-motion', 'value': 'reduce'}]}
)
ok(console.wait(lambda: console.run(MOVING) == 0), '... but not for those who want less motion')
ok(
    console.run("return getComputedStyle(document.documentElement).scrollBehavior") == 'auto',
    '... nor does the page scroll by itself',
)

# --- windows between those of the pictures, and as narrow as a page that is enlarged four times
for width in (320, 600, 901, 1000, 1081, 1160):
    console.view(width, False)
    wide = []
    for page, address in PAGES.items():
        console.go(address)
        if console.run(
            "return document.documentElement.scrollWidth > innerWidth + 1 || "
            "[...document.querySelectorAll('#top button, #top a')].some(e => e.checkVisibility() && "
            "(e.getBoundingClientRect().right > innerWidth + 1 || e.scrollWidth > e.clientWidth + 1))"
        ):
            wide.append(page)
    ok(not wide, f'{width} pixels: nothing is wider than the window', wide)
console.close()
