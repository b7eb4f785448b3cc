/** Keys and sign-ins of providers, asked for in a terminal. */
import { changeAccount, readAccount } from "../config/account-file.ts";
import { ACCOUNT, type Environment, homeFolder } from "../config/home.ts";
import { setHomeVariable } from "../config/home-file.ts";
import { messageOf, UsageError } from "../platform/errors.ts";
import { signInTo } from "../providers/accounts/sign-in.ts";
import { checkKey } from "../providers/catalogue/check-key.ts";
import { ANY_KEY, type Deployment, deployments } from "../providers/deployments.ts";
import type { Dialog } from "./terminal-dialog.ts";

/** A provider that takes a key. `source`: place of the key in words; undefined without one. */
export type KeyState = { readonly name: string; readonly title: string; readonly source: string | undefined };

/** `environment`: with the variables of the home. `process`: without them. */
export function keyStates(environment: Environment, ofProcess: Environment): readonly KeyState[] {
  return takers().map(({ name, title, keyVariable = ANY_KEY }) => {
    const key = environment[keyVariable]?.trim();
    const own = ofProcess[keyVariable]?.trim()
      ? `the environment (${keyVariable})`
      : `the home's .env (${keyVariable})`;
    return { name, title, source: key && (key.startsWith(ACCOUNT) ? "a sign-in" : own) };
  });
}

/** Asks the provider whether the stored key or sign-in works. One line, without a final dot. */
export async function keyProblem(name: string, environment: Environment): Promise<string | undefined> {
  const provider = taker(name);
  const { keyVariable = ANY_KEY, urlVariable } = provider;
  const baseUrl = (urlVariable && environment[urlVariable]) || provider.baseUrl;
  if (baseUrl === undefined) return undefined;
  const check = await checkKey(provider, { provider: name, baseUrl, apiKey: environment[keyVariable] });
  return check.ok ? undefined : check.fault.message;
}

/** Asks for a sign-in or a key, and stores what works. False when the user gave up. Throws a UsageError for an unknown name. */
export async function addKey(name: string, environment: Environment, dialog: Dialog): Promise<boolean> {
  const provider = taker(name);
  const way = await askWay(provider, dialog);
  if (way === undefined) return false;
  if (way === "sign-in") return signIn(provider, environment, dialog);
  if (provider.keyPage !== undefined) dialog.say(`Create a key at ${provider.keyPage}`);
  const key = await dialog.askSecret(`Key for ${provider.title} (hidden): `);
  if (!key) return false;
  const { keyVariable = ANY_KEY } = provider;
  const problem = await keyProblem(name, { ...environment, [keyVariable]: key });
  if (problem !== undefined) {
    dialog.say(problem);
    const anyway = await dialog.ask("Store it anyway? [y/N] ");
    if (anyway === undefined || !/^y/i.test(anyway)) return false;
  }
  await setHomeVariable(homeFolder(environment), keyVariable, key);
  return true;
}

/** Asks where a provider offers both. Undefined after the end of the input. */
export async function askWay({ title, hasSignIn }: Deployment, dialog: Dialog): Promise<"sign-in" | "key" | undefined> {
  if (hasSignIn !== true) return "key";
  const answer = await dialog.ask(`Sign in to ${title} in a browser? [Y/n] (n: enter a key) `);
  if (answer === undefined) return undefined;
  return /^n/i.test(answer) ? "key" : "sign-in";
}

/** Removes the key or sign-in from the home. False when the home has none. */
export async function removeKey(name: string, environment: Environment): Promise<boolean> {
  const { keyVariable = ANY_KEY } = taker(name);
  const home = homeFolder(environment);
  const hasAccount = readAccount(home, name) !== undefined;
  if (hasAccount) await changeAccount(home, name, async () => undefined);
  const hasKey = Boolean(environment[keyVariable]?.trim()) && environment[keyVariable]?.startsWith(ACCOUNT) !== true;
  if (hasKey) await setHomeVariable(home, keyVariable, undefined);
  return hasAccount || hasKey;
}

/** Signs in at a provider that offers it. False after a failure, whose reason is said. */
export async function signIn({ name, title }: Deployment, environment: Environment, dialog: Dialog): Promise<boolean> {
  const { signal } = new AbortController(); // Ctrl+C ends the process
  const open = async (page: string, code?: string): Promise<void> =>
    dialog.say(code === undefined ? `Open ${page}` : `Open ${page}\nand confirm the code ${code}. Waiting …`);
  const paste = async (): Promise<string> => {
    const typed = await dialog.ask("If the browser is on another machine, paste the address of its last page here: ");
    return typed || new Promise<never>(() => undefined);
  };
  try {
    await signInTo(name, { home: homeFolder(environment), environment, open, paste, signal });
    dialog.say(`You are signed in to ${title}.`);
    return true;
  } catch (error) {
    dialog.say(`Could not sign in to ${title}: ${messageOf(error)}.`);
    return false;
  }
}

function takers(): readonly Deployment[] {
  return deployments.filter(({ keyVariable }) => keyVariable !== undefined);
}

function taker(name: string): Deployment {
  const found = takers().find((deployment) => deployment.name === name.toLowerCase());
  if (found !== undefined) return found;
  const names = takers().map((deployment) => deployment.name);
  throw new UsageError(`There is no provider ${JSON.stringify(name)} that takes a key. There are ${names.join(", ")}.`);
}
