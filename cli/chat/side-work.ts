/** Prompts beside the session: questions that leave no trace, and work in the background. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { counted } from "../../agent-core/platform/counted.ts";
import { messageOf } from "../../agent-core/platform/errors.ts";
import type { ChatAgent } from "./chat-agent.ts";

/** The session that shows the answers. */
type Shown = {
  readonly cwd: string;
  note(text: string, mark?: "info" | "warning" | "error"): void;
  answer(title: string, markdown: string): void;
};

type Work = { readonly prompt: string; text: string };

export class SideWork {
  readonly #shown: Shown;
  readonly #agent: () => Promise<ChatAgent>;
  /** By their sessions. */
  readonly #works = new Map<string, Work>();

  constructor(shown: Shown, agent: () => Promise<ChatAgent>) {
    this.#shown = shown;
    this.#agent = agent;
  }

  update(sessionId: string, update: SessionUpdate): void {
    const work = this.#works.get(sessionId);
    if (work === undefined || update.sessionUpdate !== "agent_message_chunk") return;
    if (update.content.type === "text") work.text += update.content.text;
  }

  /** Asks a copy of the session, which only reads and is deleted afterwards. */
  async ask(sessionId: string, question: string): Promise<void> {
    const agent = await this.#agent();
    const copy = await agent.fork(sessionId, this.#shown.cwd);
    try {
      await agent.setMode(copy, "plan");
      await this.#run(agent, copy, question);
    } finally {
      await agent.delete(copy);
    }
  }

  /** Starts a session of its own. `onChange` gets the number of those that run. */
  async start(prompt: string, onChange: (running: number) => void): Promise<void> {
    const agent = await this.#agent();
    const { sessionId } = await agent.open({ cwd: this.#shown.cwd });
    this.#shown.note(`In the background: ${prompt}`);
    const ended = this.#run(agent, sessionId, prompt).catch((error: unknown) =>
      this.#shown.note(`In the background: ${prompt}: ${messageOf(error)}`, "error"),
    );
    onChange(this.#works.size);
    void ended.finally(() => onChange(this.#works.size));
  }

  list(): string {
    const prompts = [...this.#works.values()].map(({ prompt }) => `· ${prompt}`);
    return prompts.length === 0
      ? "Nothing runs in the background. Type /background PROMPT."
      : `${counted(prompts.length, "prompt")} in the background:\n${prompts.join("\n")}`;
  }

  async #run(agent: ChatAgent, sessionId: string, prompt: string): Promise<void> {
    const work: Work = { prompt, text: "" };
    this.#works.set(sessionId, work);
    try {
      await agent.prompt(sessionId, [{ type: "text", text: prompt }]);
      this.#shown.answer(prompt, work.text);
    } finally {
      this.#works.delete(sessionId);
    }
  }
}
