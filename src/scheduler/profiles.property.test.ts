import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PodOptions } from '../testkit/builders/pod.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import { Queueing } from '../testkit/queueing.ts';

const groups = ['red', 'blue'];
const change = fc.record({
  pod: fc.nat(5),
  kind: fc.constantFrom('show', 'show', 'show', 'remove', 'group', 'ungroup', 'assume', 'attempt'),
  group: fc.constantFrom(undefined, ...groups),
  schedulerName: fc.constantFrom('gangs', 'gangs', 'plain', 'foreign'),
  nodeName: fc.constantFrom('', '', '', 'a'),
  gates: fc.constantFrom<string[]>([], [], ['shut']),
  deleting: fc.constantFrom(false, false, false, true),
  phase: fc.constantFrom('Pending' as const, 'Pending' as const, 'Succeeded' as const),
  minMember: fc.integer({ min: 1, max: 3 }),
});

/** The expected entities, derived only from the cluster cache. */
function expected({ harness: { cluster } }: Queueing): string[] {
  const keys = new Set<string>();
  for (const pod of cluster.pods()) {
    if (cluster.openPod(pod.uid) === undefined || pod.schedulerName === 'foreign') continue;
    const gang = pod.podGroupKey === undefined ? undefined : cluster.gang(pod.podGroupKey);
    const isSingle = gang === undefined || pod.schedulerName === 'plain';
    const hasQuorum = gang?.spec !== undefined && gang.missing === 0;
    if (isSingle || (hasQuorum && gang.started)) keys.add(`pod/${pod.uid}`);
    // While the quorum is planned but not bound, no other member is queued.
    else if (!hasQuorum) keys.add(`gang/${gang.key}`);
  }
  return [...keys].sort();
}

describe('profiles with and without Coscheduling', () => {
  it('have exactly the expected entities in the queue after every change', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 30 }), (changes) => {
        const core = new Queueing({
          plugins: defaultPlugins,
          profiles: { gangs: () => true, plain: ({ name }) => name !== 'Coscheduling' },
        });
        core.node({ name: 'a', cpu: 3 });
        const known = new Set<string>();
        const shown = new Set<string>();
        for (const { pod, kind, group, minMember, gates, ...rest } of changes) {
          const name = `p${pod}`;
          const open = core.harness.cluster.openPod(name);
          if (kind === 'show') {
            const isWaiting = rest.phase === 'Pending' && !rest.deleting && rest.nodeName === '';
            const options: PodOptions = {
              name,
              cpu: 1,
              ...rest,
              ...(isWaiting && { gates }),
              ...(group !== undefined && { group }),
            };
            core.pod(options);
            known.add(name);
          } else if (kind === 'remove' && known.delete(name)) {
            core.removePod(name);
          } else if (kind === 'group') {
            core.group({ name: group ?? 'red', minMember });
            shown.add(group ?? 'red');
          } else if (kind === 'ungroup' && shown.delete(group ?? 'red')) {
            core.removeGroup(`default/${group ?? 'red'}`);
          } else if (kind === 'assume' && open?.schedulerName === 'foreign') {
            core.assume('a', name);
            core.show({ ...open, nodeName: 'a' });
          } else if (kind === 'attempt') {
            core.harness.core.attempt();
          }
          const queued = Object.keys(core.states()).sort();
          expect(queued).toEqual(expected(core));
          for (const entity of core.queue.entities()) {
            const profile = core.harness.core.profiles.of(entity.schedulingEntity);
            if (entity.schedulingEntity.kind === 'pod')
              expect(profile.schedulerName).toBe(entity.schedulingEntity.pod.schedulerName);
            else expect(profile.schedulerName).toBe('gangs');
          }
        }
        void core.harness.core.stop();
      }),
      { numRuns: 300 },
    );
  });
});
