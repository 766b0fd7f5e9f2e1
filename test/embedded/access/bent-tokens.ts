import { Buffer } from 'node:buffer';
import fc from 'fast-check';

/** One way to spoil a token, the same for tokens of any length. */
export type Bend =
  | { readonly do: 'drop' | 'double' | 'empty' | 'swap'; readonly part: number }
  /** `at`: how far into the part, from 0 to 1. */
  | { readonly do: 'change' | 'insert'; readonly part: number; readonly at: number; readonly character: string }
  | { readonly do: 'forge'; readonly algorithm: string }
  | { readonly do: 'claim'; readonly claims: Readonly<Record<string, unknown>> };

const part = fc.integer({ min: 0, max: 2 });

export const bends: fc.Arbitrary<Bend> = fc.oneof(
  fc.record({ do: fc.constantFrom('drop' as const, 'double' as const, 'empty' as const, 'swap' as const), part }),
  fc.record({
    do: fc.constantFrom('change' as const, 'insert' as const),
    part,
    // Not the last character, of which not all bits count; and no space, before which kube-apiserver sees no token at all.
    at: fc.double({ min: 0, max: 0.9, noNaN: true }),
    character: fc.constantFrom('A', 'z', '-', '$', '=', '%', '.'),
  }),
  fc.record({ do: fc.constant('forge' as const), algorithm: fc.constantFrom('none', 'None', 'HS256', '') }),
  fc.record({
    do: fc.constant('claim' as const),
    claims: fc.constantFrom({ sub: 'system:serviceaccount:default:other' }, { exp: 9_999_999_999 }, { aud: [] }),
  }),
);

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (text: string): object => JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as object;

/** The token, spoilt; `other` is another that is good. */
export function bent(bend: Bend, token: string, other: string): string {
  const parts = token.split('.');
  switch (bend.do) {
    case 'drop':
      return parts.filter((_, index) => index !== bend.part).join('.');
    case 'double':
      return parts.flatMap((each, index) => (index === bend.part ? [each, each] : [each])).join('.');
    case 'empty':
      return parts.with(bend.part, '').join('.');
    case 'swap':
      return parts.with(bend.part, other.split('.')[bend.part]!).join('.');
    case 'change':
    case 'insert': {
      const text = parts[bend.part]!;
      const at = Math.floor(bend.at * text.length);
      const character = text[at] === bend.character ? 'B' : bend.character;
      const rest = text.slice(bend.do === 'change' ? at + 1 : at);
      return parts.with(bend.part, `${text.slice(0, at)}${character}${rest}`).join('.');
    }
    case 'forge':
      return [encode({ ...decode(parts[0]!), alg: bend.algorithm }), parts[1]!, ''].join('.');
    case 'claim':
      return parts.with(1, encode({ ...decode(parts[1]!), ...bend.claims })).join('.');
  }
}
