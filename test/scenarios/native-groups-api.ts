import type { NativeGangs } from '../../src/plane/apiserver/kinds/pod-groups/native-gangs.ts';
import { expectBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectGroupCondition } from '../expect/expect-phase.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import type { EmbeddedPlane } from '../planes/embedded.ts';
import { poll } from '../planes/poll.ts';
import { AdvancingClock } from './advancing-clock.ts';
import { scheduled } from './native-groups-status.ts';
import type { PodSpec } from './pod-manifest.ts';
import { cpus } from './preemption-stage.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const member: PodSpec = { schedulingGroup: 'train', cpu: 1 };
const api = 'PodGroups of scheduling.k8s.io';
/** Longer than the longest pause between two attempts to list. */
const pauseMs = 31_000;

/** On a server without PodGroups of Kubernetes itself. */
export const withoutNativeGroups = {
  NA9: scenario('without that API, each process says so once, and everything else is scheduled', async (stage) => {
    await stage.addNodes(cpus('node', 4));
    const proxy = await stage.openProxy();
    let requests = 0;
    proxy.fault = ({ path }) => {
      if (path.startsWith('/apis/scheduling.k8s.io') && !path.includes('priorityclasses')) requests++;
      return undefined;
    };
    const clock = new AdvancingClock();
    await stage.startController();
    await stage.startScheduler({ through: proxy, clock });
    await stage.createGroup('labeled', { minMember: 2 });
    await expectBound(stage.record, await stage.createPods('labeled', 2, { group: 'labeled', cpu: 1 }));
    // It looks for the API again, at most twice for each pause: a list, and what the server serves.
    const before = requests;
    for (let pause = 1; pause <= 3; pause++) {
      clock.advance(pauseMs);
      await expectBound(stage.record, [await stage.createPod(`single-${pause}`, { cpu: '100m' })]);
    }
    await untilNone(stage, 2);
    return () => {
      if (requests - before > 20) throw new Error(`there were ${requests - before} requests`);
      expectLines(stage, { none: 2, serves: 0 });
    };
  }),
} as const satisfies Record<string, Scenario>;

/** On an embedded plane that serves v1alpha2. */
export const nativeGroupsOfAlpha = {
  NA8: scenario('a server of v1alpha2 has gangs, too', async (stage) => {
    stage.nativeVersion = 'v1alpha2';
    await stage.addNodes(cpus('node', 4));
    await stage.startController();
    await stage.startScheduler();
    const group = await stage.createNativeGroup('train', { minCount: 3, disruptionMode: 'all' });
    const gang = await stage.createPods('train', 2, member);
    await expectVerdict(stage.record, gang, { reason: 'WaitingForGang', says: ['has 2 of the 3 members'] });
    expectNeverBound(stage.record, gang);
    gang.push(await stage.createPod('train-2', member));
    await expectBound(stage.record, gang);
    await expectGroupCondition(stage.record, group, scheduled);
    await stage.logs.until(({ message, fields }) => message.endsWith(`serves ${api}`) && fields.version === 'v1alpha2');
  }),
} as const satisfies Record<string, Scenario>;

/** On an embedded plane that does not serve the API at first. */
export const changingNativeGroups = {
  NA10: scenario('PodGroups of an API that appears are picked up without a restart', async (stage) => {
    await stage.addNodes(cpus('node', 4));
    const clock = new AdvancingClock();
    await stage.startController();
    await stage.startScheduler({ clock });
    const gang = await stage.createPods('train', 3, member);
    await expectVerdict(stage.record, gang, { reason: 'WaitingForGang', says: ['does not exist'] });
    await untilNone(stage, 2);
    serve(stage, 'v1beta1');
    const group = await stage.createNativeGroup('train', { minCount: 3 });
    clock.advance(pauseMs);
    await expectBound(stage.record, gang);
    await expectGroupCondition(stage.record, group, scheduled);
    return () => expectLines(stage, { none: 2, serves: 2 });
  }),

  'api-disappears': scenario('groups of an API that disappears wait for it with a verdict', async (stage) => {
    serve(stage, 'v1beta1');
    await stage.addNodes(cpus('node', 8));
    const clock = new AdvancingClock();
    await stage.startScheduler({ clock });
    await stage.createNativeGroup('train', { minCount: 3 });
    await stage.createNativeGroup('begun', { minCount: 2 });
    await stage.createNativeGroup('basic');
    const begun = await stage.createPods('begun', 2, { schedulingGroup: 'begun', cpu: 1 });
    await expectBound(stage.record, begun);
    const gang = await stage.createPods('train', 2, member);
    await expectVerdict(stage.record, gang, { reason: 'WaitingForGang', says: ['has 2 of the 3 members'] });
    serve(stage, 'none');
    const gone = { reason: 'SchedulerError', says: [`does not serve ${api} now`] } as const;
    await expectVerdict(stage.record, gang, gone);
    gang.push(await stage.createPod('train-2', member));
    const late = [
      await stage.createPod('late', { schedulingGroup: 'begun', cpu: 1 }),
      await stage.createPod('basic', { schedulingGroup: 'basic', cpu: 1 }),
    ];
    await expectVerdict(stage.record, [...gang, ...late], gone);
    expectNeverBound(stage.record, [...gang, ...late]);
    await expectBound(stage.record, [await stage.createPod('single', { cpu: 1 })]);
    serve(stage, 'v1beta1');
    clock.advance(pauseMs);
    await expectBound(stage.record, [...gang, ...late]);
    return () => {
      expectLines(stage, { none: 1, serves: 2 });
      if (begun.some((key) => !stage.record.pods.current.has(key))) throw new Error('a bound member was deleted');
    };
  }),
} as const satisfies Record<string, Scenario>;

function serve({ plane }: Stage, version: NativeGangs): void {
  (plane as EmbeddedPlane).server.serveNativeGangs(version);
}

/** Waits until this number of processes have logged that the API is absent. */
async function untilNone({ logs }: Stage, count: number): Promise<void> {
  const none = (): number => logs.lines.filter(({ message }) => message.startsWith(`no ${api}`)).length;
  await poll(() => Promise.resolve(none() >= count ? undefined : `${none()} have`), `${count} processes log it`);
}

/** Asserts how many lines of the logs say that the API is absent, and that it is served. None says that a request for it failed. */
function expectLines({ logs }: Stage, expected: { readonly none: number; readonly serves: number }): void {
  const lines = logs.lines.filter((line) => JSON.stringify(line).includes('scheduling.k8s.io'));
  const none = lines.filter(({ message }) => message.startsWith(`no ${api}`));
  const serves = lines.filter(({ message }) => message.endsWith(`serves ${api}`));
  const problems = lines.filter((line) => ['warn', 'error'].includes(line.level) && !none.includes(line));
  if (none.length !== expected.none || serves.length !== expected.serves || problems.length > 0)
    throw new Error(`logged: ${JSON.stringify(lines)}`);
}
