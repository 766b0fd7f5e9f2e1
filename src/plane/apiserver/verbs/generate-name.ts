import type { Random } from '../../../base/random.ts';

/** Without vowels, so that no words appear, and without characters that look alike. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const maxPrefixLength = 63 - suffixLength;

/** Returns a name with a `generateName` prefix and a random suffix. */
export function generateName(prefix: string, random: Random): string {
  let name = prefix.slice(0, maxPrefixLength);
  for (let index = 0; index < suffixLength; index++) name += alphabet[Math.floor(random() * alphabet.length)]!;
  return name;
}

/** Returns a version 4 UUID from the given source of randomness. */
export function generateUid(random: Random): string {
  let uid = '';
  for (const character of 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx') {
    const digit = Math.floor(random() * 16);
    if (character === 'x') uid += digit.toString(16);
    else if (character === 'y') uid += ((digit & 0x3) | 0x8).toString(16);
    else uid += character;
  }
  return uid;
}
