import type { Command } from "./command.ts";

export const command: Command = {
  name: "compress",
  description: "Let a summary stand for older messages now",
  hint: "what to keep in mind above all",
  async run(argument, { agent, signal }) {
    const done = await agent.compress(argument === "" ? undefined : argument, signal);
    if (done === undefined) return "There is nothing to compress: the conversation is short.";
    const { messages, tokensBefore, tokensAfter } = done;
    const [before, after] = [tokensBefore, tokensAfter].map((tokens) => tokens.toLocaleString("en"));
    return `A summary stands for ${messages} messages now: ${before} → ${after} tokens. The messages stay in the journal.`;
  },
};
