/** `--setup` asks in the terminal for provider, key and model, and writes them into the home; `--check` tries them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { AIAgent } from "../agent/ai-agent.ts";
import { type ConfiguredAgent, configuredAgent } from "../agent/configured-agent.ts";
import { ModelDirectory } from "../agent/model-directory.ts";
import { loadConfig } from "../config/config.ts";
import { ACCOUNT, type Environment, homeFolder } from "../config/home.ts";
import { setHomeModel, setHomeVariable } from "../config/home-file.ts";
import { messageOf } from "../platform/errors.ts";
import { useNetwork } from "../platform/http/connections.ts";
import { checkKey } from "../providers/catalogue/check-key.ts";
import { discoverLocalServers, localPlaces } from "../providers/catalogue/discovered-models.ts";
import type { ListedModel } from "../providers/catalogue/listing.ts";
import { ANY_KEY, custom, type Deployment, deployments } from "../providers/deployments.ts";
import { withKeyAdvice } from "../providers/fault-message.ts";
import { settingsOf } from "../providers/model-choice.ts";
import type { Dialog } from "./terminal-dialog.ts";

/** Key of `platform_toolsets` for the toolsets of an editor. */
const PLATFORM = "acp";
const MODELS_SHOWN = 20;
/** Long enough for the first word of a local model that is not loaded yet. */
const CHECK_TIMEOUT_MS = 30_000;

type Reached = { readonly baseUrl: string; readonly key: string; readonly models: readonly ListedModel[] };

/** Returns the exit code: 0 after a complete setup, else 1. */
export async function setUp(environment: Environment, dialog: Dialog): Promise<number> {
  try {
    if (await converse(environment, dialog)) return 0;
    dialog.say("\nNothing was saved.");
    return 1;
  } catch (error) {
    dialog.say(messageOf(error));
    return 1;
  } finally {
    dialog.close();
  }
}

/** False when the user gave up. */
async function converse(environment: Environment, dialog: Dialog): Promise<boolean> {
  const home = homeFolder(environment);
  const { options } = await configuredAgent(environment, PLATFORM);
  const known = options.environment ?? environment;
  useNetwork(known);
  const offered = await offers(known);
  dialog.say("Choose a provider:");
  for (const [index, { title }] of offered.entries()) dialog.say(`  ${index + 1}  ${title}`);
  const provider = await pick(dialog, `1-${offered.length}: `, (answer) => offered[Number(answer) - 1]);
  if (provider === undefined) return false;
  const reached = await reach(provider, known, dialog);
  if (reached === undefined) return false;
  const model = await pickModel(provider, reached.models, dialog);
  if (model === undefined) return false;
  const keyVariable = provider.keyVariable ?? ANY_KEY;
  const isOwnAddress = provider.baseUrl === undefined;
  if (reached.key !== "" && !reached.key.startsWith(ACCOUNT)) await setHomeVariable(home, keyVariable, reached.key);
  await setHomeModel(home, { provider: provider.name, model, baseUrl: isOwnAddress ? reached.baseUrl : undefined });
  dialog.say(`Hermes now uses ${model} from ${provider.title}. Saved in ${home}/.env and config.yaml.`);
  if (existsSync(join(home, "state.db"))) {
    dialog.say("This home has sessions of the original Hermes Agent. hermes sessions import adds them.");
  }
  return true;
}

/** Providers with a key, servers on this machine, and any other address. */
async function offers(environment: Environment): Promise<readonly Deployment[]> {
  const local = (await discoverLocalServers(localPlaces(environment["HERMES_LOCAL_SERVERS"]))).map(
    ({ deployment }) => deployment,
  );
  return deployments.flatMap((each) => {
    if (each === custom) return [...local, custom];
    return each.keyVariable === undefined ? [] : [each];
  });
}

/** Asks for address and key until they work; undefined when the user gave up. */
async function reach(provider: Deployment, environment: Environment, dialog: Dialog): Promise<Reached | undefined> {
  for (;;) {
    const own = provider.urlVariable === undefined ? undefined : environment[provider.urlVariable];
    const baseUrl = own || provider.baseUrl || (await dialog.ask("Base URL, such as http://127.0.0.1:8000/v1: "));
    if (baseUrl === undefined || baseUrl === "") return undefined;
    const key = (await signedInKey(provider, environment, dialog)) ?? (await askKey(provider, dialog));
    if (key === undefined) return undefined;
    dialog.say(`Testing ${provider.title} …`);
    const outcome = await attempt(provider, baseUrl, key);
    if (typeof outcome !== "string") return { baseUrl, key, models: outcome };
    dialog.say(outcome);
    const again = await dialog.ask("Try again? [Y/n] ");
    if (again === undefined || /^n/i.test(again)) return undefined;
  }
}

/** Key after a sign-in in a browser. Undefined when the provider offers none, or the user has a key. */
async function signedInKey(
  provider: Deployment,
  environment: Environment,
  dialog: Dialog,
): Promise<string | undefined> {
  if (provider.hasSignIn !== true || provider.keyVariable === undefined) return undefined;
  const { askWay, signIn } = await import("./account-dialog.ts");
  if ((await askWay(provider, dialog)) !== "sign-in") return undefined;
  if (!(await signIn(provider, environment, dialog))) return undefined;
  const { environment: known } = await loadConfig(homeFolder(environment), {});
  return known[provider.keyVariable];
}

/** The models that the key reaches, or the problem in one line. */
async function attempt(provider: Deployment, baseUrl: string, key: string): Promise<readonly ListedModel[] | string> {
  if (!/^https?:/i.test(baseUrl) || !URL.canParse(baseUrl)) {
    return `${JSON.stringify(baseUrl)} is not a base URL: it must begin with http(s)://.`;
  }
  const endpoint = { provider: provider.name, baseUrl, apiKey: key === "" ? undefined : key };
  const check = await checkKey(provider, endpoint);
  return check.ok ? (check.models ?? []) : check.fault.message;
}

/** Empty when the provider needs none. */
async function askKey(
  { title, keyVariable, keyPage, baseUrl }: Deployment,
  dialog: Dialog,
): Promise<string | undefined> {
  const isOptional = keyVariable === undefined;
  if (isOptional && baseUrl !== undefined) return "";
  if (keyPage !== undefined) dialog.say(`Create a key at ${keyPage}`);
  for (;;) {
    const key = await dialog.askSecret(isOptional ? "Key (leave empty for none): " : `Key for ${title} (hidden): `);
    if (key !== "" || isOptional) return key;
  }
}

async function pickModel(
  { defaultModel, knownModels = [] }: Deployment,
  models: readonly ListedModel[],
  dialog: Dialog,
): Promise<string | undefined> {
  const ids = models.map(({ id }) => id);
  const best = knownModels.filter((id) => ids.length === 0 || ids.includes(id));
  const shown = [...new Set([...best, ...ids])].slice(0, MODELS_SHOWN);
  const preferred = defaultModel ?? shown[0];
  for (const [index, id] of shown.entries()) dialog.say(`  ${index + 1}  ${id}`);
  const question = preferred === undefined ? "Model: " : `Number or name of the model [${preferred}]: `;
  return pick(dialog, question, (answer) => {
    if (answer === "") return preferred;
    return /^\d+$/.test(answer) ? shown[Number(answer) - 1] : answer;
  });
}

/** Asks until the answer is valid; undefined after the end of the input. */
async function pick<T>(
  dialog: Dialog,
  question: string,
  read: (answer: string) => T | undefined,
): Promise<T | undefined> {
  for (;;) {
    const answer = await dialog.ask(question);
    if (answer === undefined) return undefined;
    const value = read(answer);
    if (value !== undefined) return value;
    dialog.say(`${JSON.stringify(answer)} is not one of the choices.`);
  }
}

/** Prints one line. Returns the exit code: 0 when the configured model answers, else 1. */
export async function checkSetup(environment: Environment): Promise<number> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  try {
    const configured = await configuredAgent(environment, PLATFORM);
    for (const warning of configured.warnings) say(warning);
    const agent = new AIAgent({
      ...configured.options,
      ...(await model(configured, say)),
      enabledToolsets: [],
      maxIterations: 1,
      retryMs: 0, // a retry would hide the reason
    });
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const { stopReason, fault } = await agent.runConversation({ userMessage: "help", signal });
    if (fault !== undefined || stopReason === "cancelled") {
      say(
        fault
          ? withKeyAdvice(fault)
          : `The model ${agent.setup.models.current.model} did not answer within ${CHECK_TIMEOUT_MS / 1000} s.`,
      );
      return 1;
    }
    say(`The model ${agent.setup.models.current.model} answers.`);
    return 0;
  } catch (error) {
    say(messageOf(error));
    return 1;
  }
}

/** Model of a new session. Throws when there is none. */
async function model(configured: ConfiguredAgent, log: (line: string) => void): Promise<ReturnType<typeof settingsOf>> {
  const directory = new ModelDirectory({ home: configured.options.home, log });
  directory.configure(configured);
  const resolution = await directory.resolveDefault();
  if (!resolution.ok) throw new Error(withKeyAdvice(resolution));
  return settingsOf(resolution.model);
}
