/** Models for requests outside of sessions: commit messages and the background loops. */
import { setUpModels } from "../agent/agent-models.ts";
import type { Auxiliary } from "../agent/auxiliary-models.ts";
import type { ConfiguredAgent } from "../agent/configured-agent.ts";
import type { ModelDirectory } from "../agent/model-directory.ts";
import type { Environment } from "../config/home.ts";
import type { AuxiliaryTask } from "../config/model-sections.ts";
import type { DailyBudget } from "../learning/daily-budget.ts";
import type { LearningModel } from "../learning/loop.ts";
import { offline } from "../providers/deployments.ts";
import { settingsOf } from "../providers/model-choice.ts";
import { modelInfo } from "../providers/model-info.ts";
import type { ResolvedModel } from "../providers/resolve-model.ts";
import { costOf } from "../sessions/usage-ledger.ts";
import type { ConnectedClient } from "./connected-client.ts";
import { authRequired } from "./request-errors.ts";
import { startingModel } from "./session-model.ts";

/** The models of the agent server. */
export type ModelSource = {
  readonly configuration: { read(): Promise<ConfiguredAgent>; readonly directory: ModelDirectory };
  readonly client: ConnectedClient;
  readonly isLoggedOut: boolean;
  /** Choice of the model that a session used last; undefined before the first session. */
  readonly lastModel: string | undefined;
};

export type SessionlessModels = {
  readonly auxiliary: Auxiliary;
  readonly environment: Environment;
  /** The model that answers a task; undefined for the offline interpreter, which cannot. */
  answering(task: AuxiliaryTask): ResolvedModel | undefined;
};

/** `model`: id of a choice; default: the configured one. Throws the protocol's error when there is no model. */
export async function sessionlessModels(source: ModelSource, model: string | undefined): Promise<SessionlessModels> {
  const { configuration, client, isLoggedOut } = source;
  if (isLoggedOut) throw authRequired({ message: "You are logged out; log in first." }, client.keyHint);
  const { options } = await configuration.read();
  const choices = { model, reasoningEffort: undefined };
  const { resolved } = await startingModel(configuration.directory, choices, client.keyHint);
  const environment = options.environment ?? {};
  const { auxiliary } = setUpModels(
    {
      ...options,
      ...settingsOf(resolved),
      ...(client.models && { editorModels: client.models }),
      modelFacts: (used) => configuration.directory.facts(used),
    },
    environment,
  );
  const answering = (task: AuxiliaryTask): ResolvedModel | undefined => {
    const used = auxiliary.ownModel(task) ?? resolved;
    return used.endpoint.provider === offline.name ? undefined : used;
  };
  return { auxiliary, environment, answering };
}

/** The model of the background loops: their own, else the one that a session used last. */
export function learningModel(source: ModelSource, budget: () => Promise<DailyBudget>): LearningModel {
  const models = (): Promise<SessionlessModels> => sessionlessModels(source, source.lastModel);
  return {
    async isAvailable() {
      if (await (await budget()).isExhausted()) return false;
      const { answering } = await models();
      return answering("consolidation") !== undefined;
    },
    async ask(task, messages, signal) {
      const { auxiliary, answering } = await models();
      const model = answering(task);
      if (model === undefined) return { ok: false, problem: "there is no model that can answer" };
      const answer = await auxiliary.ask(task, { messages, signal });
      if (!answer.ok) return { ok: false, problem: answer.fault.message };
      const { usage } = answer;
      if (usage !== undefined) {
        const { price } = modelInfo(model.model, source.configuration.directory.facts(model));
        await (await budget()).spend(usage.inputTokens + usage.outputTokens, costOf(usage, price));
      }
      return { ok: true, text: answer.text };
    },
  };
}
