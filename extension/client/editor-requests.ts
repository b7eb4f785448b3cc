/** The agent's requests about the editor: problems after an edit, language models. */
import type { ClientApp } from "@zed-industries/agent-client-protocol";
import { editorModelMethods } from "../../agent-core/protocol/editor-models.ts";
import { onAgentRequest } from "../../agent-core/protocol/handle.ts";
import { notify } from "../../agent-core/protocol/method.ts";
import { problemMethods } from "../../agent-core/protocol/problems.ts";
import { askEditorModel, listEditorModels } from "../models/editor-models.ts";
import type { ClientServices } from "./client-services.ts";

export function registerEditorRequests(app: ClientApp, { problems }: ClientServices): void {
  onAgentRequest(app, problemMethods.watch, ({ params: { sessionId, watchId } }) => {
    problems.watch(`${sessionId} ${watchId}`);
    return {};
  });
  onAgentRequest(app, problemMethods.settled, async ({ params: { sessionId, watchId, paths }, signal }) => ({
    files: await problems.settled(`${sessionId} ${watchId}`, paths, signal),
  }));
  onAgentRequest(app, editorModelMethods.list, listEditorModels);
  onAgentRequest(app, editorModelMethods.chat, ({ params: chat, agent, signal }) =>
    askEditorModel(
      chat,
      (part) => notify(agent, editorModelMethods.delta, { chatId: chat.chatId, parts: [part] }),
      signal,
    ),
  );
}
