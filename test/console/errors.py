"""Errors are told where they belong, and pages go on after them; what comes late is dropped, and what nobody has
changed stays as it was.

    errors.py URL
"""
import json
import sys

from selenium.webdriver.common.keys import Keys

from browser import Console, ok, psql

console = Console(sys.argv[1])
# Answers are what window.changed makes of them: it gives a function for those of some paths, and null for the others.
CHANGE = """
const ask = window.fetch;
window.changed = () => null;
window.fetch = async (path, how) => {
  const answer = await ask(path, how);
  const other = window.changed(String(path));
  return other === null ? answer : other(answer);
};
"""


def answer_with(answer, action=''):
    """Have an action answered with something else, of which an expression is given; None: as the server does."""
    other = 'null' if answer is None else f"path.endsWith('/{action}') ? answer => ({answer}) : null"
    console.run(f"window.changed = path => {other}; window.dispatchEvent(new HashChangeEvent('hashchange'))")


psql(
    """SELECT sf_create_state_machine('waits', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 100000,
      "End": true}}}'), sf_start('waits', '{"a": 1}', 'x');
    SELECT sf_create_state_machine('odd', '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "Odd",
      "Cause": "{1: 2}"}}}'), sf_start('odd', '{}', 'x')""",
    'retail',
)
psql("CALL sf_wait('odd:x', '50 s')", 'retail')
ok(console.sign_in('retail', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)

# --- texts that are almost JSON
console.go('#/execution/odd%3Ax?tab=payloads')
ok(console.has('{1: 2}', '.panel'), 'a cause that is almost JSON is shown as it is', console.text())
NO_JSON = [
    '{1: 2}',
    '{true: 2}',
    '[1,]',
    '{"a": 1,}',
    '[,]',
    '[1 2]',
    '{"a" 1}',
    '{"a": 1 "b": 2}',
    '01',
    ':',
    'null null',
    '"\t"',
    '',
]
found = console.of_module('base/json.js', f'{json.dumps(NO_JSON)}.filter(text => m.readJson(text, 100) !== null)')
ok(found == [], 'what is no JSON is none', found)
WRITTEN = '{\n  "a": [1.10, {}, -2e5, "x\\"\\\\", []],\n  "1": null,\n  "": {"b": true}\n}'
found = console.of_module(
    'base/json.js',
    f"""[m.printJson(m.readJson({json.dumps(WRITTEN)}, 100), '', 100),
    m.readJson('[1, [2]]', 3)]""",
)
ok(found == [WRITTEN, None], '... and what is JSON keeps its numbers, unless it has too many values', found)
console.is_quiet()

# --- a session that has ended before the page is loaded, and a wrong password beside its token
# the page itself would ask for something else in between, and be told
console.driver.get('about:blank')
console.driver.execute_cdp_cmd('Network.clearBrowserCookies', {})
console.driver.get(console.url)
ok(
    console.wait(lambda: console.find('input[name=role]')) and console.has('The session has ended', 'form'),
    'a page that is loaded after the end of its session says so',
    console.text(),
)
console.is_quiet('401 session')
UNREACHED = """const reach = window.fetch;
window.fetch = (path, how) => String(path).endsWith('/session') ? Promise.reject(new TypeError()) : reach(path, how);"""
unreached = console.driver.execute_cdp_cmd('Page.addScriptToEvaluateOnNewDocument', {'source': UNREACHED})
console.run("localStorage.setItem('sfgateway-token', 'old')")
console.driver.refresh()
ok(console.has('cannot be reached', 'form'), 'whether a session is left is not known', console.text())
console.find('input[name=role]')[0].send_keys('retail')
console.find('input[name=password]')[0].send_keys('wrong' + Keys.ENTER)
ok(
    console.has('does not accept this role and password', 'form')
    and console.find('input[name=role]')[0].get_attribute('value') == 'retail',
    '... and a wrong password is told as such',
    console.text(),
)
console.driver.execute_cdp_cmd('Page.removeScriptToEvaluateOnNewDocument', unreached)
console.is_quiet('401 login')
ok(console.sign_in('retail', 'retail-secret'), 'sign in again', console.text())
console.is_quiet('401 session')

# --- a session that ends because its role was altered
psql("ALTER ROLE retail VALID UNTIL '2999-01-01'")
console.run("location.hash = '#/health'")
ok(
    console.has('ended because your role was altered', 'form'),
    'a session whose role was altered says why it has ended',
    console.text(),
)
console.is_quiet('401 operations', '401 tonight', '401 night', '401 poll')
ok(console.sign_in('retail', 'retail-secret'), 'sign in with the altered role', console.text())

# --- pages whose subject is gone, or whose answers are errors
psql(
    """SELECT sf_create_state_machine('passing', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}')""", 'retail'
)
console.go('#/machine/passing')
ok(console.has('StartAt'), 'the page of a machine', console.text())
psql("SELECT sf_drop_state_machine('passing')", 'retail')
ok(console.has('State machine "passing" does not exist'), '... says that it was dropped', console.text())
ok(console.text('#live') == 'Live', '... and is up to date', console.text('#live'))
console.is_quiet('404 layout')
console.run(CHANGE)
console.go('#/alerts')
for status in (403, 404):
    answer_with(
        f"{{ ok: false, status: {status}, json: async () => ({{ error: {{ message: 'not today' }} }}) }}", 'alerts'
    )
    ok(console.has('not today'), f'a page that is answered with {status} shows that, and no older data', console.text())
    answer_with(None)
    ok(
        console.wait(lambda: 'not today' not in console.text() and console.find('.card')),
        '... until it is answered again',
        console.text(),
    )
for status in (409, 500):
    answer_with(f"{{ ok: false, status: {status}, json: async () => null }}", 'alerts')
    ok(
        console.wait(lambda: console.text('#live') == 'Not reached') and console.find('.card'),
        f'with {status}, which passes, older data stays',
        console.text('body'),
    )
    answer_with(None)
    ok(console.wait(lambda: console.text('#live') == 'Live'), '... until it answers', console.text('#live'))
console.is_quiet()

# --- data that cannot be drawn, which shows when what was left for later is made
console.go('#/execution/waits%3Ax?tab=payloads')
ok(console.wait(lambda: console.find('.panel .payload')), 'payloads', console.text())
answer_with(
    """{ ok: true, status: 200, json: () => answer.json().then(body => {
    body.execution.input.text = {};
    return body;
  }) }""",
    'execution',
)
ok(
    console.has('slice is not a function') and not console.find('.panel'),
    'the error is shown in place of the page',
    console.text(),
)
console.run('window.changed = () => null')
ok(
    console.wait(lambda: console.find('.panel .payload')),
    '... which goes on looking, and comes back by itself',
    console.text(),
)
said = [entry['message'] for entry in console.driver.get_log('browser')]
ok(said != [] and all('slice is not a function' in words for words in said), "... and is in the browser's log", said)

# --- a field that does not belong to the action that was chosen at last
console.go('#/executions?state_machine=waits')
console.click('All that the filter has…', '.bulk')


def choose_act(name, count):
    """Choose an action, and wait for its count."""
    console.run(
        """const act = document.querySelector('dialog [name=act]');
        act.value = arguments[0];
        act.dispatchEvent(new Event('change', { bubbles: true }));""",
        name,
    )
    return console.wait(lambda: console.text('dialog [type=submit]') == count)


console.wait(lambda: console.find('dialog [name=act]'))
choose_act('set_labels', 'Set labels: 1')
console.find('dialog [name=labels]')[0].send_keys('{x')
choose_act('hold', 'Hold: 1')
console.find('dialog [type=submit]')[0].click()
ok(
    console.has('1 execution / 1', 'dialog'),
    'labels that are no JSON do not keep a hold from being done',
    console.text('dialog'),
)
console.click('Close', 'dialog .end')
ok(psql("SELECT count(*) FROM sf_holds WHERE target = 'waits:x'") == '1', '... which it is')
psql("SELECT sf_release('waits:x')", 'retail')
console.is_quiet()

# --- a schedule that is saved as it is, and one whose time gets seconds
EXACT = """SELECT concat_ws('|', coalesce(timezone, 'none'), starts AT TIME ZONE 'UTC', ends AT TIME ZONE 'UTC')
    FROM _sfflow.schedule WHERE name = 'exact'"""
psql(
    """SELECT sf_schedule('exact', '0 6 * * *', 'waits', starts => '2040-01-01 00:00:07.25+00',
    ends => '2041-01-01 00:00:09+00')""",
    'retail',
)
before = psql(EXACT)
console.go('#/schedules?name=exact')


def save():
    """Save the schedule of the dialog, and wait until that is done."""
    console.find('dialog [type=submit]')[0].click()
    return console.wait(lambda: not console.find('dialog'))


console.click('Edit…', '[aria-labelledby=h-exact]')
console.wait(lambda: console.find('dialog [name=starts]'))
ok(save() and psql(EXACT) == before, 'a schedule that is saved as it is keeps its times and its time zone', psql(EXACT))
console.click('Edit…', '[aria-labelledby=h-exact]')
console.wait(lambda: console.find('dialog [name=starts]'))
console.run(
    """const at = document.querySelector('dialog [name=starts]');
    at.value = '2040-06-01T12:00:05';
    window.chosen = new Date(at.value).toISOString();"""
)
console.find('dialog [name=timezone]')[0].send_keys('Europe/Rome')
chosen = console.run("return window.chosen.replace('T', ' ').replace('.000Z', '')")
after = before.replace('none', 'Europe/Rome').replace('2040-01-01 00:00:07.25', chosen)
ok(save() and psql(EXACT) == after, '... and others, once they are entered', psql(EXACT))
psql("SELECT sf_unschedule('exact')", 'retail')
console.is_quiet('400 plan_schedule')

# --- an answer that comes when its page was left leads nowhere
console.hold_answers()
console.go('#/machine/waits')
console.click('Start…', '.title')
console.find('dialog [name=name]')[0].send_keys('late')
console.hold('start')
console.find('dialog [type=submit]')[0].click()
console.held()
console.run("location.hash = '#/health'")
ok(console.has('Health', 'h1'), 'a page is left while a start is under way', console.text())
console.release()
ok(
    console.run('return location.hash') == '#/health',
    '... to which its answer does not lead',
    console.run('return location.hash'),
)
ok(psql("SELECT count(*) FROM sf_executions WHERE execution_id = 'waits:late'") == '1', '... although it was started')
console.is_quiet()

# --- two trials, of which the first one is answered last
console.go('#/machine/odd?tab=try')
console.wait(lambda: console.find('.try'))
console.hold('test_state')
console.click('Try the state', '.try')
console.held()
console.click('Validate', '.try')
ok(console.has('The definition is valid.', '.panel'), 'a definition is valid', console.text('.panel'))
console.release()
ok(
    'The definition is valid.' in console.text('.panel'),
    '... which stays when the answer to an earlier trial comes late',
    console.text('.panel'),
)
console.is_quiet()

# --- columns without anything in them
found = console.of_module(
    'element/table.js',
    """(() => {
    const made = m.table('Table', [{ title: 'Dashes', cell: () => '–' }, { title: 'Nothing', cell: () => null },
      { title: 'Some', cell: r => r.some }, { title: '', cell: r => r.some === undefined ? null : 'x' }],
      [{}, { some: 0 }]);
    return ['th', 'td'].map(cell => [...made.querySelectorAll(cell)].map(e => e.textContent));
  })()""",
)
ok(
    found == [['Dashes', 'Some', 'Actions'], ['–', '–', '', '–', '0', 'x']],
    'a column is left out if its cells have nothing, not if they have a dash',
    found,
)

# --- a list that ends before it is whole
psql(
    """SELECT sf_hold(sf_start('waits', '{}', 'held' || n))
    FROM generate_series((SELECT count(*) FROM sf_holds) + 1, 25) n""",
    'retail',
)
console.go('#/')
ok(
    console.wait(lambda: console.text('#h-held .count') == '25') and 'These are the first' not in console.text(),
    'tonight has all holds',
    console.text('#h-held'),
)
psql("SELECT sf_hold(sf_start('waits', '{}', 'held' || n)) FROM generate_series(26, 30) n", 'retail')
ok(
    console.has('25+', '#h-held') and console.has('These are the first 25.'),
    '... or says that there are more',
    console.text('#h-held'),
)
console.is_quiet()

# --- a choice that the user has made, where the page is drawn anew
found = console.of_module(
    'base/dom.js',
    """(() => {
    const list = (names, chosen) => m.h('div', null, m.h('select', null,
      names.map(name => m.h('option', { value: name, selected: name === chosen }, name))));
    const page = list(['a', 'b', 'c'], 'a'), select = page.firstChild;
    document.body.append(page);
    select.value = 'b';
    const drawn = [['a', 'b', 'c'], ['new', 'a', 'b', 'c']].map(names => {
      m.patch(page, list(names, 'a'));
      return select.value;
    });
    for (const [names, chosen] of [[['new', 'a', 'c'], 'a'], [['new', 'a', 'c'], 'c'], [['new', 'a', 'c'],
        undefined]]) {
      m.patch(page, list(names, chosen));
      drawn.push(select.value);
    }
    page.remove();
    return drawn;
  })()""",
)
ok(found == ['b', 'b', 'a', 'c', 'new'], 'a choice stays while it is offered and the page says nothing else', found)
console.close()
