/** Source of a regular expression that matches exactly this text. RegExp.escape needs a newer Node than 22. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
