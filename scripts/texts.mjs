// Checks the texts that users see: each one has a key of package.nls.json, or goes through `t` (webview) or `vscode.l10n.t`
// (extension), and has a German translation. `--write` writes the English bundle, drops unused German texts and lists the
// missing ones.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import ts from "typescript";

const ENGLISH = "l10n/bundle.l10n.json";
const GERMAN = "l10n/bundle.l10n.de.json";

/** Names, icons and addresses: the same in all languages. */
const NAMES =
  /Hermes|OpenAI|OpenRouter|Anthropic|Claude Code|Codex|Gemini CLI|OpenCode|Markdown|JSON|MCP|\$\([a-z-]+\)|[\w.]*\.(yaml|json|md)\b|https?:\S+/g;

/** Fields of package.json that VS Code shows. */
const MANIFEST_FIELD =
  /^(title|shortTitle|category|label|fullName|contents|(enum|markdownEnum|user|deprecation|markdown|markdownDeprecation)?(D|d)escription(s)?|(D|d)isplayName|(markdownD|d)eprecationMessage)$/;
/** Parts of package.json that VS Code shows no field of: schemas for models, and data of npm. */
const NOT_SHOWN = ["inputSchema", "scripts", "devDependencies", "dependencies"];

/** Attributes of elements, and properties of the editor's lists and dialogs, that users see. */
const ATTRIBUTE = /^(title|aria-label|aria-description|placeholder|alt|label|name|text)$/;
const PROPERTY = /^(title|label|detail|description|tooltip|placeHolder|placeholder|openLabel|saveLabel)$/;
/** Keys of the keyboard, other names of the DOM and of the agent, and a request that the offline interpreter understands. */
const DOM_NAME =
  /^(Enter|Escape|Tab|Home|End|Backspace|Delete|Arrow\w+( Arrow\w+)*|Macintosh|Files|Run Python|What does this project do\?)$/;
const SHOWING = /\.(show\w+Message|setStatusBarMessage)$|^(withErrorMessage|show(Information|Warning|Error))$/;

const VALUE_OPERATORS = ["??", "||", "&&", "+"];

/** Elements of the panel that act on a click, their names, and words that have no capital inside a title. */
const BUTTON = /^(button|IconButton|ChipButton)$/;
const BUTTON_NAME = /^(name|title|aria-label)$/;
const SMALL_WORDS = /^(a|an|and|as|at|by|for|from|in|into|its|of|on|or|the|to|with)$/;

/** Folders whose code is checked. */
const FOLDERS = ["extension", "webview"];

const write = process.argv.includes("--write");
const problems = [...manifestProblems(), ...sourceProblems()];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
}

function writeJson(path, texts) {
  const sorted = Object.entries(texts).sort(([left], [right]) => (left < right ? -1 : 1));
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}

function manifestProblems() {
  const [english, german] = [readJson("package.nls.json"), readJson("package.nls.de.json")];
  const strings = [...stringsOf(readJson("package.json"))].map((one) => ({
    ...one,
    key: /^%(.+)%$/.exec(one.text)?.[1],
  }));
  const keys = new Set(strings.map(({ key }) => key).filter((key) => key !== undefined));
  const without = (texts) => [...keys].filter((key) => texts[key] === undefined);
  return [
    ...strings
      .filter(({ key, isShown, text }) => key === undefined && isShown && isText(text))
      .map(({ path }) => `package.json: ${path} needs a key of package.nls.json`),
    ...Object.entries(english)
      .filter(([key, text]) => key.startsWith("command.") && !isTitle(text))
      .map(([key]) => `package.nls.json: ${key} is a command, in Title Case`),
    ...without(english).map((key) => `package.nls.json: there is no ${key}`),
    ...without(german).map((key) => `package.nls.de.json: there is no ${key}`),
    ...Object.keys({ ...english, ...german })
      .filter((key) => !keys.has(key))
      .map((key) => `package.nls*.json: package.json does not use ${key}`),
  ];
}

/** Strings of package.json with their paths. `isShown`: the field has a text that VS Code shows. */
function* stringsOf(value, path = [], isShown = false) {
  if (typeof value === "string") yield { path: path.join("."), text: value, isShown };
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    const isField = Array.isArray(value) ? isShown : MANIFEST_FIELD.test(name);
    if (!NOT_SHOWN.includes(name)) yield* stringsOf(part, [...path, name], isField);
  }
}

/** `text` has words that differ between languages. */
function isText(text) {
  return /\p{L}{2}/u.test(text.replace(NAMES, ""));
}

function sourceProblems() {
  const { texts, untranslated } = readSources();
  const english = Object.fromEntries([...texts].map((text) => [text, text]));
  if (write) {
    writeJson(ENGLISH, english);
    writeJson(GERMAN, Object.fromEntries(Object.entries(readJson(GERMAN)).filter(([text]) => texts.has(text))));
  }
  const german = readJson(GERMAN);
  const missing = [...texts].filter((text) => german[text] === undefined);
  const stale = Object.keys({ ...readJson(ENGLISH), ...english }).some(
    (text) => readJson(ENGLISH)[text] !== english[text],
  );
  return [
    ...untranslated,
    ...(stale ? [`${ENGLISH} is not up to date: run \`npm run texts\``] : []),
    ...missing.map((text) => `${GERMAN}: add a translation of ${JSON.stringify(text)}`),
    ...Object.keys(german)
      .filter((text) => !texts.has(text))
      .map((text) => `${GERMAN}: no code uses ${JSON.stringify(text)}: run \`npm run texts\``),
    ...Object.entries(german)
      .filter(([text, translated]) => holes(text) !== holes(translated))
      .map(([text]) => `${GERMAN}: the translation of ${JSON.stringify(text)} has other placeholders`),
  ];
}

/** Placeholders of a text: `{0} {1}`. */
function holes(text) {
  return [...new Set(text.match(/\{\d+\}/g))].sort().join(" ");
}

/** Texts of all calls of `t`, and the places that show a text without it. */
function readSources() {
  const texts = new Set();
  const untranslated = [];
  for (const file of FOLDERS.flatMap(sourceFiles)) {
    const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
    const report = (node, reason) => {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      untranslated.push(`${file}:${line + 1} ${reason}: ${node.getText().trim().replace(/\s+/g, " ").slice(0, 80)}`);
    };
    const visit = (node) => {
      const text = translatedText(node);
      if (text !== undefined && ts.isStringLiteralLike(text)) texts.add(text.text);
      else if (text !== undefined) report(text, "the text of `t` is no string literal");
      if (text !== undefined && isButton(node) && !isTitle(text.text)) report(text, "a button is in Title Case");
      for (const shown of shownParts(node)) report(shown, `shows a text without \`${functionOf(file)}\``);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return { texts, untranslated: [...new Set(untranslated)] };
}

function functionOf(file) {
  return file.startsWith("webview/") ? "t" : "vscode.l10n.t";
}

function sourceFiles(folder) {
  const list = execFileSync("git", ["ls-files", "-co", "--exclude-standard", folder]).toString();
  return list.split("\n").filter((name) => /\.tsx?$/.test(name) && existsSync(name));
}

/** The first argument of a call of `t`. */
function translatedText(node) {
  return ts.isCallExpression(node) && /^(t|vscode\.l10n\.t)$/.test(node.expression.getText())
    ? node.arguments[0]
    : undefined;
}

/** `node` is a call of `t` for the text or a name of a button. */
function isButton(node) {
  let place = node.parent;
  while (ts.isConditionalExpression(place) || ts.isBinaryExpression(place) || ts.isJsxExpression(place))
    place = place.parent;
  if (ts.isJsxElement(place)) return BUTTON.test(place.openingElement.tagName.getText());
  if (!ts.isJsxAttribute(place)) return false;
  return BUTTON_NAME.test(place.name.getText()) && BUTTON.test(place.parent.parent.tagName.getText());
}

/** All words before a colon or a bracket have capitals, but small ones inside. A sentence with its full stop explains a button. */
function isTitle(text) {
  const words = text.split(/: | \(|\n/)[0].split(" ");
  const isCapital = (word, index) => !/^\p{Ll}[\p{L}\d,…]*$/u.test(word) || (index > 0 && SMALL_WORDS.test(word));
  return text.endsWith(".") || words.every(isCapital);
}

/** A literal of the webview that begins as a sentence does: it is shown somewhere. */
function isSentence(node) {
  return (
    node.getSourceFile().fileName.startsWith("webview") &&
    (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) &&
    /^\p{Lu}\p{Ll}/u.test((node.head ?? node).text) &&
    !DOM_NAME.test((node.head ?? node).text) &&
    isText((node.head ?? node).text) &&
    !ts.isThrowStatement(node.parent.parent)
  );
}

/** Literals that `node` shows without `t`. */
function shownParts(node) {
  if (ts.isJsxText(node)) return isText(node.text) ? [node] : [];
  if (isSentence(node) && translatedText(node.parent) !== node) return [node];
  if (ts.isJsxAttribute(node)) {
    const isIcon = node.parent.parent.tagName.getText() === "Icon";
    return ATTRIBUTE.test(node.name.getText()) && !isIcon ? literalsOf(node.initializer) : [];
  }
  if (ts.isJsxExpression(node)) return ts.isJsxAttribute(node.parent) ? [] : literalsOf(node.expression);
  return partsOfDialog(node);
}

/** Literals that a part of a list or dialog of VS Code shows. */
function partsOfDialog(node) {
  if (ts.isPropertyAssignment(node) && PROPERTY.test(node.name.getText())) return literalsOf(node.initializer);
  if (ts.isCallExpression(node) && SHOWING.test(node.expression.getText())) return node.arguments.flatMap(literalsOf);
  const isAssignment = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  return isAssignment && PROPERTY.test(node.left.name?.getText() ?? "") ? literalsOf(node.right) : [];
}

/** Literals with words among the values that an expression can have. */
function literalsOf(node) {
  if (node === undefined) return [];
  if (ts.isStringLiteralLike(node)) return isText(node.text) ? [node] : [];
  if (ts.isTemplateExpression(node)) {
    const texts = [node.head, ...node.templateSpans.map((span) => span.literal)];
    return texts.some(({ text }) => isText(text))
      ? [node]
      : node.templateSpans.flatMap((span) => literalsOf(span.expression));
  }
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(literalsOf);
  if (ts.isBinaryExpression(node) && VALUE_OPERATORS.includes(node.operatorToken.getText())) {
    return [node.left, node.right].flatMap(literalsOf);
  }
  const isWrapper = ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isJsxExpression(node);
  return isWrapper ? literalsOf(node.expression) : [];
}
