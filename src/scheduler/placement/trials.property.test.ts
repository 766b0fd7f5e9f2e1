import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Candidate } from '../../framework/candidate.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Picture } from '../testing/picture.ts';

const nodeNames = ['a', 'b', 'c'];
const groupNames = ['red', 'blue'];

const somePod = fc.record({
  group: fc.option(fc.constantFrom(...groupNames), { freq: 4 }),
  nodeName: fc.option(fc.constantFrom(...nodeNames, 'unknown'), { freq: 2 }),
  nominatedNodeName: fc.option(fc.constantFrom(...nodeNames), { freq: 1 }),
  cpu: fc.integer({ min: 1, max: 2 }),
  priority: fc.integer({ min: 0, max: 2 }),
  port: fc.option(fc.constantFrom(80, 81), { freq: 1 }),
  deleting: fc.constantFrom(false, false, false, true),
  gated: fc.constantFrom(false, false, false, true),
  assumed: fc.boolean(),
});

const someTrial = fc.record({
  group: fc.option(fc.constantFrom(...groupNames), { freq: 3 }),
  without: fc.option(fc.array(fc.nat(19), { maxLength: 8 })),
  within: fc.option(fc.subarray([...nodeNames, 'gone'])),
  need: fc.option(fc.nat(4)),
});

/** All that can be read of the picture, orders and generations included. Four resources are all that there are. */
function everything({ cluster, waitingPods, core }: Picture): unknown {
  return {
    nodes: cluster.nodes.map((node) => ({
      name: node.name,
      index: node.index,
      generation: node.generation,
      free: [0, 1, 2, 3].map((id) => node.free(id)),
      nonZero: [node.nonZeroMilliCpu, node.nonZeroMemory],
      pods: [...node.pods],
      ports: [...node.hostPorts],
      claims: [...node.claims],
    })),
    pods: [...cluster.pods()].map((pod) => [pod, cluster.nodeOf(pod)?.name, cluster.isAssumed(pod.uid)]),
    gangs: [...cluster.gangs()].map((gang) => ({
      key: gang.key,
      states: [...gang.members.keys()].map((uid) => [uid, gang.stateOf(uid)]),
      pending: [...gang.pending.keys()],
      names: [...gang.pendingBySchedulerName],
      quorum: [gang.started, gang.counted, gang.missing, gang.incomplete],
    })),
    counts: [cluster.podCount, cluster.assumedCount, cluster.nodesRevision, waitingPods.size],
    queue: [...core.queue.entities()].map(({ key, state }) => [key, state.kind]),
  };
}

describe('a trial of any kind', () => {
  it('leaves the picture as it was to the last bit, and says the same when it is repeated', () => {
    fc.assert(
      fc.property(
        fc.array(somePod, { minLength: 3, maxLength: 20, size: 'max' }),
        fc.array(someTrial, { minLength: 1, maxLength: 5 }),
        fc.constantFrom('', 'p1', 'p4'),
        (pods, trials, refused) => {
          const picture = new Picture({
            plugins: defaultPlugins,
            extra: [
              {
                name: 'Picky',
                reserve: (_state, { name }) => (name === refused ? new Status('Unschedulable', 'no') : undefined),
              },
            ],
          });
          for (const name of nodeNames) picture.node({ name, cpu: 4 });
          for (const name of groupNames) picture.group({ name, minMember: 2 });
          const all = pods.map(({ group, nodeName, nominatedNodeName, port, gated, assumed: _, ...rest }, i) =>
            picture.pod({
              name: `p${i}`,
              ...rest,
              ...(group !== null && { group }),
              ...(nodeName !== null && { nodeName }),
              ...(nominatedNodeName !== null && { nominatedNodeName }),
              ...(port !== null && { hostPorts: [port] }),
              ...(gated && { gates: ['wait'] }),
            }),
          );
          const committed = picture.cluster.begin();
          all.forEach(({ uid }, i) => {
            const open = picture.cluster.openPod(uid);
            if (open !== undefined && pods[i]!.assumed) committed.assume(open, picture.cluster.nodes[i % 3]!);
          });
          committed.commit();
          picture.core.begin();
          const before = everything(picture);
          for (const { group, without, within, need } of trials) {
            const candidate: Candidate =
              group === null
                ? { kind: 'pod', pod: all[0]! }
                : { kind: 'gang', gang: picture.cluster.gang(`default/${group}`)! };
            const options = {
              ...(without !== null && { without: without.flatMap((i) => all[i] ?? []) }),
              ...(within !== null && { within: new Set(within) }),
              ...(need !== null && { need }),
            };
            const { fits, plan } = picture.core.trial(candidate, options);
            expect(everything(picture)).toEqual(before);
            expect(picture.core.trial(candidate, options).fits).toBe(fits);
            if (within !== null) for (const { nodeName } of plan) expect(within).toContain(nodeName);
            if (fits && need !== null) expect(plan).toHaveLength(need);
          }
          expect(everything(picture)).toEqual(before);
        },
      ),
      { numRuns: 200 },
    );
  });
});
