/**
 * The user's keys: in VS Code's secret storage, or in the `.env` of the Hermes home. VS Code in a browser has a storage that
 * lasts only if its host brings one, and no API says so. A probe of an earlier window does.
 */
import * as vscode from "vscode";
import * as z from "zod";
import { call } from "../../agent-core/protocol/method.ts";
import { settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";

/** Prefix of a key's name in the storage; the name of its variable follows. */
const SECRET_PREFIX = "hermes.apiKey.";
const PROBE = "hermes.probe";

/** Memory of the user: place of each key by its variable, place of new keys, and the last probe. */
const PLACES_KEY = "hermes.keyPlaces";
const NEW_KEYS_KEY = "hermes.newKeys";
const PROBE_KEY = "hermes.secretProbe";

export type KeyPlace = "secrets" | "home";

const placeSchema = z.enum(["secrets", "home"]);
const probeSchema = z.object({ session: z.string(), lasts: z.boolean().optional() });

type Variables = Readonly<Record<string, string>>;

export type KeyStoreOptions = Pick<vscode.ExtensionContext, "secrets" | "globalState">;

export class KeyStore {
  readonly #secrets: vscode.SecretStorage;
  readonly #memory: vscode.Memento;
  #probed: Promise<boolean | undefined> | undefined;

  /** Fires when a key changes in the secret storage, in this window or another. */
  readonly onDidChange: vscode.Event<unknown>;

  constructor({ secrets, globalState }: KeyStoreOptions) {
    this.#secrets = secrets;
    this.#memory = globalState;
    this.onDidChange = secrets.onDidChange;
  }

  /** Keys of the secret storage, by variable. */
  async keys(): Promise<Variables> {
    void this.#lasts(); // a later window needs the probe of this one
    const names = (await this.#secrets.keys()).filter((name) => name.startsWith(SECRET_PREFIX));
    const keys = await Promise.all(
      names.map(async (name) => [name.slice(SECRET_PREFIX.length), await this.#secrets.get(name)] as const),
    );
    return Object.fromEntries(keys.filter((entry): entry is readonly [string, string] => Boolean(entry[1])));
  }

  /** Variables of keys that the secret storage has had, and has no more. */
  async lost(): Promise<readonly string[]> {
    const inSecrets = Object.entries(this.#places).filter(([, place]) => place === "secrets");
    const kept = await this.keys();
    return inSecrets.map(([variable]) => variable).filter((variable) => kept[variable] === undefined);
  }

  /** True when a key of this variable was entered here; its removal also ends the questions for a lost one. */
  async has(variable: string): Promise<boolean> {
    return variable in this.#places || (await this.#secrets.get(SECRET_PREFIX + variable)) !== undefined;
  }

  /** Place of the next key; undefined: the user chooses one, because the secret storage forgets, or may. */
  async place(): Promise<KeyPlace | undefined> {
    const chosen = placeSchema.safeParse(this.#memory.get(NEW_KEYS_KEY)).data;
    if (chosen === "home") return chosen;
    if ((await this.lost()).length > 0) return undefined;
    return (await this.#lasts()) === true ? "secrets" : chosen;
  }

  /** Sentence about the place of the next key. `keyFile`: see `HermesProviders`. */
  async placeText(keyFile: string): Promise<string> {
    switch (await this.place()) {
      case "secrets":
        return vscode.l10n.t("Keys are in VS Code's secret storage only.");
      case "home":
        return vscode.l10n.t("Keys are in {0}, which only your user can read.", keyFile);
      case undefined:
        return vscode.l10n.t("This VS Code may forget keys with a reload, so Hermes asks where to keep yours.");
    }
  }

  /** Later keys go to this place, too. */
  async choose(place: KeyPlace): Promise<void> {
    await this.#memory.update(NEW_KEYS_KEY, place);
  }

  /** Stores a key under the name of its variable. Rejects when the home cannot be written. */
  async set(variable: string, key: string, place: KeyPlace, worker: Pick<AgentWorker, "agent">): Promise<void> {
    if (place === "home") await this.#setInHome(variable, key, worker);
    else await this.#secrets.store(SECRET_PREFIX + variable, key);
    // A key of the secret storage precedes the one of the home.
    if (place === "home") await this.#secrets.delete(SECRET_PREFIX + variable);
    await this.#remember(variable, place);
  }

  async remove(variable: string, worker: Pick<AgentWorker, "agent">): Promise<void> {
    if (this.#places[variable] === "home") await this.#setInHome(variable, null, worker);
    await this.#secrets.delete(SECRET_PREFIX + variable);
    await this.#remember(variable, undefined);
  }

  async #setInHome(variable: string, key: string | null, worker: Pick<AgentWorker, "agent">): Promise<void> {
    await call(await worker.agent(), settingsMethods.setHomeKey, { variable, key });
  }

  get #places(): Readonly<Record<string, KeyPlace>> {
    return z.record(z.string(), placeSchema).safeParse(this.#memory.get(PLACES_KEY)).data ?? {};
  }

  async #remember(variable: string, place: KeyPlace | undefined): Promise<void> {
    const { [variable]: _, ...others } = this.#places;
    await this.#memory.update(PLACES_KEY, place === undefined ? others : { ...others, [variable]: place });
  }

  /** True when the secret storage outlives a window, false when it does not, undefined while that is unknown. */
  #lasts(): Promise<boolean | undefined> {
    // On a desktop it lasts. There, VS Code might ask for the password of the system's keyring.
    if (vscode.env.uiKind === vscode.UIKind.Desktop) return Promise.resolve(true);
    this.#probed ??= this.#probe().catch(() => undefined); // the user is asked
    return this.#probed;
  }

  async #probe(): Promise<boolean | undefined> {
    const session = vscode.env.sessionId;
    const before = probeSchema.safeParse(this.#memory.get(PROBE_KEY)).data;
    // The storage of a window outlives its extension host.
    if (before?.session === session) return before.lasts;
    const lasts = before && (await this.#secrets.get(PROBE)) !== undefined;
    await this.#secrets.store(PROBE, session);
    await this.#memory.update(PROBE_KEY, { session, ...(lasts !== undefined && { lasts }) });
    return lasts;
  }
}

/**
 * Asks for the place of keys, once, where VS Code forgets keys or may. The first answer keeps them. Undefined when the user
 * cancels.
 */
export async function askKeyPlace(keyFile: string): Promise<KeyPlace | undefined> {
  const items: readonly (vscode.QuickPickItem & { readonly place: KeyPlace })[] = [
    {
      label: `$(file) ${vscode.l10n.t("Keep It in {0}", keyFile)}`,
      detail: vscode.l10n.t("It survives a reload. Only your user can read the file. The command line uses it, too."),
      place: "home",
    },
    {
      label: `$(clock) ${vscode.l10n.t("Keep It until the Window Is Reloaded")}`,
      detail: vscode.l10n.t("It stays in the memory of VS Code, and no file has it."),
      place: "secrets",
    },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t("Hermes: Where to Keep Keys"),
    placeHolder: vscode.l10n.t("This VS Code may forget keys. Choose a place for this key and later ones."),
    ignoreFocusOut: true,
  });
  return picked?.place;
}
