import { describe, expect, it } from 'vitest';
import { Cluster } from '../../cluster/cluster.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import { createImageLocality } from './image-locality.ts';

const build = new Builders();
const state = new CycleState();
const megabyte = 1024 * 1024;

/** Returns the plugin on a cluster of these nodes, each with its images. */
function clusterOf(nodes: Readonly<Record<string, Readonly<Record<string, number>>>>): {
  readonly cluster: Cluster;
  readonly plugin: Plugin;
  readonly score: (pod: PodOptions, node: string) => number;
} {
  const cluster = new Cluster(build.resources);
  for (const [name, images] of Object.entries(nodes)) cluster.setNode(build.projectedNode({ name, images }));
  const plugin = createImageLocality(undefined, pluginHandle(build, { cluster }));
  const score = (pod: PodOptions, node: string): number =>
    plugin.score!(state, build.projectedPod(pod), cluster.node(node)!);
  return { cluster, plugin, score };
}

const running = (...images: readonly string[]): PodOptions => ({
  spec: { containers: images.map((image) => ({ name: image, image })) },
});

describe('ImageLocality', () => {
  it('scores the bytes of present images, between 23 MiB and 1000 MiB per container', () => {
    const { score } = clusterOf({
      a: { 'app:1': 500 * megabyte, 'large:1': 5000 * megabyte, 'small:1': 22 * megabyte },
    });
    expect(score(running('app:1'), 'a')).toBe(48); // (500 - 23) of (1000 - 23)
    expect(score(running('app:1', 'absent:1'), 'a')).toBe(24); // of (2000 - 23)
    expect(score(running('large:1'), 'a')).toBe(100);
    expect(score(running('small:1'), 'a')).toBe(0);
  });

  it('counts an image less the fewer nodes have it', () => {
    const { score } = clusterOf({ a: { 'app:1': 1000 * megabyte }, b: {}, c: {}, d: {} });
    expect(score(running('app:1'), 'a')).toBe(23); // 250 MiB
    expect(score(running('app:1'), 'b')).toBe(0);
  });

  it('counts init containers and image volumes too', () => {
    const { score } = clusterOf({ a: { 'app:1': 500 * megabyte, 'data:1': 500 * megabyte } });
    const volumes = [{ name: 'data', image: { reference: 'data:1' } }, { name: 'scratch' }];
    expect(score({ spec: { ...running('app:1').spec, volumes } }, 'a')).toBe(49);
    expect(score({ spec: { ...running('absent:1').spec, initContainers: [{ image: 'app:1' }] } }, 'a')).toBe(24);
  });

  it('treats a name without a tag as the tag latest, also with a registry port', () => {
    const { score } = clusterOf({
      a: { 'app:latest': 1000 * megabyte, 'registry.example:5000/app:latest': 1000 * megabyte },
    });
    expect(score(running('app'), 'a')).toBe(100);
    expect(score(running('registry.example:5000/app'), 'a')).toBe(100);
    expect(score(running('registry.example/app'), 'a')).toBe(0);
  });

  it('skips a pod whose images no node has', () => {
    const { plugin, cluster } = clusterOf({ a: { 'app:1': 1 } });
    expect(plugin.preScore!(state, build.projectedPod(running('other:1')), () => [])).toMatchObject({ code: 'Skip' });
    expect(plugin.preScore!(state, build.projectedPod(running('app:1')), () => [])).toBeUndefined();
    cluster.removeNode('a');
    expect(plugin.preScore!(state, build.projectedPod(running('app:1')), () => [])).toMatchObject({ code: 'Skip' });
  });

  it('signs only the state of the pod’s own images', () => {
    const { plugin, cluster } = clusterOf({ a: { 'app:1': 500 * megabyte }, b: {} });
    const signed = (): string => plugin.signCluster!(build.projectedPod(running('app:1')));
    const before = signed();
    cluster.setNode(build.projectedNode({ name: 'b', images: { 'other:1': 500 * megabyte } }));
    expect(signed()).toBe(before);
    cluster.setNode(build.projectedNode({ name: 'b', images: { 'app:1': 500 * megabyte } }));
    expect(signed()).not.toBe(before);
    cluster.setNode(build.projectedNode({ name: 'b' }));
    expect(signed()).toBe(before);
    cluster.setNode(build.projectedNode({ name: 'c' }));
    expect(signed()).not.toBe(before); // a smaller share of the nodes has it
  });
});
