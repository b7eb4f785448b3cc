/** Decides who may write: ids of the settings and paired ones. An empty list means nobody; names decide nothing. */
import type { IncomingMessage } from "./adapters/adapter.ts";
import type { Pairing } from "./pairing.ts";
import type { PlatformSettings } from "./settings.ts";

export type Rank = "admin" | "user" | "stranger";

/** Rank of an id. Without `allow_admin_from`, everyone who may write is an admin. */
export function rankOf({ name, allowed, section }: PlatformSettings, user: string, pairing: Pairing): Rank {
  if (!allowed.has(user) && !pairing.isApproved(name, user)) return "stranger";
  const admins = section.allow_admin_from ?? [];
  return admins.length === 0 || admins.includes(user) ? "admin" : "user";
}

/** True for an admin that the settings name: such a person may answer questions of others. */
export function isNamedAdmin({ section }: PlatformSettings, user: string): boolean {
  return section.allow_admin_from?.includes(user) === true;
}

export type Admission = "take" | "ignore" | { readonly code: string };

/** Takes a message, or not. `code`: what a stranger in a direct chat tells the owner. */
export function admit(platform: PlatformSettings, message: IncomingMessage, pairing: Pairing): Admission {
  const isGroup = message.chatKind === "group";
  if (isGroup && !message.isAddressed && platform.section.require_mention !== false) return "ignore";
  if (rankOf(platform, message.user, pairing) !== "stranger") return "take";
  // With a list, a stranger learns nothing: not even that somebody is here.
  if (isGroup || platform.allowed.size > 0) return "ignore";
  const code = pairing.request(platform.name, message.user, message.userName ?? "");
  return code === undefined ? "ignore" : { code };
}

/** Commands that every user has. */
const FLOOR = ["help", "whoami", "start"];

/** True for a command that this rank may give; `user_allowed_commands` names those of users. */
export function mayCommand({ section }: PlatformSettings, rank: Rank, command: string): boolean {
  if (rank === "admin" || FLOOR.includes(command)) return true;
  const names = section.user_allowed_commands;
  return names === undefined || names.some((name) => name.replace(/^\//, "") === command);
}
