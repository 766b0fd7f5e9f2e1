import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatDuration } from './format-duration.ts';
import { parseDuration } from './parse-duration.ts';

it.each([
  [0, '0s'],
  [500, '0.5s'],
  [15_000, '15s'],
  [90_000, '1m30s'],
  [3_600_000, '1h'],
  [3_661_250, '1h1m1.25s'],
  [0.0001, '0.0000001s'],
])('formats %i ms as %s, which parses to the same value', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
  expect(parseDuration(text)).toBe(milliseconds);
});

it('round-trips every duration that it parses', () => {
  const part = fc.tuple(
    fc.double({ min: 0, max: 1e6, noNaN: true }),
    fc.constantFrom('ns', 'us', 'µs', 'ms', 's', 'm', 'h'),
  );
  const texts = fc
    .array(part, { minLength: 1, maxLength: 3 })
    .map((parts) => parts.map(([n, unit]) => `${n.toFixed(3)}${unit}`));
  fc.assert(
    fc.property(texts, (parts) => {
      const written = formatDuration(parseDuration(parts.join(''))!);
      expect(formatDuration(parseDuration(written)!)).toBe(written);
    }),
  );
});

it.each(['', 's', '5', '1d', '-1s', '1 s', '1e3s', '20S', '1.5', '++1s', '9223372036.854775808s', '2562048h'])(
  'rejects %j',
  (text) => expect(parseDuration(text)).toBeUndefined(),
);

it.each(['1us', '1µs', '1μs', '+1us', '.001ms', '0.001ms', '1000ns'])('parses %s as a microsecond', (text) => {
  expect(parseDuration(text)).toBe(0.001);
});
