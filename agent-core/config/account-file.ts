/** Sign-ins at providers: `auth.json` of the home, in the format of the original Hermes Agent. Values of others stay in it. */
import * as z from "zod";
import { attempt } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { readTextSync } from "../platform/text-file.ts";
import { ACCOUNT, accountFile, type Environment } from "./home.ts";
import { replaceFile } from "./home-file.ts";

const VERSION = 1;

const accountSchema = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().optional(),
  /** ISO time. */
  expires_at: z.string().optional(),
  inference_base_url: z.url().optional().catch(undefined),
  portal_base_url: z.url().optional().catch(undefined),
});
export type Account = z.infer<typeof accountSchema>;

const fileSchema = z.looseObject({ providers: z.record(z.string(), z.unknown()).catch({}) });

/** Variables that the sign-ins of the home stand for. A variable that is set otherwise wins. */
export function accountVariables(home: string): Environment {
  const nous = readAccount(home, "nous");
  if (nous === undefined) return {};
  return {
    NOUS_API_KEY: `${ACCOUNT}${home}`,
    ...(nous.inference_base_url !== undefined && { NOUS_BASE_URL: nous.inference_base_url }),
  };
}

/** Undefined without a usable sign-in. */
export function readAccount(home: string, provider: string): Account | undefined {
  return accountSchema.safeParse(readProviders(home)[provider]).data;
}

/**
 * Changes the sign-in under the lock of the file: `change` gets the present one, and gives the new one or undefined, which
 * removes it. Rejects when `change` does, and when writing fails.
 */
export async function changeAccount(
  home: string,
  provider: string,
  change: (account: Account | undefined) => Promise<Account | undefined>,
): Promise<Account | undefined> {
  makeFolder(home, 0o700);
  const path = accountFile(home);
  return withLock(`${path}.lock`, async () => {
    const account = await change(readAccount(home, provider));
    const { [provider]: _, ...others } = readProviders(home);
    const providers = account === undefined ? others : { ...others, [provider]: account };
    const file = { version: VERSION, ...readAll(home), providers };
    await replaceFile(path, `${JSON.stringify(file, undefined, 2)}\n`);
    return account;
  });
}

function readProviders(home: string): Readonly<Record<string, unknown>> {
  return readAll(home)?.providers ?? {};
}

function readAll(home: string): z.infer<typeof fileSchema> | undefined {
  // Without a file, or with one that this user may not read, nobody is signed in.
  return attempt(() => fileSchema.safeParse(parseJson(readTextSync(accountFile(home)))).data);
}
