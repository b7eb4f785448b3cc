/** Judges the effect of reading, writing or deleting one path. */
import { dirname } from "node:path";
import { entriesOf, pathRules, statOf } from "../platform/paths.ts";
import { catastrophicReason, deviceOf } from "./catastrophic-paths.ts";
import { ask, askAlways, askForCode, block, type CommandEffect, opaque } from "./command-effect.ts";
import { type CommandScope, homeOf, type Place, partsBelow, placeOf } from "./command-scope.ts";
import { protectedPatternReason, protectedReason } from "./protected-paths.ts";
import { secretsBelow, secretsMatching } from "./reached-secrets.ts";
import { readPlace } from "./read-places.ts";
import { isOfGateway, OF_GATEWAY, secretReason } from "./secret-paths.ts";
import { type Arg, isKnown, shown, TOKEN, UNKNOWN } from "./shell/arg.ts";
import type { Recorder } from "./shell/recorder.ts";

const MAX_PATH = 4096;

export type PathEffect = Extract<CommandEffect, { path: Arg }>;

export type PathJudge = {
  readonly scope: CommandScope;
  readonly record: Recorder;
  /** Folders that a relative path may start in; undefined when they are not known. */
  readonly cwds: readonly string[] | undefined;
};

export function judgePath(effect: PathEffect, judge: PathJudge): void {
  judge.record.countStep();
  if (effect.kind !== "read") judge.record.markChanged();
  const targets = targetsOf(effect.path, judge);
  if (targets === undefined) {
    judgeUnknown(effect, judge);
    return;
  }
  for (const target of targets) {
    if (isOfGateway(target, judge.scope)) judge.record.add(block(`Uses ${shown(effect.path)}: ${OF_GATEWAY}`));
    else if (effect.kind === "read") judgeRead(effect, target, judge);
    else if (effect.kind === "write") judgeWrite(effect, target, judge);
    else judgeRemoval(effect, target, judge);
  }
}

/** Absolute paths that a word may name, not normalised; undefined when the word is not known. */
function targetsOf(path: Arg, { cwds, scope }: PathJudge): readonly string[] | undefined {
  const { text } = path;
  if (text.includes(UNKNOWN) || path.content !== undefined || text.length > MAX_PATH) return undefined;
  if (text === "") return [];
  if (isAbsolute(text, scope)) return [text];
  return cwds && absolute(text, cwds, scope);
}

function isAbsolute(path: string, { home }: CommandScope): boolean {
  return pathRules(home).isAbsolute(path);
}

/** `join` would drop `link/..`, where the system follows the link first. */
function absolute(path: string, folders: readonly string[], scope: CommandScope): readonly string[] {
  return isAbsolute(path, scope) ? [path] : folders.map((folder) => `${folder}/${path}`);
}

function judgeUnknown(effect: PathEffect, judge: PathJudge): void {
  const { record } = judge;
  // The walk has already judged the commands of a process substitution.
  if (effect.path.content !== undefined) return;
  judgeWithNames(effect, judge);
  if (effect.kind === "read") {
    readUnknown(effect, judge);
    return;
  }
  const verb = { write: "Writes to", delete: "Deletes", permissions: "Changes the permissions of" }[effect.kind];
  const reason = `${verb} ${shown(effect.path)}, a path that is not known before it runs`;
  if (effect.kind === "write") record.add(opaque(reason));
  else record.add(askAlways(reason));
}

/** The pieces may be plain names: `/proc/$X/environ`. */
function judgeWithNames(effect: PathEffect, judge: PathJudge): void {
  const { record, scope, cwds = scope.roots } = judge;
  const path = { ...effect.path, text: effect.path.text.replaceAll(UNKNOWN, "x") };
  for (const target of targetsOf(path, { ...judge, cwds }) ?? []) {
    if (isOfGateway(target, scope)) record.add(block(`Uses ${shown(effect.path)}: ${OF_GATEWAY}`));
    else if (effect.kind === "read") judgeRead(effect, target, judge);
    else if (effect.kind !== "write") {
      const wiped = wipedBy(effect, target, scope);
      if (wiped !== undefined) record.add(block(`${describe(effect)}: that is ${wiped}`));
    }
  }
}

function readUnknown(effect: ReadEffect, { record, scope, cwds = scope.roots }: PathJudge): void {
  if (aroundHome(effect.path.text, scope))
    record.add(askAlways(`Reads ${shown(effect.path)}, which may be a file with keys or passwords`));
  else if (!printsNoText(effect)) {
    record.readsUnknown = true;
    for (const path of absolute(effect.path.text, cwds, scope)) record.noteSecrets(secretsMatching(path, scope));
  }
}

/** True when the known start of a path leads below the home or to a folder around it. */
function aroundHome(text: string, scope: CommandScope): boolean {
  const folder = text.slice(0, text.indexOf(UNKNOWN));
  if (!isAbsolute(folder, scope) || placeOf(scope.resolvePath(folder), scope).kind === "workspace") return false;
  const home = homeOf(scope);
  return partsBelow(folder, home) !== undefined || partsBelow(home, folder) !== undefined;
}

type ReadEffect = Extract<PathEffect, { kind: "read" }>;

function printsNoText({ prints }: ReadEffect): boolean {
  return prints === "names" || prints === "facts";
}

/** Reason why the read shows a secret. Names and sizes of the workspace's own secret files are not secret. */
function shownSecret({ prints }: ReadEffect, path: string, scope: CommandScope): string | undefined {
  const isFact = prints === "facts" && placeOf(scope.resolvePath(path), scope).kind === "workspace";
  return isFact ? undefined : secretReason(path, scope);
}

function judgeRead(effect: ReadEffect, target: string, { scope, record }: PathJudge): void {
  if (deviceOf(target) === "network") {
    record.add(ask(`Opens a network connection through ${shown(target)}`));
    return;
  }
  const names = effect.path.glob ? [target, target.replace(/[*?[\]]/g, "")] : [target];
  for (const name of names) {
    const reason = shownSecret(effect, name, scope);
    if (reason !== undefined) {
      record.needs("outside");
      record.add(askAlways(`Reads ${shown(effect.path)}: ${reason}`));
      return;
    }
  }
  const { path, prints, filter } = effect;
  if (prints === "below")
    record.noteSecrets(
      path.glob ? secretsMatching(`${target}/**`, scope, filter) : secretsBelow(target, scope, filter),
    );
  if (path.glob && !printsNoText(effect)) record.noteSecrets(secretsMatching(target, scope, filter));
  const place = readPlace(target, scope);
  if (place === undefined) return;
  const reason = `Reads ${shown(effect.path)}: ${place.reason}`;
  if (place.isHidden) {
    record.needs("outside");
    record.add(askAlways(reason));
  } else record.add({ ...askForCode(reason), reads: true });
}

function judgeWrite({ path }: PathEffect, target: string, { scope, record }: PathJudge): void {
  const what = `Writes to ${shown(path)}`;
  const device = deviceOf(target) ?? deviceOf(scope.resolvePath(target));
  const reason = device === undefined ? reasonAgainst(target, path.glob, scope) : undefined;
  if (device === "raw") record.add(block(`${what}: it is a disk`));
  else if (device === "power") record.add(block(`${what}, which can stop the machine`));
  else if (device === "network") record.add(ask(`Sends data through ${shown(target)}`));
  else if (reason !== undefined) {
    record.needs("outside");
    record.add(askAlways(`${what}: ${reason}`));
    // The sandbox does not hold it either: the other name is the same file.
  } else if (device === undefined && isShared(target, path.glob, scope))
    record.add(askAlways(`${what}, a hard link to a file with another name`));
}

/** Reason why a change asks in every mode: of a file, or of those that a pattern matches. */
function reasonAgainst(target: string, glob: boolean, scope: CommandScope): string | undefined {
  return glob ? protectedPatternReason(target, scope) : protectedReason(target, scope);
}

function isShared(target: string, glob: boolean, scope: CommandScope): boolean {
  return glob ? matchesSharedFile(target, scope) : hasOtherName(target, scope);
}

const SEPARATOR = /[=:,@]/;
/** More pieces of one word take longer than a verdict may. */
const MAX_PIECES = 16;

/** Judges each file that a word may name as written, where this asks: options of unread programs may name their output. */
export function judgeWords(words: readonly Arg[], judge: PathJudge): void {
  for (const path of heldBackWords(words, judge)) judgePath({ kind: "write", path }, judge);
}

export function heldBackWords(words: readonly Arg[], judge: PathJudge): readonly Arg[] {
  const pieces = words.flatMap((word) => piecesOf(word, judge.scope));
  return pieces.filter((path) => targetsOf(path, judge)?.some((target) => isHeldBack(path, target, judge.scope)));
}

function isHeldBack({ glob }: Arg, target: string, scope: CommandScope): boolean {
  return (
    deviceOf(target) !== undefined || reasonAgainst(target, glob, scope) !== undefined || isShared(target, glob, scope)
  );
}

/** The word, what is attached to its letter, and what follows each separator. An address of the web is not a file. */
export function piecesOf(word: Arg, scope: CommandScope): readonly Arg[] {
  const { text } = word;
  if (!isKnown(word) || text.length > MAX_PATH) return [];
  const pieces = text.startsWith("-") ? [] : [text];
  if (/^-[A-Za-z]./.test(text)) pieces.push(text.slice(2));
  for (const [at, piece] of text.split(SEPARATOR, MAX_PIECES).entries()) if (at > 0) pieces.push(piece);
  return pieces
    .filter((piece) => piece !== "" && !/^\/\/(?!\/)/.test(piece))
    .map((piece) => ({ ...word, text: piece.replace(/^~(?=\/|$)/, homeOf(scope)) }));
}

/** Folders in which package managers and build tools make hard links themselves. */
const LINKED_BY_TOOLS = /\/(?:node_modules|target|\.git|\.pnpm-store)\//;

/** Reason why a tool asks before it opens `path` (absolute): its other name may lie outside the workspace. */
export function otherNameReason(path: string, scope: CommandScope): string | undefined {
  return hasOtherName(path, scope) ? "it is a hard link to a file with another name" : undefined;
}

function hasOtherName(path: string, scope: CommandScope): boolean {
  const real = scope.resolvePath(path);
  if (LINKED_BY_TOOLS.test(real)) return false;
  const found = statOf(real);
  return found?.isFile() === true && found.nlink > 1;
}

const MAX_MATCHES = 500;

function matchesSharedFile(target: string, scope: CommandScope): boolean {
  const folder = dirname(target.slice(0, target.search(/[*?[{]/) + 1));
  const files = entriesOf(scope.resolvePath(folder)).filter((entry) => entry.isFile());
  return files.length > MAX_MATCHES || files.some(({ name }) => hasOtherName(`${folder}/${name}`, scope));
}

type Removal = Extract<PathEffect, { kind: "delete" | "permissions" }>;

function judgeRemoval(effect: Removal, target: string, { scope, record }: PathJudge): void {
  const { path, recursive } = effect;
  const what = describe(effect);
  const wiped = wipedBy(effect, target, scope);
  const reason = wiped === undefined ? reasonAgainstRemoval(target, path.glob, scope) : undefined;
  const loses = effect.kind === "delete" ? effect.moves !== true : recursive;
  if (deviceOf(target) === "raw") record.add(block(`${what}: it is a disk`));
  else if (wiped !== undefined) record.add(block(`${what}: that is ${wiped}`));
  else if (reason !== undefined) {
    record.needs("outside");
    record.add(askAlways(`${what}: ${reason}`));
  } else if (wholeWorkspace(target, path.glob, scope)) record.add(askAlways(`${what}: that is the whole workspace`));
  else if (loses && !isTemporary(target, path.glob, scope)) record.add(ask(what));
}

/** Name of the system or the home that the removal takes all of, so that it is blocked. */
function wipedBy({ path, recursive }: Removal, target: string, scope: CommandScope): string | undefined {
  return recursive || path.glob ? catastrophicReason(target, path.glob, scope) : undefined;
}

function reasonAgainstRemoval(target: string, glob: boolean, scope: CommandScope): string | undefined {
  const around = target.endsWith(`/${TOKEN}`) ? catastrophicReason(dirname(target), false, scope) : undefined;
  if (around !== undefined) return `that may be most of ${around}`;
  return reasonAgainst(target, glob, scope);
}

function describe(effect: Removal): string {
  const path = shown(effect.path);
  if (effect.kind === "permissions") {
    return `Changes the permissions of ${path}${effect.recursive ? " and all below it" : ""}`;
  }
  if (effect.moves) return `Moves ${path} to another path`;
  return effect.recursive ? `Deletes ${path} recursively` : `Deletes ${path}`;
}

function wholeWorkspace(target: string, glob: boolean, scope: CommandScope): boolean {
  const place = placeOfAll(target, glob, scope);
  return (!glob || matchesAll(target)) && place.kind === "workspace" && place.below.length === 0;
}

function isTemporary(target: string, glob: boolean, scope: CommandScope): boolean {
  const place = placeOfAll(target, glob, scope);
  return place.kind === "temp" && place.below.length > 0;
}

const matchesAll = (target: string): boolean => /\/[*.?]+$/.test(target);

function placeOfAll(target: string, glob: boolean, scope: CommandScope): Place {
  return placeOf(scope.resolvePath(glob && matchesAll(target) ? dirname(target) : target), scope);
}
