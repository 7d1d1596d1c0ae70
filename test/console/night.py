"""The morning after a night: find what failed, see its input, redrive it and watch it end. Then what a role without
rights sees, and actions on many executions at once.

    night.py URL
"""
import re
import sys

from selenium.webdriver.common.keys import Keys

from browser import Console, ok, psql

console = Console(sys.argv[1])
# Some stores have none: which is found first is a matter of turns.
NO_ADDRESS = re.compile(r'store \d+ has no address')
# Some have taken less than is shown, however busy the machine was.
psql(
    "UPDATE _sfflow.execution SET stopped_at = started_at + interval '20 ms' WHERE execution_id LIKE 'order:A-%' "
    "AND status = 1"
)

# --- the sign-in
console.driver.get(console.url)
console.wait(lambda: console.find('input[name=role]'))
console.find('input[name=role]')[0].send_keys('operator')
console.find('input[name=password]')[0].send_keys('wrong' + Keys.ENTER)
ok(console.wait(lambda: console.find('form [role=alert] .notice')), 'a wrong password is refused', console.text())
ok(console.sign_in('operator', 'operator-secret'), 'the right one is not', console.text())
ok(console.run('return document.cookie') == '', 'no script sees the cookie')

# --- the failure, in at most four clicks
console.clicks = 0
ok(console.has('nightly:20250205'), 'tonight shows the execution that failed', console.text())
ok(console.has('JOB-005') and console.has('terminal_is_valid'), '... in which job, and why', console.text())
console.click('nightly:20250205')
ok(console.has('reconciled', '.side'), 'one click shows the input of the job', console.text())
ok(console.has('check_violation', '.side'), '... and its error', console.text('.side'))
ok(
    console.run("return document.querySelector('.state[data-state=\"JOB-005\"]').getAttribute('class')").startswith(
        'state failure'
    ),
    'it is red in the picture',
)
psql("UPDATE shop.payment SET terminal = 'T0000117' WHERE terminal = 'T00O0117'", 'retail')
console.click('Redrive…', '.title')
ok(console.has('2 jobs will run', 'dialog'), 'the confirmation says what will run', console.text('dialog'))
ok(
    console.has('JOB-005', 'dialog') and console.has('JOB-006', 'dialog') and 'JOB-001' not in console.text('dialog'),
    '... by name',
    console.text('dialog'),
)
console.click('Redrive', 'dialog')
ok(console.has('Succeeded', '.title'), 'the page follows the execution to its end', console.text('.title'))
ok(console.clicks <= 4, f'that took {console.clicks} clicks')
ok(
    console.wait(
        lambda: console.run(
            "return document.querySelector('.state[data-state=\"JOB-006\"]').getAttribute('class')"
        ).startswith('state success')
    ),
    'the picture, too',
)
ok(
    console.wait(lambda: 'Succeeded' in console.run("return document.getElementById('said').textContent")),
    'a screen reader is told',
)
ok(
    psql("SELECT redrive_count FROM sf_executions WHERE execution_id = 'nightly:20250205'") == '1',
    'it was redriven once',
)
ok(
    psql(
        "SELECT DISTINCT role || ' ' || session_role FROM sf_audit WHERE execution_id = 'nightly:20250205' AND "
        "action = 'redrive'"
    )
    == 'operator operator',
    'the audit has the role that signed in',
)
console.go('#/tonight')
ok(
    console.wait(lambda: 'nightly:20250205' not in console.text('.fault') and console.find('.fault')),
    'tonight it is gone',
)

# --- the keyboard
console.go('#/execution/nightly%3A20250205')
console.run("document.querySelector('.state[data-state=\"JOB-002\"]').focus()")
console.driver.switch_to.active_element.send_keys(Keys.ENTER)
ok(console.has('JOB-002', '.side h2'), 'a state is chosen by the keyboard')
ok(console.run("return document.activeElement.dataset.state") == 'JOB-002', 'the focus stays')
console.run("document.getElementById('tab-timeline').focus()")
console.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
ok(console.wait(lambda: console.run("return document.activeElement.id") == 'tab-jobs'), 'arrow keys move between tabs')
ok(console.has('JOB-006', '[role=tabpanel]'), '... and choose them')

# --- what matters is not crowded out
console.go('#/tonight')
ok(
    console.has('invoices:february', '.fault') or 'invoices:february' in console.text(),
    'a Distributed Map that failed is there',
)
ok(not any('invoices/' in fault.text for fault in console.find('.fault')), '... and none of its items', console.text())
ok(console.wait(lambda: 'more of order' in console.text()), 'what runs of one machine is one row', console.text())
ok(
    any(NO_ADDRESS.search(fault.text) for fault in console.find('.fault')),
    '... but why an item of it failed',
    console.text(),
)
ok(
    'under 100 ms' in console.text() and not re.search(r'\b0 ms', console.text('main')),
    'nothing took no time',
    console.text(),
)
console.go('#/executions?name=')
ok(
    console.wait(lambda: console.find('tbody tr')) and 'invoices/' not in console.text('tbody'),
    'executions without the items of Maps',
    console.text('tbody'),
)
console.go('#/executions?items=1&status=FAILED&error=no_data_found')
ok(console.has('invoices/', 'tbody'), '... and with them', console.text())
console.go('#/execution/invoices%3Afebruary')
ok(
    console.wait(lambda: NO_ADDRESS.search(console.text('.notice.bad'))),
    'the page of a Map that failed tells why an item did',
    console.text(),
)
console.click('Redrive…', '.title')
ok(
    console.wait(lambda: re.search(r'(\d+) jobs will run:\s+\1 items of Every store', console.text('dialog'))),
    'the question counts the items that will run',
    console.text('dialog'),
)
console.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
console.wait(lambda: not console.find('dialog'))

# --- a question counts what the action will do, not all that are chosen
console.go('#/executions?state_machine=order')
console.wait(lambda: len(console.find('tbody tr')) > 20)
console.run("document.querySelector('thead input[type=checkbox]').click()")
running, ended, failed = psql(
    """SELECT count(*) FILTER (WHERE status = 'RUNNING') || ' ' || count(*) FILTER (WHERE status <> 'RUNNING') || ' ' ||
        count(*) FILTER (WHERE status = 'FAILED')
    FROM sf_executions WHERE state_machine = 'order'"""
).split()
console.click('Stop…', '.bulk')
ok(
    console.has(f'Stop {running} executions?', 'dialog')
    and console.has(f'{ended} chosen executions have ended', 'dialog'),
    'of executions of all statuses those that run can be stopped',
    console.text('dialog'),
)
console.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
console.wait(lambda: not console.find('dialog'))
console.click('Redrive…', '.bulk')
ok(
    console.has(f'Redrive {failed} executions?', 'dialog'),
    '... and those that have failed redriven',
    console.text('dialog'),
)
console.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
console.wait(lambda: not console.find('dialog'))
console.run("document.querySelector('thead input[type=checkbox]').click()")

# --- several at once
console.go('#/executions?state_machine=order&status=FAILED')
ok(console.wait(lambda: len(console.find('tbody tr')) == 7), 'what failed, by machine and status', console.text())
ok('There are not enough pieces in stock.' in console.text('tbody'), '... and why', console.text('tbody'))
console.run("document.querySelector('thead input[type=checkbox]').click()")
ok(console.has('7 executions chosen', '.bulk'), 'several are chosen', console.text('.bulk'))
console.click('Redrive…', '.bulk')
ok(console.has('Redrive 7 executions?', 'dialog'), 'the question names their number')
ok(
    'Only the Fail state is repeated' in console.text('dialog'),
    '... and says that it would be in vain',
    console.text('dialog'),
)
console.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
ok(console.wait(lambda: not console.find('dialog')), 'Escape ends it')
console.click('Redrive…', '.bulk')
console.click('Redrive', 'dialog')
ok(
    console.wait(
        lambda: psql("SELECT count(*) FROM sf_executions WHERE state_machine = 'order' AND redrive_count = 1") == '7'
    ),
    'they are redriven',
)
console.go('#/executions?status=RUNNING&state_machine=order')
ok(console.wait(lambda: len(console.find('tbody tr')) > 5), 'what runs')
console.run("document.querySelectorAll('tbody input[type=checkbox]')[0].click()")
console.click('Stop…', '.bulk')
console.wait(lambda: console.find('dialog input[name=reason]'))
console.find('dialog input[name=reason]')[0].send_keys('not today')
console.click('Stop', 'dialog')
ok(
    console.wait(lambda: psql("SELECT count(*) FROM sf_audit WHERE action = 'stop' AND reason = 'not today'") == '1'),
    'one is stopped, with the reason',
)
console.go('#/tonight')
console.click('Release…')
console.click('Release', 'dialog')
ok(console.wait(lambda: psql('SELECT count(*) FROM sf_holds') == '0'), 'what was held is released')
ok(
    console.wait(
        lambda: psql("SELECT count(*) FROM sf_executions WHERE status = 'SUCCEEDED' AND execution_id LIKE 'order:B-%'")
        == '1'
    ),
    '... and goes on',
)

# --- live: something that another session does shows without a click
console.go('#/executions?state_machine=order&name=Z')
psql("""SELECT sf_start('order', '{"order": "Z-1", "article": "lamp", "pieces": 1}')""", 'retail')
ok(console.has('order:Z-1'), 'what another session starts appears by itself')
console.is_quiet('401 login')

# --- a role without rights
console.sign_out()
ok(console.sign_in('guest', 'guest-secret'), 'a role without any right signs in')
ok(
    console.has('Your role may read no state machine')
    and console.has('Nothing has failed')
    and console.has('Nothing runs'),
    'it sees nothing tonight',
    console.text(),
)
ok('order' not in console.text() and 'nightly' not in console.text(), '... no name either', console.text())
console.go('#/executions')
ok(console.has('There is no execution that you may see'), '... no execution')
console.go('#/machines')
ok(console.has('There is no machine that you may read'), '... no machine')
console.go('#/execution/nightly%3A20250205')
ok(console.has('does not exist'), '... nor one that it names', console.text())
console.go('#/alerts')
ok(console.has('Nothing to look at'), '... no alert')
for page in ('schedules', 'rules', 'activities', 'health'):
    console.go(f'#/{page}')
    ok(
        not any(name in console.text() for name in ('order', 'nightly', 'invoices')),
        f'... and no name at {page}',
        console.text(),
    )
console.sign_out()
ok(
    console.run(
        "return fetch('/console/api/executions', {method: 'POST', headers: {'Content-Type': 'application/json'}, "
        "body: '{}'}).then(r => r.status)"
    )
    in (401, 403),
    'without a session nothing is answered',
)
console.close()
