"""Each page in light and dark, wide and narrow: a picture of it, and what can be checked of its looks and of how it is
read aloud. Then payloads that are hostile or large, and an execution of 25,000 events.

    pages.py URL FOLDER
"""
import sys

from browser import Console, ok, psql

console = Console(sys.argv[1], sys.argv[2])

# --- payloads that are hostile
SCRIPT = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"><b>bold</b>'
psql(
    r"""SELECT sf_create_state_machine('hostile', json_build_object('StartAt', '<b onclick=x>A</b>', 'States',
        json_build_object('<b onclick=x>A</b>',
    json_build_object('Type', 'Fail', 'Error', '<img src=x onerror=window.hacked=1>', 'Cause',
        '<script>window.hacked = 1</script>'))))""",
    'retail',
)
psql(
    """SELECT sf_start('hostile', jsonb_build_object('script', $x$"""
    + SCRIPT
    + r"""$x$, 'hebrew', U&'\05E9\05DC\05D5\05DD', 'turned', U&'a\202Eb', 'digits', 12345678901234567890.10), 'x')""",
    'retail',
)
psql("CALL sf_wait('hostile:x', '50 s')", 'retail')
psql(
    """SELECT sf_create_state_machine('large', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}')""",
    'retail',
)
psql(
    "SELECT sf_start('large', jsonb_build_object('long', repeat('0123456789', 500000), 'end', 'the end'), 'x')",
    'retail',
)
psql("CALL sf_wait('large:x', '50 s')", 'retail')
psql("SELECT sf_hold('hostile', reason => $x$" + SCRIPT + "$x$)", 'retail')

ok(console.sign_in('retail', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)
for address in (
    '#/tonight',
    '#/execution/hostile%3Ax',
    '#/execution/hostile%3Ax?tab=payloads',
    '#/execution/hostile%3Ax?tab=events',
    '#/machine/hostile',
    '#/machine/hostile?tab=try',
    '#/executions?error=%3Cimg%20src%3Dx%3E',
    '#/alerts',
    '#/health',
    '#/execution/%3Cscript%3E',
    '#/schedules?name=%3Cb%3E',
):
    console.go(address)
    ok(
        console.run('return window.hacked') is None and not console.find('main script, main img[src=x], main b'),
        f'nothing of a payload is markup: {address}',
    )
console.go('#/execution/hostile%3Ax?tab=payloads')
ok(console.has(SCRIPT.replace('"', '\\"')), 'a payload with markup is shown as text', console.text())
ok(console.has('12345678901234567890.10'), 'no digit of a number is lost')
ok(
    console.has('שלום')
    and console.run("return [...document.querySelectorAll('bdi')].some(e => e.textContent.includes('שלום'))"),
    'text from right to left has a direction of its own',
)
ok(console.has('a\\u202eb'), 'a character that turns the direction is shown as an escape', console.text())

# --- a payload of 5 MB
console.go('#/execution/large%3Ax?tab=payloads')
ok(
    console.has('5.0 MB') and len(console.text()) < 100000,
    'of a large payload the beginning is shown',
    len(console.text()),
)
console.click('Show all (5.0 MB)', '.payload')
ok(
    console.wait(lambda: console.button('Show more (50 parts left)') is not None),
    'all of it is fetched when it is asked for',
    console.text('.payload')[-200:],
)
ok(
    console.wait(
        lambda: 'the end' in console.text('.payload') or console.button('Show more (50 parts left)') is not None
    ),
    '... and shown part by part',
)
console.run(
    "document.querySelector('.payload pre').dataset.kept = '1'; for (let n = 0; n < 60; "
    "n++) [...document.querySelectorAll('.payload button')].find(b => b.textContent.startsWith('Show "
    "more'))?.click()"
)
ok(
    console.run(
        "const t = document.querySelector('.payload pre').textContent; "
        "return [t.length > 5000000, t.includes('0123456789\"')]"
    )
    == [True, True],
    '... up to its end, as text',
)

# --- an execution of 25,000 events
psql(
    """SELECT sf_create_state_machine('long', '{"StartAt": "Each", "States": {
    "Each": {"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": 40, "ItemProcessor": {"StartAt": "Look",
        "States": {"Look": {"Type": "Task", "Resource": "sql:shop.pack", "Parameters": {"article": "x"},
        "Retry": [{"ErrorEquals": ["none"]}], "End": true}}}, "ResultPath": null, "Next": "Count"},
    "Count": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericGreaterThan": 0, "Next": "Less"}],
        "Default": "Done"},
    "Less": {"Type": "Pass", "Parameters": {"items": [], "n.$": "States.MathAdd($.n, -1)"}, "Next": "Count"},
    "Done": {"Type": "Succeed"}}}')""",
    'retail',
)
psql(
    "CREATE OR REPLACE FUNCTION shop.pack(article text) RETURNS text LANGUAGE sql AS $$ SELECT 'packed ' || article $$",
    'retail',
)
psql(
    "SELECT sf_start('long', jsonb_build_object('n', 2000, 'items', (SELECT jsonb_agg(i) FROM generate_series(1, "
    "2500) AS i)), 'x')",
    'retail',
)
psql("CALL sf_wait('long:x', '170 s')", 'retail')
events = int(psql("SELECT count(*) FROM sf_history WHERE execution_id = 'long:x'"))
ok(events >= 25000, f'an execution has {events} events')
DRAWN = "return performance.getEntriesByName('drawn execution').map(e => [e.duration, e.startTime + e.duration])"
times = []
# At best: what else the machine does may disturb it.
for attempt in range(20):
    console.go('#/executions?state_machine=long')
    console.wait(lambda: console.button('long:x') is not None)
    console.run('performance.clearMeasures()')
    console.click('long:x')
    if not console.wait(lambda: len(console.run(DRAWN)) == 1 and console.find('.graph .state')):
        break
    times.append(console.run(DRAWN)[0][0])
    if times[-1] <= 500:
        break
ok(
    times and min(times) <= 500,
    f'its page shows the picture with statuses and the timeline {min(times):.0f} ms after the click',
    times,
)
console.driver.get('about:blank')
console.driver.get(console.url + '#/execution/long%3Ax')
ok(
    console.wait(lambda: len(console.run(DRAWN)) == 1),
    f'... also as the first page ({console.run(DRAWN)[0][1]:.0f} ms)',
)
ok(console.run('return document.querySelectorAll("*").length') < 6000, 'the page stays small')
console.go('#/execution/long%3Ax?tab=events')
ok(console.wait(lambda: len(console.find('.events > li')) >= 100), 'events come by pages')
console.click('Next events')
ok(console.has('#101'), '... of which the next one is a click away')

console.go('#/execution/long%3Ax?inside=1')
ROWS = (
    "return [...document.querySelectorAll('.t-rows > .chosen')].map(e => e.querySelector('.t-name "
    "bdi').textContent).join(' ')"
)
ok(console.wait(lambda: len(console.find('.t-rows > li')) > 100), 'the timeline has rows of iterations')
console.run(
    "[...document.querySelectorAll('.t-name')].find(e => e.querySelector('bdi').textContent === 'Look[3]').click()"
)
ok(
    console.wait(lambda: console.run(ROWS) == 'Look[3]') and console.has('Look[3]', '.side'),
    'of the iterations that one is marked which is shown',
    console.run(ROWS),
)
ok(len(console.find('.t-name[aria-current=true]')) == 1, '... for screen readers, too')

# --- what is drawn, and how it is read
CHECKS = r"""
const problems = [];
const name = e => e.getAttribute('aria-label') || (e.getAttribute('aria-labelledby') &&
    document.getElementById(e.getAttribute('aria-labelledby'))?.textContent) ||
  e.closest('label')?.textContent || e.textContent.trim() || e.getAttribute('title') || e.getAttribute('alt');
for (const e of document.querySelectorAll('a[href], button, input, select, textarea, [role=button], [role=tab],' +
    'section, nav, [role=img]'))
  if (!name(e)) problems.push('no name: ' + e.outerHTML.slice(0, 120));
for (const e of document.querySelectorAll('[aria-controls]')) if (e.getAttribute('aria-selected') !== 'false' &&
    !document.getElementById(e.getAttribute('aria-controls'))) problems.push('controls nothing: ' + e.id);
if (document.querySelectorAll('main').length !== 1 ||
    document.querySelectorAll('main h1').length !== 1) problems.push('not one main and one h1');
const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
for (const id of new Set(ids.filter((id, n) => ids.indexOf(id) !== n))) problems.push('twice: ' + id);
for (const e of document.querySelectorAll('code.error')) {
  const inside = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), range = document.createRange();
  while (inside.nextNode()) for (const { 0: word, index } of inside.currentNode.data.matchAll(/[A-Za-z]{1,30}/g)) {
    range.setStart(inside.currentNode, index); range.setEnd(inside.currentNode, index + word.length);
    if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1)
        problems.push('a word of an error is broken: ' + word);
  }
}
if (document.documentElement.scrollWidth > innerWidth + 1)
    problems.push('wider than the window: ' + document.documentElement.scrollWidth);
// contrast of texts with what is behind them
const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const rgb = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
const light = ([r, g, b]) => [r, g,
    b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v,
    n) => s + v * [0.2126, 0.7152, 0.0722][n], 0);
const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c[3] === 255) return c; } return [255, 255, 255, 255]; };
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const seen = new Set();
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || seen.has(e) || e.closest('svg, .unseen, script, option, :disabled') ||
      !e.checkVisibility()) continue;
  seen.add(e);
  const style = getComputedStyle(e);
  const a = light(rgb(style.color)), b = light(behind(e));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) problems.push('contrast ' + ratio.toFixed(1) + ': ' + e.textContent.slice(0, 40));
}
return problems;
"""
psql("SELECT sf_release('hostile')", 'retail')
psql("SELECT sf_drop_state_machine(m, true) FROM unnest(ARRAY['hostile', 'large', 'long']) AS m", 'retail')
psql(
    """SELECT sf_create_state_machine('order', replace(definition::text, '"MaxAttempts": 3', """
    """'"MaxAttempts": 5')::json, '$.order', """
    """true) FROM sf_state_machines WHERE state_machine = 'order' AND version = 1""",
    'retail',
)
PAGES = {
    'tonight': '#/tonight',
    'executions': '#/executions',
    'execution': '#/execution/nightly%3A20250205',
    'jobs': '#/execution/nightly%3A20250205?tab=jobs&state=-',
    'events': '#/execution/nightly%3A20250205?tab=events&state=Both',
    'payloads': '#/execution/nightly%3A20250205?tab=payloads&state=-',
    'done': '#/execution/nightly%3A20250205?tab=done&state=-',
    'map': '#/execution/invoices%3Afebruary',
    'running': '#/execution/order%3AA-17',
    'machines': '#/machines',
    'machine': '#/machine/order?state=Pack',
    'versions': '#/machine/order?tab=versions&a=1&b=2',
    'try': '#/machine/order?tab=try',
    'times': '#/machine/nightly?tab=times',
    'schedules': '#/schedules?name=nightly-0200',
    'rules': '#/rules',
    'activities': '#/activities',
    'inbox': '#/inbox',
    'alerts': '#/alerts',
    'health': '#/health',
    'compare': '#/compare/nightly%3A20250205?all=1',
    'runs': '#/machine/nightly?tab=runs',
}
psql("UPDATE _sfflow.rule_delivery SET error = 'connection_failure'")
for width in range(500, 1280, 60):
    console.view(width, False)
    console.go('#/rules')
    console.has('connection_failure')
    found = console.run(CHECKS)
    ok(found == [], f'rules, {width} pixels', '\n'.join(found[:8]))
    console.picture('rules', width, False)
for width in (1280, 390):
    for dark in (False, True):
        console.view(width, dark)
        for page, address in PAGES.items():
            console.go(address)
            console.answered()
            found = console.run(CHECKS)
            ok(found == [], f"{page}, {width} pixels, {'dark' if dark else 'light'}", '\n'.join(found[:8]))
            console.picture(page, width, dark)
        console.go('#/execution/nightly%3A20250205')
        console.click('Redrive…', '.title')
        console.has('JOB-006', 'dialog')
        ok(
            console.run(CHECKS.replace('main h1', 'dialog h2')) == [],
            f"a dialog, {width} pixels, {'dark' if dark else 'light'}",
            console.run(CHECKS),
        )
        console.picture('dialog', width, dark)
        console.click('Cancel', 'dialog')
console.view(390, False)
console.go('#/tonight')
console.find('.menu-button')[0].click()
ok(console.find('#menu a')[0].is_displayed(), 'the menu opens in a narrow window')
console.find('#menu a[href="#/machines"]')[0].click()
ok(console.has('Machines', 'h1'), '... and leads to pages')
console.is_quiet('404 execution', '404 layout', '404 timeline', '404 schedule')
console.sign_out()
for dark in (False, True):
    console.view(1280, dark)
    ok(console.run(CHECKS) == [], f"the sign-in, {'dark' if dark else 'light'}", console.run(CHECKS))
    console.picture('sign-in', 1280, dark)
console.close()
