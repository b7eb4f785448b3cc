/** package.json and the texts of the code, as VS Code reads them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../../scripts/project.ts";

/** package.json with the texts of its keys. `language`: of package.nls.LANGUAGE.json; English by default. Texts without a key in that file are English. */
export function readManifest<Manifest>(language = "en"): Manifest {
  const english = readTexts("package.nls.json");
  const texts = language === "en" ? english : { ...english, ...readTexts(`package.nls.${language}.json`) };
  const json = readFileSync(join(projectFolder, "package.json"), "utf8");
  return JSON.parse(json, (_, value: unknown) => {
    const key = typeof value === "string" ? /^%(.+)%$/.exec(value)?.[1] : undefined;
    return key === undefined ? value : texts[key];
  });
}

/** Translations of the texts in the code. */
export function readBundle(language: string): Readonly<Record<string, string>> {
  return readTexts(join("l10n", `bundle.l10n.${language}.json`));
}

function readTexts(file: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(join(projectFolder, file), "utf8"));
}
