/** Returns a hash from 0 to 2³² - 1 of the text (FNV-1a, 32 bits, over UTF-16 code units). Not for secrets. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
