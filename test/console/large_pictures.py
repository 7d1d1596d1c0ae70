"""Pictures that are too large to be seen at once: zoom, overview, search, keys; and names that are wide.

    large_pictures.py URL FOLDER
"""
import sys

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from browser import Console, ok
from large import JOBS, STATES, make_large

console = Console(sys.argv[1], sys.argv[2])
# Where the area of the picture and what is drawn in it lie, and how large the picture is drawn
BOXES = """
const area = document.querySelector('.graph-scroll'), svg = area.querySelector('.graph');
const box = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
return { area: box(area), svg: box(svg), scale: svg.getBoundingClientRect().width / svg.viewBox.baseVal.width };
"""
# Whether a state, or else what has the focus, is seen
SEEN = """
const a = document.querySelector('.graph-scroll').getBoundingClientRect();
const named = [...document.querySelectorAll('.graph [data-state]')].find(x => x.dataset.state === arguments[0]);
const e = named ?? document.activeElement;
const r = e.getBoundingClientRect();
return r.left >= a.left - 1 && r.right <= a.right + 1 && r.top >= a.top - 1 && r.bottom <= a.bottom + 1;
"""
FOCUSED = 'return document.activeElement.dataset?.state ?? null'
# The part that the overview says is seen
WINDOW = """
const frame = document.querySelector('.graph-window');
return ['x', 'y', 'width', 'height'].map(n => Number(frame.getAttribute(n)));
"""
# Which point of the picture is in the middle of its area
MIDDLE = """
const a = document.querySelector('.graph-scroll').getBoundingClientRect();
const s = document.querySelector('.graph').getBoundingClientRect();
return [(a.y + a.height / 2 - s.y) / s.height, (a.x + a.width / 2 - s.x) / s.width];
"""
# Texts of a picture that are wider than what they stand in
TOO_WIDE = """
return [...document.querySelectorAll('.graph text')].filter(t => {
  const frame = t.parentElement.querySelector(':scope > rect') ?? t.previousElementSibling?.closest?.('rect');
  if (!frame) return false;
  const a = t.getBBox(), b = frame.getBBox();
  return a.x < b.x - 1 || a.x + a.width > b.x + b.width + 1;
}).map(t => t.textContent);
"""

press = console.press


def open_picture(address):
    """Go to a page with a large picture."""
    console.go(address)
    return console.wait(lambda: console.find('.graph-view.large .graph-overview'))


def scale():
    """The zoom of the picture."""
    return console.run(BOXES)['scale']


def is_whole():
    """Whether all of the picture is seen."""
    boxes = console.run(BOXES)
    return all(a <= s + 1 if n < 2 else a >= s - 1 for n, (a, s) in enumerate(zip(boxes['area'], boxes['svg'])))


def zoom_by(words):
    """Click at a button of the zoom."""
    console.run(
        """[...document.querySelectorAll('.graph-zoom button')]
        .find(b => b.innerText === arguments[0]).click()""",
        words,
    )


make_large()
ok(console.sign_in('retail', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)

# --- small pictures have no tools
console.go('#/execution/nightly%3A20250205')
console.wait(lambda: console.find('.graph'))
ok(
    not console.find('.graph-tools') and not console.find('.graph-overview') and scale() == 1,
    'a small picture is shown as it is',
    scale(),
)

# --- zoom, fit and overview
for name, address in (
    ('a net of 60 jobs', '#/execution/net60%3Ax'),
    ('a machine of 300 states', '#/machine/states300'),
):
    ok(open_picture(address), f'{name}: the tools are there', console.text()) or sys.exit(1)
    ok(0.74 < scale() <= 1, f'{name}: at first it can be read', scale())
    ok(not is_whole(), '... and is not seen as a whole')
    zoom_by('Fit')
    ok(is_whole(), '... Fit shows all of it', console.run(BOXES))
    zoom_by('1:1')
    ok(scale() == 1, '... 1:1 shows it in full size')
    zoom_by('+')
    ok(
        abs(scale() - 1.25) < 0.01 and console.text('.graph-scale') == '125 %',
        '... + enlarges it',
        console.text('.graph-scale'),
    )
    console.run('window.dispatchEvent(new HashChangeEvent("hashchange"))')
    console.drawn()
    ok(abs(scale() - 1.25) < 0.01, '... and it stays so when the page is drawn anew')
    console.run("document.querySelector('.graph-scroll').scrollTo(0, 0)")
    console.wait(lambda: console.run(WINDOW)[1] < 5)
    before = console.run(WINDOW)
    overview = console.find('.graph-overview')[0]
    console.run("arguments[0].scrollIntoView({block: 'center'})", overview)
    ActionChains(console.driver).move_to_element_with_offset(
        overview, 0, overview.size['height'] // 2 - 3
    ).click().perform()
    ok(
        console.wait(lambda: console.run(WINDOW)[1] > before[1] + 100),
        '... a click in the overview goes there',
        console.run(WINDOW),
    )
    middle = console.run(MIDDLE)
    zoom_by('−')
    after = console.run(MIDDLE)
    ok(abs(middle[0] - after[0]) < 0.12, '... the middle stays where it is', (middle, after))
    for dark in (False, True):
        console.view(1280, dark)
        console.picture(name.replace(' ', '-'), 1280, dark)
    console.view(1280, False)

# --- keys: one stop of the Tab key, arrows from state to state
open_picture('#/machine/states300')
ok(
    console.run("return document.querySelectorAll('.graph [tabindex=\"0\"]').length") == 1,
    'the picture of 300 states is one stop of the Tab key',
)
console.run("[...document.querySelectorAll('.graph-zoom button')].at(-1).focus()")
press(Keys.TAB)
ok(console.run(FOCUSED) == STATES[0], 'Tab goes from the tools to the first state', console.run(FOCUSED))
NAME = "const e = document.activeElement; e.id = 'focused-state'; return e.id"


def names_read_aloud():
    """The names that the element with the focus has for a screen reader; an error if it is drawn anew meanwhile."""
    console.run(NAME)
    node = console.driver.execute_cdp_cmd('DOM.getDocument', {})['root']['nodeId']
    node = console.driver.execute_cdp_cmd('DOM.querySelector', {'nodeId': node, 'selector': '#focused-state'})['nodeId']
    return [
        x['name']['value']
        for x in console.driver.execute_cdp_cmd(
            'Accessibility.getPartialAXTree', {'nodeId': node, 'fetchRelatives': False}
        )['nodes']
    ]


names = []
console.wait(lambda: names.extend(names_read_aloud()) or True)
ok(names[0].startswith(STATES[0] + ', Pass'), '... which has its name read aloud', names)
press(Keys.ARROW_DOWN)
press(Keys.ARROW_DOWN)
ok(console.run(FOCUSED) == STATES[2], 'Arrow Down goes to the state below', console.run(FOCUSED))
press(Keys.ARROW_UP)
ok(console.run(FOCUSED) == STATES[1], 'Arrow Up goes back', console.run(FOCUSED))
press(Keys.END)
ok(
    console.run(FOCUSED) == STATES[-1] and console.run(SEEN, None),
    'End goes to the last state, which is seen then',
    console.run(FOCUSED),
)
press(Keys.ENTER)
ok(
    console.wait(lambda: 'state=State+299' in console.run('return location.hash')),
    'Enter chooses it',
    console.run('return location.hash'),
)
ok(console.wait(lambda: console.run(FOCUSED) == STATES[-1]), '... and it keeps the focus')
press(Keys.HOME)
reached = console.run(
    """
const reached = new Set([document.activeElement.dataset.state]);
for (let n = 0; n < 400; n++) {
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'PageDown', bubbles: true,
      cancelable: true }));
  reached.add(document.activeElement.dataset.state);
}
return reached.size;"""
)
ok(reached == 300, 'Page Down goes through all states', reached)
press('0')
ok(is_whole(), '0 shows all of the picture', console.run(BOXES))
press('+')
ok(scale() > 0, 'plus and minus zoom')
open_picture('#/execution/net60%3Ax')
console.run("document.querySelector('.graph [data-state=\"Job 00\"]').focus()")
arrows = console.run(
    """
const at = {}, area = document.querySelector('.graph');
for (const e of area.querySelectorAll('[data-state]')) {
  const r = e.querySelector('.box').getBoundingClientRect();
  at[e.dataset.state] = [r.x + r.width / 2, r.y + r.height / 2];
}
const wrong = [];
const key = k => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true,
    cancelable: true }));
const seen = new Set(['Job 00']), todo = ['Job 00'];
while (todo.length) {
  const from = todo.pop();
  for (const [k, dx, dy] of [['ArrowRight', 1, 0], ['ArrowLeft', -1, 0], ['ArrowDown', 0, 1], ['ArrowUp', 0, -1]]) {
    [...area.querySelectorAll('[data-state]')].find(e => e.dataset.state === from).focus();
    key(k);
    const to = document.activeElement.dataset.state;
    if (to === from) continue;
    const way = (at[to][0] - at[from][0]) * dx + (at[to][1] - at[from][1]) * dy;
    if (to !== 'Net' && from !== 'Net' && way <= 0) wrong.push([from, k, to]);
    if (!seen.has(to)) { seen.add(to); todo.push(to); }
  }
}
return [seen.size, wrong];"""
)
ok(arrows == [61, []], 'arrows alone reach all jobs of the net, each in its direction', arrows)

# --- search
open_picture('#/execution/states300%3Ax')
console.find('.graph-tools input')[0].send_keys('state 25')
ok(
    console.wait(lambda: console.text('.graph-found') == '1 of 10'),
    'the search counts what it finds',
    console.text('.graph-found'),
)
ok(console.wait(lambda: console.run(SEEN, 'State 250')), '... shows the first')
ok(
    len(console.find('.graph .found')) == 10 and len(console.find('.graph-overview .found')) == 10,
    '... and marks all, in the overview, too',
)
press(Keys.ENTER)
ok(console.wait(lambda: console.text('#h-state') == 'State 250'), 'Enter chooses the first', console.text('#h-state'))
press(Keys.ENTER)
ok(
    console.wait(lambda: console.text('#h-state') == 'State 251') and console.text('.graph-found') == '2 of 10',
    '... and then the next',
    console.text('#h-state'),
)
press(Keys.SHIFT, Keys.ENTER)
ok(
    console.wait(lambda: console.text('#h-state') == 'State 250'),
    '... with Shift the one before',
    console.text('#h-state'),
)
ok(
    '1 of 10: State 250' in console.run("return document.getElementById('said').textContent"),
    '... which is said',
    console.run("return document.getElementById('said').textContent"),
)
console.find('.graph-tools input')[0].clear()
console.find('.graph-tools input')[0].send_keys('no such state')
ok(console.wait(lambda: console.text('.graph-found') == 'none'), 'and says when there is none')

# --- the mouse
open_picture('#/execution/net60%3Ax')
zoom_by('1:1')
console.run("document.querySelector('.graph-scroll').scrollTo(200, 200)")
place = console.run("const a = document.querySelector('.graph-scroll'); return [a.scrollLeft, a.scrollTop]")
ActionChains(console.driver).move_to_element(console.find('.graph-scroll')[0]).click_and_hold().move_by_offset(
    -60, -80
).move_by_offset(-20, -20).release().perform()
moved = console.run("const a = document.querySelector('.graph-scroll'); return [a.scrollLeft, a.scrollTop]")
ok(
    abs(moved[0] - place[0] - 80) < 12 and abs(moved[1] - place[1] - 100) < 12,
    'the picture is dragged with the mouse',
    (place, moved),
)
ok(
    'state=' not in console.run('return location.hash'),
    '... which chooses nothing',
    console.run('return location.hash'),
)
console.run("document.querySelector('.graph [data-state=\"Job 00\"]').focus()")
press(Keys.ENTER)
ok(
    console.wait(lambda: console.text('#h-state') == 'Job 00', 20),
    '... a key chooses all the same',
    console.text('#h-state'),
)
seen = [e for e in console.find('.graph [data-state]') if console.run(SEEN, e.get_attribute('data-state'))]
job = next(e for e in seen if e.get_attribute('data-state') in JOBS)
ActionChains(console.driver).move_to_element(job).click().perform()
ok(
    console.wait(lambda: console.text('#h-state') == job.get_attribute('data-state')),
    'a click chooses',
    console.text('#h-state'),
)
console.run(
    """
    const how = { deltaY: -100, ctrlKey: true, bubbles: true, cancelable: true, clientX: 300, clientY: 500 };
    const e = new WheelEvent('wheel', how);
    document.querySelector('.graph-scroll').dispatchEvent(e)"""
)
ok(abs(scale() - 1.25) < 0.01, 'the wheel with Control zooms', scale())

# --- names that are wide
for page in (
    '#/machine/wide',
    '#/execution/wide%3Ax',
    '#/execution/net60%3Ax',
    '#/machine/order',
    '#/execution/nightly%3A20250205',
):
    console.go(page)
    console.wait(lambda: console.find('.graph'))
    found = console.run(TOO_WIDE)
    ok(found == [], f'no text is wider than its box: {page}', found)
console.go('#/machine/wide')
console.picture('wide-names', 1280, False)

# --- time to draw
for page in ('execution', 'machine'):
    times = console.run(
        "return performance.getEntriesByName(arguments[0]).map(e => Math.round(e.duration))", f'drawn {page}'
    )
    print(f'# drawn {page}, ms: {times}')
console.is_quiet()
console.close()
