/** The interactive session on a terminal: start, keys, signals and end. */
import { isKeyRelease, matchesKey } from "@earendil-works/pi-tui";
import type { Config } from "../../agent-core/config/sections.ts";
import { VERSION } from "../../agent-core/entry/version.ts";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { EXIT } from "../subcommand.ts";
import { Chat } from "./chat.ts";
import type { ChatEvents } from "./chat-agent.ts";
import { ChatView } from "./chat-view.ts";
import { PromptHistory } from "./history.ts";
import type { PromptOptions } from "./one-shot.ts";
import { pickPrompt } from "./pickers.ts";
import { banner } from "./status-line.ts";
import { themeOf } from "./theme.ts";

/** A second Ctrl+C within this time leaves; a second Esc edits an earlier message. Milliseconds. */
const TWICE_MS = 2_000;

export type InteractiveOptions = Pick<
  PromptOptions,
  "cwd" | "allowAll" | "settings" | "images" | "skills" | "resume" | "model" | "mode"
> & {
  /** Hermes' home folder. */
  readonly home: string;
  readonly display: Config["display"];
  /** Words before the first message, such as the command of a skill. */
  readonly prefix: string;
};

/** Runs until the user leaves. Returns the exit code. */
export async function runInteractive(options: InteractiveOptions): Promise<number> {
  const { cwd, home, display, allowAll, settings, images, prefix, resume, model, mode, skills } = options;
  const theme = themeOf(display.theme) ?? themeOf("hermes");
  if (theme === undefined) throw new Error("the theme hermes is missing");
  const history = new PromptHistory(home, cwd);
  const status = {
    model: "…",
    mode: mode ?? "",
    used: 0,
    window: 0,
    costUsd: undefined,
    branch: undefined,
    background: 0,
  };
  const view = new ChatView({ theme, history, spinner: display.spinner, status });
  view.transcript.say((drawing) => banner({ version: VERSION, cwd }, drawing));
  let wordsOf = messageOf;
  const chat = new Chat(view, {
    ...{ cwd, allowAll, busyMode: display.busyInputMode },
    wordsOf: (error) => wordsOf(error),
  });
  for (const image of images) chat.attach(image);
  if (prefix !== "") view.composer.setText(prefix);
  const stopListening = listen(chat, history);
  view.start();
  try {
    // The agent's code loads below the first frame, while the user types.
    const { withChatAgent } = await import("./chat-agent.ts");
    wordsOf = (await import("../../agent-core/entry/local-agent.ts")).ownWords;
    const { desk } = chat;
    const events: ChatEvents = {
      update: (notification) => chat.update(notification),
      permission: (request, signal) => desk.permission(request, signal),
      question: (request, signal) => desk.question(request, signal),
      password: (question, signal) => desk.password(question, signal),
      openPage: (url) => chat.note(`Open ${url} in a browser.`),
      log: (line) => chat.note(line),
    };
    return await withChatAgent(
      events,
      async (agent) => {
        await chat.begin(agent, { cwd, resume, model, mode, skills });
        return chat.left;
      },
      settings,
    );
  } catch (error) {
    chat.note(wordsOf(error), "error");
    return EXIT.failed;
  } finally {
    stopListening();
    view.stop();
    if (chat.hasMessages) process.stdout.write(`To go on: hermes --resume ${chat.sessionId}\n`);
  }
}

/** Keys and signals. Returns the function that ends it. */
function listen(chat: Chat, history: PromptHistory): () => void {
  const { screen } = chat.view;
  const removeKeys = screen.addInputListener((data) =>
    isKeyRelease(data) || !press(chat, history, data) ? undefined : { consume: true },
  );
  const leave = (): void => chat.leave(EXIT.interrupted);
  const signals = ["SIGTERM", "SIGHUP", "SIGINT"] as const;
  for (const name of signals) process.on(name, leave);
  return () => {
    removeKeys();
    for (const name of signals) process.off(name, leave);
  };
}

let lastInterruptAt = Number.NEGATIVE_INFINITY;
let lastEscapeAt = Number.NEGATIVE_INFINITY;

/** Does what a key stands for. False for a key of the message. */
function press(chat: Chat, history: PromptHistory, data: string): boolean {
  const { view } = chat;
  if (matchesKey(data, "ctrl+c")) return interrupt(chat);
  if (view.hasPanel) return false;
  if (matchesKey(data, "escape")) return stepBack(chat);
  const { openQuestion: question } = chat.desk;
  const digit = data.normalize("NFKC");
  if (
    question !== undefined &&
    view.composer.getText() === "" &&
    /^[1-9]$/.test(digit) &&
    Number(digit) <= question.choices
  ) {
    question.answer(digit);
    return true;
  }
  if (matchesKey(data, "ctrl+d") && view.composer.getText() === "") {
    chat.leave();
    return true;
  }
  const action = actions.find(({ key }) => matchesKey(data, key));
  action?.run(chat, history);
  return action !== undefined;
}

type Action = { readonly key: Parameters<typeof matchesKey>[1]; run(chat: Chat, history: PromptHistory): unknown };

const actions: readonly Action[] = [
  { key: "shift+tab", run: (chat) => chat.nextMode() },
  { key: "alt+enter", run: ({ view }) => view.composer.insertTextAtCursor("\n") },
  { key: "ctrl+g", run: (chat) => chat.edit() },
  {
    key: "ctrl+o",
    run: ({ view }) => {
      view.transcript.showHidden();
      view.refresh();
    },
  },
  { key: "ctrl+r", run: ({ view }, history) => pickPrompt(view, history.prompts) },
  { key: "ctrl+t", run: (chat) => chat.showTranscript().catch((error: unknown) => chat.note(String(error), "error")) },
  { key: "ctrl+l", run: ({ view }) => view.screen.requestRender() },
  { key: "ctrl+v", run: (chat) => chat.paste() },
  { key: "ctrl+z", run: suspend },
];

/** Ctrl+C stops the turn, or empties the message; twice it leaves. */
function interrupt(chat: Chat): boolean {
  const isSecond = performance.now() - lastInterruptAt < TWICE_MS;
  lastInterruptAt = performance.now();
  if (isSecond) chat.leave(EXIT.interrupted);
  else if (chat.isRunning) chat.stop();
  else {
    chat.view.composer.setText("");
    chat.note("Ctrl+C again leaves.");
  }
  return !chat.view.hasPanel || isSecond;
}

function stepBack(chat: Chat): boolean {
  const { composer } = chat.view;
  if (composer.isShowingAutocomplete()) return false;
  if (chat.desk.openQuestion !== undefined) chat.desk.openQuestion.answer(undefined);
  else if (chat.isRunning) chat.stop();
  else {
    const isSecond = performance.now() - lastEscapeAt < TWICE_MS;
    lastEscapeAt = isSecond ? Number.NEGATIVE_INFINITY : performance.now();
    if (isSecond) void chat.editEarlier().catch((error: unknown) => chat.note(String(error), "error"));
  }
  return true;
}

/** Interval of a timer that only keeps the process running. Milliseconds. */
const ALIVE_MS = 60_000;

/** Ctrl+Z: the shell gets the terminal until `fg`. */
function suspend({ view }: Chat): void {
  if (process.platform === "win32") return;
  view.stop();
  // Nothing else may keep the process running: its input is closed, and the agent may still be loading.
  const alive = setInterval(() => undefined, ALIVE_MS);
  process.once("SIGCONT", () => {
    clearInterval(alive);
    view.start();
  });
  process.kill(0, "SIGTSTP");
}
