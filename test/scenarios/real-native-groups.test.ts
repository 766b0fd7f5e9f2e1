import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { podPath } from '../../src/api/pod-path.ts';
import { InstalledRights } from '../chart/installed-rights.ts';
import { rejectedIn } from '../chart/right.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import type { WatchedPod } from '../expect/watched.ts';
import { hangsMs } from '../planes/patience.ts';
import { poll } from '../planes/poll.ts';
import { ApiAudit } from '../planes/real/api-audit.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { nativeGroupsChanges } from './native-groups-changes.ts';
import { nativeGroupsWithGates, nativeGroupsWithoutGates, podGroupGates } from './native-groups-gates.ts';
import { nativeGroupsLives } from './native-groups-lives.ts';
import { nativeGroupsPreemption } from './native-groups-preemption.ts';
import { besideKubeScheduler } from './native-groups-rivals.ts';
import { nativeGroupsStatus } from './native-groups-status.ts';
import { nativeGroups } from './native-groups.ts';
import { playOn } from './play.ts';
import { Stage } from './stage.ts';

const programs = await provideForSuite("Kubernetes' own PodGroups", ['etcd', 'kube-apiserver', 'kube-scheduler']);
const values = { nativePodGroups: { writeStatus: true } };

describe.skipIf(programs.state === 'missing')("Kubernetes' own PodGroups on a real kube-apiserver", () => {
  const plane = planeForSuite(programs, { audited: true, featureGates: ['GenericWorkload'] });
  let rights: InstalledRights;

  beforeAll(async () => {
    rights = await InstalledRights.install(plane(), 'tutti-system', values);
  });

  afterAll(async () => {
    await rights?.close();
  });

  for (const scenarios of [
    nativeGroups,
    nativeGroupsChanges,
    nativeGroupsPreemption,
    nativeGroupsStatus,
    nativeGroupsLives,
    nativeGroupsWithoutGates,
  ]) {
    playOn('real', () => rights.plane, scenarios);
  }

  describe('beside kube-scheduler', () => {
    beforeAll(() =>
      plane().startPeer('kube-scheduler', { schedulerName: 'default-scheduler', qps: 1_000, burst: 2_000 }),
    );

    playOn('real', () => rights.plane, besideKubeScheduler);
  });

  it("the API server rejected no request of the chart's two ServiceAccounts for missing permissions", async () => {
    expect(rejectedIn(await new ApiAudit(plane()).callsFrom('tutti-system'))).toEqual([]);
  });
});

describe.skipIf(programs.state === 'missing')('Their fields behind feature gates on a real kube-apiserver', () => {
  const plane = planeForSuite(programs, { featureGates: ['GenericWorkload', ...podGroupGates] });
  let rights: InstalledRights;

  beforeAll(async () => {
    rights = await InstalledRights.install(plane(), 'tutti-system', values);
  });

  afterAll(async () => {
    await rights?.close();
  });

  playOn('real', () => rights.plane, nativeGroupsWithGates);

  it('groups wait for an API server that is restarted without their API, and start when it serves them again', async () => {
    const stage = await Stage.open(rights.plane);
    try {
      await stage.addNodes({ name: 'four', allocatable: { cpu: '4' } });
      await stage.startScheduler();
      await stage.createNativeGroup('train', { minCount: 2 });
      const first = await stage.createPod('train-0', { schedulingGroup: 'train', cpu: 1 });
      await expectVerdict(stage.record, [first], { reason: 'WaitingForGang', says: ['has 1 of the 2 members'] });
      // Its watches cannot continue from before a restart.
      await stage.record.close();
      await plane().stopApiServer();
      await plane().startApiServer({ featureGates: [] });
      const says = 'does not serve PodGroups of scheduling.k8s.io now';
      await untilPod(stage, first, says, ({ status }) => conditionOf(status).includes(says));
      await plane().stopApiServer();
      await plane().startApiServer();
      // Just after its start, it answers requests for custom resources with 429.
      await poll(
        () => stage.client.list(podGroupPath(stage.namespace)).then(() => undefined, String),
        'the API server serves custom resources',
        2 * hangsMs,
      );
      const pods = [first, await stage.createPod('train-1', { schedulingGroup: 'train', cpu: 1 })];
      for (const key of pods) await untilPod(stage, key, 'bound', ({ spec }) => (spec.nodeName ?? '') !== '');
    } finally {
      await stage.close();
    }
  });
});

function conditionOf(status: WatchedPod['status']): string {
  return JSON.stringify(status?.conditions?.find(({ type }) => type === 'PodScheduled'));
}

/** Waits for a state of the pod without a record. */
async function untilPod(
  { client }: Stage,
  key: string,
  what: string,
  isSo: (pod: WatchedPod) => boolean,
): Promise<void> {
  const [namespace = '', name = ''] = key.split('/');
  await poll(
    async () => {
      const pod = await client.get<WatchedPod>(podPath({ namespace, name }));
      return isSo(pod) ? undefined : `it has ${conditionOf(pod.status)}`;
    },
    `${key}: ${what}`,
    2 * hangsMs,
  );
}
