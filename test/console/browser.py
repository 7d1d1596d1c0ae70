"""A browser for the tests of the console, and what they say: lines of TAP, which the Perl scripts hand on.

Chromium runs without a window, by python3-selenium. Window sizes and the dark scheme are emulated.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

COUNT = 0
AXE_CHECK = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ['violations'] }).then(found => done(found.violations.map(v =>
  `${v.id} (${v.impact}): ${v.help}\\n` + v.nodes.slice(0, 3).map(n => `  ${n.target}: ${n.html.slice(0, 160)}`)
      .join('\\n'))), e => done([String(e)]));
"""
# Go to an address: over when the page has noticed. One that is there already is not gone to.
GO = """
const [address, done] = arguments, before = location.hash;
window.addEventListener('hashchange', () => done(), { once: true });
location.hash = address;
if (location.hash === before) done();
"""
DRAWN = "return !document.querySelector('[data-loading]') && Boolean(document.querySelector('main h1'))"
# Counts requests until what they have brought is drawn; one that waits for changes is always under way.
COUNT_REQUESTS = """
window.requestsUnderWay = 0;
const send = window.fetch;
window.fetch = async (path, how) => {
  if (String(path).endsWith('/poll')) return send(path, how);
  window.requestsUnderWay++;
  try { return await send(path, how); }
  finally { setTimeout(() => requestAnimationFrame(() => setTimeout(() => window.requestsUnderWay--))); }
};
"""
# Answers to some requests wait until release() lets them come, or break off; a request is named by its action and by
# a text that its body has.
HOLD = """
const ask = window.fetch;
window.toHold = [];
window.toBreak = null;
window.held = [];
window.fetch = async (path, how) => {
  if (window.toBreak !== null && String(path).endsWith(`/${window.toBreak}`)) throw new TypeError('broken off');
  const answer = await ask(path, how);
  const wanted = window.toHold.findIndex(([action, part]) =>
    String(path).endsWith(`/${action}`) && String(how?.body ?? '').includes(part));
  if (wanted < 0) return answer;
  const body = await answer.text();
  const isBroken = await new Promise(go => window.held.push(go));
  if (isBroken) throw new TypeError('broken off');
  return { ok: answer.ok, status: answer.status, json: async () => JSON.parse(body) };
};
"""


def ok(passed, what, why=''):
    """Say whether something is as it should be."""
    global COUNT
    COUNT += 1
    print(f"{'ok' if passed else 'not ok'} {COUNT} - {what}", flush=True)
    if not passed and why != '':
        print('# ' + str(why).replace('\n', '\n# '), flush=True)
    return passed


def psql(sql, role='postgres'):
    """Run SQL on the server that the environment names."""
    done = subprocess.run(
        ['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-U', role, '-d', 'postgres', '-c', sql],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f'psql: {done.stderr}')
    return done.stdout.strip()


class Console:
    """The console in a browser."""

    def __init__(self, url, pictures=None, language='en-GB'):
        self.url = url
        self.pictures = pictures
        self.clicks = 0
        self.profile = tempfile.mkdtemp(prefix='sfflow-console-')
        options = webdriver.ChromeOptions()
        for argument in (
            '--headless=new',
            '--no-sandbox',
            '--disable-dev-shm-usage',
            '--hide-scrollbars',
            '--window-size=1280,900',
            f'--user-data-dir={self.profile}',
            f'--lang={language}',
            '--no-proxy-server',
        ):
            options.add_argument(argument)
        options.add_experimental_option('prefs', {'intl.accept_languages': language})
        options.binary_location = shutil.which('chromium')
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
        self.driver = webdriver.Chrome(service=Service(shutil.which('chromedriver')), options=options)
        self.driver.set_script_timeout(120)
        self.driver.execute_cdp_cmd('Page.addScriptToEvaluateOnNewDocument', {'source': COUNT_REQUESTS})
        self.view(1280, False)

    def close(self):
        """End the browser."""
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def view(self, width, dark, height=900):
        """Emulate a window."""
        self.driver.execute_cdp_cmd(
            'Emulation.setDeviceMetricsOverride',
            {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': width < 500},
        )
        self.driver.execute_cdp_cmd(
            'Emulation.setEmulatedMedia',
            {'features': [{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}]},
        )

    def run(self, script, *arguments):
        """Run a script in the page, past its policy."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        """Find elements."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector='main'):
        """The text of the first element."""
        found = self.run('return document.querySelector(arguments[0])?.innerText', selector)
        return '' if found is None else found

    def wait(self, condition, seconds=120):
        """Wait for a condition; returns whether it came."""
        end = time.time() + seconds
        while True:
            try:
                if condition():
                    return True
            except Exception as problem:  # an element that was just replaced
                if time.time() > end:
                    print(f'# {problem}')
            if time.time() > end:
                return False
            time.sleep(0.05)

    def has(self, text, selector='main', seconds=120):
        """Wait for a text."""
        return self.wait(lambda: text in self.text(selector), seconds)

    def button(self, words, inside='body'):
        """Find a button or a link by its words."""
        return self.run(
            """return [...document.querySelector(arguments[1])?.querySelectorAll('button, a') ?? []]
            .find(e => e.innerText.trim() === arguments[0] && e.checkVisibility())""",
            words,
            inside,
        )

    def of_module(self, name, expression):
        """What an expression gives in which `m` is a module of the console, as JSON has it."""
        return self.driver.execute_async_script(
            f"""const done = arguments[0];
            import(new URL('{name}', document.baseURI)).then(m => done({expression})).catch(e => done(String(e)))"""
        )

    def click(self, words, inside='body'):
        """Click at a button or a link, and count it. One that is drawn anew meanwhile is looked for again."""
        if not self.wait(lambda: self.clicked(words, inside)):
            ok(False, f'there is something to click: {words}', self.text(inside))
            sys.exit(1)
        self.clicks += 1

    def clicked(self, words, inside):
        """Click at a button or a link, if it is there."""
        element = self.button(words, inside)
        if element is None:
            return False
        try:
            self.run("arguments[0].scrollIntoView({block: 'center'})", element)
            element.click()
        except StaleElementReferenceException:
            return False
        return True

    def go(self, address):
        """Go to a page by its address and wait until it is drawn.

        Where only what it asks for is another, the page shows what it had until the answer is there.
        """
        self.driver.execute_async_script(GO, address)
        return self.answered()

    def drawn(self):
        """Wait until the page has its data, a moment after something that may have it drawn anew."""
        time.sleep(0.05)
        return self.is_drawn()

    def is_drawn(self):
        """Wait until the page has its data."""
        return self.wait(lambda: self.run(DRAWN))

    def answered(self):
        """Wait until the page has the answers to all that it has asked for, and has drawn them."""
        return self.wait(lambda: self.run(DRAWN) and self.run('return window.requestsUnderWay === 0'))

    def hold_answers(self):
        """Prepare a page that was loaded for hold()."""
        self.run(HOLD)

    def hold(self, action, part=''):
        """Have the answers to some requests wait."""
        self.run("window.toHold = [[arguments[0], arguments[1]]]", action, part)

    def break_off(self, action):
        """Have all requests of an action break off, also those of later refreshes; None has them be answered again."""
        self.run("window.toBreak = arguments[0]", action)

    def held(self, number=1):
        """Wait until so many answers wait; it is an error if they do not come."""
        if not self.wait(lambda: self.run('return window.held.length') == number):
            ok(False, f"answers that wait: {number}", self.run('return [window.held.length, window.toHold]'))

    def release(self, broken=False):
        """Let the answers come that wait, or have them break off; over when the page has noticed."""
        self.driver.execute_async_script(
            """
            const [broken, done] = arguments;
            window.toHold = [];
            for (const go of window.held.splice(0)) go(broken);
            requestAnimationFrame(() => requestAnimationFrame(() => done()));""",
            broken,
        )

    def sign_in(self, role, password):
        """Sign in, as a person types."""
        self.driver.get(self.url)
        self.wait(lambda: self.find('input[name=role]'))
        self.find('input[name=role]')[0].send_keys(role)
        self.find('input[name=password]')[0].send_keys(password + Keys.ENTER)
        return self.wait(lambda: self.find('#menu a')) and self.drawn()

    def sign_out(self):
        """Sign out."""
        self.run("[...document.querySelectorAll('#top button')].find(b => b.textContent === 'Sign out').click()")
        return self.wait(lambda: self.find('input[name=role]'))

    def picture(self, name, width, dark):
        """Save what the window would show if it was as high as the page, if SFFLOW_PICTURES asks for pictures."""
        if self.pictures is None or not os.environ.get('SFFLOW_PICTURES'):
            return
        height = min(self.run('return document.documentElement.scrollHeight'), 3000)
        self.view(width, dark, max(height, 600))
        time.sleep(0.2)
        os.makedirs(self.pictures, exist_ok=True)
        self.driver.save_screenshot(os.path.join(self.pictures, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
        self.view(width, dark)

    def press(self, *keys):
        """Press keys, wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def tab_to(self, condition, what, most=90):
        """Press Tab until the focus is where a condition holds."""
        for _ in range(most):
            self.press(Keys.TAB)
            if self.run(condition):
                return
        ok(False, f'the Tab key leads to {what}', self.run('return document.activeElement.outerHTML.slice(0, 200)'))
        sys.exit(1)

    def tab_to_button(self, words):
        """Press Tab until the focus is at a button, a link or a summary with some words."""
        self.tab_to(
            f"return ['BUTTON', 'A', 'SUMMARY'].includes(document.activeElement.nodeName) && "
            f"document.activeElement.innerText.trim() === {json.dumps(words)}",
            words,
        )

    def tab_to_field(self, name):
        """Press Tab until the focus is in the field of a name."""
        self.tab_to(f"return document.activeElement.name === {json.dumps(name)}", name)

    def violations(self, axe):
        """What axe-core, of which the source is given, finds in the page that is shown: a text for each rule."""
        # Half a megabyte, which the page keeps until it is loaded anew.
        if not self.run('return Boolean(window.axe)'):
            self.run(axe)
        return self.driver.execute_async_script(AXE_CHECK)

    def is_accessible(self, axe, what):
        """Assert that axe-core finds nothing in the page that is shown."""
        found = self.violations(axe)
        return ok(found == [], f'axe-core has nothing to complain of in {what}', '\n'.join(found))

    def is_quiet(self, *provoked):
        """Assert that the browser's console has said nothing since the last call, but of answers that the
        test provokes:
        each is 'STATUS ACTION'."""
        said = [entry for entry in self.driver.get_log('browser') if entry['level'] in ('SEVERE', 'WARNING')]
        wrong = [f"{entry['level']} {entry['message']}" for entry in said if refused(entry['message']) not in provoked]
        return ok(wrong == [], 'the browser had nothing to complain of', '\n'.join(wrong))


def refused(message):
    """The status and the action of an answer of which the browser complains; None: it complains of something else."""
    found = re.search(
        r'/console/(?:api/)?(\w+) - Failed to load resource: the server responded with a status of (\d+)', message
    )
    return found and f'{found[2]} {found[1]}'
