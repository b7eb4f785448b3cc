import { describe, expect, test } from "vitest";
import { Repetition } from "../../../agent-core/agent/turn.ts";

const now = (seconds: number): Date => new Date(Date.UTC(2026, 10, 29, 10, 59, 40) + seconds * 1_000);
const pad = (value: number): string => String(value).padStart(2, "0");

/** Results of one call, made 13 times in a row. */
function isStuck(resultAt: (index: number) => string): boolean {
  const repetition = new Repetition();
  const call = {
    id: "c",
    type: "function",
    function: { name: "terminal", arguments: '{"command":"./status"}' },
  } as const;
  const counts = Array.from({ length: 13 }, (_, index) => {
    const result = { role: "tool", tool_call_id: `c${index}`, content: resultAt(index) } as const;
    return repetition.count([call], [result], 0).isStuck;
  });
  return counts.at(-1) ?? false;
}

describe("a loop ends whose results differ in a clock alone", () => {
  test.each<[string, (index: number) => string]>([
    [
      "date",
      (index) =>
        `${now(index * 7)
          .toUTCString()
          .replace("GMT", "UTC 2026")}`,
    ],
    ["date of GNU", (index) => `Sun Nov  ${9} 23:${pad(10 + index)}:07 UTC 2026`],
    ["ISO 8601", (index) => `checked at ${now(index * 7).toISOString()}: pending`],
    ["ISO 8601 with a zone", (index) => `2026-11-29T10:${pad(index)}:00.5+01:00 state=waiting`],
    ["a log line of Go", (index) => `2026/11/29 10:${pad(index)}:38 waiting for db`],
    ["a log line of Apache", (index) => `[29/Nov/2026:10:00:${pad(index)} +0000] "GET / HTTP/1.1" 503`],
    ["twelve hours", (index) => `11/29/2026 ${1 + index}:05 PM  <DIR>  .`],
    ["time of bash", (index) => `no\n\nreal\t0m1.${100 + index}s\nuser\t0m0.00${index}s`],
    ["pytest", (index) => `3 failed, 2 passed in ${(1.23 + index / 10).toFixed(2)}s`],
    ["vitest", (index) => `Duration  1.${index}s (tests ${300 + index}ms, setup ${index}µs)`],
    ["go test", (index) => `FAIL\texample.com/a\t0.0${index}s`],
    ["curl", (index) => `Failed to connect to 127.0.0.1 port 80 after ${index} ms: refused`],
    ["kubectl", (index) => `web-1  0/1  ImagePullBackOff  0  ${index + 1}m${index + 2}s`],
    ["docker", (index) => `db  Up ${index + 2} seconds (health: starting)`],
    ["a long uptime", (index) => `up 3 days, 2 hours, ${index + 2} minutes`],
    ["seconds since 1970", () => String(Math.floor(Date.now() / 1_000) - Math.floor(Math.random() * 100))],
    ["milliseconds since 1970", () => `{"ts":${Date.now() - Math.floor(Math.random() * 100)},"ready":false}`],
    ["gradle", (index) => `BUILD FAILED in ${index + 1}m ${index + 3}s`],
    ["a compact time", (index) => `backup-20261129T1000${pad(index)}Z.tar is missing`],
    ["a number of 90,000 digits", (index) => `10:00:${pad(index)} ${"7".repeat(90_000)}`],
    ["a profiler", (index) => `slept 1${index} nanoseconds, 2${index} milliseconds and ${index} microsecond`],
    ["make", (index) => `ninja: build stopped (${index + 0.5} sec)`],
  ])("%s", (_, resultAt) => expect(isStuck(resultAt)).toBe(true));
});

describe("polling goes on whose results carry progress", () => {
  test.each<[string, (index: number) => string]>([
    ["percents", (index) => `${5 * index}% done`],
    ["percents beside a clock", (index) => `10:00:${pad(index)} downloaded ${index}%`],
    ["steps", (index) => `[${index}/400] Building CXX object a.o`],
    ["sizes", (index) => `received ${index}.5 MB`],
    ["rates", (index) => `${30 + index} MB/s`],
    ["bytes", (index) => String(4_100_000_000 + index)],
    ["lines", (index) => `${index} log.txt`],
    ["a ratio of replicas", (index) => `web  ${index}/20  Running  0  5m`],
    ["tests", (index) => `${index} passed, 1 failed in 3.2s`],
    ["a version", (index) => `v1.${index}.0`],
    ["words", (index) => ["queued", "running"][index % 2] ?? ""],
    ["epochs of a training", (index) => `epoch ${index} loss 0.${900 - index}`],
    ["a log that grows", (index) => "10:00:00 tick\n".repeat(index)],
  ])("%s", (_, resultAt) => expect(isStuck(resultAt)).toBe(false));
});

test.each([1, 2, 3, 6])(
  "a loop of %i calls with equal results ends, and a new result between them is progress",
  (period) => {
    const stuckWith = (contentAt: (index: number) => string): boolean => {
      const repetition = new Repetition();
      const counts = Array.from({ length: (period > 1 ? 26 : 13) + period }, (_, index) => {
        const called = { name: "read_file", arguments: JSON.stringify({ path: `${index % period}.txt` }) };
        const result = { role: "tool", tool_call_id: `c${index}`, content: contentAt(index) } as const;
        return repetition.count([{ id: "c", type: "function", function: called }], [result], 0).isStuck;
      });
      return counts.includes(true);
    };
    expect(stuckWith((index) => `file ${index % period}`)).toBe(true);
    const changed = Math.ceil(8 / period) * period + period;
    expect(stuckWith((index) => `file ${index % period} after ${index < changed ? "" : "its change"}`)).toBe(false);
  },
);

describe("polling whose results repeat goes on for an hour where its calls wait", () => {
  test.each([
    ["one command, as for GitHub's runs", ['{"command":"sleep 60; gh run view"}']],
    ["a process without output, as of a long build", ['{"action":"wait","id":"p1","timeout":60}']],
    ["a wait and a look", ['{"command":"sleep 60"}', "kubectl get pods"]],
  ])("%s", (_, calls) => {
    const repetition = new Repetition();
    const stuck = Array.from({ length: 60 * calls.length }, (_, index) => {
      const called = { name: "terminal", arguments: calls[index % calls.length] ?? "" };
      const result = { role: "tool", tool_call_id: `c${index}`, content: `pending, ${index} s` } as const;
      const tookMs = index % calls.length === 0 ? 60_000 : 300;
      return repetition.count([{ id: "c", type: "function", function: called }], [result], tookMs).isStuck;
    });
    expect(stuck).not.toContain(true);
  });
});

test("polling with a wait of its own gets as many rounds as polling with one call", () => {
  const repetition = new Repetition();
  const stuck = Array.from({ length: 28 }, (_, index) => {
    const called = { name: "terminal", arguments: index % 2 === 0 ? "sleep 60" : "gh run view" };
    const result = { role: "tool", tool_call_id: `c${index}`, content: "in progress" } as const;
    return repetition.count([{ id: "c", type: "function", function: called }], [result], 0).isStuck;
  });
  expect(stuck.indexOf(true)).toBe(26);
});

test("a model that reads many files again goes on", () => {
  const repetition = new Repetition();
  const stuck = Array.from({ length: 40 }, (_, index) => {
    const called = { name: "read_file", arguments: JSON.stringify({ path: `${index % 20}.txt` }) };
    const result = { role: "tool", tool_call_id: `c${index}`, content: "same" } as const;
    return repetition.count([{ id: "c", type: "function", function: called }], [result], 0).isStuck;
  });
  expect(stuck).not.toContain(true);
});

/** Notes and the end among 100 equal calls that take so many seconds. */
function lastsFor(name: string, input: object, seconds: number) {
  const repetition = new Repetition();
  const counts = Array.from({ length: 100 }, (_, index) => {
    const called = { name, arguments: JSON.stringify(input) };
    const result = { role: "tool", tool_call_id: `c${index}`, content: `3 failed in ${seconds}.${index}s` } as const;
    return repetition.count([{ id: "c", type: "function", function: called }], [result], seconds * 1_000);
  });
  const [noted, ended] = [counts.findIndex(({ note }) => note), counts.findIndex(({ isStuck }) => isStuck)];
  return { noted: noted + 1, ended: ended + 1 };
}

test.each([
  ["terminal", { command: "npm test" }, 6],
  ["terminal", { command: "npx vitest run src/wait.test.ts --watch=false" }, 30],
  ["terminal", { command: "cargo build 2>&1 | tail -5" }, 90],
  ["terminal", { command: "timeout 60 make check" }, 60],
  ["terminal", { command: "pytest tests/test_sleep.py -k waiting" }, 12],
  ["mcp__db__query", { sql: "SELECT * FROM watchers" }, 20],
])("a slow loop ends as soon as a fast one: %s %j", (name, input, seconds) => {
  expect(lastsFor(name, input, seconds)).toEqual({ noted: 11, ended: 13 });
});

test.each([
  ["terminal", { command: "cd app\nsleep 30\ngh run view" }],
  ["terminal", { command: "kubectl wait --for=condition=ready pod/web" }],
  ["terminal", { command: "gh run watch 17" }],
  ["terminal", { command: "Start-Sleep 30; docker ps" }],
  ["terminal", { command: "(sleep 30)" }],
  ["process", { action: "wait", process: "p1" }],
  ["mcp__playwright__browser_wait_for", { time: 30 }],
])("a loop of waits gets its note after ten calls, and lasts longer: %s %j", (name, input) => {
  const { noted, ended } = lastsFor(name, input, 30);
  expect(noted).toBe(11);
  expect(ended).toBeGreaterThan(60);
});
