// Texts in the reader's language: each stands in the code in English, and a catalogue per other language has what it is
// there (de.js, ja.js). test/lint/texts compares them with the code.

const LANGUAGE_KEY = 'sfflow-language';

// The languages that there are: the code and the name that its speakers give it.
export const LANGUAGES = [['en', 'English'], ['de', 'Deutsch'], ['ja', '日本語']];

// The language of a tag such as de-AT.
const base = tag => tag.toLowerCase().split('-')[0];

const hasCatalogue = code => LANGUAGES.some(([known]) => known === code);

// The language that was chosen here, else the first of the browser's that there is.
export const language = [localStorage.getItem(LANGUAGE_KEY), ...navigator.languages.map(base), 'en'].find(hasCatalogue);

// Dates and numbers are written as the reader's browser says for this language.
export const locale = navigator.languages.find(tag => base(tag) === language) ?? language;

const { default: catalogue } = language === 'en' ? { default: {} } : await import(`./${language}.js`);
const plurals = new Intl.PluralRules(language);
document.documentElement.lang = language;
document.querySelector('.skip-link').textContent = tr('Skip to the content');

// Choose a language; the page is loaded anew with it.
export function chooseLanguage(code) {
  localStorage.setItem(LANGUAGE_KEY, code);
  location.reload();
}

// Put values into a text.
function fillIn(pattern, values) {
  return pattern.replace(/\{(\d)\}/g, (_, n) => String(values[n] ?? ''));
}

// A text in the reader's language, with values in the places of {0}, {1}, …
export function tr(key, ...values) {
  return fillIn(catalogue[key] ?? key, values);
}

// A text that counts something: one form, or one for a single one and one for others, between "|".
export function trForm(key, n, ...values) {
  const forms = (catalogue[key] ?? key).split('|');
  return fillIn(plurals.select(n) === 'one' ? forms[0] : forms[forms.length - 1], values);
}
