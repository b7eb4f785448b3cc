/**
 * Links to Hermes from outside of VS Code: `vscode://hermes-agent.hermes-vscode/…`. Any web page can open such a link, so a
 * link only shows something: a prompt goes into the composer, and the user sends it.
 */
import * as vscode from "vscode";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import type { PanelCommand } from "../../agent-core/protocol/panel-events.ts";

/** Longer prompts are refused: the user must be able to read what a link brings. Characters. */
const MAX_PROMPT_CHARS = 4_000;

/** As in `protocol/panel-messages.ts`. */
const SESSION_ID = /^[\w.-]{1,200}$/;

/**
 * Command for the panel: `/ask?prompt=…`, `/new`, `/session?id=…`, `/sessions` and `/setup`. A string says why the link is
 * refused.
 */
export function commandOfUri({ path, query }: Pick<vscode.Uri, "path" | "query">): PanelCommand | string {
  const parameters = new URLSearchParams(query);
  switch (path) {
    case "/ask": {
      const text = parameters.get("prompt") ?? "";
      if (text.trim() === "") return vscode.l10n.t("it has no prompt");
      if (text.length > MAX_PROMPT_CHARS)
        return vscode.l10n.t("its prompt has more than {0} characters", MAX_PROMPT_CHARS);
      return { kind: "compose", text: visibleText(text) };
    }
    case "/new":
      return { kind: "new-session" };
    case "/session": {
      const sessionId = parameters.get("id") ?? "";
      return SESSION_ID.test(sessionId)
        ? { kind: "open-session", sessionId }
        : vscode.l10n.t("it has no valid session id");
    }
    case "/sessions":
      return { kind: "show-sessions" };
    case "/setup":
      return { kind: "show-setup" };
    default:
      return vscode.l10n.t("{0} is not a page of Hermes", JSON.stringify(path.slice(0, 80)));
  }
}

/** Opens the page that a link names; `warn` gets a sentence about any other link. */
export function openUris(show: (command: PanelCommand) => unknown, warn: (text: string) => unknown): vscode.UriHandler {
  return {
    async handleUri(uri) {
      const command = commandOfUri(uri);
      await (typeof command === "string"
        ? warn(vscode.l10n.t("Hermes cannot open this link: {0}.", command))
        : show(command));
    },
  };
}
