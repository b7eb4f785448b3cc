/** Grants, providers, keys and the environment. */
import * as z from "zod";
import { inSession, nothing } from "./method.ts";

export const HermesGrants = z.object({
  /** Grants for always come first. `id` and `description` are the row: what is allowed, and where. */
  grants: z
    .array(z.object({ id: z.string(), description: z.string(), lasting: z.enum(["session", "always"]) }))
    .readonly(),
});
export type HermesGrants = z.infer<typeof HermesGrants>;

export const HermesRevoke = z.object({ sessionId: z.string(), id: z.string() });

export const HermesProvider = z.object({
  name: z.string(),
  title: z.string(),
  /** Environment variable that holds the key. */
  keyVariable: z.string(),
  hasKey: z.boolean(),
  /** Page where users get a key. */
  keyPage: z.string().exactOptional(),
  /** `authenticate` with the provider's name signs in in a browser. */
  hasSignIn: z.literal(true).exactOptional(),
  /** The user must enter the address of the endpoint. */
  needsAddress: z.boolean(),
  /** Such an endpoint that is set up already; `title`: its host. */
  configured: z.object({ title: z.string(), baseUrl: z.string() }).exactOptional(),
});
export type HermesProvider = z.infer<typeof HermesProvider>;

/** A model that is usable at once: the id of its choice, and names for people. */
export const HermesOffer = z.object({
  choice: z.string(),
  provider: z.string(),
  title: z.string(),
  model: z.string(),
});
export type HermesOffer = z.infer<typeof HermesOffer>;

export const HermesProviders = z.object({
  /** No configuration names a model. */
  unset: z.boolean(),
  /** Providers that take a key. */
  providers: z.array(HermesProvider).readonly(),
  /** Models that need no key: the editor's, and those of servers on this machine. */
  offers: z.array(HermesOffer).readonly(),
  /** File of the home's keys, for display. */
  keyFile: z.string(),
});
export type HermesProviders = z.infer<typeof HermesProviders>;

export const HermesModels = z.object({
  groups: z
    .array(
      z.object({
        provider: z.string(),
        title: z.string(),
        choices: z
          .array(z.object({ value: z.string(), name: z.string(), description: z.string().nullish() }))
          .readonly(),
      }),
    )
    .readonly(),
});
export type HermesModels = z.infer<typeof HermesModels>;

/** `key`: default the stored one. */
export const HermesKey = z.object({
  provider: z.string(),
  key: z.string().exactOptional(),
  baseUrl: z.string().exactOptional(),
});
export type HermesKey = z.infer<typeof HermesKey>;

export const HermesKeyCheck = z.discriminatedUnion("ok", [
  /** `choices`: ids of the models that the key reaches, best first. */
  z.object({ ok: z.literal(true), message: z.string(), choices: z.array(z.string()).readonly() }),
  /** `refused`: the endpoint rejected the key; otherwise the endpoint was not reached. */
  z.object({ ok: z.literal(false), message: z.string(), refused: z.boolean() }),
]);
export type HermesKeyCheck = z.infer<typeof HermesKeyCheck>;

const variableName = z.string().regex(/^[A-Z][A-Z0-9_]*$/);

/** A key for the home's `.env`. Null removes it. */
export const HermesHomeKey = z.object({ variable: variableName, key: z.string().nullable() });

export const HermesHomeModel = z.object({ provider: z.string(), model: z.string(), baseUrl: z.url() });
export type HermesHomeModel = z.infer<typeof HermesHomeModel>;

/** Null unsets a variable. */
export const HermesEnvironment = z.object({
  variables: z.record(variableName, z.string().nullable()),
});

/** The client's own list of what is allowed. */
export const HermesAllowList = z.object({ rows: z.array(z.string()).readonly() });

/** Agent → client: add a row to the list, or remove it. Only where `allowList` is declared. */
export const allowListMethod = {
  name: "_hermes/allow_list/change",
  params: z.object({ row: z.string(), isIn: z.boolean() }),
  result: nothing,
};

/** Requests of the client. */
export const settingsMethods = {
  providers: { name: "_hermes/providers", params: nothing, result: HermesProviders },
  /** All known models, without a limit. */
  models: { name: "_hermes/models", params: nothing, result: HermesModels },
  /** Tries a key without storing it. */
  checkKey: { name: "_hermes/check_key", params: HermesKey, result: HermesKeyCheck },
  /** Stores a key in the home, for all clients of the agent; open sessions use it at once. */
  setHomeKey: { name: "_hermes/set_home_key", params: HermesHomeKey, result: nothing },
  /** Stores the model of an endpoint in the home, for all clients, unless the home has another provider's. */
  setHomeModel: { name: "_hermes/set_home_model", params: HermesHomeModel, result: nothing },
  /** Changes environment variables; open sessions use them at once. */
  setEnvironment: { name: "_hermes/set_environment", params: HermesEnvironment, result: nothing },
  /** The user trusts the workspace from now on: open sessions may write and run commands. */
  trust: { name: "_hermes/trust", params: z.object({}), result: nothing },
  /** Lasting answers of the user to permission requests. */
  grants: { name: "_hermes/grants/list", params: inSession, result: HermesGrants },
  /** The agent asks again from now on. */
  revokeGrant: { name: "_hermes/grants/revoke", params: HermesRevoke, result: nothing },
  /** The user changed the client's list. */
  setAllowList: { name: "_hermes/allow_list/set", params: HermesAllowList, result: nothing },
};
