import { toKubernetesTime } from '../../src/api/kubernetes-time.ts';
import { expectBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectVerdict, expectWarning } from '../expect/expect-verdict.ts';
import { BackfillStage } from './backfill-stage.ts';
import { cpus } from './preemption-stage.ts';
import { scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const declaredEnds =
  /^.* Waiting for capacity: 2 nodes reserved, expected to start by \d\d:\d\dZ \(all ends declared\)\./;

/** When a pod or gang with a turn starts, and which pods start before it. */
export const backfillStarts = {
  BF2: scenario(
    'BF2 - a pod that ends before the predicted start uses the reserved capacity, and does not delay the start',
    async (stage) => {
      const { turns, busy, gang, predicted } = await gangBehind(stage, 600);
      const short = await turns.create('short', { cpu: 4, runtime: 300 });
      const shorter = await turns.create('shorter', { cpu: 1, deadline: 60 });
      await expectBound(stage.record, [short, shorter]);
      await turns.start(short, shorter);
      await turns.advanceSeconds(300);
      await turns.end(short, shorter);
      await turns.advanceSeconds(300);
      await turns.end(busy);
      await expectBound(stage.record, gang);
      expectOnTime(turns, predicted);
      // The start was never later than at first, except when the pod had not ended at the very second.
      for (const { object } of stage.record.podGroups.changes) {
        const { predictedStartTime = '', startConfidence } = object.status ?? {};
        if (startConfidence === 'Declared' && Date.parse(predictedStartTime) > predicted)
          throw new Error(`it moved to ${predictedStartTime}`);
      }
    },
  ),

  BF3: scenario('BF3 - when ends are exact, a gang starts within a tenth of the predicted time', async (stage) => {
    const nodes = await stage.addNodes(cpus('a', 4), cpus('b', 4), cpus('c', 4));
    const turns = await BackfillStage.open(stage);
    const [begin, seconds] = [turns.clock.now(), [900, 300, 600]];
    const owner = await createJob(stage, turns, 600);
    const busy = [
      await turns.run('annotated', nodes[0]!, { cpu: 4, runtime: 900 }),
      await turns.run('with-deadline', nodes[1]!, { cpu: 4, deadline: 300 }),
      await turns.run('of-job', nodes[2]!, { cpu: 4, owner }),
    ];
    const gang = await turns.createGang('gang', 2);
    await turns.expectTurn(gang, 'all ends declared');
    const predicted = await turns.expectPredicted('gang', 'Declared');
    for (const end of [300, 600]) {
      await turns.advanceSeconds(end - (turns.clock.now() - begin) / 1_000);
      await turns.end(busy[seconds.indexOf(end)]!);
    }
    await expectBound(stage.record, gang);
    const offMs = Math.abs(turns.clock.now() - predicted);
    if (offMs > (predicted - begin) / 10)
      throw new Error(`it started ${offMs} ms off the prediction ${toKubernetesTime(predicted)}`);
    const placed = new Set(gang.map((key) => nodeOf(stage.record, key)));
    if (placed.has(nodes[0])) throw new Error(`a member is on ${nodes[0]}, where a pod still runs`);
  }),

  BF5: scenario(
    'BF5 - when a pod ends before its declared end, the predicted start moves to an earlier time',
    async (stage) => {
      const nodes = await stage.addNodes(cpus('a', 4), cpus('b', 4));
      const turns = await BackfillStage.open(stage);
      const early = await turns.run('early', nodes[0]!, { cpu: 4, runtime: 1_200 });
      const other = await turns.run('other', nodes[1]!, { cpu: 4, runtime: 600 });
      const gang = await turns.createGang('gang', 2);
      await turns.expectTurn(gang, '2 nodes reserved');
      const first = await turns.expectPredicted('gang', 'Declared');
      await turns.end(early);
      await turns.advanceToNextPrediction();
      const second = await turns.expectPredicted('gang', 'Declared', (at) => at < first);
      if (Math.abs(first - second - 600_000) > 30_000) throw new Error(`it moved by ${first - second} ms`);
      await turns.advanceSeconds((second - turns.clock.now()) / 1_000);
      await turns.end(other);
      await expectBound(stage.record, gang);
    },
  ),

  BF11: scenario(
    'BF11 - a pod that would delay the predicted start waits for its turn, and its verdict says for whom',
    async (stage) => {
      const { turns, busy, gang } = await gangBehind(stage, 600);
      const late = await turns.create('late', { cpu: 4, runtime: 1_200 });
      const { namespace, record } = stage;
      const turn = {
        reason: 'WaitingForTurn' as const,
        says: [
          'Insufficient cpu (capacity reserved for other pods)',
          new RegExp(
            `Capacity is reserved for ${namespace}/gang, which starts by \\d\\d:\\d\\dZ; a declared runtime of at most 9m would fit before\\.$`,
          ),
        ],
      };
      await expectVerdict(record, [late], turn);
      await expectWarning(record, [late], turn);
      await stage.logs.until(({ message }) => message === 'waiting for its turn');
      // Of a gang, no member may start.
      const pair = await turns.createGang('pair', 1, { runtime: 1_200 });
      await expectVerdict(record, pair, turn);
      await expectWarning(record, [`${namespace}/pair`], turn);
      // The gang with the turn is still one for which an autoscaler adds nodes.
      await expectVerdict(record, gang, { reason: 'Unschedulable', says: [declaredEnds] });
      await expectWarning(record, [`${namespace}/gang`], { reason: 'FailedScheduling', says: [declaredEnds] });
      expectNeverUnschedulable(stage, [late, ...pair]);
      await turns.advanceSeconds(600);
      await turns.end(busy);
      await expectBound(record, gang);
      return () => expectNeverBound(record, [late, ...pair]);
    },
  ),

  BF12: scenario(
    'BF12 - a pod without a declared end does not start on reserved nodes, only elsewhere',
    async (stage) => {
      const { turns, busy, gang } = await gangBehind(stage, 600);
      const [free] = await stage.addNodes(cpus('free', 1));
      const pods = [await turns.create('first', { cpu: 1 }), await turns.create('second', { cpu: 1 })];
      await expectBound(stage.record, pods.slice(0, 1));
      if (nodeOf(stage.record, pods[0]!) !== free) throw new Error(`${pods[0]} is not on ${free}`);
      await expectVerdict(stage.record, pods.slice(1), { reason: 'WaitingForTurn' });
      await turns.advanceSeconds(600);
      await turns.end(busy);
      await expectBound(stage.record, gang);
      return () => expectNeverBound(stage.record, pods.slice(1));
    },
  ),
} as const;

/**
 * Two nodes, on one of which a pod runs that ends after `seconds`, and a gang that needs both and has its turn. One node and a CPU of the
 * other are free until then.
 */
async function gangBehind(
  stage: Stage,
  seconds: number,
): Promise<{
  readonly turns: BackfillStage;
  readonly busy: string;
  readonly gang: readonly string[];
  readonly predicted: number;
}> {
  const nodes = await stage.addNodes(cpus('a', 4), cpus('b', 4));
  const turns = await BackfillStage.open(stage);
  const busy = await turns.run('busy', nodes[0]!, { cpu: 3, runtime: seconds });
  const gang = await turns.createGang('gang', 2);
  await turns.expectTurn(gang, '2 nodes reserved');
  return { turns, busy, gang, predicted: await turns.expectPredicted('gang', 'Declared') };
}

/** Asserts that the predicted start is now, on the clock of the scheduler. */
function expectOnTime({ clock }: BackfillStage, predicted: number): void {
  const lateMs = clock.now() - predicted;
  // What the steps of the scenario take on a busy machine.
  if (lateMs > 60_000) throw new Error(`it started ${lateMs} ms after the predicted start`);
}

/** Asserts that an autoscaler never saw the pods as unschedulable. */
function expectNeverUnschedulable({ record }: Stage, pods: readonly string[]): void {
  for (const { object } of record.pods.changes) {
    const { namespace, name } = object.metadata;
    const key = `${namespace}/${name}`;
    const isUnschedulable = (object.status?.conditions ?? []).some(({ reason }) => reason === 'Unschedulable');
    if (pods.includes(key) && isUnschedulable) throw new Error(`${key} was Unschedulable`);
  }
}

/** Creates a Job with a deadline that has started now. No controller acts on it. Returns the owner of its pods. */
async function createJob(
  { client, namespace }: Stage,
  { clock }: BackfillStage,
  activeDeadlineSeconds: number,
): Promise<{ readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }> {
  const path = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  const template = {
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/main:1' }] },
  };
  const { metadata } = await client.create<{ readonly metadata: { readonly uid: string } }>(path, {
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'job' } },
    spec: { managedBy: 'tutti.dev/tests', activeDeadlineSeconds, template },
  });
  await client.patch(`${path}/job/status`, 'merge', { status: { startTime: toKubernetesTime(clock.now()) } });
  return { apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: metadata.uid };
}
