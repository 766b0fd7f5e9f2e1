import { expectBound } from '../expect/expect-bound.ts';
import { expectPhase } from '../expect/expect-phase.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { atOnce } from './at-once.ts';
import { onStage } from './on-stage.ts';
import { report } from './report.ts';
import { hangsMs } from '../planes/patience.ts';

const nodeCount = 1_000;
const podCount = 5_000;
const gangCount = 100;
const gangSize = 10;

/**
 * 1,000 nodes and 5,000 pods that fill them completely: 100 gangs of ten, with members interleaved across gangs, and single pods between
 * them. The scheduler runs while they are created.
 */
export function fullCluster(plane: RealPlane): Promise<void> {
  return onStage(
    plane,
    async ({ stage, tutti, addNodes }) => {
      const { record, namespace } = stage;
      const cpu = String(podCount / nodeCount);
      const names = Array.from({ length: nodeCount }, (_, index) => `node-${index}`);
      await addNodes(...names.map((name) => ({ name, allocatable: { cpu } })));
      await Promise.all([tutti.startScheduler(), tutti.startController()]);
      const groups = Array.from({ length: gangCount }, (_, index) => `gang-${index}`);
      await atOnce(groups, (group) => stage.createGroup(group, { minMember: gangSize }));

      const startedAt = performance.now();
      const pods = Array.from({ length: podCount }, (_, index) => podOf(index));
      await atOnce(pods, ({ name, group }) => stage.createPod(name, { cpu: 1, ...(group !== undefined && { group }) }));
      const createdMs = performance.now() - startedAt;
      await expectBound(
        record,
        pods.map(({ name }) => `${namespace}/${name}`),
        5 * hangsMs,
      );
      const boundMs = performance.now() - startedAt;
      for (const group of groups) {
        await expectPhase(record, `${namespace}/${group}`, 'Scheduling', { scheduled: gangSize });
      }
      const toldMs = performance.now() - startedAt;
      report(
        `${podCount} pods on ${nodeCount} nodes: created in ${seconds(createdMs)}, all bound after ${seconds(boundMs)}, ` +
          `status of all ${gangCount} groups after ${seconds(toldMs)}`,
      );
    },
    { isLast: true },
  );
}

/** Every fifth pod is a member; two members of one gang are 500 pods apart. */
function podOf(index: number): { readonly name: string; readonly group?: string } {
  const every = podCount / (gangCount * gangSize);
  if (index % every !== 0) return { name: `lone-${index}` };
  return { name: `member-${index}`, group: `gang-${(index / every) % gangCount}` };
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
