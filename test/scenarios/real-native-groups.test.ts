import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InstalledRights } from '../chart/installed-rights.ts';
import { rejectedIn } from '../chart/right.ts';
import { ApiAudit } from '../planes/real/api-audit.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { nativeGroupsChanges } from './native-groups-changes.ts';
import { nativeGroupsWithGates, nativeGroupsWithoutGates, podGroupGates } from './native-groups-gates.ts';
import { nativeGroupsPreemption } from './native-groups-preemption.ts';
import { besideKubeScheduler } from './native-groups-rivals.ts';
import { nativeGroupsStatus } from './native-groups-status.ts';
import { nativeGroups } from './native-groups.ts';
import { playOn } from './play.ts';

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
});
