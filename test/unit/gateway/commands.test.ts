import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DOMParser } from "linkedom";
import { expect, onTestFinished, test, vi } from "vitest";
import { leaveDelivery } from "../../../agent-core/config/deliveries.ts";
import { systemClock } from "../../../agent-core/platform/clock.ts";
import { sendNow } from "../../../gateway/send.ts";
import { installService, uninstallService } from "../../../gateway/service.ts";
import { gatewaySettings } from "../../../gateway/settings.ts";
import { setUpGateway } from "../../../gateway/setup.ts";
import { temporaryFolder } from "../../support/acp-client.ts";
import { say } from "../../support/model-server/model-server.ts";
import { startGateway } from "../../support/platforms/start-gateway.ts";
import { FakeTelegram } from "../../support/platforms/telegram.ts";

function folder(): string {
  const made = temporaryFolder("hermes-gateway-commands-");
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test("hermes send writes to a chat or the home chat, in pieces and with files, and names what is wrong", async () => {
  const telegram = await new FakeTelegram().start();
  onTestFinished(() => telegram.stop());
  const home = folder();
  writeFileSync(
    join(home, "config.yaml"),
    JSON.stringify({ platforms: { telegram: { limits: { perChatMs: 0 }, ...telegram.section } } }),
  );
  writeFileSync(join(home, "report.txt"), "x");
  const settings = await gatewaySettings({ HERMES_HOME: home, ...telegram.variables, TELEGRAM_HOME_CHANNEL: "7" });
  await sendNow(
    settings,
    { to: "telegram", text: `**Done** ${"word ".repeat(900)}`, files: [join(home, "report.txt")] },
    systemClock,
  );
  expect(telegram.texts("7")).toEqual([
    expect.stringMatching(/^Done word/),
    expect.stringMatching(/^word/),
    "[report.txt]",
  ]);
  await sendNow(settings, { to: "telegram:8:5", text: "thread", files: [] }, systemClock);
  expect(telegram.texts("8:5")).toEqual(["thread"]);
  await expect(sendNow(settings, { to: "slack:1", text: "x", files: [] }, systemClock)).rejects.toThrow(
    "slack is not set up",
  );
  const body = { ok: false, error_code: 403, description: "Forbidden: bot was blocked by the user" };
  telegram.fail(/sendMessage/, { status: 403, body });
  await expect(sendNow(settings, { to: "telegram:9", text: "x", files: [] }, systemClock)).rejects.toThrow(
    "bot was blocked",
  );
});

test("A delivery of another process reaches a chat that may write, once, and no other", async () => {
  const telegram = await new FakeTelegram().start();
  const { model, home, lines, restart } = await startGateway(telegram);
  model.respondWith(() => say("hello"));
  telegram.write("hi");
  await telegram.until("hello");
  await leaveDelivery(home, { to: "telegram:666", text: "leak" });
  await leaveDelivery(home, { to: "telegram:7", text: "the job's **result**" });
  await telegram.until("the job's result");
  await restart();
  expect(telegram.texts()).toEqual(["hello", "the job's result"]);
  expect(lines.join("\n")).toContain("a delivery was left out: its chat is not known");
});

test("setup stores the token, the ids and the folder, and refuses a folder around the home", async () => {
  const home = folder();
  const work = join(folder(), "chats");
  const answer = async (answers: string[]) => {
    const next = () => Promise.resolve(answers.shift());
    const settings = await gatewaySettings({ HERMES_HOME: home });
    return setUpGateway(settings, { say: () => undefined, ask: next, askSecret: next, close: () => undefined });
  };
  expect(await answer(["telegram", "42:token", "7, 8", work])).toBe(true);
  const settings = await gatewaySettings({ HERMES_HOME: home });
  expect(settings).toMatchObject({ workspace: work, platforms: [{ name: "telegram", allowed: new Set(["7", "8"]) }] });
  expect(existsSync(work)).toBe(true);
  await expect(answer(["telegram", "42:token", "", join(home, "..")])).rejects.toThrow("holds the Hermes home");
  await expect(answer(["myspace"])).rejects.toThrow("There is no platform myspace");
});

test("The original's names switch platforms on and off, and its open door stays shut", async () => {
  const home = folder();
  const platforms = { discord: { enabled: false }, slack: { allow_admin_from: ["U1"] } };
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ platforms, session_reset: { mode: "daily" } }));
  const tokens = { TELEGRAM_BOT_TOKEN: "1:a", DISCORD_BOT_TOKEN: "d", SLACK_BOT_TOKEN: "s", SLACK_APP_TOKEN: "x" };
  const people = { GATEWAY_ALLOWED_USERS: "1,2", TELEGRAM_ALLOWED_USERS: "3", GATEWAY_ALLOW_ALL_USERS: "true" };
  const settings = await gatewaySettings({ HERMES_HOME: home, ...tokens, ...people });
  expect(settings.platforms.map(({ name, allowed }) => [name, [...allowed]])).toEqual([
    ["telegram", ["3", "1", "2"]],
    ["slack", ["1", "2"]],
  ]);
  expect(settings.platforms[0]?.adapter.variables).not.toHaveProperty("SLACK_BOT_TOKEN");
  expect(settings.reset.mode).toBe("daily");
  expect(settings.warnings).toEqual([expect.stringContaining("GATEWAY_ALLOW_ALL_USERS has no effect")]);
});

test.runIf(process.platform === "linux")(
  "install writes a unit without tokens and starts it; uninstall removes it",
  async () => {
    const home = folder();
    const calls = join(home, "calls");
    mkdirSync(join(home, "bin"));
    writeFileSync(join(home, "bin", "systemctl"), `#!/bin/sh\necho "$@" >> ${calls}\n`);
    chmodSync(join(home, "bin", "systemctl"), 0o755);
    vi.stubEnv("PATH", `${join(home, "bin")}:${process.env["PATH"]}`);
    vi.stubEnv("HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const facts = {
      node: "/usr/bin/node",
      program: "/opt/100% hermes/cli.js",
      home,
      platform: "linux",
      path: "/usr/bin",
    } as const;
    await installService(facts);
    const unit = join(home, ".config", "systemd", "user", "hermes-gateway.service");
    expect(readFileSync(unit, "utf8")).toContain('ExecStart="/usr/bin/node" "/opt/100%% hermes/cli.js" gateway run\n');
    await uninstallService(facts);
    expect(existsSync(unit)).toBe(false);
    expect(readFileSync(calls, "utf8")).toBe(
      "--user daemon-reload\n--user enable --now hermes-gateway.service\n--user disable --now hermes-gateway.service\n",
    );
    await expect(installService({ ...facts, platform: "win32" })).rejects.toThrow("on Linux and macOS");
  },
);

test("install on macOS writes a launch agent whose keys launchd knows, with each word of the command as it is", async () => {
  const home = folder();
  mkdirSync(join(home, "bin"));
  writeFileSync(join(home, "bin", "launchctl"), `#!/bin/sh\necho "$@" >> ${join(home, "calls")}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${join(home, "bin")}:${process.env["PATH"]}`);
  vi.stubEnv("HOME", home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const program = "/Users/me & you/<hermes>/cli.js";
  const facts = { node: "/usr/local/bin/node", program, home, platform: "darwin", path: "/usr/bin:/bin" } as const;
  await installService(facts);
  const file = join(home, "Library", "LaunchAgents", "org.hermes-agent.gateway.plist");
  const { documentElement: root } = new DOMParser().parseFromString(readFileSync(file, "utf8"), "text/xml");
  expect(root.tagName).toBe("plist");
  expect(plistValue([...root.children][0])).toEqual({
    Label: "org.hermes-agent.gateway",
    ProgramArguments: [facts.node, program, "gateway", "run"],
    EnvironmentVariables: { HERMES_HOME: home, PATH: facts.path },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    StandardErrorPath: join(home, "Library", "Logs", "hermes-gateway.log"),
  });
  await uninstallService(facts);
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(join(home, "calls"), "utf8")).toBe(`load -w ${file}\nunload -w ${file}\n`);
});

type PropertyElement = {
  readonly tagName: string;
  readonly textContent: string | null;
  readonly children: Iterable<PropertyElement>;
};

/** Value of an element of a property list. */
function plistValue(element: PropertyElement | undefined): unknown {
  const children = [...(element?.children ?? [])];
  switch (element?.tagName) {
    case "dict":
      return Object.fromEntries(
        children.flatMap((child, at) =>
          child.tagName === "key" ? [[child.textContent, plistValue(children[at + 1])]] : [],
        ),
      );
    case "array":
      return children.map(plistValue);
    case "string":
      return element.textContent;
    case "true":
    case "false":
      return element.tagName === "true";
    default:
      throw new Error(`${element?.tagName} is not expected`);
  }
}
