"""A restart of the database under pages that are open: what they say, and that they come back by themselves.

    restart.py URL FOLDER DATA_DIRECTORY LOG
"""
import subprocess
import sys
import time

from browser import Console, ok, psql

console = Console(sys.argv[1], sys.argv[2])
DATA, LOG = sys.argv[3:5]
SAID = "return document.getElementById('said').textContent"


def server(what, *how):
    """Stop or start the database."""
    subprocess.run(['pg_ctl', '-D', DATA, '-l', LOG, '-w', what, *how], check=True, stdout=subprocess.DEVNULL)


def stop():
    """Stop the database as a restart does."""
    server('stop', '-m', 'fast')


def start():
    """Start the database; nobody touches the page."""
    server('start')
    return time.time()


ok(console.sign_in('retail', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)
console.go('#/execution/nightly%3A20250205')
console.wait(lambda: console.find('.graph'))
stop()
ok(
    console.has('The database is down since', '#trouble'),
    'the page says that the database is down, and since when',
    console.text('body'),
)
ok(
    console.run("return !Number.isNaN(+new Date(document.querySelector('#trouble time').getAttribute('datetime')))"),
    '... as a time',
)
ok(
    'You stay signed in' in console.text('#trouble') and 'What it shows is of' in console.text('#trouble'),
    '... that one stays signed in, and of when the page is',
    console.text('#trouble'),
)
ok(console.find('.graph') and 'nightly:20250205' in console.text('h1'), 'the page is still there')
ok(console.wait(lambda: 'The database is down' in console.run(SAID)), 'it is said aloud', console.run(SAID))
ok(console.wait(lambda: console.text('#live') == 'Not reached'), 'the page is not live', console.text('#live'))
for dark in (False, True):
    console.view(1280, dark)
    console.picture('down', 1280, dark)
console.view(1280, False)
console.click('Redrive…', '.title')
ok(console.has('it is down since', 'dialog'), 'a question that needs the database says so, too', console.text('body'))
console.click('Close', 'dialog')
console.driver.refresh()
ok(
    console.has('The database is down since', '#trouble') and not console.find('input[name=role]'),
    'a page that is loaded anew waits as well',
    console.text('body'),
)
ok(console.find('[data-loading]'), '... and is empty meanwhile')
console.run("location.hash = '#/executions?labels=%7Bbroken'")
ok(
    console.has('is no JSON') and console.text('#live') == 'Not reached',
    'a page that asks for nothing tells its own error',
    console.text(),
)
ok(
    'The database is down since' in console.text('#trouble'),
    '... and not that the database is back',
    console.text('#trouble'),
)
console.run("location.hash = '#/execution/nightly%3A20250205'")
ok(console.wait(lambda: console.find('[data-loading]')), '... nor does the next page know more', console.text())
begun = start()
ok(
    console.wait(lambda: console.find('.graph') and console.text('#trouble') == ''),
    'when the database is back the page comes back by itself',
    console.text('body'),
)
print(f'# after {time.time() - begun:.1f} s')
ok(
    'nightly:20250205' in console.text('h1') and console.run('return location.hash').endswith('nightly%3A20250205'),
    '... the same page',
)
ok(
    console.wait(lambda: console.text('#live') == 'Live' and 'The database is back' in console.run(SAID)),
    '... which is live again, and says so',
    console.run(SAID),
)
console.click('Redrive…', '.title')
ok(console.has('will run', 'dialog'), 'the session acts as before', console.text('dialog'))
console.click('Cancel', 'dialog')

# --- what changed while the database was down is seen; nothing that is typed is lost
console.go('#/machine/order?tab=try')
console.run("document.querySelector('textarea[name=input]').value = '{\"typed\": 1}'")
stop()
console.has('The database is down since', '#trouble')
start()
ok(console.wait(lambda: console.text('#trouble') == ''), 'the bar goes after another restart')
ok(
    console.run("return document.querySelector('textarea[name=input]').value") == '{"typed": 1}',
    '... and what was typed is still there',
)

# --- a role that was locked out meanwhile is signed out, and told why
stop()
console.has('The database is down since', '#trouble')
start()
psql("ALTER ROLE retail NOLOGIN")
ok(
    console.wait(lambda: console.find('input[name=role]')) and 'The session has ended' in console.text(),
    'a role that may not log in any more is signed out',
    console.text(),
)
psql("ALTER ROLE retail LOGIN")
console.close()
