/** Shape of the tables of palette commands. Each command also needs its entry in package.json. */
import type { Services } from "../services.ts";

/** Arguments come from menus and code lenses. The palette passes none. */
export type CommandTable = Readonly<
  Record<`hermes.${string}`, (services: Services, ...args: readonly unknown[]) => unknown>
>;
