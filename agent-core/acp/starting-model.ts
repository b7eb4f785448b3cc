/** The model that a session begins with: what was chosen for it, else what the configuration leads to. */
import { RequestError } from "@zed-industries/agent-client-protocol";
import type { ModelDirectory } from "../agent/model-directory.ts";
import { type ModelChoice, parseChoice } from "../providers/choice.ts";
import type { ResolvedModel } from "../providers/resolve.ts";
import { type ChosenEffort, effortOf } from "./effort-option.ts";
import { authRequired } from "./faults.ts";

export type StartingModel = {
  readonly resolved: ResolvedModel;
  /** Undefined: the configuration decides. */
  readonly chosen: ModelChoice | undefined;
  /** Undefined: nothing was chosen. */
  readonly effort: ChosenEffort | undefined;
  /** One line for people for each thing that could not be met. */
  readonly warnings: readonly string[];
};

/** What a journal, or the client for a new session, says. */
type Wish = { readonly model: string | undefined; readonly reasoningEffort: string | undefined };

/** Throws the protocol's error when the configuration leads to no model: authentication required when a key is missing. */
export async function startingModel(directory: ModelDirectory, wish: Wish): Promise<StartingModel> {
  const effort = wish.reasoningEffort === undefined ? undefined : effortOf(wish.reasoningEffort);
  const chosen = wish.model === undefined ? undefined : parseChoice(wish.model);
  const wished = chosen && directory.resolve(chosen);
  if (wished?.ok) return { resolved: wished.model, chosen, effort, warnings: [] };
  const automatic = await directory.automatic();
  if (!automatic.ok) {
    if (automatic.missing === "key") throw authRequired(automatic.message);
    throw RequestError.internalError(undefined, automatic.message);
  }
  const warnings = wished
    ? [`${wish.model} cannot be used here; ${automatic.model.model} answers. ${wished.message}`]
    : [];
  return { resolved: automatic.model, chosen: undefined, effort, warnings };
}
