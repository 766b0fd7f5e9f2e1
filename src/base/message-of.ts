/** What went wrong, for a line of text: an error's message, or whatever else was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
