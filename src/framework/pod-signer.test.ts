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

it('pods are alike where each plugin signs them alike, whatever came before and between', () => {
  const plugins = ['colour', 'shape', 'size'].map((label): Plugin => ({
    name: label,
    sign: ({ labels }) => labels[label] ?? '',
    filter: () => undefined,
  }));
  const signer = new PodSigner(plugins, { filter: plugins, score: [], preFilter: [] } as unknown as MadePlugins['at']);
  /** what its labels say -> what was signed */
  const known = new Map<string, unknown>();
  for (let i = 0; i < 300; i++) {
    const [colour, shape, size] = [i % 2, (i * 7) % 3, (i * i) % 5].map(String);
    const labels = { colour: colour!, shape: shape!, size: size! };
    const signed = signer.sign(build.projectedPod({ labels }));
    const text = JSON.stringify(labels);
    if (known.has(text)) expect(signed).toBe(known.get(text));
    known.set(text, signed);
    expect(signed.fragments).toEqual([colour, shape, size]);
  }
  expect(new Set(known.values()).size).toBe(known.size);
});
