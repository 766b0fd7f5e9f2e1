import { expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import type { MadePlugins } from './make-plugins.ts';
import { PodSigner } from './pod-signer.ts';
import type { Plugin } from './plugin.ts';

const build = new Builders();

/** Signs a pod with so many characters as its priority says. */
const plugin: Plugin = {
  name: 'Long',
  sign: ({ name, priority }) => name.padEnd(priority, '.'),
  filter: () => undefined,
};
const at = { filter: [plugin], score: [], preFilter: [] } as unknown as MadePlugins['at'];

it('pods that are alike have the very same signatures, until too much would be kept', () => {
  const signer = new PodSigner([plugin], at);
  const signed = (name: string, characters: number): unknown =>
    signer.sign(build.projectedPod({ name, priority: characters }));
  const first = signed('a', 10);
  for (let i = 0; i < 100; i++) signed(`short-${i}`, 20);
  expect(signed('a', 10)).toBe(first);
  for (let i = 0; i < 100; i++) signed(`long-${i}`, 50_000);
  expect(signed('a', 10)).not.toBe(first);
  expect(signed('a', 10)).toBe(signed('a', 10));
});
