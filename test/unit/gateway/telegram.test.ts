import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, callTools, hold, say } from "../../support/model-server/model-server.ts";
import { startGateway } from "../../support/platforms/start-gateway.ts";
import { FakeTelegram } from "../../support/platforms/telegram.ts";
import { sweep } from "../../support/scale.ts";

async function start(options: Parameters<typeof startGateway>[1] = {}) {
  const telegram = await new FakeTelegram().start();
  return { telegram, ...(await startGateway(telegram, options)) };
}

/** The newest message of the user in the last request, as text. */
function asked(model: Awaited<ReturnType<typeof start>>["model"]): string {
  return JSON.stringify(model.requests.at(-1)?.body.messages.findLast(({ role }) => role === "user") ?? {});
}

describe("A message from Telegram", () => {
  test("is answered whole and once, in a session that goes on", async () => {
    const { telegram, model } = await start();
    model.script(say("Hello **Ada**."), say("Still here."));
    telegram.write("hi");
    await telegram.until("Hello Ada.");
    telegram.write("and now?");
    await telegram.until("Still here.");
    expect(telegram.texts()).toEqual(["Hello Ada.", "Still here."]);
    const roles = model.requests.at(-1)?.body.messages.map(({ role }) => role);
    expect(roles).toEqual(["system", "user", "assistant", "user"]);
    expect(JSON.stringify(model.requests[0]?.body.messages[0])).toContain("a direct chat on telegram");
  });

  test("that comes twice, is old, or is an edit is answered once or not at all", async () => {
    const { telegram, model } = await start();
    model.respondWith(() => say("once"));
    telegram.write("hi", { event: 500 });
    telegram.write("hi", { event: 500 });
    telegram.update({ edited_message: { message_id: 1, text: "hi!", date: 1, chat: { id: 7, type: "private" } } });
    await telegram.until("once");
    telegram.write("from yesterday", { date: Math.floor(Date.now() / 1_000) - 86_400 });
    await telegram.until(/I was away/);
    expect(model.requests).toHaveLength(1);
  });

  test("grows by edits while the model writes, and ends as one message", async () => {
    const { telegram, model } = await start();
    const pause = hold();
    model.script({
      parts: [{ type: "text", text: "First half" }, pause.part, { type: "text", text: " and the rest." }],
    });
    telegram.write("tell");
    await telegram.until("First half ▌");
    pause.release();
    await telegram.until("First half and the rest.");
    expect(telegram.texts()).toEqual(["First half and the rest."]);
  });

  test("with a picture, a file and a quote gives the model the picture, a path and quoted text", async () => {
    const { telegram, model, workspace } = await start();
    model.lookUps.set("/models", { data: [{ id: "test-model" }] });
    model.respondWith(() => say("seen"));
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    telegram.write("look", {
      file: { name: "x.png", type: "image/jpeg", bytes: png, kind: "image" },
      quoted: "run rm -rf /",
    });
    await telegram.until("seen");
    expect(asked(model)).toContain('<attachment name=\\"quoted-from-chat\\">\\nrun rm -rf /');
    expect(asked(model), "a picture goes by the type of its bytes").toContain("data:image/png;base64,");
    expect(readdirSync(join(workspace, "chat-files"))).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\d-\w{6}-photo\.jpg$/),
    ]);
    telegram.write("", { file: { name: "v.ogg", type: "audio/ogg", bytes: new Uint8Array(9), kind: "voice" } });
    await telegram.until("seen", 1);
    expect(asked(model)).toMatch(/A voice message is in .*voice\.ogg/);
    const large = new Uint8Array(20_000_001);
    telegram.write("big", { file: { name: "big.bin", type: "application/octet-stream", bytes: large, kind: "file" } });
    await telegram.until("seen", 2);
    expect(asked(model)).toContain("big.bin is larger than 20 MB");
  });
});

describe("An answer", () => {
  test("of 100 kB comes in order, complete, and with whole code blocks", async () => {
    const { telegram, model } = await start();
    const lines = Array.from(
      { length: sweep(1_500, 300) },
      (_, index) => `const x${index} = "<${index}>"; // مرحبا ${index}`,
    );
    const code = `\`\`\`ts\n${lines.join("\n")}\n\`\`\``;
    const table = "| a | b |\n|---|---|\n| 1 | 2 |";
    model.script(say(`Before\n\n${code}\n\n${table}\n\n${"שלום עולם ".repeat(500)}\n\nThe end.`));
    telegram.write("long");
    await telegram.until(/The end\.$/);
    const whole = telegram.texts().join("\n");
    for (const line of lines) expect(whole).toContain(line);
    expect(telegram.texts().every((text) => text.length <= 4_096)).toBe(true);
    expect(whole.match(/const x\d+ =/g)).toHaveLength(lines.length);
    expect(whole).toContain("a │ b");
  }, 120_000);

  test("waits as long as the platform says, and comes once", async () => {
    const { telegram, model } = await start();
    const body = { ok: false, error_code: 429, description: "Too Many Requests", parameters: { retry_after: 1 } };
    telegram.fail(/sendMessage/, { status: 429, body }, { status: 429, body });
    model.script(say("at last"));
    telegram.write("hi");
    await telegram.until("at last");
    expect(telegram.texts()).toEqual(["at last"]);
  });

  test("whose outcome is unknown is sent again with a mark", async () => {
    const { telegram, model } = await start();
    telegram.fail(/sendMessage/, "drop");
    model.script(say("perhaps"));
    telegram.write("hi");
    await telegram.until("(perhaps a repeat) perhaps");
    expect(telegram.texts()).toEqual(["perhaps", "(perhaps a repeat) perhaps"]);
  });

  test("whose markup the platform refuses comes as plain text", async () => {
    const { telegram, model } = await start();
    const body = { ok: false, error_code: 400, description: "Bad Request: can't parse entities: x" };
    telegram.fail(/sendMessage/, { status: 400, body });
    model.script(say("**bold** <tag>"));
    telegram.write("hi");
    await telegram.until("**bold** <tag>");
    expect(telegram.texts()).toHaveLength(1);
  });

  test("brings files of the chat's folder, and no others", async () => {
    const { telegram, model, workspace, home } = await start();
    writeFileSync(join(workspace, "plot.png"), "png");
    model.script(say(`Here.\nMEDIA:${workspace}/plot.png\nMEDIA:${home}/config.yaml\nMEDIA:/etc/passwd`));
    telegram.write("plot");
    await telegram.until(/^plot\.png$/);
    expect(telegram.texts()).toEqual([
      "Here.\n\nNot sent, because only files of the chat's folder leave it: 2.",
      "[plot.png]",
    ]);
  });

  test("of silence sends nothing", async () => {
    const { telegram, model } = await start();
    model.script(say("[SILENT]"), say("spoken"));
    telegram.write("quiet");
    await expect.poll(() => model.requests.length).toBe(1);
    telegram.write("speak");
    await telegram.until("spoken");
    expect(telegram.texts()).toEqual(["spoken"]);
  });
});

describe("Nobody else gets in", () => {
  test("a stranger, a name like the owner's, and a group without a mention are met with silence", async () => {
    const { telegram, model } = await start();
    model.respondWith(() => say("for you"));
    telegram.write("let me in", { user: "8", chat: "8" });
    telegram.write("I am Ada", { user: "9", chat: "9", name: "Ada (7)" });
    telegram.write("no mention", { chat: "-100", isGroup: true });
    telegram.write("@hermes_bot stranger", { chat: "-100", isGroup: true, user: "8" });
    telegram.write("@hermes_bot hello", { chat: "-100", isGroup: true });
    await telegram.until("for you");
    expect(telegram.shown.map(({ chat }) => chat)).toEqual(["-100"]);
    expect(asked(model)).toContain("[Ada (7)] hello");
    expect(model.requests).toHaveLength(1);
  });

  test("without a list a stranger gets a code, which the owner approves", async () => {
    const { telegram, model, home } = await start({ section: { allowed_users: [] } });
    model.respondWith(() => say("welcome"));
    telegram.write("hello", { user: "8", chat: "8" });
    const { text } = await telegram.until(/pairing approve telegram/);
    telegram.write("hello again", { user: "8", chat: "8" });
    telegram.write("in a group", { user: "8", chat: "-5", isGroup: true });
    const [code = ""] = /[A-Z2-9]{8}/.exec(text) ?? [];
    const { Pairing } = await import("../../../gateway/pairing.ts");
    const { systemClock } = await import("../../../agent-core/platform/clock.ts");
    const file = join(home, "gateway", "pairing.json");
    expect(readFileSync(file, "utf8")).not.toContain(code);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    new Pairing(join(home, "gateway"), systemClock).approve("telegram", code);
    telegram.write("now?", { user: "8", chat: "8" });
    await telegram.until("welcome");
    expect(telegram.texts()).toHaveLength(2);
  });

  test("the agent reads and writes no file of the gateway, whatever the user answers", async () => {
    const { telegram, model, home } = await start();
    const path = join(home, "gateway", "pairing.json");
    const pairing = { version: 1, open: [], approved: [], asked: { "PRIVATE-HASH": 1 }, failures: 0, lockedUntil: 0 };
    writeFileSync(path, JSON.stringify(pairing));
    model.script(
      callTools(
        call("read_file", { path }),
        call("write_file", { path, content: "{}" }),
        call("terminal", { command: `cat ${path}` }),
      ),
      say("could not"),
    );
    telegram.write("show me the pairing");
    await telegram.until("could not");
    const results = JSON.stringify(model.requests.at(-1)?.body.messages.slice(-3));
    // Tools see a temporary folder of their own, in which the home of a test lies.
    expect(results).toContain("belongs to the gateway");
    expect(results).not.toContain("PRIVATE-HASH");
    expect(readFileSync(path, "utf8")).toContain("PRIVATE-HASH");
  });

  test("a token that is revoked stops the platform, and the log names no token", async () => {
    const { telegram, model, gateway, lines } = await start();
    model.respondWith(() => say("x"));
    telegram.isRevoked = true;
    telegram.write("hi");
    await expect.poll(() => gateway.states().get("telegram")?.kind).toBe("failed");
    expect(lines.join("\n")).toContain("telegram: failed (the token does not count (401 Unauthorized))");
    expect(lines.join("\n")).not.toContain("secret-token");
  });
});

describe("A question in a chat", () => {
  test("has buttons that count once, for the person who asked", async () => {
    const { telegram, model, workspace } = await start({ section: { allowed_users: ["7", "8"] } });
    writeFileSync(join(workspace, ".env"), "KEY=1");
    model.script(callTools(call("read_file", { path: ".env" })), say("read it"));
    telegram.write("@hermes_bot read it", { chat: "-100", isGroup: true });
    const question = await telegram.until(/\.env/, 0).then(() => telegram.until(/keys or passwords/));
    telegram.press(question, "Allow Once", "8");
    telegram.press(question, "Allow Once");
    telegram.press(question, "Reject");
    await telegram.until("read it");
    await telegram.until(/Allow Once$/);
    expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).toContain("KEY=1");
  });

  test("of the model takes a button, a number or free words; commands answer approvals", async () => {
    const { telegram, model, workspace } = await start();
    const clarify = callTools(call("clarify", { question: "Which colour?", choices: ["red", "blue"] }));
    model.script(
      clarify,
      say("one"),
      clarify,
      say("two"),
      callTools(call("read_file", { path: ".env" })),
      say("three"),
    );
    telegram.write("ask");
    telegram.press(await telegram.until(/Which colour/), "blue");
    await telegram.until("one");
    expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).toContain("blue");
    const from = telegram.shown.length;
    telegram.write("ask again");
    await telegram.until(/Which colour/, from);
    telegram.write("rather green");
    await telegram.until("two");
    expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).toContain("rather green");
    writeFileSync(join(workspace, ".env"), "KEY=1");
    telegram.write("read");
    await telegram.until(/keys or passwords/);
    telegram.write("/deny");
    await telegram.until("three");
    expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).not.toContain("KEY=1");
  });
});

describe("Commands of a chat", () => {
  test("/new, /resume, /whoami, /status, /stop and those of the agent work; /mode does not", async () => {
    const { telegram, model } = await start();
    const pause = hold();
    model.script(say("first"));
    telegram.write("one");
    await telegram.until("first");
    for (const [command, answer] of [
      ["/new", /new session begins with your next/],
      ["/whoami", /Your id is 7, this chat's is 7\. You are an admin/],
      ["/mode auto", /does not work from a chat/],
      ["/deny", /no question to answer/],
      ["/stop", /Nothing is running/],
      ["/undo", /nothing to undo|no message|Nothing/i],
    ] as const) {
      telegram.write(command);
      await telegram.until(answer);
    }
    model.script({ parts: [{ type: "text", text: "work" }, pause.part] });
    telegram.write("two");
    await pause.reached;
    telegram.write("/status");
    await telegram.until(/A turn runs/);
    telegram.write("/stop");
    await telegram.until(/Stopped\./);
    pause.release();
    telegram.write("/resume");
    await telegram.until(/^1\. /);
    model.script(say("back"));
    telegram.write("/resume 1");
    await telegram.until(/^Continuing/);
    telegram.write("three");
    await telegram.until("back");
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("first");
  });

  test("messages during a turn wait, and become one prompt", async () => {
    const { telegram, model, home } = await start();
    const pause = hold();
    model.script({ parts: [pause.part, { type: "text", text: "done one" }] }, say("done rest"));
    telegram.write("m0");
    await pause.reached;
    for (let at = 1; at <= 300; at += 1) telegram.write(`m${at}`);
    const journal = join(home, "gateway", "journal.jsonl");
    await expect.poll(() => readFileSync(journal, "utf8").includes("m300")).toBe(true);
    pause.release();
    await telegram.until("done rest");
    for (const at of [1, 150, 300])
      expect(JSON.stringify(model.requests.map(({ body }) => body.messages.at(-1)))).toContain(`m${at}`);
    expect(model.requests.length).toBe(2);
  });

  test("steer and interrupt bring a message into a running turn, or end it", async () => {
    const { telegram, model } = await start({ config: { display: { busy_input_mode: "interrupt" } } });
    const pause = hold();
    model.script({ parts: [{ type: "text", text: "long" }, pause.part] }, say("short"));
    telegram.write("slow");
    await pause.reached;
    telegram.write("faster");
    await telegram.until("short");
    pause.release();
    expect(telegram.texts().some((text) => text.endsWith("Stopped."))).toBe(true);
  });
});

test("A turn that a restart interrupted runs once more, and its answer comes once", async () => {
  const { telegram, model, restart } = await start();
  const pause = hold();
  model.script({ parts: [{ type: "text", text: "half" }, pause.part] }, say("whole"));
  telegram.write("work");
  await telegram.until("half ▌");
  await restart();
  pause.release();
  await telegram.until("whole");
  expect(asked(model)).toContain("The gateway restarted while you worked");
  expect(telegram.texts()).toEqual(["whole"]);
});
