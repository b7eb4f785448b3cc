/** Approval of web pages and of the browser. */

import { statSync } from "node:fs";
import { parseEnv } from "node:util";
import { readTextSync } from "../platform/text-file.ts";
import { holdsSecret, redact, secretsOf } from "../providers/redact.ts";
import type { CommandScope } from "./command-scope.ts";
import {
  ALLOW,
  askUnlessGranted,
  asProtected,
  type Decision,
  deny,
  type Effect,
  type PolicyContext,
} from "./decision.ts";
import type { Grant } from "./grants.ts";
import { secretsBelow } from "./reached-secrets.ts";

/** Longer addresses and queries can carry a file away. Addresses of pages rarely have 300 characters. */
const MAX_SENT_CHARS = 500;
/**
 * Text that a session sends in addresses and queries before each further one asks, once for its host. It suffices for
 * 200 pages, and limits the parts in which hostile text of a page can carry a file away. Characters.
 */
const MAX_SESSION_CHARS = 12_000;

/** A page changes nothing here, but its address carries text away. */
export function decideFetch(
  { sent, places, isFromCode = false, isNamed = false }: Extract<Effect, { kind: "fetch" }>,
  context: PolicyContext,
): Decision {
  const { mode, trusted } = context;
  if (!trusted) return deny("The user has not trusted this workspace, so nothing is fetched from the internet for it.");
  const keys = places.map(
    (place): Grant => ({ id: JSON.stringify(["fetch", place]), description: `reading ${place}` }),
  );
  const grant = { description: keys.map(({ description }) => description).join("; "), keys };
  const secrets = ownSecrets(context);
  const leaks = sent.filter((text) => holdsSecret(text, secrets));
  const long = sent.filter((text) => text.length > MAX_SENT_CHARS);
  if (leaks.length > 0) {
    const reasons = leaks.map((text) => `Sends what looks like a key or another secret: ${redact(text, secrets)}`);
    return asProtected({ kind: "ask", reasons, grant: undefined });
  }
  if (mode === "auto") return ALLOW;
  if (long.length > 0) {
    const reasons = long.map((text) => `Sends ${text.length} characters: ${text}`);
    return { kind: "ask", reasons, grant: undefined };
  }
  const chars = sent.reduce((sum, text) => sum + text.length, 0);
  const isMuch = context.sent !== undefined && context.sent.chars + chars > MAX_SESSION_CHARS;
  // In plan mode nothing leaves but addresses that the session names: another one may hold what the agent has read.
  if (mode === "ask" || isMuch || isFromCode || (mode === "plan" && !isNamed)) {
    const much = isMuch ? [`This session has sent ${context.sent?.chars} characters in addresses and queries`] : [];
    return askUnlessGranted([...much, ...sent.map((text) => `Reads ${text}`)], grant, context);
  }
  if (context.sent !== undefined) context.sent.chars += chars;
  return ALLOW;
}

/** Values of the user's secrets, and of those in the workspace. */
export function ownSecrets({ secrets = [], scope }: PolicyContext): readonly string[] {
  return [...secrets, ...secretValues(scope)];
}

/** Larger files hold no settings. Bytes. */
const MAX_SETTINGS_BYTES = 65_536;
const MAX_SETTINGS_FILES = 50;

/** Secrets in the workspace's files of variables: code in the sandbox reads them, and prints them for the model. */
function secretValues(scope: CommandScope): readonly string[] {
  const files = scope.roots.flatMap((root) => secretsBelow(root, scope)).filter((path) => /\.env[^/]*$/.test(path));
  return files.slice(0, MAX_SETTINGS_FILES).flatMap((path) => {
    try {
      return statSync(path).size > MAX_SETTINGS_BYTES ? [] : secretsOf(parseEnv(readTextSync(path)));
    } catch {
      return []; // gone or unreadable, for scripts too
    }
  });
}

/** A page of the internet is a fetch. Opening a server of this machine, and acting on a page, ask once for the site. */
export function decideBrowse(
  { action, site, isLocal, sent, isFromCode = false, isNamed = false }: Extract<Effect, { kind: "browse" }>,
  context: PolicyContext,
): Decision {
  const { mode } = context;
  if (action === "read") return ALLOW;
  const fetched = decideFetch({ kind: "fetch", sent, places: [site], isFromCode, isNamed }, context);
  if ((action === "open" && !isLocal) || fetched.kind === "deny") return fetched;
  if (mode === "plan" && action === "act") {
    return deny("Plan mode is read-only: pages are only read. Put the action into your plan instead.");
  }
  if (mode === "auto" || (fetched.kind === "ask" && fetched.isProtected)) return fetched;
  const description = `opening, clicking and typing on ${site}`;
  const reason = action === "open" ? `Opens ${site}, a server of this machine` : `Clicks and types on ${site}`;
  return askUnlessGranted(
    [reason],
    { description, keys: [{ id: JSON.stringify(["browse", site]), description }] },
    context,
  );
}
