import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../base/testing/collect-garbage.ts';
import { toResourceList } from './resource-list.ts';
import type { ResourceList } from './resource-list.ts';
import { commonResources, cpuId, memoryId, podsId, ResourceNames } from './resource-names.ts';

function listOf(names: ResourceNames, ...resources: readonly string[]): ResourceList {
  return toResourceList(new Map(resources.map((name, i) => [name, i + 1])), names);
}

/** Takes the places of common names. */
function filled(): ResourceNames {
  const names = new ResourceNames();
  for (let i = names.size; i < commonResources; i++) names.idOf(`example.com/common-${i}`);
  return names;
}

describe('names of resources', () => {
  it('the standard ones have the ids that everybody knows', () => {
    const names = new ResourceNames();
    expect(['cpu', 'memory', 'pods'].map((name) => names.idOf(name))).toEqual([cpuId, memoryId, podsId]);
  });

  it('a list has the ids ascending, each with its own amount, and leaves zeros out', () => {
    const names = filled();
    const sum = new Map([
      ['example.com/b', 2],
      ['memory', 3],
      ['example.com/none', 0],
      ['cpu', 1],
      ['example.com/a', 4],
    ]);
    const { ids, amounts } = toResourceList(sum, names);
    expect(ids.map((id) => names.nameOf(id))).toEqual(['cpu', 'memory', 'example.com/b', 'example.com/a']);
    expect(amounts).toEqual([1, 3, 2, 4]);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  });

  it('a rare one is known for as long as a list has it, and no longer', async () => {
    const names = filled();
    const kept = listOf(names, 'cpu', 'example.com/shared');
    const [shared, madeUp] = listOf(names, 'example.com/shared', 'example.com/made-up').ids;
    expect(names.size).toBe(commonResources + 2);
    await collectGarbage(() => names.size === commonResources + 1);
    expect(names.nameOf(kept.ids[1]!)).toBe('example.com/shared');
    expect(kept.ids[1]).toBe(shared);
    expect(() => names.nameOf(madeUp!)).toThrow(`no resource has the id ${madeUp}`);
    // An answer about the old one must never be taken for one about the new.
    expect(listOf(names, 'example.com/another').ids[0]).toBeGreaterThan(madeUp!);
  });

  it('those of a configuration stay, whoever else had them', async () => {
    const names = filled();
    const id = listOf(names, 'example.com/gpu').ids[0]!;
    expect(names.idOf('example.com/gpu')).toBe(id);
    listOf(names, 'example.com/made-up');
    await collectGarbage(() => names.size === commonResources + 1);
    expect(names.nameOf(id)).toBe('example.com/gpu');
  });
});
