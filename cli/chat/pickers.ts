/** Lists of the interactive session to choose from: sessions, themes, earlier messages. */
import { methods } from "@zed-industries/agent-client-protocol";
import { readMeta } from "../../agent-core/protocol/method.ts";
import { HermesListedSession } from "../../agent-core/protocol/sessions.ts";
import type { ChatAgent } from "./chat-agent.ts";
import type { ChatView } from "./chat-view.ts";
import { Picker } from "./panels.ts";
import { THEMES, themeOf } from "./theme.ts";

type Item = { readonly value: string; readonly label: string; readonly description?: string };

export type SentPrompt = { readonly position: number; readonly text: string };

/** Undefined after Esc. */
export function pick(view: ChatView, title: string, items: readonly Item[]): Promise<string | undefined> {
  const picker = new Picker(title, items, view.theme);
  return view.show(picker, picker.chosen);
}

/** Id of the chosen session, of all folders. */
export async function pickSession(view: ChatView, agent: ChatAgent): Promise<string | undefined> {
  const { sessions } = await agent.client.request(methods.agent.session.list, {});
  const items = sessions.map(({ sessionId: value, title, cwd, updatedAt, _meta }) => {
    const { state = "" } = readMeta(HermesListedSession, _meta) ?? {};
    const description = `${state} ${(updatedAt ?? "").slice(0, 16).replace("T", " ")} ${cwd}`;
    return { value, label: title ?? "Untitled", description };
  });
  return pick(view, "Sessions", items);
}

/** Position of the chosen message. */
export async function pickSent(view: ChatView, sent: readonly SentPrompt[]): Promise<number | undefined> {
  const items = sent.toReversed().map(({ position, text }) => ({ value: String(position), label: oneRow(text) }));
  const chosen = await pick(view, "Edit from", items);
  return chosen === undefined ? undefined : Number(chosen);
}

/** Puts an earlier prompt of the folder into the message. */
export async function pickPrompt(view: ChatView, prompts: readonly string[]): Promise<void> {
  const items = [...new Set(prompts.toReversed())].map((value) => ({ value, label: oneRow(value) }));
  const chosen = await pick(view, "Earlier messages", items);
  if (chosen !== undefined) view.composer.setText(chosen);
}

/** Changes the colours. `name` may be empty: the user chooses. Returns a line for the user. */
export async function changeTheme(view: ChatView, name: string): Promise<string | undefined> {
  const items = THEMES.map((value) => ({ value, label: value }));
  const chosen = name === "" ? await pick(view, "Theme", items) : name;
  if (chosen === undefined) return undefined;
  const theme = themeOf(chosen);
  if (theme === undefined) return `There is no theme "${chosen}". Available: ${THEMES.join(", ")}.`;
  view.setTheme(theme);
  return `To keep it, set display.theme: ${chosen} in config.yaml.`;
}

function oneRow(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
