import { parse } from "jsonc-parser";
import { expect, test } from "vitest";
import { addAgent, otherEditors } from "../../../../extension/commands/connect-editor.ts";

const agent = { command: "/usr/bin/node", args: ["/home/ada/hermes acp.mjs"], env: {} };
const entry = { type: "custom", command: "/usr/bin/node", args: ["/home/ada/hermes acp.mjs"], env: {} };

function editor(name: string) {
  const found = otherEditors.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no editor ${name}`);
  return found;
}

test("the command adds Hermes to settings with comments, trailing commas and tabs, and keeps the rest", () => {
  const before = `// mine\n{\n\t"theme": "One Dark", // dark\n\t"agent_servers": {\n\t\t"Other": { "command": "other" },\n\t},\n}\n`;
  const after = addAgent(before, agent);
  expect(after).toMatch(/^\/\/ mine\n\{\n\t"theme": "One Dark", \/\/ dark\n/);
  expect(after).toContain('\n\t\t"Hermes": {');
  expect(parse(after)).toEqual({
    theme: "One Dark",
    agent_servers: { Other: { command: "other" }, Hermes: entry },
  });
});

test("the command replaces an older entry, and starts an empty file", () => {
  const once = addAgent("", { ...agent, command: "old" });
  expect(JSON.parse(addAgent(once, agent))).toEqual({ agent_servers: { Hermes: entry } });
});

test("the command refuses a file that is no JSON, with the line", () => {
  expect(() => addAgent('{\n  "a": 1,\n  b\n}', agent)).toThrow("line 3 is not valid JSON");
  expect(() => addAgent("[]", agent)).toThrow("it holds no JSON object");
});

test("the command finds the file of Zed on each system, and that of JetBrains", () => {
  const zed = editor("Zed").file;
  const env = { XDG_CONFIG_HOME: "/xdg", APPDATA: "/roaming" };
  expect(zed?.({ home: "/home/ada", platform: "linux", env: {} })).toBe("/home/ada/.config/zed/settings.json");
  expect(zed?.({ home: "/home/ada", platform: "linux", env })).toBe("/xdg/zed/settings.json");
  expect(zed?.({ home: "/home/ada", platform: "darwin", env })).toBe("/home/ada/.config/zed/settings.json");
  expect(zed?.({ home: "/home/ada", platform: "win32", env })).toBe("/roaming/Zed/settings.json");
  expect(editor("JetBrains").file?.({ home: "/home/ada", platform: "linux", env })).toBe(
    "/home/ada/.jetbrains/acp.json",
  );
});

test("the command writes the settings of Neovim and Emacs with quoted paths and variables", () => {
  const windows = { command: "C:\\node.exe", args: ["C:\\a b.mjs"], env: { HERMES_HOME: "D:\\h" } };
  const lua = editor("Neovim (CodeCompanion)").settings(windows);
  expect(lua).toContain('commands = { default = { "C:\\\\node.exe", "C:\\\\a b.mjs" } },');
  expect(lua).toContain('HERMES_HOME = "D:\\\\h",');
  expect(editor("Neovim (CodeCompanion)").settings(agent)).not.toContain("env");
  const lisp = editor("Emacs (agent-shell)").settings(windows);
  expect(lisp).toContain(`:command "C:\\\\node.exe"`);
  expect(lisp).toContain(`:environment-variables '("HERMES_HOME=D:\\\\h")`);
  expect(lisp.split("(").length).toBe(lisp.split(")").length);
});
