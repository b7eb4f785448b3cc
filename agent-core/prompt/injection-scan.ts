/**
 * Scans a project's instruction files for prompt injection: hidden characters, and the usual sentences that try to take an
 * agent over.
 */

import { INVISIBLE } from "../platform/visible-text.ts";

/** Limit of the scan at either end; the prompt leaves out the middle of a longer text anyway. Characters. */
const SCANNED_CHARS = 65_536;

/** Zero-width, bidirectional and tag characters, and a byte order mark that is not at the beginning. */
const { override, direction, widthless, byteOrderMark, tag } = INVISIBLE;
const HIDDEN = new RegExp(`[${override}${direction}${widthless}${tag}]|(?!^)${byteOrderMark}`, "u");

type Threat = { readonly name: string; readonly pattern: RegExp };

const SECRET = String.raw`\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)\w*`;

const threats: readonly Threat[] = [
  { name: "hidden characters", pattern: HIDDEN },
  {
    name: "an attempt to override instructions",
    pattern:
      /\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:previous|prior|above|earlier|all|system)\s+(?:\w+\s+){0,2}(?:instructions?|prompts?|rules|guidelines|directives)/i,
  },
  {
    name: "an attempt to change who the agent is",
    pattern:
      /\byou\s+are\s+(?:now|no\s+longer)\s+(?:a|an|in|the|bound|hermes)\b|\b(?:new|updated)\s+system\s+prompt\s*:/i,
  },
  {
    name: "an order to keep something from the user",
    pattern:
      /\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention|reveal|show|report)\b[^.\n]{0,40}\bto?\s*(?:the\s+)?user\b|\bwithout\s+(?:telling|informing|the\s+knowledge\s+of)\s+the\s+user\b/i,
  },
  {
    name: "a command that sends secrets away",
    pattern: new RegExp(String.raw`\b(?:curl|wget|nc|ncat)\b[^\n]*${SECRET}`, "i"),
  },
  {
    name: "a command that reads secrets",
    pattern:
      /\b(?:cat|less|head|tail|base64|xxd)\s+[^\n|]*(?:~|\$HOME|\/root|\/home\/[\w.-]+)\/?(?:\.ssh\/|\.aws\/|\.netrc|\.git-credentials|\.env\b)/i,
  },
  {
    name: "hidden markup",
    pattern: /<!--[^>]*\b(?:ignore|override|system|secret|hidden)\b[^>]*\b(?:instruction|prompt|user)/i,
  },
];

/** Description of the first threat in the text, in a few words. */
export function findThreat(text: string): string | undefined {
  const isLong = text.length > 2 * SCANNED_CHARS;
  const scanned = isLong ? `${text.slice(0, SCANNED_CHARS)}\n${text.slice(-SCANNED_CHARS)}` : text;
  const plain = scanned.normalize("NFKC");
  return threats.find(({ pattern }) => pattern.test(scanned) || pattern.test(plain))?.name;
}

/** Wraps foreign text for a prompt in `<tag name="…">`; the text cannot close the tag. */
export function wrapData(tag: string, name: string, text: string): string {
  const safe = text.replace(new RegExp(`<(/?)(${tag})\\b`, "gi"), "<$1\u200b$2");
  return `<${tag} name=${JSON.stringify(name)}>\n${safe.trim()}\n</${tag}>`;
}
