import { afterEach, expect, test, vi } from "vitest";

type Texts = typeof import("../../../webview/texts.ts");

/** The module as it is in a page with these texts. The query gives each page a module of its own. */
async function pageWith(lang: string, texts: string | undefined, page: string): Promise<Texts> {
  vi.stubGlobal("document", {
    documentElement: { lang },
    getElementById: () => (texts === undefined ? null : { textContent: texts }),
  });
  const module: string = `../../../webview/texts.ts?${page}`;
  return (await import(/* @vite-ignore */ module)) as Texts;
}

afterEach(() => vi.unstubAllGlobals());

test("a text is translated, with its arguments in the order of the translation", async () => {
  const { t, formatNumber } = await pageWith("de", '{"{0} of {1}":"von {1}: {0}"}', "german");
  expect(t("{0} of {1}", 2, "a {0}")).toBe("von a {0}: 2");
  expect(t("No translation: {0}", 1)).toBe("No translation: 1");
  expect([formatNumber(1_234), formatNumber(0.5, 1)]).toEqual(["1.234", "0,5"]);
});

test("a page without translations is English, and a placeholder without argument stays", async () => {
  const { t, formatNumber } = await pageWith("en", undefined, "english");
  expect([t("{0} of {1}", 2), t("Stop"), formatNumber(1_234)]).toEqual(["2 of {1}", "Stop", "1,234"]);
});
