import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../base/testing/collect-garbage.ts';
import { toResourceList } from './resource-list.ts';
import type { ResourceList } from './resource-list.ts';
import { commonResources, cpuId, memoryId, podsId, ResourceNames } from './resource-names.ts';

function listOf(names: ResourceNames, ...resources: readonly string[]): ResourceList {
  return toResourceList(new Map(resources.map((name, i) => [name, i + 1])), names);
}

/** Fills the ids of common names. */
function filled(): ResourceNames {
  const names = new ResourceNames();
  for (let i = names.size; i < commonResources; i++) names.idOf(`example.com/common-${i}`);
  return names;
}

describe('ResourceNames', () => {
  it('gives the standard names their fixed ids', () => {
    const names = new ResourceNames();
    expect(['cpu', 'memory', 'pods'].map((name) => names.idOf(name))).toEqual([cpuId, memoryId, podsId]);
  });

  it('lists ids in ascending order with their amounts, without zeros', () => {
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

  it('remembers a rare name only while a list has it', async () => {
    const names = filled();
    const kept = listOf(names, 'cpu', 'example.com/shared');
    const [shared, madeUp] = listOf(names, 'example.com/shared', 'example.com/made-up').ids;
    expect(names.size).toBe(commonResources + 2);
    await collectGarbage(() => names.size === commonResources + 1);
    expect(names.nameOf(kept.ids[1]!)).toBe('example.com/shared');
    expect(kept.ids[1]).toBe(shared);
    expect(() => names.nameOf(madeUp!)).toThrow(`no resource has the id ${madeUp}`);
    // Cached results for the old id must never apply to a new name.
    expect(listOf(names, 'example.com/another').ids[0]).toBeGreaterThan(madeUp!);
  });

  it('never forgets names in a configuration', async () => {
    const names = filled();
    const id = listOf(names, 'example.com/gpu').ids[0]!;
    expect(names.idOf('example.com/gpu')).toBe(id);
    listOf(names, 'example.com/made-up');
    await collectGarbage(() => names.size === commonResources + 1);
    expect(names.nameOf(id)).toBe('example.com/gpu');
  });
});
