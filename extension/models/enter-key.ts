/** Asks for a key, tests it, stores it where it lasts, and selects a model that it can use. */
import { methods } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { isLoopback } from "../../agent-core/platform/http/network-settings.ts";
import { call } from "../../agent-core/protocol/method.ts";
import {
  type HermesHomeModel,
  type HermesKeyCheck,
  type HermesProvider,
  settingsMethods,
} from "../../agent-core/protocol/settings.ts";
import { showError, withProgress } from "../notifications.ts";
import type { Services } from "../services.ts";
import { closeSetup, providersOf } from "./first-run.ts";
import { askKeyPlace } from "./key-store.ts";

type Entered = { readonly key: string; readonly check: HermesKeyCheck };

/** A provider that takes a key, as the user knows it. */
type KeyTaker = HermesProvider & {
  /** Address of an endpoint that is set up. */
  readonly baseUrl?: string;
  readonly keyFile: string;
};

/** Length of the list of an endpoint's models. The model picker has all of them. */
const CHOICES_SHOWN = 200;
/** Time for which the status bar shows a result. */
const MESSAGE_MS = 8_000;

/** `keyOnly`: the provider is set up, and lacks only its key. Without a provider the user is asked for one. */
type Wanted = { readonly provider?: string; readonly keyOnly?: boolean };

/** True when a key was stored. Ends without a message when the user cancels. */
export async function enterKey(services: Services, { provider, keyOnly }: Wanted = {}): Promise<boolean> {
  const { providers, keyFile } = await providersOf(services.worker);
  const chosen = providers.find(({ name }) => name === provider) ?? (await pickProvider(providers));
  if (chosen === undefined) return false;
  const { needsAddress, configured } = chosen;
  if (!needsAddress) return enterKeyOf(services, { ...chosen, keyFile });
  if (keyOnly !== true || configured === undefined) return setUpEndpoint(services, { ...chosen, keyFile });
  return enterKeyOf(services, { ...chosen, ...configured, keyFile, needsAddress: false });
}

/** Asks for the key of a provider whose address is known. */
async function enterKeyOf(services: Services, provider: KeyTaker): Promise<boolean> {
  const way = provider.hasSignIn === true ? await pickWay(provider) : "key";
  if (way === undefined) return false;
  if (way === "sign-in") return signIn(services, provider);
  const entered = await askKey(services, provider);
  if (entered === undefined || "isWrongAddress" in entered) return false;
  if (entered.key === "") return removeKey(services, provider);
  if (!(await storeKey(services, provider, entered.key))) return false;
  await useKey(services, provider, entered, startingChoice(services, provider, entered.check));
  return true;
}

async function pickWay({ title, hasKey }: KeyTaker): Promise<"sign-in" | "key" | undefined> {
  const ways = [
    { label: vscode.l10n.t("$(globe) Sign In in the Browser"), way: "sign-in" as const },
    {
      label: vscode.l10n.t("$(key) Enter a Key"),
      ...(hasKey && { description: vscode.l10n.t("a key is set") }),
      way: "key" as const,
    },
  ];
  return (await vscode.window.showQuickPick(ways, { title: vscode.l10n.t("Hermes: Use {0}", title) }))?.way;
}

/** The agent stores the account or key in the home. */
async function signIn(services: Services, provider: KeyTaker): Promise<boolean> {
  const { name, title } = provider;
  const waiting = vscode.l10n.t("Hermes: waiting for your sign-in to {0} in the browser…", title);
  const signedIn = async (signal: AbortSignal): Promise<HermesKeyCheck | undefined> => {
    const agent = await services.worker.agent();
    try {
      await agent.request(methods.agent.authenticate, { methodId: name }, { cancellationSignal: signal });
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
    return call(agent, settingsMethods.checkKey, { provider: name });
  };
  const check = await withProgress(waiting, signedIn, true);
  if (check === undefined) return false;
  await useKey(services, provider, { key: "", check }, startingChoice(services, provider, check));
  return true;
}

/** Model for a session that uses another provider; undefined keeps the model. */
function startingChoice(
  { sessions, lastModel }: Services,
  { name, baseUrl }: KeyTaker,
  check: HermesKeyCheck,
): string | undefined {
  const isOfProvider = (choice: string | undefined): boolean => choice?.startsWith(`${name}:`) === true;
  if (baseUrl !== undefined || isOfProvider(sessions.shown.option("model")?.currentValue)) return undefined;
  if (isOfProvider(lastModel.chosen)) return lastModel.chosen;
  return check.ok ? check.choices[0] : undefined;
}

/** Sets up any other endpoint: its address and model go to the settings, its key, if any, to the place of keys. */
async function setUpEndpoint(services: Services, endpoint: KeyTaker): Promise<boolean> {
  const place = await askEndpoint(services, endpoint);
  if (place === undefined) return false;
  const { baseUrl, entered } = place;
  const asked = { ...endpoint, title: new URL(baseUrl).host };
  const choice = await pickModel(asked, entered.check.ok ? entered.check.choices : []);
  if (choice === undefined) return false;
  const { key } = entered;
  if (key === "") await services.keys.remove(endpoint.keyVariable, services.worker);
  else if (!(await storeKey(services, endpoint, key))) return false;
  await saveEndpoint(services, { provider: endpoint.name, baseUrl, model: choice.slice(endpoint.name.length + 1) });
  await useKey(services, asked, entered, choice);
  return true;
}

type Place = { readonly baseUrl: string; readonly entered: Entered };

/** Asks for the address and its key. After an address that cannot be reached, it asks for the address again. */
async function askEndpoint(services: Services, endpoint: KeyTaker): Promise<Place | undefined> {
  let before: { readonly baseUrl: string; readonly key: string } | undefined;
  for (;;) {
    const baseUrl = await askAddress(before?.baseUrl ?? vscode.workspace.getConfiguration("hermes").get("baseUrl", ""));
    if (baseUrl === undefined) return undefined;
    const asked = { ...endpoint, title: new URL(baseUrl).host, baseUrl };
    const entered = await askKey(services, asked, before?.key);
    if (entered === undefined) return undefined;
    if (!("isWrongAddress" in entered)) return { baseUrl, entered };
    before = { baseUrl, key: entered.key };
  }
}

/** False when the user does not choose a place. Rejects when the place cannot be written. */
async function storeKey({ keys, worker }: Services, { keyVariable, keyFile }: KeyTaker, key: string): Promise<boolean> {
  let place = await keys.place();
  if (place === undefined) {
    place = await askKeyPlace(keyFile);
    if (place === undefined) return false;
    await keys.choose(place);
  }
  await keys.set(keyVariable, key, place, worker);
  return true;
}

/** Sends the key to the running agent, and selects the model in the session. */
async function useKey(
  services: Services,
  { title }: HermesProvider,
  { check }: Entered,
  choice: string | undefined,
): Promise<void> {
  await services.environment.sync(services.worker);
  if (choice !== undefined) await services.sessions.shown.setConfig("model", choice);
  const works = vscode.l10n.t("The key for {0} works.", title);
  showResult(services, check.ok ? works : vscode.l10n.t("The key for {0} was stored without a test.", title), choice);
  await closeSetup(services);
}

async function pickProvider(providers: readonly HermesProvider[]): Promise<HermesProvider | undefined> {
  const items = providers.map((provider) => ({
    label: provider.title,
    description: provider.hasKey ? vscode.l10n.t("a key is set") : "",
    provider,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t("Hermes: Set API Key"),
    placeHolder: vscode.l10n.t("Choose a provider"),
  });
  return picked?.provider;
}

async function askAddress(value: string): Promise<string | undefined> {
  const address = await vscode.window.showInputBox({
    title: vscode.l10n.t("Hermes: Address of the Endpoint"),
    prompt: vscode.l10n.t("Base URL of an OpenAI-compatible API"),
    placeHolder: "http://127.0.0.1:8000/v1",
    value,
    ignoreFocusOut: true,
    validateInput: (typed) =>
      webAddress(typed) === undefined
        ? vscode.l10n.t("Enter a web address, for example localhost:11434/v1 or https://models.example.org/v1")
        : undefined,
  });
  return address === undefined ? undefined : webAddress(address);
}

/** The address is wrong, so the user enters another one for this key. */
type WrongAddress = { readonly key: string; readonly isWrongAddress: true };

/**
 * Asks until a key works or the user stores it anyway. Undefined when the user cancels. Empty: no key, or remove it.
 * `given`: a key to test before the first question.
 */
async function askKey(
  services: Services,
  provider: KeyTaker,
  given?: string,
): Promise<Entered | WrongAddress | undefined> {
  const mayBeEmpty = provider.needsAddress || (await services.keys.has(provider.keyVariable));
  for (let known = given; ; known = undefined) {
    const key = known ?? (await askOnce(services, provider, mayBeEmpty));
    if (key === undefined) return undefined;
    const check = await testKey(services, provider, key);
    const step = check.ok ? "store" : await askAgain(check, provider.needsAddress);
    if (step === "address") return { key, isWrongAddress: true };
    if (step !== "again") return step && { key, check };
  }
}

/** Offers to store a key that could not be tested. A refused key is not stored. */
async function askAgain(
  { message, refused }: Extract<HermesKeyCheck, { ok: false }>,
  hasAddress: boolean,
): Promise<"again" | "store" | "address" | undefined> {
  const anew = { title: vscode.l10n.t("Enter Another Key"), step: "again" } as const;
  const elsewhere = { title: vscode.l10n.t("Enter Another Address"), step: "address" } as const;
  const again = { title: vscode.l10n.t("Try Again"), step: "again" } as const;
  const store = { title: vscode.l10n.t("Store Anyway"), step: "store" } as const;
  return (await showError(message, ...(refused ? [anew] : [hasAddress ? elsewhere : again, store])))?.step;
}

async function askOnce(
  services: Services,
  { title, keyPage, needsAddress, keyVariable, keyFile }: KeyTaker,
  mayBeEmpty: boolean,
): Promise<string | undefined> {
  const isLost = (await services.keys.lost()).includes(keyVariable);
  const lost = isLost ? [vscode.l10n.t("VS Code has forgotten the key that you entered before.")] : [];
  const where = keyPage === undefined ? [] : [vscode.l10n.t("Create a key at {0}.", keyPage)];
  const hint = needsAddress
    ? vscode.l10n.t("Leave this empty if the endpoint needs no key.")
    : vscode.l10n.t("Leave this empty to remove the stored key.");
  const place = await services.keys.placeText(keyFile);
  const prompt = [...lost, place, ...where, ...(mayBeEmpty ? [hint] : [])];
  const typed = await vscode.window.showInputBox({
    title: vscode.l10n.t("Hermes: Key for {0}", title),
    prompt: prompt.join(" "),
    password: true,
    ignoreFocusOut: true,
  });
  const key = typed?.trim();
  return key === "" && !mayBeEmpty ? undefined : key;
}

/** Skips the test of an empty key when the provider needs a key: the caller then removes the stored key. */
async function testKey(
  { worker }: Services,
  { name, title, needsAddress, baseUrl }: KeyTaker,
  key: string,
): Promise<HermesKeyCheck> {
  if (key === "" && !needsAddress) return { ok: true, message: "", choices: [] };
  return withProgress(vscode.l10n.t("Hermes: testing the key with {0}…", title), async () => {
    const agent = await worker.agent();
    const params = { provider: name, key, ...(baseUrl !== undefined && { baseUrl }) };
    return call(agent, settingsMethods.checkKey, params);
  });
}

async function removeKey({ environment, keys, worker }: Services, { title, keyVariable }: KeyTaker): Promise<false> {
  await keys.remove(keyVariable, worker);
  await environment.sync(worker);
  vscode.window.setStatusBarMessage(vscode.l10n.t("Hermes: removed the key for {0}", title), MESSAGE_MS);
  return false;
}

/** Asks for a model from the endpoint's list, or for its name when there is no list. Returns the choice's id. */
async function pickModel({ name, title }: HermesProvider, choices: readonly string[]): Promise<string | undefined> {
  const heading = { title: vscode.l10n.t("Hermes: Choose a Model of {0}", title), ignoreFocusOut: true };
  const models = choices.slice(0, CHOICES_SHOWN).map((choice) => choice.slice(name.length + 1));
  const model =
    models.length > 0
      ? await vscode.window.showQuickPick(models, heading)
      : await vscode.window.showInputBox({ ...heading, prompt: vscode.l10n.t("Name of the model at the endpoint") });
  return model?.trim() ? `${name}:${model.trim()}` : undefined;
}

/** VS Code's settings have it, and so does the home for the command line and other editors. */
async function saveEndpoint({ worker }: Services, values: HermesHomeModel): Promise<void> {
  const settings = vscode.workspace.getConfiguration("hermes");
  for (const [name, value] of Object.entries(values)) {
    await settings.update(name, value, vscode.ConfigurationTarget.Global);
  }
  await call(await worker.agent(), settingsMethods.setHomeModel, values);
}

/** Shows a result in the panel, and in the status bar in case the panel is closed. */
function showResult({ sessions }: Services, message: string, choice: string | undefined): void {
  const model = choice?.slice(choice.indexOf(":") + 1);
  const text = model === undefined ? message : `${message} ${vscode.l10n.t("{0} answers from now on.", model)}`;
  sessions.shown.log.push({ kind: "notice", severity: "info", text });
  vscode.window.setStatusBarMessage(`Hermes: ${message}`, MESSAGE_MS);
}

/** The address as typed, with its scheme: servers of this machine rarely have a certificate. Undefined for no web address. */
function webAddress(typed: string): string | undefined {
  const text = typed.trim();
  const hasScheme = /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text);
  const secure = hasScheme ? text : `https://${text}`;
  if (!URL.canParse(secure)) return undefined;
  const { protocol, hostname } = new URL(secure);
  if (!/^https?:$/.test(protocol)) return undefined;
  return hasScheme || !isLoopback(hostname) ? secure : `http://${text}`;
}
