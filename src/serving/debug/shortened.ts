const longest = 1_024;

/** A text of somebody else's, no longer than a page can bear. */
export function shortened(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}
