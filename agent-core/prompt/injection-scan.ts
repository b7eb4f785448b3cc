/**
 * Scans a project's instruction files for prompt injection: hidden characters, and the usual sentences that try to take an
 * agent over.
 */
import { INVISIBLE } from "../platform/visible-text.ts";
import { withinTime } from "../platform/within-time.ts";

/** Limit of the scan at either end; the prompt leaves out the middle of a longer text anyway. Characters. */
const SCANNED_CHARS = 65_536;
/** Limit of the scan. Ordinary text needs a few milliseconds, and text made against the patterns needs hours. */
const SCAN_MS = 200;

/** Zero-width, bidirectional and tag characters, and a byte order mark that is not at the beginning. */
const { override, direction, widthless, byteOrderMark, tag: asciiCopies } = INVISIBLE;
const HIDDEN = new RegExp(`[${override}${direction}${widthless}${asciiCopies}]|(?!^)${byteOrderMark}`, "u");

/** `isSaid`: words of a sentence, which a text about injections only quotes. */
type Threat = { readonly name: string; readonly pattern: RegExp; readonly isSaid?: true };

/** Quotations and code within a line. A text after a colon is a value, whose quotation marks its format takes away. */
const QUOTED = /(?<![:=][ \t]{0,3}|\d)(?:"[^"\n]{1,160}"|“[^”\n]{1,160}”|«[^»\n]{1,160}»|`[^`\n]{1,160}`)/g;

const SECRET = String.raw`\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)\w*`;

const threats: readonly Threat[] = [
  { name: "hidden characters", pattern: HIDDEN },
  {
    name: "an attempt to override instructions",
    isSaid: true,
    pattern:
      /\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:previous|prior|above|earlier|all|(?:the|your)\s+system)\s+(?:\w+\s+){0,2}(?:instructions?|prompts?|rules|guidelines|directives)|\b(?:ignore|disregard|forget)\s+system\s+(?:instructions?|prompts?|rules)/i,
  },
  {
    name: "an attempt to change who the agent is",
    isSaid: true,
    pattern:
      /\byou\s+are\s+(?:now|no\s+longer)\s+(?:a|an|in|the|bound|hermes)\b|\b(?:new|updated)\s+system\s+prompt\s*:/i,
  },
  {
    name: "an order to keep something from the user",
    isSaid: true,
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
    pattern: /<!--[^>]{0,500}?\b(?:ignore|override|system|secret|hidden)\b[^>]{0,500}?\b(?:instruction|prompt|user)/i,
  },
];

/** No pattern needs more than 10 ms for a text of this length, so such a text is scanned without a time limit. */
const SHORT_CHARS = 600;

/** Compiles the patterns, and prepares the time limit that the scan of a longer text has. */
export function warmUpScan(): void {
  withinTime(SCAN_MS, () => findThreat("-"));
}

/** Description of the first threat in the text, in a few words. */
export function findThreat(text: string): string | undefined {
  const isLong = text.length > 2 * SCANNED_CHARS;
  const scanned = isLong ? `${text.slice(0, SCANNED_CHARS)}\n${text.slice(-SCANNED_CHARS)}` : text;
  const scan = (): string | undefined => {
    const all = [scanned, scanned.normalize("NFKC")];
    const said = all.map((each) => each.replaceAll(QUOTED, '""'));
    return threats.find(({ pattern, isSaid }) => (isSaid ? said : all).some((each) => pattern.test(each)))?.name;
  };
  if (text.length <= SHORT_CHARS) return scan();
  const found = withinTime(SCAN_MS, scan);
  return found === undefined ? "text that keeps the scan from ending" : found.value;
}

/** Space and characters without a glyph, which a model may overlook within a tag. */
const GAP = String.raw`[\s\p{Cf}]{0,20}`;

/** Copies of ASCII that nothing shows, with which a text hides instructions. Flags of regions consist of them, too. */
const HIDDEN_ASCII = new RegExp(`[${asciiCopies}](?<!\\u{1f3f4}[${asciiCopies}]*)`, "gu");

/** Wraps foreign text for a prompt in `<tag name="…">`; neither the text nor the name can close the tag. */
export function wrapData(tag: string, name: string, text: string): string {
  const letters = [...tag].join(GAP);
  const closing = new RegExp(`[<＜﹤](${GAP}[/／]?${GAP})(${letters})(?![a-z0-9])`, "giu");
  const safe = text.replaceAll(HIDDEN_ASCII, "").replaceAll(closing, "<$1\u200b$2");
  const shown = JSON.stringify(name.replaceAll(/[<>]/g, "_"));
  return `<${tag} name=${shown}>\n${safe.trim()}\n</${tag}>`;
}
