/** Grants, providers, keys and the environment. */

/** Requests of ours to the agent; an agent that does not know them answers -32601. */
export const HERMES_METHODS = {
  /** → HermesProviders: what there is to begin with. */
  providers: "_hermes/providers",
  /** → HermesModels: every model there is, however many. */
  models: "_hermes/models",
  /** HermesKey → HermesKeyCheck: tries a key and keeps nothing of it. */
  checkKey: "_hermes/check_key",
  /** HermesEnvironment → {}: open sessions go on with it. */
  setEnvironment: "_hermes/set_environment",
  /** {} → {}: the user has come to trust the workspace; open sessions may write and run commands from now on. */
  trust: "_hermes/trust",
  /** {sessionId} → HermesGrants: answers of the user that last. */
  grants: "_hermes/grants/list",
  /** HermesRevoke → {}: from now on it asks again. */
  revokeGrant: "_hermes/grants/revoke",
} as const;

export type HermesGrants = {
  /** Those for always first; `description` says in plain words what is allowed, and where. */
  readonly grants: readonly {
    readonly id: string;
    readonly description: string;
    readonly lasting: "session" | "always";
  }[];
};

export type HermesRevoke = { readonly sessionId: string; readonly id: string };

export type HermesProvider = {
  readonly name: string;
  readonly title: string;
  /** Variable that holds its key. */
  readonly keyVariable: string;
  readonly hasKey: boolean;
  /** Where its users get a key. */
  readonly keyPage?: string;
  /** The user must give its address. */
  readonly needsAddress: boolean;
};

/** A model that can be used at once: the id of its choice, and words for people. */
export type HermesOffer = {
  readonly choice: string;
  readonly provider: string;
  readonly title: string;
  readonly model: string;
};

export type HermesProviders = {
  /** Nothing says which model to use. */
  readonly unset: boolean;
  /** Those that take a key. */
  readonly providers: readonly HermesProvider[];
  /** What answers here without one: the editor's models, servers on this machine. */
  readonly offers: readonly HermesOffer[];
};

export type HermesModels = {
  readonly groups: readonly {
    readonly provider: string;
    readonly title: string;
    readonly choices: readonly {
      readonly value: string;
      readonly name: string;
      readonly description?: string | null;
    }[];
  }[];
};

export type HermesKey = { readonly provider: string; readonly key: string; readonly baseUrl?: string };

export type HermesKeyCheck =
  /** `choices`: ids of the models that it reaches, the best first. */
  | { readonly ok: true; readonly message: string; readonly choices: readonly string[] }
  /** `refused`: the endpoint says that the key is wrong; otherwise it could not be asked. */
  | { readonly ok: false; readonly message: string; readonly refused: boolean };

/** Null takes a variable away. */
export type HermesEnvironment = { readonly variables: Readonly<Record<string, string | null>> };
