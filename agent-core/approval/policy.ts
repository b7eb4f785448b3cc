/** Approval policy: decides in which mode an effect runs, asks or is denied. */
import { hash as digestOf } from "node:crypto";
import { dirname, resolve } from "node:path";
import { findProgram } from "../platform/find-program.ts";
import { pathBelow } from "../platform/paths.ts";
import { commandGrant } from "./command-grant.ts";
import { type CommandScope, partsBelow, placeOf } from "./command-scope.ts";
import { type CommandVerdict, judgeCommand } from "./command-verdict.ts";
import { contentHash } from "./consents.ts";
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
import { decideBrowse, decideFetch, decideSending, overBudget, secretQuestion } from "./egress.ts";
import type { GrantOffer } from "./grants.ts";
import { otherNameReason, piecesOf } from "./judge-path.ts";
import { exportedVariables, isData } from "./project-scripts.ts";
import { protectedReason } from "./protected-paths.ts";
import { isHiddenFolder, outsideReason } from "./read-places.ts";
import { isPlainRepository } from "./repository.ts";
import { plainReaders, textFilters } from "./rules/looks.ts";
import { isOfGateway, OF_GATEWAY, secretReason } from "./secret-paths.ts";
import { knownArg } from "./shell/arg.ts";
import { type CommandPart, widerReach } from "./shell/recorder.ts";
import { decideUnread } from "./unread-command.ts";

const UNSANDBOXED = "Runs outside the sandbox, with the network and with your own access to files";
const NETWORKED = "Uses the network, from inside the sandbox";

/** Decides on an effect. Never asks the user itself, and never throws. */
export function decide(effect: Effect, context: PolicyContext): Decision {
  const decision = judge(effect, context);
  if (effect.kind === "edit" && decision.kind !== "deny") for (const path of effect.paths) context.written?.add(path);
  if (decision.kind !== "ask" || context.asks !== false) return decision;
  const { sandbox, writable } = decision;
  return { ...ALLOW, ...(sandbox && { sandbox }), ...(writable && { writable }) };
}

function judge(effect: Effect, context: PolicyContext): Decision {
  switch (effect.kind) {
    case "none":
      return ALLOW;
    case "read":
    case "edit":
      if (effect.paths.some((path) => isOfGateway(path, context.scope)))
        return deny(`No session uses this file: ${OF_GATEWAY}.`);
      return effect.kind === "read" ? decideRead(effect.paths, context) : decideEdit(effect.paths, context);
    case "memory":
    case "skill":
      return decideKnowledge(effect, context);
    case "job":
      return decideJob(effect.reasons, context);
    case "fetch":
      return decideFetch(effect, context);
    case "browse":
      return decideBrowse(effect, context);
    case "foreign":
      return decideForeign(effect, context);
    case "command": {
      const variables =
        effect.variables === undefined ? new Map<string, string>() : exportedVariables(effect.variables);
      return decideCommand(effect, { ...context, scope: { ...context.scope, cwd: effect.cwd, variables } });
    }
  }
}

function decideRead(paths: readonly string[], context: PolicyContext): Decision {
  const { scope, trusted } = context;
  const asking = reasonsOf(
    paths,
    (path) => secretReason(path, scope) ?? outsideReason(path, scope) ?? otherNameReason(path, scope),
  );
  if (asking.length === 0) return ALLOW;
  const reasons = asking.map(({ path, reason }) => `Reads ${shownPath(path, scope)}: ${reason}`);
  if (!trusted) {
    return deny(
      `The user has not trusted this workspace, so nothing but its own files is read. ${reasons[0] ?? ""}. Answer without it.`,
    );
  }
  const decision = askUnlessGranted(reasons, pathGrant("reading", asking), context);
  return paths.some((path) => secretReason(path, scope) !== undefined) ? asProtected(decision) : decision;
}

function decideEdit(paths: readonly string[], context: PolicyContext): Decision {
  const { mode, scope } = context;
  const untrusted = "nothing is written in it. Answer with what you can read.";
  const refused = refusal(context, untrusted, "nothing is written. Describe the change in your plan instead.");
  if (refused) return refused;
  const guarded = reasonsOf(paths, (path) => protectedReason(path, scope) ?? otherNameReason(path, scope));
  const asking =
    mode === "ask"
      ? reasonsOf(paths, (path) => protectedReason(path, scope) ?? "every edit asks in this mode")
      : guarded;
  if (asking.length === 0) return ALLOW;
  const decision = askUnlessGranted(
    asking.map(({ path, reason }) => `Edits ${shownPath(path, scope)}: ${reason}`),
    pathGrant("editing", asking),
    context,
  );
  return guarded.length > 0 ? asProtected(decision) : decision;
}

const KNOWLEDGE = {
  memory: {
    plan: "nothing is remembered. Put the fact into your plan instead.",
    reason: "Every later session begins with the memory",
    grant: [{ row: "changing: the memory" }],
  },
  skill: {
    plan: "no skill is changed. Describe it in your plan instead.",
    reason: "Later sessions follow the skill",
    grant: [{ row: "changing: skills" }],
  },
};

function decideKnowledge(effect: Extract<Effect, { kind: "memory" | "skill" }>, context: PolicyContext): Decision {
  const { plan, reason, grant } = KNOWLEDGE[effect.kind];
  const refused = refusal(context, "nothing from it is remembered.", plan);
  if (refused) return refused;
  if (context.mode === "auto" && effect.isFromTools !== true) return ALLOW;
  const source = effect.isFromTools ? ["The text comes from a file, a page or a command, not from you"] : [];
  return askUnlessGranted([reason, ...source], grant, context);
}

/** Asks in every mode, and no answer lasts: the user knows each job that works without them. */
function decideJob(reasons: readonly string[], context: PolicyContext): Decision {
  const plan = "no job is planned. Describe it in your plan instead.";
  const asks: Decision = { kind: "ask", reasons, grant: undefined, isProtected: true };
  return refusal(context, "no job is planned from it.", plan) ?? asks;
}

function decideForeign(
  { origin, originName, tool, readOnly, args }: Extract<Effect, { kind: "foreign" }>,
  context: PolicyContext,
): Decision {
  const { mode } = context;
  const plan = readOnly ? undefined : "this tool may change something. Put the call into your plan instead.";
  const refused = refusal(context, `no tool of ${originName} runs in it.`, plan);
  if (refused) return refused;
  const sent = [String(JSON.stringify(args))];
  const leak = secretQuestion(sent, { to: ` to ${originName}` }, context);
  if (leak !== undefined) return leak;
  const much = readOnly && mode !== "ask" ? overBudget(sent, [], context) : undefined;
  if (readOnly && mode !== "ask" && much === undefined) return ALLOW;
  // The hash stands for the program or address behind the name.
  const grant = [{ row: `calling: ${tool} of ${originName} as of ${digestOf("sha256", origin).slice(0, 12)}` }];
  const reasons = [...(much ? [much] : []), `Calls ${tool} of ${originName}`, `Arguments: ${JSON.stringify(args)}`];
  return askUnlessGranted(reasons, grant, context);
}

type PathReason = { readonly path: string; readonly reason: string };

function reasonsOf(paths: readonly string[], why: (path: string) => string | undefined): readonly PathReason[] {
  return paths.flatMap((path) => {
    const reason = why(path);
    return reason === undefined ? [] : [{ path, reason }];
  });
}

function pathGrant(verb: "reading" | "editing", paths: readonly PathReason[]): GrantOffer {
  return paths.map(({ path }) => ({ row: `${verb}: ${path}` }));
}

function shownPath(path: string, { cwd }: CommandScope): string {
  return pathBelow(cwd, path) || path;
}

type CommandEffect = Extract<Effect, { kind: "command" }>;

function decideCommand(effect: CommandEffect, context: PolicyContext): Decision {
  const { mode, scope, asks, sandbox } = context;
  const refused = refusal(context, "no command runs in it. Answer with what you can read.");
  if (refused) return refused;
  const verdict = judgeCommand(effect.command, scope);
  if (verdict.level === "block") {
    return deny(`This command is blocked in every mode: ${verdict.reasons[0] ?? ""}. Do not try it another way.`);
  }
  if ((scope.language ?? "sh") !== "sh" && (scope.powerShell === undefined || !verdict.isFullyParsed))
    return decideUnread(verdict.reasons, effect, context);
  if (!verdict.isFullyParsed && asks === false) {
    // The part that was not read could be one that is blocked in every mode.
    return deny(
      `This command was not run: ${verdict.alwaysAskReasons[0] ?? ""}. Write it shorter and plainly, or as several commands.`,
    );
  }
  for (const path of verdict.writes) context.written?.add(path);
  const onlyReads = verdict.level === "safe" && verdict.readOnly;
  if (mode === "plan" && !onlyReads) return decideInPlan(verdict, effect, context);
  const byMode = (): Decision => (onlyReads ? ALLOW : decideByMode(verdict, context));
  const decision = decideSending(sandbox ? decideInSandbox(verdict, effect, context) : byMode(), verdict, context);
  return withFacts(withTree(withSecrets(decision, verdict, context), verdict), verdict);
}

/** The rows of a grant change with what decides the effect: the text of a script, a cluster, a remote. */
function withFacts(decision: Decision, { parts }: CommandVerdict): Decision {
  const scripts = parts.flatMap((part) => part.scripts);
  const rows = decision.kind === "ask" ? (decision.grant?.map(({ row }) => row) ?? []) : [];
  return scripts.length + rows.length === 0 ? decision : { ...decision, judged: contentHash([scripts, rows]) };
}

/**
 * Decides in plan mode on a command that nothing proves to be a read: where a sandbox confines its every effect, it runs with
 * the workspace read-only. One that surely writes is refused before it fails in the middle, and one that prints a
 * repository's secret files because the sandbox cannot hide them there.
 */
function decideInPlan(
  verdict: CommandVerdict,
  { cwd, reach = "inside" }: CommandEffect,
  { sandbox, scope }: PolicyContext,
): Decision {
  const staysInside = verdict.reach === "inside" && reach === "inside" && !isHiddenFolder(cwd, scope);
  const changes = verdict.outsideCommands.changes || verdict.writes.size > 0 || verdict.treeFiles.size > 0;
  if (sandbox && staysInside && verdict.isContained && !changes && !verdict.printsHistory)
    return { ...ALLOW, sandbox: "reading" };
  return deny("Plan mode is read-only: only commands that purely read run. Put this one into your plan instead.");
}

/** Only the user answers for protected files. Then git changes all files of the tree, and the command no other such file. */
function withTree(decision: Decision, { treeFiles }: CommandVerdict): Decision {
  return treeFiles.size === 0 ? decision : { ...asProtected(decision), writable: [...treeFiles] };
}

/**
 * A command that may print a secret file without naming it: the sandbox hides the file from a command that only reads;
 * otherwise the question and its grant are those of reading the file.
 */
function withSecrets(decision: Decision, verdict: CommandVerdict, context: PolicyContext): Decision {
  const { reachedSecrets, printsHistory } = verdict;
  if (reachedSecrets.size === 0 || decision.kind === "deny") return decision;
  if (decision.kind === "allow" && decision.sandbox === "isolated" && !printsHistory && areReaders(verdict))
    return { ...decision, sandbox: "reading" };
  const asking = [...reachedSecrets].slice(0, MAX_SECRETS).map((path) => ({ path, reason: "" }));
  const isWhole = asking.length === reachedSecrets.size;
  const reading = pathGrant("reading", asking);
  if (isWhole && context.grants.covers(reading)) return decision;
  const named = [...asking.map(({ path }) => path), ...(isWhole ? [] : ["…"])].join(", ");
  return askToo(decision, `May print ${named}: ${PRINTED}`, isWhole ? reading : undefined);
}

/** Programs that read do no more where nothing can be written, also with an option that no rule lists. */
function areReaders({ readOnly, outsideCommands, parts }: CommandVerdict): boolean {
  const isReader = (part: CommandPart): boolean => part.readOnly || plainReaders.has(part.program);
  return readOnly || (!outsideCommands.changes && parts.every(isReader));
}

function askToo(decision: Decision, reason: string, grant: GrantOffer | undefined): Decision {
  const { sandbox } = decision;
  const earlier = decision.kind === "ask" ? decision : { reasons: [], grant: [] };
  const both = earlier.grant && grant && [...earlier.grant, ...grant];
  return asProtected({ kind: "ask", reasons: [...earlier.reasons, reason], grant: both, ...(sandbox && { sandbox }) });
}

const MAX_SECRETS = 5;
const PRINTED = "such files usually hold keys or passwords, or belong to another repository";

/** Each command runs in the sandbox as far as it can; a command that needs more asks. */
function decideInSandbox(
  verdict: CommandVerdict,
  { reach: requested, cwd }: CommandEffect,
  context: PolicyContext,
): Decision {
  const needed = widerReach(verdict.reach, isHiddenFolder(cwd, context.scope) ? "outside" : "inside");
  const reach = widerReach(needed, requested ?? "inside");
  switch (reach) {
    case "inside":
      return { ...decideInside(verdict, context), sandbox: "isolated" };
    case "network":
      if (needed === verdict.reach && onlyLooks(verdict, context)) return { ...ALLOW, sandbox: "networked" };
      return { ...decideBeyond(verdict, NETWORKED, context), sandbox: "networked" };
    case "outside":
      if (reach === verdict.reach && onlyLooks(verdict, context)) return ALLOW;
      // A command that a sandbox holds leaves it only on the user's word.
      return decideBeyond(verdict, UNSANDBOXED, needed === "outside" ? context : { ...context, mode: "ask" });
  }
}

/**
 * True when every part that leaves the sandbox asks a service for what it knows, by a program of this machine, and every other
 * part only filters text, or reads a repository whose settings run nothing. Without a sandbox such a command asks nothing either.
 */
function onlyLooks(verdict: CommandVerdict, { mode, scope }: PolicyContext): boolean {
  const { level, runsProject, outsideCommands } = verdict;
  if ((mode !== "code" && mode !== "auto") || level !== "safe" || runsProject || outsideCommands.changes) return false;
  // Any other variable may choose a program, a place or a plugin of the service's own tool.
  if ([...verdict.variables, ...(scope.variables?.keys() ?? [])].some((name) => !PLAIN_VARIABLE.test(name)))
    return false;
  const isPlainReader = ({ program, folders }: Pick<CommandPart, "program" | "folders">): boolean =>
    textFilters.has(program) || (program === "git" && folders?.every(isPlainRepository) === true);
  return verdict.parts.every(({ looks, readOnly, reach, words, ...part }) =>
    reach === "inside" ? readOnly && isPlainReader(part) : (looks || readOnly) && isOfMachine(words?.[0] ?? "/", scope),
  );
}

/** Variables that change nothing but the look of the output, and those of tools that ask no service. */
const PLAIN_VARIABLE =
  /^(?:LANG|LC_\w+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CI|NODE_ENV|DEBUG|OLDPWD|[a-z_]\w*)$/;

function isOfMachine(name: string, scope: CommandScope): boolean {
  const path = name.includes("/") ? name : findProgram(name);
  const place = path === undefined ? "outside" : placeOf(scope.resolvePath(path), scope).kind;
  return place === "outside" && (!name.includes("/") || name.startsWith("/"));
}

function decideInside(verdict: CommandVerdict, context: PolicyContext): Decision {
  if (verdict.level === "safe" && verdict.readOnly) return ALLOW;
  return verdict.isContained && context.mode !== "ask" ? ALLOW : decideByMode(verdict, context);
}

function decideBeyond(verdict: CommandVerdict, reason: string, context: PolicyContext): Decision {
  const needs = (part: CommandPart): boolean => part.level !== "safe" || !part.readOnly || part.reach !== "inside";
  const decision = askForParts(verdict, needs, context);
  return decision.kind === "ask" ? { ...decision, reasons: [...decision.reasons, reason] } : decision;
}

/** `auto` counts on the sandbox: without one it asks as `code` does. */
function decideByMode(verdict: CommandVerdict, context: PolicyContext): Decision {
  const { mode, sandbox } = context;
  const { level, alwaysAskReasons } = verdict;
  if (mode === "auto" && sandbox)
    return alwaysAskReasons.length === 0 ? ALLOW : { kind: "ask", reasons: alwaysAskReasons, grant: undefined };
  if (mode === "ask") return askForParts(verdict, (part) => part.level !== "safe" || !part.readOnly, context);
  return level === "safe" && ownCode(verdict, context) === undefined
    ? ALLOW
    : askForParts(verdict, (part) => part.level !== "safe", context);
}

function askForParts(verdict: CommandVerdict, needs: (part: CommandPart) => boolean, context: PolicyContext): Decision {
  const own = ownCode(verdict, context);
  const reasons = own === undefined ? verdict.reasons : [...verdict.reasons, own.reason];
  // In `ask` mode every change asks, and no command's grant covers a redirection (`> file`).
  const covered = context.mode !== "ask" || !verdict.outsideCommands.changes;
  const grant = covered ? commandGrant(verdict, needs, context.scope, own === undefined ? [] : [own.key]) : undefined;
  const changes = verdict.readOnly ? [] : ["The command changes something"];
  return askUnlessGranted(reasons.length > 0 ? reasons : changes, grant, context);
}

/** Without a sandbox, code that the agent wrote asks once in a workspace before it runs, also from a place that a command names. */
function ownCode(verdict: CommandVerdict, { sandbox, scope, written }: PolicyContext) {
  const root = scope.roots.find((each) => partsBelow(each, scope.cwd) !== undefined) ?? scope.cwd;
  if (!verdict.runsProject || sandbox || !written?.size) return undefined;
  const places = verdict.parts.filter((part) => part.runsProject).flatMap((part) => placesNamed(part, scope));
  const isRun = (path: string): boolean => [root, ...places].some((place) => partsBelow(place, path) !== undefined);
  const files = [...written].filter((path) => !isData(path) && [path, scope.resolvePath(path)].some(isRun));
  if (files.length === 0) return undefined;
  const shown = files.slice(0, 3).map((path) => shownPath(path, { ...scope, cwd: root }));
  const key = { row: `running: code that the agent changed in ${root}` };
  return { reason: `Runs code that the agent changed: ${shown.join(", ")}${files.length > 3 ? ", …" : ""}`, key };
}

/** Folders of a command and of the files that its words may name, but not all of the temp folder. */
function placesNamed({ words = [], folders = ["/"] }: CommandPart, scope: CommandScope): readonly string[] {
  const files = words.flatMap((word) => piecesOf(knownArg(word), scope)).map(({ text }) => text);
  const named = folders.flatMap((folder) => files.map((file) => scope.resolvePath(resolve(folder, file))));
  const around = named.map(dirname).filter((path) => placeOf(path, scope).below.length > 0);
  return [...folders.map(scope.resolvePath), ...named, ...around];
}
