/** Texts, numbers and dates of the panel in the language of VS Code. The English text is the key, and the fallback. */

/** Element of the page with the translations, as the host wrote it. */
const ELEMENT = "texts";

/** As much of the page as this module reads. */
type Page = {
  readonly documentElement: { readonly lang: string };
  getElementById(id: string): { readonly textContent: string | null } | null;
};

const page = (globalThis as { readonly document?: Page }).document; // unit tests have none

/** Language of VS Code, for numbers and dates. */
export const language = page?.documentElement.lang || "en";

// Read with the first import: constants of other modules are translated too.
const texts: Readonly<Record<string, string>> = JSON.parse(page?.getElementById(ELEMENT)?.textContent ?? "{}");

/** Translation of `text`, with `values` for `{0}`, `{1}` and so on. */
export function t(text: string, ...values: readonly (string | number)[]): string {
  return (texts[text] ?? text).replaceAll(/\{(\d+)\}/g, (hole, index) => String(values[Number(index)] ?? hole));
}

/** `1,234` in English. `digits`: after the decimal point. */
export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
