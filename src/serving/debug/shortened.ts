const maxLength = 1_024;

/** Returns a text of foreign origin, cut to a length that suits a page. */
export function shortened(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
