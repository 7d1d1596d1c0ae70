"""Actions on all executions that a filter has, searches inside of executions, and views in the address; by keyboard,
and with axe-core.

    many.py URL FOLDER AXE
"""
import sys

from selenium.webdriver.common.keys import Keys

from browser import Console, ok, psql

console = Console(sys.argv[1], sys.argv[2])
with open(sys.argv[3], encoding='utf-8') as file:
    AXE = file.read()


def is_accessible(what):
    """Assert that axe-core finds nothing."""
    console.is_accessible(AXE, what)


def counts():
    """How many executions of the machine have which status."""
    return psql(
        "SELECT string_agg(status || n, ' ' ORDER BY status) FROM (SELECT status, count(*) AS n "
        "FROM sf_executions WHERE state_machine LIKE 'many%' GROUP BY status) s"
    )


def rows():
    """The rows of the list."""
    return console.run("return [...document.querySelectorAll('.page-executions tbody tr')].map(e => e.innerText)")


def dialog_has(text):
    """Wait for a text in the dialog."""
    return console.wait(lambda: text in console.text('dialog'))


def ask():
    """Open the question about all that the filter has."""
    console.run("document.querySelector('[name=state_machine]').focus()")
    console.tab_to_button('All that the filter has…')
    console.press(Keys.ENTER)


# 230 executions that run, of which 20 have an order that is urgent.
psql(
    """SELECT sf_create_state_machine('many', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 100000,
      "End": true}}}', options => '{"labels": {"tenant": "$.tenant"}}');
    SELECT sf_create_state_machine('bad', '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "Bad",
      "Cause": "The bank was closed"}}}'); SELECT sf_start('bad', '{"a": {"b": 17}}', 'one');
    SELECT count(sf_start('many', jsonb_build_object('tenant', CASE WHEN n <= 180 THEN 'acme' ELSE 'other' END, 'order',
      jsonb_build_object('id', n, 'urgent', n <= 20)), n::text)) FROM generate_series(1, 230) n""",
    'retail',
)
console.wait(lambda: counts() == 'RUNNING230')
ok(console.sign_in('retail', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)

# --- searches inside of executions
console.go('#/executions')
console.run("document.querySelector('[name=state_machine]').focus()")
console.tab_to_field('text')
console.press('CLOSED', Keys.ENTER)
ok(
    console.has('Looked into') and console.wait(lambda: len(rows()) == 1 and 'bad:one' in rows()[0]),
    'by a text of the cause',
    console.text(),
)
ok('text=CLOSED' in console.run('return location.hash'), '... which the address has')
console.go('#/executions?state_machine=many')
console.wait(lambda: len(rows()) == 50)
console.run("document.querySelector('[name=state_machine]').focus()")
console.tab_to_field('input')
console.press('$.order.id = 17', Keys.ENTER)
ok(console.wait(lambda: len(rows()) == 1 and 'many:17' in rows()[0]), 'by a value in the input', console.text())
ok(console.has('Looked into 230 executions.'), '... which says in how many it looked', console.text())
console.go('#/executions?input=%24.order%5B')
ok(console.has('"$.order[" is no path into the input'), 'a path that is none is told', console.text())
console.go('#/executions?state_machine=many&input=%24.order.urgent')
ok(console.wait(lambda: len(rows()) == 20), 'a path alone', console.text())
is_accessible('a search')

# --- a view: columns and order in the address, its name in the browser
console.run("document.querySelector('summary').focus()")
console.press(Keys.ENTER)
console.tab_to("return document.activeElement.value === 'why'", 'a column')
console.press(Keys.SPACE)
ok(
    console.wait(lambda: 'columns=status%2Cexecution%2Crequested%2Ctook' in console.run('return location.hash')),
    'a column is left out',
    console.run('return location.hash'),
)
console.tab_to_field('sort')
console.press('by n')
ok(
    console.wait(lambda: 'sort=name' in console.run('return location.hash')),
    'the order of the page is chosen',
    console.run('return location.hash'),
)
ok(
    console.wait(lambda: [r.split('many:')[1].split()[0] for r in rows()][:3] == ['1', '10', '11']),
    '... and the rows have it',
    rows()[:3],
)
console.tab_to_field('view')
console.press('Urgent ones', Keys.ENTER)
ok(
    console.has('Urgent ones', 'h1') and console.button('Urgent ones', '.views') is not None,
    'the view has a name',
    console.text(),
)
is_accessible('a view')
address = console.run('return location.hash')
console.go('#/executions')
console.wait(lambda: console.text('h1') == 'Executions')
console.run("document.querySelector('[name=state_machine]').focus()")
console.tab_to_button('Urgent ones')
console.press(Keys.ENTER)
ok(
    console.wait(lambda: console.run('return location.hash') == address) and console.wait(lambda: len(rows()) == 20),
    'it is one key away',
    console.run('return location.hash'),
)
console.run("localStorage.removeItem('sfflow-views')")
console.go('#/machines')
console.go(address)
ok(
    console.has('Urgent ones', 'h1') and console.wait(lambda: len(rows()) == 20),
    '... and its address is enough for another browser',
)
console.picture('executions-view', 1280, False)

# --- all that a filter has: counted, then done
console.go('#/executions?state_machine=many&labels=tenant%3Dacme')
console.wait(lambda: len(rows()) == 50)
ask()
ok(dialog_has('180 executions, of 180 executions looked at'), 'the question counts first', console.text('dialog'))
ok(dialog_has('Stop: 180'), '... and the button says how many', console.text('dialog'))
is_accessible('the question')
console.picture('executions-all', 1280, False)
console.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
ok(
    dialog_has('Hold: 180') and dialog_has('Only those that run'),
    'another action, another count',
    console.text('dialog'),
)
console.press(Keys.ARROW_DOWN)
ok(
    dialog_has('Release: 0') and console.run("return document.querySelector('dialog [type=submit]').disabled"),
    'nothing is held, so that nothing can be released',
    console.text('dialog'),
)
console.press(Keys.ARROW_DOWN)
ok(dialog_has('Set labels: 180'), 'labels', console.text('dialog'))
console.tab_to_field('labels')
console.press('checked=yes', Keys.ENTER)
ok(
    dialog_has('180 executions / 180') and console.wait(lambda: console.button('Close', 'dialog') is not None),
    'it is done, with progress',
    console.text('dialog'),
)
is_accessible('what came of it')
console.press(Keys.ENTER)
ok(console.wait(lambda: not console.find('dialog')), 'Enter closes the dialog')
ok(psql("SELECT count(*) FROM sf_labels WHERE label = 'checked' AND value = 'yes'") == '180', 'all have the label')

# --- it stops when it is told to, and goes on: the answer after the first page waits for a lock
console.go('#/executions?state_machine=many&status=RUNNING')
console.wait(lambda: len(rows()) == 50)
console.run(
    """const ask = window.fetch; window.pages = 0; window.fetch = async (path, how) => {
    if (String(path).endsWith('/act_on_matches') && ++window.pages === 2) await new Promise(go => { window.goOn = go;
        });
    return ask(path, how); };"""
)
ask()
ok(dialog_has('Stop: 230'), 'Stop', console.text('dialog'))
console.tab_to_field('reason')
console.press('enough', Keys.ENTER)
ok(
    console.wait(lambda: console.run('return Boolean(window.goOn)')) and dialog_has('50 executions / 230'),
    'a page is done',
    console.text('dialog'),
)
ok(counts() == 'ABORTED50 RUNNING180', '... and is there before the next one', counts())
psql("SELECT sf_start('many', '{\"tenant\": \"late\"}', 'late')", 'retail')
console.press(Keys.ENTER)
console.run('window.goOn()')
ok(
    console.wait(lambda: console.button('Go on', 'dialog') is not None),
    'it stops after the page that it was at',
    console.text('dialog'),
)
ok(counts() == 'ABORTED100 RUNNING131', '... and no further', counts())
console.press(Keys.ENTER)
ok(
    dialog_has('230 executions / 230') and console.wait(lambda: console.button('Close', 'dialog') is not None),
    'it goes on',
    console.text('dialog'),
)
ok(counts() == 'ABORTED230 RUNNING1', '... to its end, but leaves out what was requested after the count', counts())
ok(
    psql("SELECT count(*) FROM sf_audit WHERE action = 'stop' AND reason = 'enough' AND role = 'retail'") == '230',
    'each is in the audit, with its reason',
)
console.press(Keys.ENTER)
ok(console.wait(lambda: not console.find('dialog') and len(rows()) == 1), 'the list is up to date', console.text())

# --- what breaks off goes on, too
psql("SELECT sf_redrive_many(state_machine => 'many', status => 'ABORTED', max => 60)", 'retail')
console.go('#/executions?state_machine=many')
console.wait(lambda: len(rows()) == 50)
console.run(
    """const ask = window.fetch; let pages = 0; window.fetch = (path, how) =>
    String(path).endsWith('/act_on_matches') && ++pages === 2 ? Promise.reject(new TypeError('gone')) : ask(path,
        how);"""
)
ask()
ok(dialog_has('Stop: 61'), 'the count leaves out what the action is not for', console.text('dialog'))
ok('170 executions' in console.text('dialog'), '... and says how many', console.text('dialog'))
console.tab_to("return document.activeElement.type === 'submit'", 'the button')
console.press(Keys.ENTER)
ok(dialog_has('The server cannot be reached'), 'the server is gone', console.text('dialog'))
console.click('Go on', 'dialog')
ok(dialog_has('61 executions / 61'), '... and it goes on from there', console.text('dialog'))
console.wait(lambda: console.button('Close', 'dialog') is not None)
console.click('Close', 'dialog')
console.is_quiet('400 executions')
console.close()
