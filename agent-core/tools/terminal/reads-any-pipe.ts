/** Programs that work on their input instead of on files as soon as it is no terminal, without being asked to. */
const READERS = /(?:^|[\s;&|(`/])(?:rg|ag|ack|fzf)(?:\s|$)/;

/** Whether an open input would make the command wait where it should search. */
export function readsAnyPipe(command: string): boolean {
  return READERS.test(command);
}
