import { byImportance } from "../importance.ts";
import { type Strategy, untilGone } from "./strategy.ts";

/** What matters least goes first. */
export const importance: Strategy = {
  name: "importance",
  summarizes: true,
  choose: (units, excess) => untilGone(byImportance(units), excess),
};
