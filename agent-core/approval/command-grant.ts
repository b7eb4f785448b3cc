/** What a lasting answer to a command would cover, worked out from its parse. */
import type { Grant, GrantOffer } from "./grants.ts";
import { partsBelow } from "./places.ts";
import type { CommandScope } from "./scope.ts";
import { scriptBody, scriptWords } from "./script-body.ts";
import type { CommandPart, Verdict } from "./verdict.ts";

/** Tools whose second word says what they do. */
const WITH_SUBCOMMANDS = new Set(
  [
    "git npm pnpm yarn bun npx cargo go pip pip3 uv poetry pdm bundle composer gem brew apt apt-get dnf yum apk snap",
    "docker podman kubectl helm terraform tofu gh glab dotnet swift mix flutter dart zig make gmake gradle gradlew mvn",
    "conda nvm asdf mise pyenv rbenv rustup pre-commit tauri expo prisma turbo nx",
  ].flatMap((line) => line.split(" ")),
);
/** Of those, the ones whose third word does. */
const WITH_TWO = /^(?:(?:docker|podman) (?:compose|container|image|network|volume|system)|gh \w+|glab \w+|uv pip)$/;
const SUBCOMMAND = /^[a-zA-Z@][\w:@./-]*$/;

/**
 * The grants that would cover a command, one for each of its parts that `needs` one. Undefined when that cannot be
 * offered: a part is not known word for word, is never granted, or something else in the command asks too.
 */
export function commandGrant(
  verdict: Verdict,
  needs: (part: CommandPart) => boolean,
  scope: CommandScope,
): GrantOffer | undefined {
  if (verdict.level === "block" || verdict.always.length > 0 || verdict.loose.asks) return undefined;
  const keys = new Map<string, Grant>();
  for (const part of verdict.parts.filter(needs)) {
    const key = partGrant(part, scope);
    if (key === undefined) return undefined;
    keys.set(key.id, key);
  }
  if (keys.size === 0) return undefined;
  const all = [...keys.values()];
  return { description: all.map(({ description }) => description).join("; "), keys: all };
}

function partGrant({ words, grant, program }: CommandPart, scope: CommandScope): Grant | undefined {
  if (words === undefined || grant === "never") return undefined;
  const workspace = scope.roots.find((root) => partsBelow(root, scope.cwd) !== undefined) ?? scope.cwd;
  const count = grant === "prefix" ? prefixLength([program, ...words.slice(1)]) : 0;
  if (count === 0) {
    const id = JSON.stringify(["exactly", scope.cwd, ...words]);
    return { id, description: `exactly \`${words.join(" ")}\` in ${scope.cwd}` };
  }
  const prefix = words.slice(0, count);
  const body = scriptBody(prefix, scope.cwd);
  // Where the script stands is part of what it is.
  const place = body === undefined ? [workspace] : [scope.cwd, body];
  const until = body === undefined ? "" : ", until its script changes";
  const where = body === undefined ? `in ${workspace}` : `in ${scope.cwd}`;
  return {
    id: JSON.stringify(["starting", ...place, ...prefix]),
    description: `\`${prefix.join(" ")}\` with any arguments ${where}${until}`,
  };
}

/** How many words name what the command does; 0 when only the whole does. */
function prefixLength(words: readonly string[]): number {
  const [program = "", second = "", third = ""] = words;
  const script = scriptWords(words);
  if (script > 0) return script;
  if (!WITH_SUBCOMMANDS.has(program)) return second === "" || SUBCOMMAND.test(second) ? Math.min(words.length, 2) : 0;
  if (!SUBCOMMAND.test(second)) return words.length === 1 ? 1 : 0;
  return WITH_TWO.test(`${program} ${second}`) && SUBCOMMAND.test(third) ? 3 : 2;
}
