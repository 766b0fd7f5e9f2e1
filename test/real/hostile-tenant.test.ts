import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../../src/api/pod.ts';
import { ForbiddenError } from '../../src/client/api-errors.ts';
import { expectBound, expectCountBound } from '../expect/expect-bound.ts';
import { expectGroupCondition } from '../expect/expect-phase.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { scenario } from '../scenarios/scenario.ts';
import type { Stage } from '../scenarios/stage.ts';
import { TenantOnStage } from './tenant-on-stage.ts';

const programs = await provideForSuite('a hostile tenant', ['etcd', 'kube-apiserver']);

/** The longest grace that the API accepts. */
const endless = 2_147_483_647;
const nodeCount = 8;
/** How long others may wait for capacity that no pod uses. The tenant's pods exist for less than that. */
const othersWithinMs = 20_000;

/** Attacks that guarantee I10 excludes: a user with rights in one namespace, and eight nodes of 16 cores. */
describe.skipIf(programs.state === 'missing')('A user with rights in one namespace only', () => {
  const plane = planeForSuite(programs);

  const onStage = (title: string, act: (stage: Stage, tenant: TenantOnStage) => Promise<void>): void => {
    it(title, () =>
      scenario(title, async (stage) => act(stage, await TenantOnStage.open(plane(), stage))).run(plane()),
    );
  };

  onStage('may not bind pods and may not write the status of a group', async (stage, tenant) => {
    const [node] = await stage.addNodes({ name: 'only', allocatable: { cpu: '16' } });
    const pod = await tenant.createPod('lone', { cpu: 1 });
    await expect(tenant.bind(pod, node!)).rejects.toThrow(ForbiddenError);
    await tenant.createGroup('red', { minMember: 1 });
    await expect(tenant.patchGroupStatus('red', { phase: 'Running' })).rejects.toThrow(ForbiddenError);
  });

  onStage('cannot keep a higher priority off capacity that no pod uses, nor others for long', async (stage, tenant) => {
    await bigNodes(stage);
    await stage.startController();
    await stage.startScheduler();
    await tenant.createGroup('red', { minMember: nodeCount + 4, repairGraceSeconds: endless });
    const big: string[] = [];
    for (let i = 0; i < nodeCount; i++) big.push(await tenant.createPod(`big-${i}`, { group: 'red', cpu: '15900m' }));
    const small: string[] = [];
    for (let i = 0; i < 4; i++) small.push(await tenant.createPod(`small-${i}`, { group: 'red', cpu: '1m' }));
    await expectBound(stage.record, [...big, ...small]);
    for (const key of big) await tenant.deletePod(key);
    const others = await stage.addNamespace();
    const important = await stage.createPods('important', nodeCount, { cpu: 7, priority: 'high' }, others);
    await expectBound(stage.record, important, othersWithinMs);
    const equal = await stage.createPods('equal', nodeCount, { cpu: 7 }, others);
    await expectBound(stage.record, equal, othersWithinMs);
    await expectGroupCondition(stage.record, `${tenant.namespace}/red`, {
      type: 'RepairGraceLimited',
      status: 'True',
      reason: 'AboveMaximum',
      says: 'at most 300',
    });
  });

  onStage('reserves nothing by deleting members that it placed itself', async (stage, tenant) => {
    const nodes = await bigNodes(stage);
    await stage.startScheduler();
    const { metadata } = await tenant.createGroup('red', { minMember: nodeCount + 1, repairGraceSeconds: endless });
    const annotations = {
      [planAnnotations.groupUid]: metadata.uid,
      [planAnnotations.quorum]: '1',
      [planAnnotations.plan]: 'plan',
    };
    await tenant.createPod('stays', { group: 'red', cpu: '1m', nodeName: nodes[0]!, annotations });
    const big: string[] = [];
    for (const [i, nodeName] of nodes.entries()) {
      big.push(await tenant.createPod(`big-${i}`, { group: 'red', cpu: '15900m', nodeName, annotations }));
    }
    // The scheduler has seen all of them when it has bound this one, which fits beside them.
    await expectBound(stage.record, [await stage.createPod('mark', { cpu: '1m' })]);
    for (const key of big) await tenant.deletePod(key);
    const others = await stage.createPods('other', 2 * nodeCount, { cpu: 7 }, await stage.addNamespace());
    await expectBound(stage.record, others, othersWithinMs);
  });

  onStage(
    'keeps what a lost member used, which the verdict of others says, but not from a higher priority',
    async (stage, tenant) => {
      await stage.addNodes({ name: 'only', allocatable: { cpu: '16' } });
      await stage.startScheduler();
      await tenant.createGroup('red', { minMember: 2 });
      const gone = await tenant.createPod('red-0', { group: 'red', cpu: 8 });
      await expectBound(stage.record, [gone, await tenant.createPod('red-1', { group: 'red', cpu: 8 })]);
      await tenant.deletePod(gone);
      const others = await stage.addNamespace();
      const equal = await stage.createPod('equal', { cpu: 8 }, others);
      const says = ['1 Insufficient cpu (capacity reserved for other pods)'];
      await expectVerdict(stage.record, [equal], { reason: 'Unschedulable', says });
      const important = await stage.createPod('important', { cpu: 8, priority: 'high' }, others);
      await expectBound(stage.record, [important]);
      await stage.deletePod(important);
      // The reservation has ended for good.
      await expectBound(stage.record, [equal]);
    },
  );

  for (const isForged of [false, true]) {
    onStage(
      `cannot jump ahead of a higher priority with a member that it placed itself${isForged ? ', even with forged annotations before a restart' : ''}`,
      async (stage, tenant) => {
        const [node] = await stage.addNodes({ name: 'only', allocatable: { cpu: '8500m' } });
        stage.partialForMs = 600_000;
        const { metadata } = await tenant.createGroup('red', { minMember: 9, repairPolicy: 'KeepTrying' });
        const annotations: Readonly<Record<string, string>> = isForged
          ? { [planAnnotations.groupUid]: metadata.uid, [planAnnotations.quorum]: '9' }
          : {};
        await tenant.createPod('placed', { group: 'red', cpu: '1m', nodeName: node!, annotations });
        const attackers: string[] = [];
        for (let i = 0; i < 8; i++) attackers.push(await tenant.createPod(`red-${i}`, { group: 'red', cpu: 1 }));
        const victims = await stage.createPods('victim', 8, { cpu: 1, priority: 'high' }, await stage.addNamespace());
        await stage.startScheduler();
        await expectBound(stage.record, victims);
        await expectCountBound(stage.record, attackers, 0);
        for (const key of victims) await stage.deletePod(key);
        await expectBound(stage.record, attackers);
      },
    );
  }
});

/** Adds the nodes and returns their names. */
function bigNodes(stage: Stage): Promise<string[]> {
  const specs = Array.from({ length: nodeCount }, (_, i) => ({ name: `big-${i}`, allocatable: { cpu: '16' } }));
  return stage.addNodes(...specs);
}
