/**
 * The one way out: text that leaves this machine in a page's address, a command, a name to look up or a call of a server's
 * tool. All share one check for secrets, and one budget of characters and new hosts in a session.
 */
import { statSync } from "node:fs";
import { parseEnv } from "node:util";
import { attempt } from "../platform/errors.ts";
import { FolderCache } from "../platform/folder-cache.ts";
import { readTextSync } from "../platform/text-file.ts";
import { holdsSecret, holdsValue, redact, SHORTEST_SECRET, secretsOf } from "../providers/redact.ts";
import type { CommandScope } from "./command-scope.ts";
import type { CommandVerdict } from "./command-verdict.ts";
import {
  ALLOW,
  askUnlessGranted,
  asProtected,
  type Decision,
  deny,
  type Effect,
  type PolicyContext,
  refusal,
} from "./decision.ts";
import { secretsBelow } from "./reached-secrets.ts";
import type { CommandPart } from "./shell/recorder.ts";

/**
 * Text that a session sends before each further one asks, once for its host. It suffices for 200 pages, and limits the parts
 * in which hostile text of a page can carry a file away. Characters.
 */
const MAX_CHARS = 12_000;
const MAX_HOSTS = 60;
const MAX_SHOWN = 5;

/**
 * A question without a lasting answer when a text holds a secret; undefined when none does. `isAddress`: it also counts when
 * it only looks like a key.
 */
export function secretQuestion(
  texts: readonly string[],
  { to = "", isAddress = false }: { readonly to?: string; readonly isAddress?: boolean },
  context: PolicyContext,
): Decision | undefined {
  const secrets = [...(context.secrets ?? []), ...secretFiles(context.scope).flatMap(({ values }) => values)];
  const holds = isAddress ? holdsSecret : holdsValue;
  // The names of hosts have no case.
  const folded = secrets.map((secret) => secret.toLowerCase());
  const hostOf = (text: string): string => /^(?:\w+:\/\/)?[^\s/?#]*\.[^\s/?#]*/.exec(text)?.[0].toLowerCase() ?? "";
  const isLeak = (text: string): boolean => holds(text, secrets) || holdsValue(hostOf(text), folded);
  // Text that was cut into arguments or labels of a name is whole without its separators.
  const whole = [texts, [texts.join(" ")]].map((some) => some.filter(isLeak));
  const leaks = whole.find(({ length }) => length > 0) ?? [];
  if (leaks.length === 0) return undefined;
  const shown = [
    ...new Set(leaks.map((text) => redact(holds(text, secrets) ? text : text.toLowerCase(), [...secrets, ...folded]))),
  ].slice(0, MAX_SHOWN);
  const reasons = shown.map((text) => `Sends what looks like a key or another secret${to}: ${text}`);
  return asProtected({ kind: "ask", reasons, grant: undefined });
}

/** Reason why the session has sent enough; undefined while texts and hosts are within its budget, which they then use. */
export function overBudget(
  texts: readonly string[],
  hosts: readonly string[],
  { sent }: PolicyContext,
): string | undefined {
  if (sent === undefined) return undefined;
  const chars = sent.chars + texts.reduce((sum, text) => sum + text.length, 0);
  const fresh = hosts.filter((host) => !sent.hosts.has(host));
  if (chars > MAX_CHARS) return `This session has sent ${sent.chars} characters in addresses, queries and arguments`;
  if (fresh.length > 0 && sent.hosts.size + fresh.length > MAX_HOSTS)
    return `This session has contacted ${sent.hosts.size} hosts`;
  sent.chars = chars;
  for (const host of fresh) sent.hosts.add(host);
  return undefined;
}

/** The decision on a command, with a question for what an allowed one sends. */
export function decideSending(decision: Decision, { parts }: CommandVerdict, context: PolicyContext): Decision {
  const { sandbox } = decision;
  const leaving = parts.filter(({ looks, reach }) => looks || reach !== "inside");
  if (decision.kind !== "allow" || (sandbox !== undefined && sandbox !== "networked") || leaving.length === 0)
    return decision;
  const where = sandbox && { sandbox };
  const texts = leaving.flatMap(({ words = [] }) => words.slice(1));
  const leak = secretQuestion(texts, {}, context);
  if (leak !== undefined) return { ...leak, ...where };
  if (decision.granted) return decision;
  const ports = leaving.flatMap((part) => portsOf(part, context));
  const much = context.mode === "auto" ? undefined : overBudget(texts, [], context);
  if (much === undefined && ports.length === 0) return decision;
  const reasons = [...(much ? [much] : []), ...ports.map(({ reason }) => reason)];
  const grant = ports.map(({ id }) => ({ row: `contacting: ${id}` }));
  return { ...askUnlessGranted(reasons, grant, context), ...where };
}

type PortUse = { readonly id: string; readonly reason: string };

const LOCAL_ADDRESS = /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?::(\d+))?(?:[/?#]|$)/i;
/** Words by which curl and its like send more than a GET or a HEAD. */
const SENDING =
  /^(?:-[a-zA-Z]*[dFT]|--(?:data|json|form|upload)|(?:-\w*X|--request=)?(?:P(?:OST|UT|ATCH)|DELETE|p(?:ost|ut|atch)|delete)$)/;

/** Reading from a port on which a process of the session listens asks nothing; in auto mode only sending to another port does. */
function portsOf({ words = [] }: CommandPart, { ownPorts, mode }: PolicyContext): readonly PortUse[] {
  const sends = words.some((word) => SENDING.test(word));
  const [doing, does] = sends ? ["sending to", "Sends a request to"] : ["reading from", "Reads from"];
  return words.slice(1).flatMap((text) => {
    const local = LOCAL_ADDRESS.exec(text);
    const port = Number(local?.[1] ?? (text.startsWith("https") ? 443 : 80));
    const isOwn = ownPorts?.has(port) === true;
    if (local === null || (mode === "auto" ? isOwn || !sends : isOwn && !sends)) return [];
    return [{ id: `${doing} port ${port} of this machine`, reason: `${does} port ${port} of this machine` }];
  });
}

const MAX_SENT_CHARS = 500;
/** A page changes nothing here, but its address carries text away. */
export function decideFetch(
  { sent, places, isFromCode = false, isNamed = false }: Extract<Effect, { kind: "fetch" }>,
  context: PolicyContext,
): Decision {
  const { mode } = context;
  const refused = refusal(context, "nothing is fetched from the internet for it.");
  if (refused) return refused;
  const grant = places.map((place) => ({ row: `fetching: ${place}` }));
  const leak = secretQuestion(sent, { isAddress: true }, context);
  if (leak !== undefined) return leak;
  const long = sent.filter((text) => text.length > MAX_SENT_CHARS);
  if (mode === "auto") return ALLOW;
  if (long.length > 0) {
    const reasons = long.map((text) => `Sends ${text.length} characters: ${text}`);
    return { kind: "ask", reasons, grant: undefined };
  }
  // In plan mode nothing leaves but addresses that the session names: another one may hold what the agent has read.
  const asks = mode === "ask" || isFromCode || (mode === "plan" && !isNamed);
  const much = asks ? undefined : overBudget(sent, isNamed ? [] : places, context);
  if (!asks && much === undefined) return ALLOW;
  return askUnlessGranted([...(much ? [much] : []), ...sent.map((text) => `Reads ${text}`)], grant, context);
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
  if (mode === "plan" && action === "act")
    return deny("Plan mode is read-only: pages are only read. Put the action into your plan instead.");
  if (mode === "auto" || (fetched.kind === "ask" && fetched.isProtected)) return fetched;
  const reason = action === "open" ? `Opens ${site}, a server of this machine` : `Clicks and types on ${site}`;
  return askUnlessGranted([reason], [{ row: `browsing: ${site}` }], context);
}

/**
 * The output of a command without values of secret files that the user has not agreed to show: code in the sandbox reads these
 * files, and no reading of a command tells what an unknown program prints. Words of letters alone stay, as in `postgres`.
 */
export function hideSecretValues(text: string, { scope, grants }: Pick<PolicyContext, "scope" | "grants">): string {
  return secretFiles(scope)
    .filter(({ path }) => !grants.covers([{ row: `reading: ${path}` }]))
    .flatMap(({ path, values }) => values.map((value) => ({ value, note: `[hidden: it stands in ${path}]` })))
    .filter(({ value }) => value.length >= SHORTEST_SECRET && !/^[a-z]*$/i.test(value))
    .toSorted((one, other) => other.value.length - one.value.length)
    .reduce((shown, { value, note }) => shown.replaceAll(value, note), text);
}

const MAX_SETTINGS_BYTES = 65_536;
const MAX_SETTINGS_FILES = 50;
/** Letters and digits of a key: no word, version or name of a host has as many in a row. A lookahead would be quadratic. */
const KEY_RUN = /[A-Za-z\d][A-Za-z\d+]{13,}/g;
const isKey = (run: string): boolean => /[A-Za-z]/.test(run) && /\d\D*\d/.test(run);

type SecretFile = { readonly path: string; readonly values: readonly string[] };

const keys = new FolderCache<readonly string[]>();

/** Secret files of the workspace with the keys in them. */
function secretFiles(scope: CommandScope): readonly SecretFile[] {
  const paths = [...new Set(scope.roots.flatMap((root) => secretsBelow(root, scope)))];
  return paths.slice(0, MAX_SETTINGS_FILES).map((path) => {
    const real = scope.resolvePath(path);
    return { path, values: keys.get(real, () => keysIn(real)) };
  });
}

function keysIn(path: string): readonly string[] {
  // It may be gone or unreadable, for scripts too.
  const text = attempt(() => (statSync(path).size > MAX_SETTINGS_BYTES ? "" : readTextSync(path))) ?? "";
  return [...secretsOf(parseEnv(text)), ...(text.match(KEY_RUN) ?? []).filter(isKey)];
}
