import { InvalidError } from '../../src/client/api-errors.ts';
import type { TransportResponse } from '../../src/client/transport.ts';
import { expectBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectGroupCondition, expectPhase } from '../expect/expect-phase.ts';
import { expectVerdict, expectWarning } from '../expect/expect-verdict.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';

/** Errors of users and servers: they are reported clearly, and nothing is lost. */
export const badInput = {
  'min-member': scenario(
    'a PodGroup with a minMember below one is rejected, and the error names the field',
    async (stage) => {
      for (const minMember of [0, -3]) {
        const rejection = await stage.createGroup('none', { minMember }).then(
          () => undefined,
          (error: unknown) => error,
        );
        const isNamed =
          rejection instanceof InvalidError && rejection.causes.some(({ field }) => field === 'spec.minMember');
        if (!isNamed) throw new Error(`minMember ${minMember} led to ${String(rejection)}`);
      }
    },
  ),

  'negative-fields': scenario(
    'negative amounts and timeouts are rejected, and the error names the field',
    async (stage) => {
      const specs = { scheduleTimeoutSeconds: -1, minResources: { cpu: '-1' } };
      for (const [field, value] of Object.entries(specs)) {
        const rejection = await stage.createGroup('none', { minMember: 1, [field]: value }).then(
          () => undefined,
          (error: unknown) => error,
        );
        const isNamed =
          rejection instanceof InvalidError &&
          rejection.causes.some((cause) => cause.field?.startsWith(`spec.${field}`));
        if (!isNamed) throw new Error(`${field} ${JSON.stringify(value)} led to ${String(rejection)}`);
      }
      await stage.createGroup('integer', { minMember: 1, minResources: { cpu: 0, memory: '1e3' } });
    },
  ),

  'never-fits': scenario(
    'the verdict of a group that can never fit names the blocking member and the reason',
    async (stage) => {
      await stage.addNodes({ name: 'a', allocatable: { cpu: '4' } }, { name: 'b', allocatable: { cpu: '4' } });
      await stage.startController();
      await stage.startScheduler();
      const group = await stage.createGroup('train', { minMember: 3 });
      const pods = await stage.createPods('worker', 2, { group: 'train', cpu: 1 });
      pods.push(await stage.createPod('huge', { group: 'train', cpu: 64 }));
      const says = ['huge finds no node', '0/2 nodes are available', 'Insufficient cpu'];
      await expectVerdict(stage.record, pods, { reason: 'Unschedulable', says });
      await expectWarning(stage.record, pods, { reason: 'FailedScheduling', says });
      const condition = { type: 'Scheduled', status: 'False', reason: 'Unschedulable', says: says[0]! };
      await expectGroupCondition(stage.record, group, condition);
      return () => expectNeverBound(stage.record, pods);
    },
  ),

  disagreement: scenario(
    'a pod whose label and annotation name two groups belongs to the group of the label',
    async (stage) => {
      await stage.addNodes({ name: 'large', allocatable: { cpu: '8' } });
      await stage.startController();
      await stage.startScheduler();
      const meant = await stage.createGroup('meant', { minMember: 2 });
      const other = await stage.createGroup('other', { minMember: 1 });
      const both = { group: 'meant', groupAnnotation: 'other', cpu: 1 };
      const pods = [await stage.createPod('ambiguous', both)];
      await expectWarning(stage.record, pods, { reason: 'PodGroupDisagreement', says: ['meant', 'other'] });
      await expectVerdict(stage.record, pods, { reason: 'WaitingForGang', says: ['meant has 1 of the 2 members'] });
      pods.push(await stage.createPod('clear', { group: 'meant', cpu: 1 }));
      await expectBound(stage.record, pods);
      await expectPhase(stage.record, meant, 'Scheduling', { members: 2, scheduled: 2 });
      await expectPhase(stage.record, other, 'Pending', { members: 0 });
    },
  ),

  annotation: scenario('a pod that names its group only by annotation is a member', async (stage) => {
    await stage.addNodes({ name: 'large', allocatable: { cpu: '8' } });
    await stage.startScheduler();
    await stage.createGroup('pair', { minMember: 2 });
    const pods = await stage.createPods('pair', 1, { groupAnnotation: 'pair', cpu: 1 });
    await expectVerdict(stage.record, pods, { reason: 'WaitingForGang', says: ['has 1 of the 2 members'] });
    pods.push(await stage.createPod('second', { groupAnnotation: 'pair', cpu: 1 }));
    await expectBound(stage.record, pods);
  }),

  'mixed-schedulers': scenario(
    'a group whose members name several schedulers waits, and its verdict says so',
    async (stage) => {
      await stage.addNodes({ name: 'large', allocatable: { cpu: '8' } });
      await stage.startScheduler();
      await stage.createGroup('pair', { minMember: 2 });
      const ours = await stage.createPod('ours', { group: 'pair', cpu: 1 });
      const foreign = await stage.createPod('foreign', { group: 'pair', cpu: 1, schedulerName: 'another' });
      const says = ['different schedulers', 'another'];
      await expectVerdict(stage.record, [ours], { reason: 'WaitingForGang', says });
      expectNeverBound(stage.record, [ours, foreign]);
      await stage.deletePod(foreign);
      await expectBound(stage.record, [ours, await stage.createPod('second', { group: 'pair', cpu: 1 })]);
    },
  ),

  gates: scenario('a group with a gated member waits, and starts when the gate is removed', async (stage) => {
    await stage.addNodes({ name: 'large', allocatable: { cpu: '8' } });
    await stage.startScheduler();
    await stage.createGroup('three', { minMember: 3 });
    const pods = await stage.createPods('free', 2, { group: 'three', cpu: 1 });
    const gated = await stage.createPod('gated', { group: 'three', cpu: 1, gates: ['example.com/quota'] });
    const says = ['has 2 of the 3 members', 'scheduling gates'];
    await expectVerdict(stage.record, pods, { reason: 'WaitingForGang', says });
    expectNeverBound(stage.record, [...pods, gated]);
    await stage.liftGates(gated);
    await expectBound(stage.record, [...pods, gated]);
  }),

  malformed: scenario('invalid objects on a watch are reported and skipped', async (stage) => {
    await stage.addNodes({ name: 'large', allocatable: { cpu: '8' } });
    const proxy = await stage.openProxy();
    const resources = ['pods', 'nodes', 'podgroups'];
    proxy.fault = async ({ path }, forward) => {
      const { pathname, searchParams } = new URL(path, 'http://any');
      const resource = resources.find((plural) => pathname.endsWith(`/${plural}`));
      if (resource === undefined || searchParams.get('watch') !== 'true') return undefined;
      return withFirst(await forward(), invalidEvents(searchParams.get('resourceVersion') ?? ''));
    };
    await stage.startScheduler({ through: proxy });
    await stage.createGroup('pair', { minMember: 2 });
    await expectBound(stage.record, await stage.createPods('pair', 2, { group: 'pair', cpu: 1 }));
    for (const resource of resources) {
      await stage.logs.until(
        ({ level, fields }) =>
          level === 'warn' && fields.kind === 'malformed' && String(fields.path).endsWith(`/${resource}`),
      );
    }
  }),

  'unreachable-at-start': scenario(
    'a scheduler that starts before its API server begins once the API server is available',
    async (stage) => {
      await stage.addNodes({ name: 'large', allocatable: { cpu: '8' } });
      const proxy = await stage.openProxy();
      await proxy.cut();
      await stage.startScheduler({ through: proxy });
      await stage.createGroup('pair', { minMember: 2 });
      const pods = await stage.createPods('pair', 2, { group: 'pair', cpu: 1 });
      await stage.logs.until(({ message }) => message === 'cannot reach the API server, retrying');
      await proxy.restore();
      await expectBound(stage.record, pods);
    },
  ),

  'unreachable-later': scenario(
    'a scheduler that loses its API server continues once the API server is back',
    async (stage) => {
      await stage.addNodes({ name: 'large', allocatable: { cpu: '8' } });
      const proxy = await stage.openProxy();
      await stage.startScheduler({ through: proxy });
      await expectBound(stage.record, [await stage.createPod('before', { cpu: 1 })]);
      await proxy.cut();
      await stage.createGroup('pair', { minMember: 2 });
      const pods = await stage.createPods('pair', 2, { group: 'pair', cpu: 1 });
      await stage.logs.until(({ message }) => message === 'cannot reach the API server, retrying');
      await proxy.restore();
      await expectBound(stage.record, pods);
    },
  ),
} as const satisfies Record<string, Scenario>;

/** Returns watch events whose objects are not objects, lack required fields, or contain invalid quantities. */
function invalidEvents(resourceVersion: string): string[] {
  const metadata = { name: 'invalid', namespace: 'nowhere', uid: 'invalid', resourceVersion };
  const container = { name: 'main', resources: { requests: { cpu: 'plenty' } } };
  const amounts = {
    metadata,
    spec: { containers: [container], minMember: 'three' },
    status: { allocatable: { cpu: 'plenty' } },
  };
  return [{ metadata: { resourceVersion } }, amounts].map((object) => `${JSON.stringify({ type: 'ADDED', object })}\n`);
}

function withFirst(response: TransportResponse, lines: readonly string[]): TransportResponse {
  return { ...response, body: chain(lines, response.body) };
}

async function* chain(lines: readonly string[], body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const line of lines) yield new TextEncoder().encode(line);
  yield* body;
}
