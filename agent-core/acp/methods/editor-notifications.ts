/** Notifications of the editor: files that the user saves, and its language models. */
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import { editorModelMethods } from "../../protocol/editor-models.ts";
import { fileMethods } from "../../protocol/files.ts";
import { onClientNotification } from "../../protocol/handle.ts";
import type { AgentServer } from "../agent-server.ts";

export function registerEditorNotifications(app: AgentApp, server: AgentServer): void {
  onClientNotification(app, fileMethods.saved, ({ params }) => server.userSaved(params.path));
  onClientNotification(app, fileMethods.reviewed, ({ params }) => server.userReviewed(params));
  onClientNotification(app, editorModelMethods.delta, ({ params }) => server.client.models?.receive(params));
  onClientNotification(app, editorModelMethods.changed, () => server.configuration.directory.discover());
}
