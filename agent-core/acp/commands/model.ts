import type { ModelGroup } from "../../agent/model-directory.ts";
import { choiceId } from "../../providers/choice.ts";
import { findModel } from "../find-model.ts";
import type { Command } from "./command.ts";

/** Names of one provider in a list that is read, not searched. */
const NAMES_A_PROVIDER = 15;
/** Names when several fit what was typed. */
const NAMES_AT_MOST = 20;

export const command: Command = {
  name: "model",
  description: "Show the models there are, or take another one",
  hint: "name, or a part of it",
  async run(argument, { model }) {
    const groups = await model.all();
    if (argument === "") return `Model: \`${choiceId(model.current)}\`. There are:\n\n${list(groups)}`;
    const found = findModel(argument, groups);
    switch (found.kind) {
      case "none":
        return `There is no model \`${argument}\`. There are:\n\n${list(groups)}`;
      case "several": {
        const names = found.choices.map((choice) => `- \`${choiceId(choice)}\``);
        const more = names.length - NAMES_AT_MOST;
        const rest = more > 0 ? [`- … and ${more} more`] : [];
        return [`Several models fit \`${argument}\`:`, "", ...names.slice(0, NAMES_AT_MOST), ...rest].join("\n");
      }
      case "one":
        return model.choose(found.choice) ?? `Model: \`${choiceId(found.choice)}\`.`;
    }
  },
};

function list(groups: readonly ModelGroup[]): string {
  return groups
    .flatMap(({ provider, title, models }) => {
      const names = models.slice(0, NAMES_A_PROVIDER).map(({ id }) => `\`${choiceId({ provider, model: id })}\``);
      const more = models.length - names.length;
      const rest = more > 0 ? `, and ${more} more: type a part of the name after /model` : "";
      return names.length === 0 ? [] : [`- ${title}: ${names.join(", ")}${rest}`];
    })
    .join("\n");
}
