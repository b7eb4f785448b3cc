/** `hermes learning`. */
import { learntAction, stateText } from "../../agent-core/acp/commands/learning-answers.ts";
import { reportText } from "../../agent-core/learning/stored-reports.ts";
import { learningMethods } from "../../agent-core/protocol/learning.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { printOutcome, withAgent } from "../agent-requests.ts";
import { EXIT, subcommand } from "../subcommand.ts";

const SYNTAX =
  "`hermes learning keep|both|forget|undo|pin|unpin ID`, `hermes learning keep|forget waiting`, `hermes learning run`, or `hermes learning report`";

const operands = "ID";
const needs = "an id; hermes learning state shows them";

export const command = subcommand({
  verbs: {
    state: { summary: "show what was learnt" },
    run: { summary: "learn from ended sessions now" },
    report: { summary: "show the newest health report" },
    keep: { summary: "accept an item, or all that wait", operands, needs },
    both: { summary: "keep a line beside another", operands, needs },
    forget: { summary: "forget an item, or all that wait", operands, needs },
    undo: { summary: "take a change back", operands, needs },
    pin: { summary: "keep an item whatever happens", operands, needs },
    unpin: { summary: "take the pin away", operands, needs },
    accept: { summary: "same as keep", operands, needs },
  },
  examples: [
    ["learning", "show what was learnt, with the ids"],
    ["learning forget ID", "forget an item"],
  ],
  run({ verb, operands: [id = ""] }) {
    return withAgent(async (agent, signal) => {
      const action = learntAction(verb);
      if (action !== undefined) return printOutcome(await call(agent, learningMethods.act, { id, action }));
      if (verb === "run") {
        const { message } = await call(agent, learningMethods.run, {}, { cancellationSignal: signal });
        return printOutcome({ ok: true, message });
      }
      if (verb === "state") {
        const state = await call(agent, learningMethods.state, {});
        process.stdout.write(`${stateText(state, "", { cwd: process.cwd(), syntax: SYNTAX })}\n`);
        return EXIT.done;
      }
      const [newest] = (await call(agent, learningMethods.reports, { count: 1 })).reports;
      const message = newest === undefined ? "there is no health report yet." : reportText(newest);
      return printOutcome({ ok: newest !== undefined, message });
    });
  },
});
