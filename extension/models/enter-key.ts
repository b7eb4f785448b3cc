/** Asks for a key, tries it where it will be used, keeps it in SecretStorage, and takes a model that it reaches. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import {
  type HermesKey,
  type HermesKeyCheck,
  type HermesProvider,
  settingsMethods,
} from "../../agent-core/protocol/settings.ts";
import type { Services } from "../services.ts";

type Entered = { readonly key: string; readonly check: HermesKeyCheck };

/** Models of an endpoint in a list to choose from; more of them are found with the model list later. */
const CHOICES_SHOWN = 200;
/** How long a result stands in the status bar. */
const TOLD_MS = 8_000;

/** `provider`: its name; undefined: the user is asked which. Ends quietly when the user gives up. */
export async function enterKey(services: Services, provider?: string): Promise<void> {
  const agent = await services.worker.agent();
  const { providers } = await call(agent, settingsMethods.providers, {});
  const chosen = providers.find(({ name }) => name === provider) ?? (await pickProvider(providers));
  if (chosen === undefined) return;
  if (chosen.needsAddress) return setUpEndpoint(services, chosen);
  const entered = await askKey(services, chosen, undefined);
  if (entered === undefined) return;
  if (entered.key === "") return removeKey(services, chosen);
  await services.environment.setKey(chosen.keyVariable, entered.key);
  await use(services, chosen, entered, entered.check.ok ? entered.check.choices[0] : undefined);
}

/** Any other endpoint: its address and model are settings, its key, if it wants one, is a secret like the others. */
async function setUpEndpoint(services: Services, endpoint: HermesProvider): Promise<void> {
  const baseUrl = await askAddress();
  if (baseUrl === undefined) return;
  const entered = await askKey(services, endpoint, baseUrl);
  if (entered === undefined) return;
  const choice = await pickModel(endpoint, entered.check.ok ? entered.check.choices : []);
  if (choice === undefined) return;
  await services.environment.setKey(endpoint.keyVariable, entered.key === "" ? undefined : entered.key);
  await keepAddress(endpoint.name, baseUrl, choice);
  await use(services, endpoint, entered, choice);
}

/** The agent takes the key as it runs, and the session the model. */
async function use(
  services: Services,
  { title }: HermesProvider,
  { check }: Entered,
  choice: string | undefined,
): Promise<void> {
  await services.environment.sync(services.worker);
  if (choice !== undefined) await services.sessions.shown.setConfig("model", choice);
  services.firstRun.close();
  tell(services, check.ok ? check.message : `The key for ${title} is kept, untried.`, choice);
}

async function pickProvider(providers: readonly HermesProvider[]): Promise<HermesProvider | undefined> {
  const items = providers.map((provider) => ({
    label: provider.title,
    description: provider.hasKey ? "a key is set" : "",
    provider,
  }));
  const picked = await vscode.window.showQuickPick(items, { title: "Hermes: whose key?", placeHolder: "Provider" });
  return picked?.provider;
}

async function askAddress(): Promise<string | undefined> {
  const address = await vscode.window.showInputBox({
    title: "Hermes: address of the endpoint",
    prompt: "Base URL of an OpenAI-compatible API",
    placeHolder: "http://127.0.0.1:8000/v1",
    value: vscode.workspace.getConfiguration("hermes").get("baseUrl", ""),
    ignoreFocusOut: true,
    validateInput: (typed) => (isWebAddress(typed) ? undefined : "It must begin with http:// or https://"),
  });
  return address?.trim();
}

/** Asks until a key works or is to be kept all the same; undefined when the user gave up. Empty: none, or no more. */
async function askKey(
  services: Services,
  provider: HermesProvider,
  baseUrl: string | undefined,
): Promise<Entered | undefined> {
  const mayBeEmpty = provider.needsAddress || (await services.environment.hasKey(provider.keyVariable));
  for (;;) {
    const key = await askOnce(provider, mayBeEmpty);
    if (key === undefined) return undefined;
    if (key === "" && !provider.needsAddress) return { key, check: { ok: true, message: "", choices: [] } };
    const check = await tryKey(services, provider, { key, ...(baseUrl !== undefined && { baseUrl }) });
    if (check.ok) return { key, check };
    const answer = await askAgain(check);
    if (answer !== "again") return answer === "keep" ? { key, check } : undefined;
  }
}

/** A key that could not be tried may be kept; one that was refused is of no use. */
async function askAgain({
  message,
  refused,
}: Extract<HermesKeyCheck, { ok: false }>): Promise<"again" | "keep" | "no"> {
  const keep = "Keep Anyway";
  const answers = refused ? ["Enter Another Key"] : ["Try Again", keep];
  const answer = await vscode.window.showErrorMessage(message, ...answers);
  if (answer === undefined) return "no";
  return answer === keep ? "keep" : "again";
}

async function askOnce(
  { title, keyPage, needsAddress }: HermesProvider,
  mayBeEmpty: boolean,
): Promise<string | undefined> {
  const where = keyPage === undefined ? "" : ` Keys are made at ${keyPage}.`;
  const meaning = needsAddress ? " Empty: it wants none." : " Empty: remove it.";
  const typed = await vscode.window.showInputBox({
    title: `Hermes: key for ${title}`,
    prompt: `Kept in VS Code's secret storage.${where}${mayBeEmpty ? meaning : ""}`,
    password: true,
    ignoreFocusOut: true,
  });
  const key = typed?.trim();
  return key === "" && !mayBeEmpty ? undefined : key;
}

async function tryKey(
  { worker }: Services,
  { name, title }: HermesProvider,
  { key, baseUrl }: Pick<HermesKey, "key" | "baseUrl">,
): Promise<HermesKeyCheck> {
  const place = { location: vscode.ProgressLocation.Notification, title: `Hermes: trying the key with ${title}…` };
  return vscode.window.withProgress(place, async () => {
    const agent = await worker.agent();
    const params = { provider: name, key, ...(baseUrl !== undefined && { baseUrl }) };
    return call(agent, settingsMethods.checkKey, params);
  });
}

async function removeKey({ environment, worker }: Services, { title, keyVariable }: HermesProvider): Promise<void> {
  await environment.setKey(keyVariable, undefined);
  await environment.sync(worker);
  vscode.window.setStatusBarMessage(`Hermes: the key for ${title} is removed`, TOLD_MS);
}

/** From the endpoint's own list, or typed where it has none. Gives the choice's id. */
async function pickModel({ name, title }: HermesProvider, choices: readonly string[]): Promise<string | undefined> {
  const heading = { title: `Hermes: which model of ${title}?`, ignoreFocusOut: true };
  const models = choices.slice(0, CHOICES_SHOWN).map((choice) => choice.slice(name.length + 1));
  const model =
    models.length > 0
      ? await vscode.window.showQuickPick(models, heading)
      : await vscode.window.showInputBox({ ...heading, prompt: "Its name, as the endpoint knows it" });
  return model?.trim() ? `${name}:${model.trim()}` : undefined;
}

async function keepAddress(provider: string, baseUrl: string, choice: string): Promise<void> {
  const settings = vscode.workspace.getConfiguration("hermes");
  const values = { provider, baseUrl, model: choice.slice(provider.length + 1) };
  for (const [name, value] of Object.entries(values)) {
    await settings.update(name, value, vscode.ConfigurationTarget.Global);
  }
}

/** In the panel, where it covers nothing, and below for whom the panel is closed. */
function tell({ sessions }: Services, message: string, choice: string | undefined): void {
  const model = choice === undefined ? "" : ` ${choice.slice(choice.indexOf(":") + 1)} answers from now on.`;
  sessions.shown.log.push({ kind: "notice", severity: "info", text: `${message}${model}` });
  vscode.window.setStatusBarMessage(`Hermes: ${message}`, TOLD_MS);
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text.trim()) && /^https?:$/.test(new URL(text.trim()).protocol);
}
