/** Cases of `describeFaults`: behaviour of the provider, and the expected outcome for the user. */
import type { AIAgentOptions, ConversationResult } from "../../agent-core/index.ts";
import type { FaultKind } from "../../agent-core/providers/fault.ts";
import type { ApiMode } from "../../agent-core/providers/wire/wire.ts";
import type { Answer, Part } from "../support/model-server/answer.ts";
import { call, callTools, fail, type ModelServer, say } from "../support/model-server/model-server.ts";

export type FaultFacts = {
  readonly mode: ApiMode;
  /** JSON that is no event of this format. */
  readonly malformed: string;
  /** Event within a stream that reports an overload of the provider. */
  readonly overloaded: string;
  /** Message of this provider that refuses earlier reasoning. */
  readonly reasoningRefused: string;
};

export type FaultCase = {
  readonly name: string;
  readonly answers: readonly Answer[];
  /** Default: one per answer. */
  readonly requests?: number;
  /** Default: one. */
  readonly prompts?: readonly string[];
  /** The turn ends with this text … */
  readonly text?: string;
  /** … or with this fault. */
  readonly fault?: FaultKind;
  readonly stopReason?: ConversationResult["stopReason"];
  /** All shown text; default: the final text alone; null: not compared. */
  readonly shown?: string | null;
  /** Milliseconds, without jitter. */
  readonly waits?: readonly number[];
  /** Lines written by commands, in order. */
  readonly ran?: readonly string[];
  readonly options?: (server: ModelServer) => Partial<AIAgentOptions>;
  readonly check?: (seen: Seen) => void;
};

export type Seen = {
  readonly bodies: readonly Readonly<Record<string, unknown>>[];
  readonly notices: readonly string[];
  readonly results: readonly ConversationResult[];
};

const REPLACED = "\n\n[This answer broke off. Another one follows.]";
const text = (words: string): Part => ({ type: "text", text: words });
const cut: Part = { type: "cut" };
const stall: Part = { type: "stall" };
const read = call("read_file", { path: "a.txt" });
const command = (word: string): Part => call("terminal", { command: `echo ${word} >> ran.txt` });
const html = (status: number): Answer => ({
  status,
  body: "<!doctype html><html><head><title>Bad gateway</title></head><body>nginx</body></html>",
  headers: { "content-type": "text/html" },
});
const after = (seconds: number, status = 429): Answer => ({
  ...fail(status, "slow down"),
  headers: { "retry-after": String(seconds) },
});

export function faultCases(facts: FaultFacts): readonly FaultCase[] {
  return [...plain, ...passing(facts), ...broken(facts), ...lasting, ...mended(facts), ...awkward, ...standIns];
}

const plain: readonly FaultCase[] = [
  { name: "answers in words", answers: [say("hello")], text: "hello" },
  {
    name: "calls a tool, once",
    answers: [callTools(command("one")), say("done")],
    text: "done",
    ran: ["one"],
  },
  {
    name: "calls two tools in one answer",
    answers: [callTools(read, command("one")), say("done")],
    text: "done",
    ran: ["one"],
  },
];

function passing({ overloaded }: FaultFacts): readonly FaultCase[] {
  const once = (name: string, answer: Answer, waits: readonly number[] = [1_000]): FaultCase => ({
    name: `${name}, then answers`,
    answers: [answer, say("hello")],
    text: "hello",
    waits,
  });
  return [
    once("limits the rate", fail(429, "slow down")),
    { ...once("says when to come back", after(7), [7_000]), check: ({ notices }) => saysWait(notices, "7 s") },
    once("is overloaded (503)", fail(503, "busy")),
    once("is overloaded (529)", fail(529, "Overloaded")),
    once("fails (500)", fail(500, "oops")),
    once("is behind a broken proxy (502)", html(502)),
    once("times out (504)", fail(504, "gateway timeout")),
    once("times out (408)", fail(408, "timeout")),
    once("has a conflict (409)", fail(409, "conflict")),
    once("asks for a retry", { ...fail(400, "hiccup"), headers: { "x-should-retry": "true" } }),
    once("says in words when to come back", fail(429, "Please try again in 3.5s."), [3_500]),
    once("hangs up", { hangUp: true }),
    once("says nothing at all", { silent: true }),
    once("gives a web page for an answer", html(200)),
    once("breaks off before the first word", { parts: [cut] }),
    once("reports an overload in the stream", { parts: [{ type: "raw", data: overloaded }] }),
    {
      name: "fails twice, then answers",
      answers: [fail(500, "oops"), fail(503, "busy"), say("hello")],
      text: "hello",
      waits: [1_000, 2_000],
    },
  ];
}

function saysWait(notices: readonly string[], time: string): void {
  if (!notices.some((notice) => notice.includes(time) && notice.includes("Next try in"))) {
    throw new Error(`no notice of the wait among ${JSON.stringify(notices)}`);
  }
}

function broken({ malformed }: FaultFacts): readonly FaultCase[] {
  return [
    {
      name: "breaks off in its words, then says the same: nothing is shown twice",
      answers: [{ parts: [text("The answer is "), cut] }, say("The answer is 42.")],
      text: "The answer is 42.",
    },
    {
      name: "breaks off in its words, then says something else",
      answers: [{ parts: [text("The answer"), cut] }, say("42, as ever.")],
      text: "42, as ever.",
      shown: `The answer${REPLACED}42, as ever.`,
    },
    {
      name: "stalls in its words",
      answers: [{ parts: [text("The answer "), stall] }, say("The answer is 42.")],
      text: "The answer is 42.",
    },
    {
      name: "ends without its last event",
      answers: [{ parts: [text("The answer is 4")], finish: null }, say("The answer is 42.")],
      text: "The answer is 42.",
    },
    {
      name: "sends an event that cannot be read",
      answers: [{ parts: [text("The "), { type: "raw", data: malformed }] }, say("The answer is 42.")],
      text: "The answer is 42.",
    },
    {
      name: "breaks off after a reading call: it is not read again, and its result counts",
      answers: [{ parts: [read, text("and"), cut] }, callTools(read), say("done")],
      text: "done",
      shown: `and${REPLACED}done`,
      check: ({ results }) => {
        const readings = results[0]?.messages.filter(({ role }) => role === "tool") ?? [];
        if (readings.length !== 1) throw new Error(`${readings.length} results`);
      },
    },
    {
      name: "breaks off after a command: it has not run, and runs once",
      answers: [{ parts: [command("one"), text("and"), cut] }, callTools(command("one")), say("done")],
      text: "done",
      shown: `and${REPLACED}done`,
      ran: ["one"],
    },
    {
      name: "breaks off in the middle of a command",
      answers: [
        { parts: [{ type: "call", name: "terminal", input: {}, raw: '{"command":"echo bad >> ran.txt' }, cut] },
        callTools(command("good")),
        say("done"),
      ],
      text: "done",
      ran: ["good"],
    },
    {
      name: "breaks off after the tools of an iteration: they do not run again",
      answers: [callTools(command("one")), { parts: [text("do"), cut] }, say("done")],
      text: "done",
      ran: ["one"],
    },
  ];
}

const lasting: readonly FaultCase[] = [
  {
    name: "keeps failing: after five minutes of waiting it ends, with one line",
    answers: Array(15).fill(fail(500, "oops")),
    fault: "server",
    waits: [1_000, 2_000, 4_000, 8_000, 16_000, ...Array(8).fill(30_000), 29_000],
    check: ({ results, notices }) => {
      if (!results[0]?.fault?.message.includes("Hermes tried 15 times in 5 min.")) throw new Error("effort not named");
      if (!notices.at(-1)?.includes("Next try in 29 s. Waited 4 min 31 s so far."))
        throw new Error(String(notices.at(-1)));
    },
  },
  {
    name: "keeps failing for longer than the configured time",
    answers: Array(5).fill(fail(503, "busy")),
    fault: "overloaded",
    waits: [1_000, 2_000, 4_000, 3_000],
    options: () => ({ retryMs: 10_000 }),
  },
  {
    name: "keeps breaking off at the same place",
    answers: Array(5).fill({ parts: [text("The "), cut] }),
    fault: "cut-off",
    waits: [1_000, 2_000, 4_000, 3_000],
    options: () => ({ retryMs: 10_000 }),
  },
  {
    name: "gets further each time: that is progress, and the time begins again",
    answers: [
      ..."The answer is"
        .split(" ")
        .map((_, index, words) => ({ parts: [text(words.slice(0, index + 1).join(" ")), cut] })),
      say("The answer is 42."),
    ],
    text: "The answer is 42.",
    waits: [1_000, 1_000, 1_000],
    options: () => ({ retryMs: 2_000 }),
  },
  {
    name: "keeps silent, and is asked once more: a server may read a long prompt",
    answers: Array(2).fill({ silent: true }),
    fault: "timeout",
  },
  {
    name: "keeps sending a web page: three requests, since time does not change an address",
    answers: Array(3).fill(html(200)),
    fault: "malformed",
  },
  {
    name: "says that no retry helps",
    answers: [{ ...fail(503, "maintenance"), headers: { "x-should-retry": "false" } }],
    fault: "overloaded",
    waits: [],
  },
  {
    name: "asks for an hour of patience: the turn ends and names the time",
    answers: [after(3_600)],
    fault: "rate-limit",
    waits: [],
    check: ({ results }) => {
      if (results[0]?.fault?.retryAfterMs !== 3_600_000) throw new Error("the time is lost");
      if (!results[0]?.fault?.message.includes("Try again in 60 min.")) throw new Error("the time is not named");
    },
  },
  {
    name: "refuses the key: one request, and the advice",
    answers: [fail(401, "Incorrect API key provided")],
    fault: "authentication",
    check: ({ results }) => {
      if (!results[0]?.fault?.message.includes("HERMES_API_KEY")) throw new Error("no advice");
    },
  },
  { name: "forbids (403)", answers: [fail(403, "forbidden")], fault: "authentication" },
  { name: "wants money (402)", answers: [fail(402, "Insufficient credits")], fault: "billing" },
  {
    name: "has given all there was to give (429)",
    answers: [fail(429, "You exceeded your current quota", { code: "insufficient_quota" })],
    fault: "billing",
  },
  { name: "does not know the model", answers: [fail(404, "model not found")], fault: "model-not-found" },
  { name: "refuses the request", answers: [fail(400, "messages: roles must alternate")], fault: "bad-request" },
  { name: "has no such path", answers: [fail(404, "Not Found")], fault: "unknown" },
];

function mended({ reasoningRefused }: FaultFacts): readonly FaultCase[] {
  const long = "x".repeat(4_000);
  const fill = callTools(call("terminal", { command: `printf '%s' ${long}` }));
  return [
    {
      name: "refuses the key, and a new one is there",
      answers: [fail(401, "expired"), say("hello")],
      text: "hello",
      waits: [],
      options: ({ baseUrl }) => ({
        refreshEnvironment: async () => ({ HERMES_BASE_URL: baseUrl, HERMES_API_KEY: "another-key-of-the-test" }),
      }),
    },
    {
      name: "does not take a parameter: it is left out, also in the next turn",
      answers: [fail(400, "Unsupported parameter: 'temperature' is not supported"), say("hello"), say("again")],
      prompts: ["go", "on"],
      text: "again",
      shown: "helloagain",
      options: () => ({ sampling: { temperature: 0.5 } }),
      check: ({ bodies }) => {
        const sent = bodies.map((body) => "temperature" in body);
        if (String(sent) !== "true,false,false") throw new Error(`temperature sent: ${sent}`);
      },
    },
    {
      name: "does not take a parameter that was never sent",
      answers: [fail(400, "Unknown parameter: 'wobble'")],
      fault: "bad-request",
    },
    {
      name: "refuses earlier reasoning",
      answers: [
        { parts: [{ type: "reasoning", text: "Hm." }, text("one")] },
        { status: 400, body: reasoningRefused },
        say("two"),
      ],
      prompts: ["go", "on"],
      text: "two",
      shown: "onetwo",
    },
    {
      name: "finds the conversation too long: old outputs give way, once",
      answers: [fill, fill, fill, fill, fail(400, "maximum context length is 8192 tokens"), say("done")],
      text: "done",
      check: ({ bodies }) => {
        const [full, pruned] = [bodies.at(-2), bodies.at(-1)].map((body) => JSON.stringify(body).length);
        if ((pruned ?? 0) >= (full ?? 0)) throw new Error("nothing was pruned");
      },
    },
    { name: "finds a short conversation too long", answers: [fail(413, "too large")], fault: "context-overflow" },
    {
      name: "answers with nothing, then in words",
      answers: [{ parts: [] }, say("hello")],
      text: "hello",
    },
    { name: "answers with nothing, twice", answers: [{ parts: [] }, { parts: [] }], fault: "empty" },
    {
      name: "only thinks, then answers",
      answers: [{ parts: [{ type: "reasoning", text: "Hm." }] }, say("hello")],
      text: "hello",
    },
  ];
}

const cutByLength = (words: string): Answer => ({ parts: [text(words)], finish: "length" });

const awkward: readonly FaultCase[] = [
  {
    name: "stops for length and is continued",
    answers: [cutByLength("one, "), cutByLength("two, "), say("three")],
    text: "one, two, three",
  },
  {
    name: "stops for length again and again",
    answers: [cutByLength("1"), cutByLength("2"), cutByLength("3"), cutByLength("4")],
    text: "1234",
    stopReason: "max_tokens",
  },
  {
    name: "stops for length in the middle of a command: half a command never runs",
    answers: [
      {
        parts: [{ type: "call", name: "terminal", input: {}, raw: '{"command":"echo bad >> ran.txt # {}' }],
        finish: "length",
      },
      callTools(command("good")),
      say("done"),
    ],
    text: "done",
    ran: ["good"],
  },
  {
    name: "calls a tool that does not exist",
    answers: [callTools(call("read_fil", { path: "a.txt" })), say("done")],
    text: "done",
  },
  {
    name: "calls with arguments that are no JSON",
    answers: [{ parts: [{ type: "call", name: "read_file", input: {}, raw: "path is a.txt" }] }, say("done")],
    text: "done",
  },
  {
    name: "calls with arguments that can be mended",
    answers: [
      { parts: [{ type: "call", name: "terminal", input: {}, raw: '{"command": "echo one >> ran.txt",}' }] },
      say("done"),
    ],
    text: "done",
    ran: ["one"],
  },
  {
    name: "refuses to answer",
    answers: [{ parts: [{ type: "refusal", text: "I will not." }] }],
    text: "I will not.",
    stopReason: "refusal",
  },
  {
    name: "makes the same call for ever",
    answers: Array(13).fill(callTools(call("read_file", { path: "a.txt" }))),
    fault: "malformed",
  },
];

const standIn = ({ baseUrl }: ModelServer): Partial<AIAgentOptions> => ({
  fallbacks: [{ provider: "custom", baseUrl, model: "stand-in", apiKey: "another-key-of-the-test" }],
});

const standIns: readonly FaultCase[] = [
  {
    name: "keeps failing, and a stand-in takes over for good after half a minute",
    waits: [1_000, 2_000, 4_000, 8_000, 15_000],
    answers: [...Array(6).fill(fail(500, "oops")), say("hello"), say("again")],
    prompts: ["go", "on"],
    text: "again",
    shown: "helloagain",
    options: standIn,
    check: ({ bodies, notices }) => {
      const models = bodies.map(({ model }) => model).join(" ");
      if (models !== `${"test-model ".repeat(6)}stand-in stand-in`) throw new Error(models);
      if (!notices.some((notice) => notice.includes("Continuing with stand-in"))) throw new Error("it was not told");
    },
  },
  {
    name: "wants money, and a stand-in takes over at once",
    answers: [fail(402, "Insufficient credits"), say("hello")],
    text: "hello",
    waits: [],
    options: standIn,
  },
];
