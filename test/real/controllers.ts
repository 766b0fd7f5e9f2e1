import { expectBound, nodeOf } from '../expect/expect-bound.ts';
import { expectPhase } from '../expect/expect-phase.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { onStage } from './on-stage.ts';
import { jobManifest, statefulSetManifest } from './workloads.ts';
import { hangsMs } from '../planes/patience.ts';

/**
 * A Job of four and a StatefulSet of three with capacity for six: the second starts when the first has finished. kube-controller-manager
 * creates their pods, and kwok runs them.
 */
export function jobAndStatefulSet(plane: RealPlane): Promise<void> {
  return onStage(plane, async ({ stage, tutti, addNodes, create }) => {
    const { record, namespace } = stage;
    await addNodes({ name: 'four', allocatable: { cpu: '4' } }, { name: 'two', allocatable: { cpu: '2' } });
    await Promise.all([tutti.startScheduler(), tutti.startController()]);
    const job = await stage.createGroup('job', { minMember: 4 });
    const set = await stage.createGroup('set', { minMember: 3 });
    await create(
      `/apis/batch/v1/namespaces/${namespace}/jobs`,
      jobManifest('job', { namespace, group: 'job', pods: 4, cpu: '1', runs: '4s' }),
    );
    await expectPhase(record, job, 'Running', { running: 4, scheduled: 4 });
    await create(
      `/apis/apps/v1/namespaces/${namespace}/statefulsets`,
      statefulSetManifest('set', { namespace, group: 'set', pods: 3, cpu: '1' }),
    );
    const replicas = [0, 1, 2].map((index) => `${namespace}/set-${index}`);
    await expectVerdict(record, replicas, { reason: 'Unschedulable', says: ['Insufficient cpu'] });
    await expectPhase(record, set, 'Scheduling', { scheduled: 0, members: 3 });
    await expectPhase(record, job, 'Finished', { succeeded: 4, running: 0 });
    await expectBound(record, replicas);
    await expectPhase(record, set, 'Running', { running: 3, ready: 3 });

    // A replica that is lost later is replaced individually.
    const lost = record.pods.current.get(replicas[1]!)!.metadata.uid;
    await stage.deletePod(replicas[1]!);
    await record.until('the lost replica is replaced', hangsMs, () => {
      const uid = record.pods.current.get(replicas[1]!)?.metadata.uid;
      return uid !== undefined && uid !== lost && nodeOf(record, replicas[1]!) !== undefined ? undefined : 'not yet';
    });
    await expectPhase(record, set, 'Running', { running: 3, ready: 3 });
  });
}
