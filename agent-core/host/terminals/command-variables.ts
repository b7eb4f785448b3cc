/** Which of the agent's own environment variables its commands get. */

export type CommandVariables = {
  /** Names of variables that hold the agent's own keys: commands do not find them in their environment. */
  readonly withheld: readonly string[];
  /** Given to every command, wherever it runs. */
  readonly passed: Readonly<Record<string, string>>;
};

/** Commands get what this process has. */
export const OWN_VARIABLES: CommandVariables = { withheld: [], passed: {} };
