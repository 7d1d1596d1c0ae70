"""The console in German and Japanese: chosen by the browser's language or by the reader, no text left in English, dates
and numbers as the reader writes them, and axe-core.

    language.py URL FOLDER AXE
"""
import json
import sys
import urllib.request

from selenium.webdriver.common.keys import Keys

from browser import Console, ok, psql

with open(sys.argv[3], encoding='utf-8') as file:
    AXE = file.read()
PAGES = {
    'tonight': '#/tonight',
    'executions': '#/executions',
    'an execution': '#/execution/nightly%3A20250205',
    'jobs': '#/execution/nightly%3A20250205?tab=jobs',
    'events': '#/execution/nightly%3A20250205?tab=events',
    'who did what': '#/execution/nightly%3A20250205?tab=done',
    'machines': '#/machines',
    'versions': '#/machine/order?tab=versions',
    'try': '#/machine/order?tab=try',
    'times': '#/machine/nightly?tab=times',
    'last runs': '#/machine/nightly?tab=runs',
    'schedules': '#/schedules?name=nightly-0200',
    'rules': '#/rules',
    'activities': '#/activities',
    'inbox': '#/inbox',
    'a task': '#/task/0',
    'alerts': '#/alerts',
    'health': '#/health',
    'a comparison': '#/compare/nightly%3A20250205',
}
# The texts of elements and of attributes that are read aloud, but for what comes from the database.
SHOWN = """
const texts = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode())
  if (!walker.currentNode.parentElement.closest('bdi, code, pre, textarea, svg, [lang]:not(html), .data'))
    texts.push(walker.currentNode.data.trim());
for (const e of document.querySelectorAll('main [aria-label], main [placeholder], #top [aria-label]:not([lang])'))
  texts.push(e.getAttribute('aria-label') ?? e.getAttribute('placeholder'));
return [...new Set(texts)].filter(t => t);
"""
# What the database itself calls so: states of workers and schedules, items of health, actions of the audit.
OF_DATABASE = {'start', 'redrive', 'stop', 'hold', 'running', 'none', 'mark', 'release', 'acknowledge'}


def catalogue(language):
    """The texts of a language, as the gateway serves them."""
    lines = urllib.request.urlopen(f'{sys.argv[1]}language/{language}.js').read().decode().split('\n')[2:-2]
    pairs = [
        line.strip().rstrip(',')[1:-1].replace("\\'", "'").replace('\\\\', '\\').split("': '", 1) for line in lines
    ]
    return {key.strip(): text.strip() for key, text in pairs}


def left_in_english(console, texts):
    """The texts of the page that stand in English in the catalogue, and otherwise in this language."""
    english = {form for key, text in texts.items() if text != key for form in key.split('|') if '{' not in form}
    own = {form for text in texts.values() for form in text.split('|')}
    return [t for t in console.run(SHOWN) if t in english - own - OF_DATABASE]


def check(console, texts, language):
    """Look at all pages."""
    english = {}
    for what, place in PAGES.items():
        console.go(place)
        console.wait(lambda: not console.find('[data-loading]'))
        found = left_in_english(console, texts)
        if found:
            english[what] = found
    ok(english == {}, f'no text is left in English: {language}', json.dumps(english, ensure_ascii=False))


psql(
    """SELECT sf_create_state_machine('quick', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}');
    SELECT count(sf_start('quick', '{}', n::text)) FROM generate_series(1, 1234) n""",
    'retail',
)

# --- by the browser's language
german = catalogue('de')
console = Console(sys.argv[1], sys.argv[2], 'de-AT')
console.driver.get(sys.argv[1])
ok(
    console.wait(lambda: console.button('Anmelden') is not None),
    'a browser in German signs in in German',
    console.text(),
)
ok(console.run('return document.documentElement.lang') == 'de', '... which screen readers are told')
console.is_accessible(AXE, 'the sign-in in German')
ok(console.sign_in('retail', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)
ok(console.has('Heute Nacht', 'h1'), 'the night is one of German', console.text('h1'))
ok('Ausführungen' in console.text('#menu'), '... and so is the menu', console.text('#menu'))
console.is_accessible(AXE, 'the night in German')
check(console, german, 'German')
# the words for what the database names: of the tasks under way, of alerts, of deadlines, of diagnostics
NAMES = {
    'TASK': ['queued', 'waiting', 'running', 'answered', 'retrying', 'held', 'dead'],
    'ALERT': [
        'failed',
        'timed_out',
        'failed_again',
        'slow_task',
        'dead_letter',
        'no_poller',
        'archive_behind',
        'overdue',
        'missed_run',
        'task_due',
        'late',
        'will_be_late',
        'never_started',
        'unreceived_event',
        'unknown_owner',
    ],
    'DEADLINE': ['late', 'will_be_late', 'never_started'],
    'SEVERITY': ['ERROR', 'WARNING'],
}
found = console.of_module(
    'element/statuses.js',
    f"""Object.entries({json.dumps(NAMES)}).flatMap(([list, names]) =>
    names.filter(name => m.toneOf(m[list], name) === 'unknown' || m.statusWord(m[list], name) === name ||
      m.statusWord(m[list], name) === name.replaceAll('_', ' ')).map(name => `${{list}} ${{name}}`))""",
)
ok(found == [], 'each kind of alerts has a German word, and so have other names of the database', found)
LOTS = console.run("return (1234).toLocaleString('de-AT')").replace('\u202f', '\xa0')
console.go('#/executions?state_machine=quick')
console.wait(lambda: len(console.find('tbody tr')) == 50)
console.click('Alle, auf die der Filter passt…')
ok(
    console.wait(lambda: f'{LOTS} Ausführungen durchgesehen.' in console.text('dialog').replace('\u202f', '\xa0')),
    'numbers have the groups of the reader',
    console.text('dialog'),
)
console.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
found = console.of_module('night/night.js', "[m.upTo(999), m.upTo(1000), (1000).toLocaleString('de-AT')]")
ok(found[:2] == ['999', f'{found[2]}+'], '... also the one up to which executions are counted', found)
console.go('#/execution/nightly%3A20250205')
ok(
    console.run(
        """return [...document.querySelectorAll('main dd, main small, main td')].some(e =>
        /\\d,\\d s/.test(e.innerText))
    || ![...document.querySelectorAll('main')].some(e => /\\d\\.\\d s/.test(e.innerText))"""
    ),
    '... and the comma',
    console.text(),
)
told = console.run("return document.querySelector('main dl time').textContent")
ok(
    told
    == console.run(
        """const t = new Date(document.querySelector('main dl time').dateTime); const now = new Date();
    return new Intl.DateTimeFormat('de-AT', t.toDateString() === now.toDateString() ? { hour: '2-digit',
        minute: '2-digit', second: '2-digit' } :
    { day: 'numeric', month: 'short', ...(t.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' }),
        hour: '2-digit', minute: '2-digit' }).format(t)"""
    ),
    'dates are written as in Austria',
    told,
)
console.picture('german', 1280, False)
console.go('#/compare/nightly%3A20250205')
console.find('label.tick input')[0].click()
ok(
    console.wait(
        lambda: console.run(
            "return [...document.querySelectorAll('td')].some(e => e.dataset.label === arguments[0] && "
            "e.innerText !== '–')",
            german['Usual'],
        )
    ),
    'what is usual has a column',
    console.text(),
)
ok(
    console.run(
        "return [...document.querySelectorAll('td small')].filter(e => e.textContent.includes('üblich ')).length"
    )
    == 0,
    '... and is not said again beside each duration',
    console.text(),
)

# --- by the reader, with the keyboard
console.go('#/executions')
console.run("document.querySelector('#menu a').focus()")
console.tab_to("return document.activeElement.getAttribute('aria-label') === 'Language'", 'the choice of the language')
console.press(Keys.ARROW_DOWN)
ok(
    console.wait(lambda: console.run('return document.documentElement.lang') == 'ja' and console.text('h1') == '実行'),
    'the reader chooses Japanese',
    console.text('h1'),
)
ok(console.wait(lambda: console.run('return location.hash') == '#/executions'), '... and stays on the page, signed in')
console.is_accessible(AXE, 'executions in Japanese')
check(console, catalogue('ja'), 'Japanese')
console.go('#/tonight')
console.is_accessible(AXE, 'the night in Japanese')
console.click('失敗', '.tiles') if console.button('失敗', '.tiles') else console.run(
    "document.querySelector('.tiles button').click()"
)
ok(console.run("return document.getElementById('h-failed') !== null"), 'sections can be jumped to in each language')
console.picture('japanese', 1280, False)
console.driver.refresh()
ok(console.wait(lambda: console.text('h1') == '今夜'), 'the choice stays', console.text('h1'))
console.run("const s = document.querySelector('#top select'); s.value = 'en'; s.dispatchEvent(new Event('change'))")
ok(console.has('Tonight', 'h1'), 'back to English', console.text('h1'))
console.is_quiet()
console.close()

# --- a language that is not there
console = Console(sys.argv[1], sys.argv[2], 'fr')
console.driver.get(sys.argv[1])
ok(console.wait(lambda: console.button('Sign in') is not None), 'others read English', console.text())
console.close()
