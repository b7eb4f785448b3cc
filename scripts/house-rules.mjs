// Checks the rules of this repository that no other tool knows: every file is worth its name, comments open with a noun, tests
// have a subject, ARCHITECTURE.md points to code that exists, the palette offers the commands that exist, notifications have
// no links, the sum of production lines stays below its cap, and CHANGELOG.md can be released.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { changelogProblems } from "./changelog.ts";

/** A file below this size belongs to its only importer. Lines. */
const SMALL = 60;

/** Small files with one importer that stay on their own, and the reason. */
const lazy = "loaded on first use";
const smallFiles = {
  "agent-core/host/syntax/parsed-syntax.ts": lazy,
  "gateway/setup.ts": lazy,
  "gateway/send.ts": "tested without a command line",
  "cli/chat/worktree.ts": lazy,
  "cli/run.ts": "loaded after the check of the runtime",
};

/** Members of a table, one topic each, and entries of a bundle. */
const MEMBER =
  /^(agent-core\/(tools|providers\/wire|acp\/methods|acp\/commands|entry)|cli\/commands|gateway\/adapters\/[^/]+|extension\/(client|commands|chat\/actions))\/[^/]+\.ts$|\.gen\.ts$/;

const OPENING = /(?:\/\*\*|\/\/|^\s*\*)\s*(?:What|Who|Whoever|Whether|Whose|Of what|Where)\s/;

/** A name of a test that opens with a relative clause, or at the top of a file with its verb: it lacks a subject. */
const NO_SUBJECT = [
  /^\s*(?:(?:test|it|describe)\b.*?\(|\]\)\()"(?:what|who|whoever|whatever|whether) /i,
  /^(?:(?:test|it)\b.*?\(|\]\)\()"(?:of|whose|where|is|has|does|can|may|must|[a-z]+s (?:a|an|the|no|its|nothing|everything|only|out|up)) /,
];

/**
 * Most production lines: TypeScript with its blank lines, without generated files. A ratchet, the sum of a day rounded up to
 * the next 500. The aims are 100,000 for the first rooms and 115,000 in all. Lower a cap when its sum falls; a commit that
 * raises one says what goes in return.
 */
const CAPS = [
  {
    rooms: "agent-core (without serve), extension and webview",
    lines: 114_500,
    of: /^(agent-core\/(?!serve\/)|extension\/|webview\/)/,
  },
  { rooms: "all rooms", lines: 130_500, of: /^(?!scripts\/)/ },
];

const texts = textsOf("agent-core", "cli", "gateway", "batch", "extension", "webview", "scripts");
const files = [...texts.keys()];

const problems = [
  ...smallFileProblems(),
  ...openingProblems(),
  ...architectureProblems(),
  ...commandProblems(),
  ...notificationProblems(),
  ...testNameProblems(),
  ...capProblems(),
  ...changelogProblems(readFileSync("CHANGELOG.md", "utf8")),
];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

/** Source texts in these folders, by file. */
function textsOf(...folders) {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", ...folders])
    .toString()
    .split("\n");
  const sources = listed.filter((file) => /\.(ts|tsx|mjs)$/.test(file) && existsSync(file));
  return new Map(sources.map((file) => [file, readFileSync(file, "utf8")]));
}

function smallFileProblems() {
  const importers = new Map();
  for (const [file, text] of texts) {
    for (const [, path] of text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      const target = normalize(join(dirname(file), path));
      importers.set(target, (importers.get(target) ?? new Set()).add(file));
    }
  }
  const small = files.filter(
    (file) => importers.get(file)?.size === 1 && !MEMBER.test(file) && texts.get(file).split("\n").length - 1 < SMALL,
  );
  const unlisted = small
    .filter((file) => !(file in smallFiles))
    .map(
      (file) => `${file} has fewer than ${SMALL} lines and one importer, ${[...importers.get(file)][0]}: merge them.`,
    );
  const outdated = Object.keys(smallFiles)
    .filter((file) => !small.includes(file))
    .map((file) => `${file} is no longer a small file with one importer: remove it from scripts/house-rules.mjs.`);
  return [...unlisted, ...outdated];
}

function openingProblems() {
  return [...texts, ...textsOf("test")].flatMap(([file, text]) =>
    text.split("\n").flatMap((line, index) => {
      if (file === "scripts/house-rules.mjs" || !OPENING.test(line)) return [];
      return [`${file}:${index + 1} opens a comment with a question word: begin with a noun.`];
    }),
  );
}

function testNameProblems() {
  return [...textsOf("test")].flatMap(([file, text]) =>
    text.split("\n").flatMap((line, index) => {
      if (!file.includes(".test.") || !NO_SUBJECT.some((pattern) => pattern.test(line))) return [];
      return [`${file}:${index + 1} names a test without a subject: "the cache keeps …", not "keeps …".`];
    }),
  );
}

/** Rows of the table "Where it is decided": behaviour | `file#symbol`. */
function architectureProblems() {
  const [, table = ""] = readFileSync("ARCHITECTURE.md", "utf8").split("## Where it is decided");
  const rows = [...table.matchAll(/^\| .+ \| `([^`#]+)#([^`]+)` \|$/gm)];
  if (rows.length < 40) return [`ARCHITECTURE.md: ${rows.length} of 40 rows in "Where it is decided".`];
  return rows.flatMap(([, file, symbol]) => {
    if (!existsSync(file)) return [`ARCHITECTURE.md names ${file}, which does not exist.`];
    if (new RegExp(`\\b${symbol}\\b`).test(readFileSync(file, "utf8"))) return [];
    return [`ARCHITECTURE.md names ${symbol}, which ${file} does not contain.`];
  });
}

/** Commands in package.json and in the extension's table are the same set. */
function commandProblems() {
  const { contributes } = JSON.parse(readFileSync("package.json", "utf8"));
  const declared = contributes.commands.map(({ command }) => command);
  const written = [...texts.get("extension/commands/commands.ts").matchAll(/^ {2}"(hermes\.\w+)":/gm)].map(
    ([, id]) => id,
  );
  return [
    ...written.filter((id) => !declared.includes(id)).map((id) => `${id} is not declared in package.json.`),
    ...declared.filter((id) => !written.includes(id)).map((id) => `${id} is not in extension/commands/commands.ts.`),
  ];
}

/** VS Code reads links in notifications, and none in modal dialogs. */
function notificationProblems() {
  return [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/window\s*\.show(?:Information|Warning|Error)Message\b(.*?);/gs)]
      .filter(([, call]) => !call.includes("modal: true"))
      .map(() => `${file} shows a notification: extension/notifications.ts takes the links out of its text.`),
  );
}

function capProblems() {
  const production = [...texts].filter(([file]) => /(?<!\.gen)\.tsx?$/.test(file));
  return CAPS.flatMap(({ rooms, lines, of }) => {
    const sum = production
      .filter(([file]) => of.test(file))
      .reduce((count, [, text]) => count + text.split("\n").length - 1, 0);
    if (sum <= lines) return [];
    return `${rooms}: ${sum} production lines, ${sum - lines} more than the cap. Take as many away, or raise it in scripts/house-rules.mjs with a reason.`;
  });
}
