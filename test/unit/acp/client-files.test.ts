import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AgentContext, RequestError } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import { clientFiles } from "../../../agent-core/acp/client-files.ts";
import { nodeFiles } from "../../../agent-core/host/node-files.ts";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { tool } from "../../../agent-core/tools/read-file.ts";
import { commit, git } from "../../support/git-repositories.ts";
import { toolBench } from "../../support/tool-context.ts";

const MARK = "\ufeff";
const withoutMark = (text: string): string => text.replace(MARK, "");

type Client = { readonly read: (text: string) => string; readonly write: (content: string) => string };

test.each<[string, Client]>([
  ["gives it as a part of the text", { read: (text) => text, write: (content) => content }],
  ["keeps it to itself", { read: withoutMark, write: (content) => MARK + content }],
  ["drops it", { read: withoutMark, write: (content) => content }],
])("a byte order mark survives an edit through a client that %s", async (_client, { read, write }) => {
  const path = join(toolBench().folder, "a.txt");
  writeFileSync(path, `${MARK}one\n`);
  const request = (method: string, params: { readonly content: string }): Promise<object> => {
    if (method === "fs/read_text_file") return Promise.resolve({ content: read(readFileSync(path, "utf8")) });
    writeFileSync(path, write(params.content));
    return Promise.resolve({});
  };
  const files = clientFiles({
    client: { request } as unknown as AgentContext,
    sessionId: "s",
    roots: [join(path, "..")],
    disk: nodeFiles(),
    canRead: true,
    canWrite: true,
    givesUnsaved: false,
    checksExpected: false,
    movesFiles: false,
    reverts: false,
  });
  const { signal } = new AbortController();
  expect(await files.readText(path, signal)).toMatchObject({ ok: true, text: "one\n" });
  expect(await files.guardedWrite({ path, expected: "one\n", after: "two\n", purpose: "edit" }, signal)).toMatchObject({
    ok: true,
  });
  expect(readFileSync(path, "utf8")).toBe(`${MARK}two\n`);
  expect(await files.readText(path, signal)).toMatchObject({ ok: true, text: "two\n" });
});

test("an editor's text that is too large for a message is not overwritten, and the reader learns that it was not compared", async () => {
  const bench = toolBench();
  const { folder } = bench;
  const path = join(folder, "large.txt");
  writeFileSync(path, "one\n");
  const request = (): Promise<object> =>
    Promise.reject(new RequestError(-32600, "message too large (40 MB, limit 32 MB)"));
  const files = clientFiles({
    client: { request } as unknown as AgentContext,
    sessionId: "s",
    roots: [folder],
    disk: nodeFiles(),
    canRead: true,
    canWrite: false,
    givesUnsaved: false,
    checksExpected: false,
    movesFiles: false,
    reverts: false,
  });
  Object.assign(bench.context.host, { files });
  const read = await bench.run(tool, { path });
  expect(read.text).toEqual(
    expect.stringMatching(/^1\|one\n\[the text in the editor is too large to compare: this is the disk's/),
  );
  const { signal } = new AbortController();
  expect(await files.guardedWrite({ path, expected: "one\n", after: "two\n", purpose: "edit" }, signal)).toEqual({
    ok: false,
    reason: "failed",
    message: expect.stringMatching(/large\.txt was not changed: the text in the editor is too large to compare/),
  });
  expect(readFileSync(path, "utf8")).toBe("one\n");
});

test("the model learns the text of a file that the editor formats as it saves it, and edits that", async () => {
  const bench = toolBench();
  const { folder } = bench;
  const path = join(folder, "a.json");
  writeFileSync(path, '{ "a": 1 }\n');
  let accepted: string | undefined;
  const request = (method: string, { content }: { readonly content: string }): Promise<object> => {
    if (method === "fs/read_text_file") return Promise.resolve({ content: readFileSync(path, "utf8") });
    const text = (accepted ?? content).replaceAll(/: +/g, ": ");
    writeFileSync(path, text);
    const review = accepted !== undefined && { review: { text: accepted, kept: 1, rejected: 1 } };
    return Promise.resolve({ _meta: { hermes: { shown: { text, isSaved: true }, ...review } } });
  };
  const files = clientFiles({
    client: { request } as unknown as AgentContext,
    sessionId: "s",
    roots: [folder],
    disk: nodeFiles(),
    canRead: true,
    canWrite: true,
    givesUnsaved: false,
    checksExpected: true,
    movesFiles: false,
    reverts: false,
  });
  Object.assign(bench.context.host, { files });
  await bench.run(tool, { path });
  const edited = await bench.run(patch, { path, old_string: '"a": 1', new_string: '"a":   2' });
  expect(edited.text).toContain("The editor formatted the file as it saved it; the diff shows the result.\n");
  expect(edited.text).toContain('+{ "a": 2 }');
  expect(edited.diffs).toEqual([{ path, oldText: '{ "a": 1 }\n', newText: '{ "a": 2 }\n' }]);
  const whole = '*** Begin Patch\n*** Update File: a.json\n@@\n-{ "a": 2 }\n+{ "a":  3 }\n*** End Patch';
  const patched = await bench.run(patch, { mode: "patch", patch: whole });
  expect(patched.text).toContain("The editor formatted the file as it saved it; the diff shows the result.\n");
  expect(patched.text).toContain('+{ "a": 3 }');
  accepted = '{ "a":   4 }\n';
  const partly = await bench.run(patch, { path, old_string: '{ "a": 3 }', new_string: '{ "a":   4 }\n[]' });
  expect(partly.text).toMatch(/\+{ "a": 4 }\nRejected by the user, not in the file:[\s\S]*\n { "a": {3}4 }\n\+\[\]$/);
});

/** An editor that does not notice changes on the disk by itself. */
function slowEditor(canWrite = true, first = "A\n", shown = first) {
  const bench = toolBench();
  const path = join(bench.folder, "a.txt");
  const disk = (text: string): void => writeFileSync(path, text);
  disk(first);
  const editor = { copy: shown };
  const request = (method: string, { content }: { readonly content: string }): Promise<object> => {
    if (method === "fs/read_text_file") return Promise.resolve({ content: editor.copy });
    editor.copy = content;
    disk(content);
    return Promise.resolve({});
  };
  const files = clientFiles({
    client: { request } as unknown as AgentContext,
    sessionId: "s",
    roots: [bench.folder],
    disk: nodeFiles(),
    canRead: true,
    canWrite,
    givesUnsaved: false,
    checksExpected: false,
    movesFiles: false,
    reverts: false,
  });
  const { signal } = new AbortController();
  const read = async (): Promise<string> => {
    const found = await files.readText(path, signal);
    return found.ok ? `${found.source} ${found.text.trimEnd()}` : found.message;
  };
  const write = async (expected: string, after: string): Promise<boolean> =>
    (await files.guardedWrite({ path, expected, after, purpose: "edit" }, signal)).ok;
  return { path, disk, editor, files, read, write, onDisk: () => readFileSync(path, "utf8") };
}

test("an editor's old copy of a file that a command changed never counts as the user's text", async () => {
  const { disk, editor, read, write, onDisk } = slowEditor();
  expect(await read()).toBe("disk A");
  disk("B\n");
  expect([await read(), await read()]).toEqual(["disk B", "disk B"]);
  disk("C\r\n");
  expect(await read()).toBe("disk C");
  disk("D\n");
  editor.copy = "C\n"; // the copy of another moment, with line ends of the editor's own
  expect(await read()).toBe("disk D");
  expect(await write("C\n", "edited\n")).toBe(false);
  expect(await write("D\n", "edited\n")).toBe(true);
  expect([onDisk(), await read()]).toEqual(["edited\n", "disk edited"]);
});

test("an editor's old copy is found after a command changed the agent's own edit, and after a change and back", async () => {
  const { disk, editor, read, write } = slowEditor();
  expect(await read()).toBe("disk A");
  expect(await write("A\n", "B\n")).toBe(true);
  disk("C\n");
  expect([await read(), await read()]).toEqual(["disk C", "disk C"]);
  disk("B\n");
  expect(await read()).toBe("disk B");
  disk("C\n");
  expect(await read()).toBe("disk C");
  editor.copy = "C\n";
  expect(await read()).toBe("disk C");
});

test("an editor's old copy is found after the agent wrote to the disk", async () => {
  const { read, write } = slowEditor(false);
  expect(await read()).toBe("disk A");
  expect(await write("A\n", "B\n")).toBe(true);
  expect([await read(), await read()]).toEqual(["disk B", "disk B"]);
});

test("an old text that the user restores in an editor that had the present one is the user's", async () => {
  const { disk, editor, read, write } = slowEditor();
  expect(await read()).toBe("disk A");
  disk("B\n");
  expect(await read()).toBe("disk B");
  editor.copy = "B\n";
  expect(await read()).toBe("disk B");
  editor.copy = "A\n";
  expect(await read()).toBe("editor A");
  expect(await write("A\n", "C\n")).toBe(true);
  editor.copy = "A\n"; // undone
  expect(await read()).toBe("editor A");
  disk("A\n"); // saved
  expect(await read()).toBe("disk A");
});

test.each([
  ["gives LF for CRLF", "A\r\nB\r\n", "A\nB\n", "A\r\nC\r\n"],
  ["adds a last line end", "A\nB", "A\nB\n", "A\nC"],
  ["leaves the last line end out", "A\nB\n", "A\nB", "A\nC\n"],
])("a file is the disk's in an editor that %s, also after a command changed it", async (_, first, shown, changed) => {
  const { disk, read, write, onDisk } = slowEditor(false, first, shown);
  expect(await read()).toBe(`disk ${first.trimEnd()}`);
  disk(changed);
  expect(await read()).toBe(`disk ${changed.trimEnd()}`);
  expect(await write(changed, first)).toBe(true);
  expect(onDisk()).toBe(first);
});

test.each([
  ["sha1", "A\nB\n", "A\nB\n"],
  ["sha256", "A\nB\n", "A\r\nB\r\n"],
  ["sha1", "A\r\nB\r\n", "A\nB\n"],
  ["sha256", "\ufeffA\nB\n", "A\nB\n"],
  ["sha1", "\ufeffA\r\nB\r\n", "A\nB\n"],
  ["sha1", "\ufeffA\r\nB\r\n", "A\r\nB\r\n"],
])("an editor's copy of what git has is old in the first look at the file: %s %j %j", async (format, first, shown) => {
  const { path, disk, editor, read, write } = slowEditor(true, first, shown);
  const folder = dirname(path);
  git(folder, "init", "-q", `--object-format=${format}`);
  commit(folder, "first");
  disk(first.replace("B", "C"));
  const changed = first.replace("B", "C").replace("\ufeff", "");
  expect(await read()).toBe(`disk ${changed.trimEnd()}`);
  expect(await write(changed, changed.replace("C", "D"))).toBe(true);
  editor.copy = "A\nB\n"; // undone by the user
  expect(await read()).toBe("editor A\nB");
});

test("a file that the user and a command changed at once is shown with a doubt, and not written", async () => {
  const { path, disk, editor, files, read, write, onDisk } = slowEditor(true, "A\nB\n");
  await read();
  disk("A\nC\n");
  editor.copy = "A, typed\nB\n";
  expect(await files.readText(path, new AbortController().signal)).toMatchObject({
    text: editor.copy,
    doubt: expect.stringContaining("changed the file on the disk since"),
  });
  expect(await write(editor.copy, "D\n")).toBe(false);
  expect(onDisk()).toBe("A\nC\n");
  disk("A\nB\n");
  expect(await write(editor.copy, "D\n")).toBe(true);
});

test.each([
  ["on a new line", "A\nB\n", "A\nB\nC\n"],
  ["in the same line", "A, ty\n", "A, typed\n"],
  ["over a part of it", "A\nsome wrods\n", "A\nsome words, and more\n"],
])("a file that the user saved, and typed on %s, is the user's alone", async (_, saved, typed) => {
  const { disk, editor, files, path, read, write, onDisk } = slowEditor();
  await read();
  disk(saved);
  editor.copy = typed;
  expect(await files.readText(path, new AbortController().signal)).not.toHaveProperty("doubt");
  expect(await read()).toBe(`editor ${typed.trimEnd()}`);
  disk(`${saved}of a command\n`);
  expect(await write(typed, "D\n")).toBe(false);
  disk(saved);
  expect(await write(typed, "D\n")).toBe(true);
  expect(onDisk()).toBe("D\n");
});

test("an editor's copy of a file that a command removed is no unsaved document", async () => {
  const { path, editor, read } = slowEditor();
  expect(await read()).toBe("disk A");
  rmSync(path);
  expect(await read()).toContain("does not exist");
  editor.copy = "A, and more of the user\n";
  expect(await read()).toBe("editor A, and more of the user");
});
