import type { Random } from '../../../base/random.ts';

/** No vowels and nothing that looks like another character, so that no words appear. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestPrefix = 63 - suffixLength;

/** A name from a `generateName` prefix. */
export function generateName(prefix: string, random: Random): string {
  let name = prefix.slice(0, longestPrefix);
  for (let index = 0; index < suffixLength; index++) name += alphabet[Math.floor(random() * alphabet.length)]!;
  return name;
}

/** A version 4 UUID from the given source of randomness. */
export function generateUid(random: Random): string {
  let uid = '';
  for (const place of 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx') {
    const digit = Math.floor(random() * 16);
    if (place === 'x') uid += digit.toString(16);
    else if (place === 'y') uid += ((digit & 0x3) | 0x8).toString(16);
    else uid += place;
  }
  return uid;
}
