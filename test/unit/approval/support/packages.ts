/** Installed packages of a project that is not there: their folder lies elsewhere, as behind a link. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolvePath } from "../../../../agent-core/platform/paths.ts";

/** Programs of packages that the corpora call. */
const PROGRAMS =
  "tsc vitest jest eslint prettier biome playwright tsup stylelint ng nuxt astro next vite webpack cspell tailwindcss turbo nx mocha";

/** `resolve` for a project in `root` (absolute) where these programs are installed. */
export function withPackages(root: string, resolve = resolvePath): typeof resolvePath {
  const folder = mkdtempSync(join(tmpdir(), "hermes-packages-"));
  mkdirSync(join(folder, ".bin"));
  for (const name of PROGRAMS.split(" ")) writeFileSync(join(folder, ".bin", name), "#!/bin/sh\n", { mode: 0o755 });
  const packages = `${root}/node_modules/`;
  return (path) => (path.startsWith(packages) ? join(folder, path.slice(packages.length)) : resolve(path));
}
