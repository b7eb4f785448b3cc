import { byImportance } from "../importance.ts";
import { type Strategy, untilGone } from "./strategy.ts";

/** Of what may go, the newest stay in any case; behaviour.md §Context. */
const KEPT_UNITS = 5;

/** What matters least goes first, but never what is nearly new. */
export const hybrid: Strategy = {
  name: "hybrid",
  summarizes: true,
  choose: (units, excess) => untilGone(byImportance(units.slice(0, -KEPT_UNITS)), excess),
};
