import type { Deployment } from "./deployment.ts";

/** Nobody is reached: the interpreter in this program. */
export const offline: Deployment = {
  name: "offline",
  title: "Offline",
  mode: "offline",
  hosts: [],
  defaultModel: "offline",
};
