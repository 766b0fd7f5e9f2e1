import { expect, it } from 'vitest';
import { embeddedRequest } from './embedded-requests.ts';
import { embeddedTarget } from './embedded-target.ts';

it('the embedded plane withstands some thousand hostile requests', async () => {
  const { failures, lines } = await embeddedTarget.run({ requests: 2_500, seed: 1, print: () => undefined });
  expect(failures).toEqual([]);
  const outcomes = lines.join('\n');
  // Some requests succeed.
  for (const row of [
    /^create .*201: \d\d/m,
    /^patch merge .*200: \d/m,
    /^watch .*200: \d\d/m,
    /^delete .*200: \d/m,
    /^raw .*400: \d\d/m,
  ]) {
    expect(outcomes).toMatch(row);
  }
});

it('the same seed gives the same requests, and another seed gives others', () => {
  for (const number of [0, 1, 2, 3, 500]) {
    expect(embeddedRequest(7, number)).toEqual(embeddedRequest(7, number));
  }
  const kindsOf = (seed: number): string[] =>
    Array.from({ length: 50 }, (_, number) => embeddedRequest(seed, number).kind);
  expect(kindsOf(7)).not.toEqual(kindsOf(8));
});
