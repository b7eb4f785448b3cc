/** Rules of the parent that hold for its sub-agents: permissions, policy, hooks, budget, files and their restore. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ApprovalRequest } from "../../../agent-core/agent/callbacks.ts";
import type { Hook } from "../../../agent-core/hooks/hook.ts";
import { AIAgent } from "../../../agent-core/index.ts";
import { call, say } from "../../support/model-server/model-server.ts";
import { delegationBench, tasksNamed } from "./support/delegating-agent.ts";

const write = (path: string, content = "x\n") => ({ parts: [call("write_file", { path, content })] });
const run = (command: string) => ({ parts: [call("terminal", { command })] });

test("a request for permission reaches the parent's user, with the task that asks", async () => {
  const bench = await delegationBench({ approvalMode: () => "ask" });
  bench.script(tasksNamed("alpha"), { alpha: [write("a.txt")] });
  await bench.run();
  expect(bench.asked).toMatchObject([{ name: "write_file", task: "alpha" }]);
  expect(bench.asked[0]?.callId).toMatch(/\/alpha\//);
});

test("a grant for the session covers the same command of another task", async () => {
  let asked = 0;
  const approval = async () => {
    asked += 1;
    return { kind: "session" } as const;
  };
  const bench = await delegationBench({ approvalMode: () => "ask", callbacks: { approval } });
  const second = { id: "beta", goal: "beta", depends_on: ["alpha"] };
  bench.script(
    { tasks: [{ id: "alpha", goal: "alpha" }, second] },
    { alpha: [run("touch made")], beta: [run("touch made")] },
  );
  await bench.run();
  expect(asked).toBe(1);
});

test("blocked commands, the mode plan and an untrusted workspace hold for sub-agents", async () => {
  const floor = await delegationBench({ approvalMode: () => "auto" });
  floor.script(tasksNamed("alpha"), { alpha: [run("rm -rf /")] });
  await floor.run();
  const plan = await delegationBench({ approvalMode: () => "plan" });
  plan.script(tasksNamed("alpha"), { alpha: [write("a.txt")] });
  await plan.run();
  expect(JSON.stringify(plan.requestsOf("alpha")[0]?.messages)).toContain("[Plan mode is on:");
  const untrusted = await delegationBench({ trusted: () => false });
  untrusted.script(tasksNamed("alpha"), { alpha: [write("a.txt")] });
  await untrusted.run();
  for (const bench of [floor, plan, untrusted]) {
    const refused = bench
      .requestsOf("alpha")
      .at(-1)
      ?.messages.findLast(({ role }) => role === "tool");
    expect(refused?.["content"]).toMatch(/^Error: /);
    expect(existsSync(join(bench.cwd, "a.txt"))).toBe(false);
    expect(bench.asked).toEqual([]);
  }
});

test("in plan mode a sub-agent is asked for no plan, and an address that its task names asks", async () => {
  const asked: string[] = [];
  const approval = async ({ name }: ApprovalRequest) => {
    asked.push(name);
    return { kind: "rejected" } as const;
  };
  const bench = await delegationBench({ approvalMode: () => "plan", callbacks: { approval } });
  const address = "https://198.51.100.1/?q=what-the-agent-read";
  bench.script(
    { tasks: [{ id: "alpha", goal: `alpha reads ${address}` }] },
    { alpha: [{ parts: [call("web_extract", { urls: [address] })] }] },
  );
  await bench.run();
  expect(JSON.stringify(bench.requestsOf("alpha")[0]?.messages)).not.toContain("end with a plan");
  expect(asked).toEqual(["web_extract"]);
});

test("a sub-agent of a resumed session begins with its task alone, and leaves the conversation to its parent", async () => {
  const bench = await delegationBench();
  bench.script(tasksNamed("alpha"));
  await bench.run();
  await bench.agent.close();
  const { model, home, sessionId } = bench;
  const resumed = await AIAgent.load(sessionId, {
    baseUrl: model.baseUrl,
    model: "test-model",
    apiKey: "sk-test-123456",
    environment: {},
    home,
    surroundings: false,
  });
  onTestFinished(() => resumed.close());
  const before = resumed.messages.length;
  model.script({ parts: [call("delegate_task", tasksNamed("beta"))] }, say("beta is done."), say("done"));
  await resumed.chat("again");
  const messages = bench.requestsOf("beta")[0]?.messages ?? [];
  expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
  expect(messages[0]?.["content"]).toContain("You are a sub-agent");
  expect(resumed.messages.slice(before).map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
});

test("hooks run for calls of sub-agents, and for their starts and ends", async () => {
  const seen: string[] = [];
  const hook = (event: Hook["event"], verdict = {}): Hook => ({
    event,
    label: "test",
    origin: "home",
    failClosed: false,
    timeoutMs: 5_000,
    run: async ({ tool_name: tool, extra }) => {
      seen.push(`${event} ${tool ?? extra["child_status"] ?? extra["goal"]}`);
      return tool === "write_file" ? verdict : {};
    },
  });
  const hooks = [
    hook("pre_tool_call", { decision: "block", reason: "not here" }),
    hook("subagent_start"),
    hook("subagent_stop"),
  ];
  const bench = await delegationBench({ hooks: () => hooks });
  bench.script(tasksNamed("alpha"), { alpha: [write("a.txt")] });
  const [result] = await bench.run();
  expect(existsSync(join(bench.cwd, "a.txt"))).toBe(false);
  expect(result?.files).toEqual([]);
  expect(seen).toEqual([
    ...["pre_tool_call delegate_task", "subagent_start alpha", "pre_tool_call write_file", "subagent_stop completed"],
  ]);
});

test("a restore of the parent reverts what its sub-agents wrote, by edits and by commands", async () => {
  const bench = await delegationBench({ approvalMode: () => "auto" });
  writeFileSync(join(bench.cwd, "b.txt"), "before\n");
  bench.script(tasksNamed("alpha"), { alpha: [write("a.txt"), run("echo after > b.txt")] });
  const [result] = await bench.run();
  expect(result?.files).toEqual(
    expect.arrayContaining([
      { path: "a.txt", hunks: 1 },
      { path: "b.txt", hunks: 0 },
    ]),
  );
  await bench.agent.checkpoints?.restore(0, new AbortController().signal);
  expect(existsSync(join(bench.cwd, "a.txt"))).toBe(false);
  expect(readFileSync(join(bench.cwd, "b.txt"), "utf8")).toBe("before\n");
});

test("a file belongs to the task that writes it first, until this task ends; a command cannot write it either", async () => {
  const bench = await delegationBench({ approvalMode: () => "auto" });
  const written = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<void>();
  const wait = (until: Promise<void>) => ({ type: "wait", until }) as const;
  bench.script(
    { tasks: [...tasksNamed("alpha", "beta").tasks, { id: "gamma", goal: "gamma", depends_on: ["alpha"] }] },
    {
      alpha: [
        write("a.txt", "alpha\n"),
        {
          parts: [
            { type: "wait", until: refused.promise, reached: written.resolve },
            { type: "text", text: "ok" },
          ],
        },
      ],
      beta: [
        { parts: [wait(written.promise), call("write_file", { path: "a.txt", content: "beta\n" })] },
        run("echo beta >> a.txt"),
        {
          parts: [
            { type: "text", text: "refused twice" },
            { type: "wait", until: Promise.resolve(), reached: refused.resolve },
          ],
        },
      ],
      gamma: [run("echo gamma >> a.txt")],
    },
  );
  const results = await bench.run();
  expect(results.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
  const answers =
    bench
      .requestsOf("beta")
      .at(-1)
      ?.messages.filter(({ role }) => role === "tool") ?? [];
  expect(answers).toHaveLength(2);
  for (const { content } of answers) expect(content).toContain('belongs to the task "alpha"');
  expect(readFileSync(join(bench.cwd, "a.txt"), "utf8")).toBe("alpha\ngamma\n");
});

test("sub-agents have the model of the settings or of their task, and their tokens count in the session", async () => {
  const bench = await delegationBench({ delegation: { model: { model: "small" } } });
  bench.script({ tasks: [...tasksNamed("alpha").tasks, { id: "beta", goal: "beta", model: "tiny" }] });
  const [alpha] = await bench.run();
  expect(["alpha", "beta", "go"].map((task) => bench.requestsOf(task)[0]?.["model"])).toEqual([
    "small",
    "tiny",
    "test-model",
  ]);
  expect(bench.agent.setup.ledger.sum.inputTokens).toBe(4 * (alpha?.usage.inputTokens ?? 0));
});

test("sub-agents share the parent's budget when the settings say so", async () => {
  const bench = await delegationBench({ maxIterations: 3, delegation: { shareBudget: true } });
  bench.script(tasksNamed("alpha"), { alpha: [write("a.txt"), write("b.txt"), write("c.txt"), write("d.txt")] });
  const [result] = await bench.run();
  expect(result).toMatchObject({
    status: "partial",
    reason: "It reached its step limit.",
    files: [{ path: "a.txt" }, { path: "b.txt" }],
  });
});

test("a sub-agent has the tools that its task asks for, and a task that asks for others is refused", async () => {
  const bench = await delegationBench();
  bench.script({ tasks: [{ id: "a", goal: "alpha", toolsets: ["search", "read_file"] }] });
  await bench.run();
  const tools = bench.requestsOf("alpha")[0]?.["tools"] as readonly { readonly function: { readonly name: string } }[];
  expect(tools.map((tool) => tool.function.name)).toEqual(["read_file", "search_files"]);
  const other = await delegationBench();
  other.script({
    tasks: [{ id: "a", goal: "alpha", toolsets: ["homeassistant"], result_schema: { type: "nothing" } }],
  });
  await expect(other.run()).rejects.toThrow(
    /nothing was started\. "a": there is no toolset or tool homeassistant.*"a": its result_schema does not compile/s,
  );
});

test("sub-agents delegate only where the settings allow it, and one that waits leaves its place to another", async () => {
  const bench = await delegationBench({ delegation: { maxDepth: 2, maxConcurrentChildren: 1 } });
  const inner = { parts: [call("delegate_task", { goal: "beta" })] };
  bench.script(tasksNamed("alpha"), { alpha: [inner, say("alpha has asked beta")], beta: [write("b.txt")] });
  const [result] = await bench.run();
  expect(result).toMatchObject({ status: "completed", summary: "alpha has asked beta" });
  expect(existsSync(join(bench.cwd, "b.txt"))).toBe(true);
  const started = bench.events.filter((event) => event.type === "started");
  expect(started.map(({ name, callId }) => `${name} ${callId.split("/").length}`)).toEqual([
    ...["delegate_task 1", "delegate_task 3", "write_file 5"],
  ]);
});
