/**
 * Methods without a session: `initialize` and `authenticate`, notifications about files and models, learnt items and loops,
 * planned jobs, and commit messages.
 */
import { type AgentApp, type AuthMethod, methods, PROTOCOL_VERSION } from "@zed-industries/agent-client-protocol";
import { commitRequest, messageIn } from "../../agent/commit-request.ts";
import type { HermesAgentCapabilities } from "../../protocol/capabilities.ts";
import { commitMethods } from "../../protocol/commit-message.ts";
import { cronMethods } from "../../protocol/cron.ts";
import { editorModelMethods } from "../../protocol/editor-models.ts";
import { fileMethods } from "../../protocol/files.ts";
import { failure, invalidParams, onClientNotification, onClientRequest } from "../../protocol/handle.ts";
import { learningMethods } from "../../protocol/learning.ts";
import { notify } from "../../protocol/method.ts";
import { unstableMethods } from "../../protocol/sessions.ts";
import { secretsOf } from "../../providers/redact.ts";
import type { AgentServer } from "../agent-server.ts";
import { ConnectedClient } from "../connected-client.ts";
import { authRequired, faultError, throwRequestError } from "../request-errors.ts";
import { sessionlessModels } from "../sessionless-models.ts";

/** Reads the home again, which may have a new key. */
const HOME_METHOD = "hermes-home";

/** Asks for provider, key and model in a terminal (entry/setup.ts). */
const SETUP_METHOD = "hermes-setup";
const SETUP_ARGUMENT = "--setup";

/** Older editors declare the terminal with this field of `_meta`, and need the whole command line in it. */
const TERMINAL_AUTH = "terminal-auth";

const OURS: HermesAgentCapabilities = {
  steer: true,
  restore: true,
  processes: true,
  tail: true,
  extensions: true,
  delegation: true,
};

/** Methods that the library's types do not have yet. */
const UNSTABLE = { fork: {}, archive: {}, status: {}, title: {} };

export function registerConnectionMethods(app: AgentApp, server: AgentServer): void {
  app.onRequest(methods.agent.initialize, ({ params, client }) => {
    const { clientCapabilities = {}, clientInfo } = params;
    const { job } = server.options;
    server.identify(new ConnectedClient(clientCapabilities, clientInfo ?? undefined, client, job?.models));
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "hermes", title: "Hermes", version: server.options.version },
      agentCapabilities: {
        loadSession: true,
        mcpCapabilities: { http: true, sse: true, ...{ acp: true } },
        promptCapabilities: { image: true, embeddedContext: true },
        auth: { logout: {}, ...{ status: {} } },
        ...{ providers: {} },
        sessionCapabilities: {
          close: {},
          list: {},
          resume: {},
          delete: {},
          additionalDirectories: {},
          ...UNSTABLE,
        },
        _meta: { hermes: OURS },
      },
      authMethods: authMethods(server.client),
    };
  });
  app.onRequest(methods.agent.authenticate, async ({ params: { methodId }, client, signal }) => {
    if (ACCOUNTS.some(({ id }) => id === methodId)) {
      const { signInToAccount } = await import("./account-sign-in.ts");
      await signInToAccount(methodId, server, { client, signal });
    } else if (methodId !== HOME_METHOD) {
      const known = `there is no method ${JSON.stringify(methodId)}; available: ${HOME_METHOD}`;
      throw invalidParams("methodId", known);
    }
    server.isLoggedOut = false;
    await server.reconfigure();
    const model = server.configuration.directory.resolve(undefined);
    if (!model.ok) throw authRequired(model, server.client.keyHint);
    notify(client, unstableMethods.authStatusUpdate, { state: "authenticated" });
    return {};
  });
  onClientRequest(app, unstableMethods.authStatus, async () => {
    await server.configuration.read();
    const isReady = !server.isLoggedOut && server.configuration.directory.resolve(undefined).ok;
    return { state: isReady ? ("authenticated" as const) : ("unauthenticated" as const) };
  });
  // The keys stay in the home: other programs use them too.
  app.onRequest(methods.agent.logout, ({ client }) => {
    server.isLoggedOut = true;
    notify(client, unstableMethods.authStatusUpdate, { state: "unauthenticated" });
  });
}

/** Sign-ins in a browser. The ids are names of providers. */
const ACCOUNTS: readonly AuthMethod[] = [
  { id: "nous", name: "Sign In to Nous Portal", description: "Opens a page that asks for a code." },
  { id: "openrouter", name: "Sign In to OpenRouter", description: "Opens a page that makes a key for Hermes." },
];

/** Offers the terminal only to clients that can run this program in one. */
function authMethods({ ours, keyHint, capabilities: { auth, _meta } }: ConnectedClient): AuthMethod[] {
  const home: AuthMethod = {
    id: HOME_METHOD,
    name: "Use the key in the Hermes home",
    description: ["Reads ~/.hermes/.env and config.yaml again.", keyHint].join(" ").trimEnd(),
  };
  const accounts = ours.openUrl === true ? ACCOUNTS : [];
  if (auth?.terminal !== true && _meta?.[TERMINAL_AUTH] !== true) return [home, ...accounts];
  const name = "Set up a model in the terminal";
  const command = { command: process.execPath, args: [...process.argv.slice(1), SETUP_ARGUMENT], env: {}, label: name };
  const terminal: AuthMethod = {
    id: SETUP_METHOD,
    type: "terminal",
    name,
    description: "Asks for provider, key and model, and tests them.",
    args: [SETUP_ARGUMENT],
    _meta: { [TERMINAL_AUTH]: command },
  };
  return [terminal, home, ...accounts];
}

/** Files that the user saved or reviewed, and the editor's language models. */
export function registerEditorNotifications(app: AgentApp, server: AgentServer): void {
  onClientNotification(app, fileMethods.saved, ({ params }) => server.userSaved(params.path));
  onClientNotification(app, fileMethods.reviewed, ({ params }) => server.userReviewed(params));
  onClientNotification(app, fileMethods.settled, ({ params }) => server.userSettled(params));
  onClientNotification(app, editorModelMethods.delta, ({ params }) => server.client.models?.receive(params));
  onClientNotification(app, editorModelMethods.changed, () => server.configuration.directory.discover());
}

/** Reports without a `count`: a month. */
const REPORTS = 30;

const BUSY = "Another window of this home is learning at the moment. Try again in a minute.";

export function registerLearningMethods(app: AgentApp, { background }: AgentServer): void {
  onClientRequest(app, learningMethods.state, () => background.state().catch(throwRequestError));
  onClientRequest(app, learningMethods.act, ({ params }) =>
    background.act(params.id, params.action).catch(throwRequestError),
  );
  onClientRequest(app, learningMethods.switch, async ({ params }) => {
    await background.setSwitch(params.name, params.on).catch(throwRequestError);
    return {};
  });
  onClientRequest(app, learningMethods.reports, async ({ params }) => ({
    reports: await background.reports(params.count ?? REPORTS).catch(throwRequestError),
  }));
  onClientRequest(app, learningMethods.run, async ({ signal }) => {
    if (!(await background.runNow(signal).catch(throwRequestError))) throw failure(BUSY);
    return { message: "Everything that was due is done." };
  });
}

export function registerCronMethods(app: AgentApp, { jobs, background }: AgentServer): void {
  onClientRequest(app, cronMethods.list, () => jobs.state().catch(throwRequestError));
  onClientRequest(app, cronMethods.act, ({ params, signal }) =>
    jobs.act(params, undefined, signal).catch(throwRequestError),
  );
  onClientRequest(app, cronMethods.tick, async ({ signal }) => {
    const runs = await jobs.runDue(signal).catch(throwRequestError);
    return { runs, learnt: await background.runDue(signal).catch(throwRequestError) };
  });
}

const NO_MODEL = 'Hermes has no model that can write a commit message. Choose one with "Hermes: Choose Model".';

export function registerEditorMethods(app: AgentApp, server: AgentServer): void {
  onClientRequest(app, commitMethods.message, async ({ params, signal }) => {
    const { auxiliary, environment, answering } = await sessionlessModels(server, params.model);
    if (answering("commit_message") === undefined) throw failure(NO_MODEL);
    const messages = commitRequest(params, secretsOf(environment));
    const answer = await auxiliary.ask("commit_message", { messages, signal });
    if (!answer.ok) throw faultError(answer.fault, server.client.keyHint);
    const message = messageIn(answer.text);
    if (message === "") throw failure("The model answered without a commit message.");
    return { message };
  });
}
