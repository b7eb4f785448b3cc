/** One browser for a whole run of panel tests. */
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { chromiumArguments, ensureChromium } from "../../scripts/system-programs.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address at which playwright connects to the browser. */
    readonly browserEndpoint: string;
  }
}

/** Vitest calls this before the first test file, and the result after the last one. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await chromium.launchServer({ executablePath: await ensureChromium(), args: [...chromiumArguments] });
  provide("browserEndpoint", server.wsEndpoint());
  return () => server.close();
}
