"""axe-core on each page, in light and dark, in a wide and in a narrow window.

    axe.py URL FOLDER AXE
"""
import os
import sys

from browser import Console, ok
from large import make_large

console = Console(sys.argv[1], sys.argv[2])
with open(sys.argv[3], encoding='utf-8') as file:
    AXE = file.read()
PAGES = {
    'tonight': '#/tonight',
    'executions': '#/executions',
    'an execution': '#/execution/nightly%3A20250205',
    'jobs': '#/execution/nightly%3A20250205?tab=jobs',
    'payloads': '#/execution/nightly%3A20250205?tab=payloads',
    'events': '#/execution/nightly%3A20250205?tab=events',
    'machines': '#/machines',
    'a machine': '#/machine/order',
    'versions': '#/machine/order?tab=versions',
    'try': '#/machine/order?tab=try',
    'times': '#/machine/nightly?tab=times',
    'schedules': '#/schedules?name=nightly-0200',
    'rules': '#/rules',
    'activities': '#/activities',
    'inbox': '#/inbox',
    'alerts': '#/alerts',
    'health': '#/health',
    'a comparison': '#/compare/nightly%3A20250205',
    'last runs': '#/machine/nightly?tab=runs',
    'a net of 60 jobs': '#/execution/net60%3Ax',
    'a machine of 300 states': '#/machine/states300',
}


def check(what):
    """Assert that axe finds nothing in the page that is shown."""
    found = console.violations(AXE)
    ok(found == [], f'axe finds nothing: {what}', '\n'.join(found))


make_large()
console.driver.get(console.url)
console.wait(lambda: console.find('input[name=role]'))
for dark in (False, True):
    console.view(1280, dark)
    check(f"sign in, {'dark' if dark else 'light'}")
ok(console.sign_in('retail', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)
for width, dark in ((1280, False), (1280, True), (400, False), (400, True)):
    console.view(width, dark)
    for page, address in PAGES.items():
        console.go(address)
        if 'net' in page or '300' in page:
            console.wait(lambda: console.find('.graph-view.large .graph-overview'))
        check(f"{page}, {width} pixels, {'dark' if dark else 'light'}")
for words, page in (('Redrive…', 'an execution'), ('Start…', 'a machine')):
    for dark in (False, True):
        console.view(1280, dark)
        console.go(PAGES[page])
        console.click(words, '.title')
        console.wait(lambda: console.find('dialog'))
        check(f"the dialog {words}, {'dark' if dark else 'light'}")
        console.click('Cancel', 'dialog')
console.close()
