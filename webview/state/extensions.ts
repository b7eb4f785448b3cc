/** Extensions of the session shown: their list, actions on them, and those that need the user's attention. */
import type { HermesExtensionItem } from "../../agent-core/protocol/extensions.ts";
import type { ExtensionActed } from "../../agent-core/protocol/panel-events.ts";
import { t } from "../texts.ts";
import { announce, type ExtensionAct, type PanelState } from "./state.ts";

/** Limit of kept keys, the latest ones: more than a home has extensions. */
const MAX_SEEN = 200;

const NONE: readonly HermesExtensionItem[] = [];

export function extensionsOf({ facts, sessionId }: PanelState): readonly HermesExtensionItem[] {
  return facts.extensions.find((entry) => entry.sessionId === sessionId)?.items ?? NONE;
}

const ATTENTION: Partial<Record<HermesExtensionItem["state"], (name: string) => string>> = {
  "needs-consent": (name) => t("{0} needs your consent", name),
  "needs-sign-in": (name) => t("{0} needs you to sign in", name),
  failed: (name) => t("{0} has failed", name),
};

/** Extensions that need the user's attention and that the user has not seen yet. */
export function needingAttention(state: PanelState): readonly HermesExtensionItem[] {
  return extensionsOf(state).filter(
    (item) => ATTENTION[item.state] !== undefined && !state.seenExtensions.includes(attentionKey(item)),
  );
}

/** An item needs attention again when its state changes. */
export function attentionKey({ id, state }: HermesExtensionItem): string {
  return `${state} ${id}`;
}

/** One line about extensions that need attention; undefined without any. */
export function attentionText(items: readonly HermesExtensionItem[]): string | undefined {
  const [first, ...others] = items;
  if (first === undefined) return undefined;
  if (others.length > 0) return t("{0} extensions need your attention", items.length);
  return ATTENTION[first.state]?.(first.name);
}

/** Announcements of extensions that newly need attention. */
export function extensionNews(before: PanelState, now: PanelState): readonly string[] {
  if (before.facts.extensions === now.facts.extensions) return [];
  const known = new Set(needingAttention(before).map(attentionKey));
  const text = attentionText(needingAttention(now).filter((item) => !known.has(attentionKey(item))));
  return text === undefined ? [] : [text];
}

export function seeExtensions(state: PanelState, { keys }: { readonly keys: readonly string[] }): PanelState {
  const seenExtensions = [...new Set([...state.seenExtensions, ...keys])].slice(-MAX_SEEN);
  return { ...state, seenExtensions };
}

export function withAct(state: PanelState, id: string, act: ExtensionAct): PanelState {
  return { ...state, extensionActs: new Map(state.extensionActs).set(id, act) };
}

export function endAct(state: PanelState, { acted }: { readonly acted: ExtensionActed }): PanelState {
  const { id, message: text, isError } = acted;
  return announce(withAct(state, id, { isRunning: false, text, isError }), text);
}
