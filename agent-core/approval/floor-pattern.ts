/** What never runs, whoever allowed it: the forms in which the catastrophes are usually written. */

type Catastrophe = { readonly pattern: RegExp; readonly reason: string };

const TARGET = String.raw`(?:/|/\*|~|~/|~/\*|\$HOME|\$\{HOME\}|"\$HOME"|/home|/etc|/usr|/var|/boot|/bin|/lib|/root)`;
const AFTER = String.raw`(?=\s|$|[;&|)])`;

const CATASTROPHES: readonly Catastrophe[] = [
  {
    pattern: new RegExp(String.raw`\brm\s+(?:-\S+\s+|--\S+\s+)*(?:"|')?${TARGET}(?:"|')?${AFTER}`),
    reason: "It would delete the system or the home folder",
  },
  { pattern: /--no-preserve-root/, reason: "It would delete the whole system" },
  { pattern: /\bmkfs(?:\.\w+)?\b|\bwipefs\b/, reason: "It would format a disk" },
  { pattern: /\bdd\b[^;&|]*\bof=\/dev\/(?:sd|hd|vd|nvme|mmcblk|xvd)/, reason: "It would overwrite a disk" },
  { pattern: />\s*\/dev\/(?:sd|hd|vd|nvme|mmcblk|xvd)/, reason: "It would overwrite a disk" },
  { pattern: /(\w+|:)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;\s*\1/, reason: "It is a fork bomb" },
  { pattern: /\bkill\s+(?:-\S+\s+)*-1\b/, reason: "It would end every process" },
  {
    pattern: /(?:^|[;&|]\s*|\bsudo\s+)(?:shutdown|reboot|halt|poweroff|init\s+[06])\b/,
    reason: "It would stop the machine",
  },
  {
    pattern: new RegExp(String.raw`\bch(?:mod|own)\s+(?:-\S+\s+)*-\S*R\S*\s+\S+\s+${TARGET}${AFTER}`),
    reason: "It would change the rights of the whole system",
  },
];

/** Why the command is blocked in every mode; undefined when it is not. */
export function catastropheOf(command: string): string | undefined {
  return CATASTROPHES.find(({ pattern }) => pattern.test(command))?.reason;
}
