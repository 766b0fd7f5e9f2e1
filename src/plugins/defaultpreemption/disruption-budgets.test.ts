import { describe, expect, it } from 'vitest';
import { projectListed } from '../../api/listed-object.ts';
import { ListedObjects } from '../../cluster/listed-objects.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import { DisruptionBudgets } from './disruption-budgets.ts';

const listed = (): { readonly objects: ListedObjects; readonly budgets: DisruptionBudgets } => {
  const objects = new ListedObjects();
  return { objects, budgets: new DisruptionBudgets(objects) };
};

function budget(name: string, disruptionsAllowed: number, app: string, disruptedPods: readonly string[] = []) {
  const metadata = { name, namespace: 'default', uid: name, resourceVersion: '1' };
  const status = {
    disruptionsAllowed,
    disruptedPods: Object.fromEntries(disruptedPods.map((pod) => [pod, '2026-01-01T00:00:00Z'])),
  };
  return projectListed('PodDisruptionBudget', { metadata, spec: { selector: { matchLabels: { app } } }, status });
}

describe('the disruption budgets of a pod', () => {
  const build = new Builders();
  const pod = build.projectedPod({ name: 'a', labels: { app: 'web' } });
  const equal = build.projectedPod({ name: 'b', labels: { app: 'web' } });

  it('are those that match it and do not count its eviction yet', () => {
    const { objects, budgets } = listed();
    for (const each of [budget('x', 1, 'web', ['a']), budget('y', 2, 'web'), budget('z', 3, 'other')])
      objects.set(each);
    expect(budgets.of(pod)).toEqual([{ budget: 'default/y', allowed: 2 }]);
    expect(budgets.of(equal)).toEqual([
      { budget: 'default/x', allowed: 1 },
      { budget: 'default/y', allowed: 2 },
    ]);
  });

  it('are what the API shows now', () => {
    const { objects, budgets } = listed();
    objects.set(budget('x', 1, 'web'));
    expect(budgets.of(pod)).toEqual([{ budget: 'default/x', allowed: 1 }]);
    objects.set(budget('x', 0, 'web'));
    expect(budgets.of(pod)).toEqual([{ budget: 'default/x', allowed: 0 }]);
  });

  it('are at most eight, those that allow the least', () => {
    const { objects, budgets } = listed();
    for (let i = 0; i < 100; i++) objects.set(budget(`b-${i}`, 100 - i, 'web'));
    expect(budgets.of(pod).map(({ allowed }) => allowed)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});
