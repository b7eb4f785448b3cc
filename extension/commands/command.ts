/** What a command is: one file in this folder that exports `command`, and its entry in package.json. */
import type { Services } from "../services.ts";

export type Command = {
  readonly id: `hermes.${string}`;
  /** Arguments come from menus and code lenses, or are missing when it is called from the palette. */
  run(services: Services, ...args: readonly unknown[]): unknown;
};
