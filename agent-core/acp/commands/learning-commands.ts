/** /learning and /report. Their code loads with the first answer. */
import type { Command } from "./command.ts";

export const learning: Command = {
  name: "learning",
  description: "Show what was learnt, undo, forget or pin it, and switch learning on or off",
  hint: "[undo | forget | pin ID | on | off | run]",
  run: async (argument, session) => (await import("./learning-answers.ts")).answerLearning(argument, session),
};

export const report: Command = {
  name: "report",
  description: "Show the health report: success, errors, cost, and recommendations",
  async run(_argument, { learning: access }) {
    const [{ reportText }, [newest]] = await Promise.all([
      import("../../learning/stored-reports.ts"),
      access.reports(1),
    ]);
    return newest === undefined
      ? "There is no health report yet. The first one is written after a day with sessions; `/learning run` writes it now."
      : reportText(newest);
  },
};
