import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { extensionPoints, implementsPoint } from '../framework/extension-point.ts';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import { defaultPlugins, pluginRegistry } from './registry.ts';

const handle = pluginHandle(new Builders());

describe('the default plugins', () => {
  it('are registered under their names', () => {
    for (const { name, factory } of defaultPlugins) {
      expect(factory(undefined, handle).name).toBe(name);
      expect(pluginRegistry.get(name)).toBe(factory);
    }
    expect(pluginRegistry.size).toBe(defaultPlugins.length);
  });

  it('implement the points that the registry lists', () => {
    for (const { name, factory, points } of defaultPlugins) {
      const plugin = factory(undefined, handle);
      expect(points, name).toEqual(extensionPoints.filter((point) => implementsPoint(plugin, point)));
    }
  });

  it("have kube-scheduler's order", () => {
    const upstream = [
      'SchedulingGates',
      'PrioritySort',
      'NodeName',
      'NodeUnschedulable',
      'TaintToleration',
      'NodeAffinity',
      'NodePorts',
      'NodeResourcesFit',
      'VolumeRestrictions',
      'NodeVolumeLimits',
      'VolumeBinding',
      'VolumeZone',
      'PodTopologySpread',
      'InterPodAffinity',
      'DynamicResources',
      'DefaultPreemption',
      'NodeResourcesBalancedAllocation',
      'ImageLocality',
      'DefaultBinder',
      'NodeDeclaredFeatures',
    ];
    expect(defaultPlugins.map(({ name }) => name)).toEqual([...upstream, 'Coscheduling']);
  });

  it("score with kube-scheduler's weights", () => {
    const weights = defaultPlugins
      .filter(({ weight }) => weight !== undefined)
      .map(({ name, weight }) => [name, weight]);
    expect(weights).toEqual([
      ['TaintToleration', 3],
      ['NodeAffinity', 2],
      ['NodeResourcesFit', 1],
      ['VolumeBinding', 1],
      ['PodTopologySpread', 2],
      ['InterPodAffinity', 2],
      ['NodeResourcesBalancedAllocation', 1],
      ['ImageLocality', 1],
    ]);
  });

  it('sign pods if they filter or score, so that results can be reused', () => {
    for (const { factory } of defaultPlugins) {
      const plugin = factory(undefined, handle);
      if (plugin.filter === undefined && plugin.score === undefined) continue;
      expect(plugin.sign?.(new Builders().projectedPod()), plugin.name).toBeTypeOf('string');
    }
  });

  it('reject unknown arguments by name', () => {
    for (const { name, factory } of defaultPlugins) {
      expect(() => factory({ typo: 1 }, handle), name).toThrow(new RegExp(`${name}.*typo`));
    }
  });

  it('read their arguments by the listed schema', () => {
    for (const { name, factory, arguments: its } of defaultPlugins) {
      expect(() => its.read({ typo: 1 }), name).toThrow(new RegExp(`${name}.*typo`));
      const read = its.read(undefined);
      expect(its.read(read)).toEqual(read);
      expect(() => factory(read, handle), name).not.toThrow();
    }
  });
});
