import { expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import type { MadePlugins } from './make-plugins.ts';
import { PodSigner } from './pod-signer.ts';
import { failureOf } from './plugin-failure.ts';
import type { Plugin } from './plugin.ts';

const build = new Builders();

/** A plugin whose signature of a pod is padded to as many characters as the pod's priority. */
const plugin: Plugin = {
  name: 'Long',
  sign: ({ name, priority }) => name.padEnd(priority, '.'),
  filter: () => undefined,
};
const at = { filter: [plugin], score: [], preFilter: [], postFilter: [] } as unknown as MadePlugins['at'];

it('returns the same object for pods with equal fragments until it reaches a limit', () => {
  const signer = new PodSigner([plugin], at, { failure: failureOf });
  const signed = (name: string, characters: number): unknown =>
    signer.sign(build.projectedPod({ name, priority: characters }));
  const first = signed('a', 10);
  for (let i = 0; i < 100; i++) signed(`short-${i}`, 20);
  expect(signed('a', 10)).toBe(first);
  for (let i = 0; i < 100; i++) signed(`long-${i}`, 50_000);
  expect(signed('a', 10)).not.toBe(first);
  expect(signed('a', 10)).toBe(signed('a', 10));
});

it('returns the same signatures exactly for pods that every plugin signs equally, in any order', () => {
  const plugins = ['color', 'shape', 'size'].map((label): Plugin => ({
    name: label,
    sign: ({ labels }) => labels[label] ?? '',
    filter: () => undefined,
  }));
  const signer = new PodSigner(plugins, { ...at, filter: plugins }, { failure: failureOf });
  /** labels as JSON -> signatures */
  const known = new Map<string, unknown>();
  for (let i = 0; i < 300; i++) {
    const [color, shape, size] = [i % 2, (i * 7) % 3, (i * i) % 5].map(String);
    const labels = { color: color!, shape: shape!, size: size! };
    const signed = signer.sign(build.projectedPod({ labels }));
    const text = JSON.stringify(labels);
    if (known.has(text)) expect(signed).toBe(known.get(text));
    known.set(text, signed);
    expect(signed.fragments).toEqual([color, shape, size]);
  }
  expect(new Set(known.values()).size).toBe(known.size);
});
