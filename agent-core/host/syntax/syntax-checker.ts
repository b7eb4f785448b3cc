import type { Problem } from "../problems.ts";

/** Finds what is wrong in a text; empty when nothing is, or when it would take too long to know. */
export type SyntaxChecker = (text: string, path: string) => readonly Problem[];
