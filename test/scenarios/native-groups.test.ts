import { describe } from 'vitest';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import { changingNativeGroups, nativeGroupsOfAlpha, withoutNativeGroups } from './native-groups-api.ts';
import { nativeGroupsChanges } from './native-groups-changes.ts';
import { nativeGroupsWithGates, nativeGroupsWithoutGates } from './native-groups-gates.ts';
import { nativeGroupsLives } from './native-groups-lives.ts';
import { nativeGroupsPreemption } from './native-groups-preemption.ts';
import { nativeGroupsStatus } from './native-groups-status.ts';
import { nativeGroups } from './native-groups.ts';
import { play } from './play.ts';

describe("Kubernetes' own PodGroups", () => {
  play({
    ...nativeGroups,
    ...nativeGroupsChanges,
    ...nativeGroupsPreemption,
    ...nativeGroupsStatus,
    ...nativeGroupsLives,
    ...nativeGroupsWithoutGates,
  });
});

describe("Kubernetes' own PodGroups with all feature gates", () => {
  play(nativeGroupsWithGates, () => openEmbeddedPlane({ nativeGangAlphaFields: true }));
});

describe('A server without, or with another version of, these PodGroups', () => {
  const withoutApi = (): ReturnType<typeof openEmbeddedPlane> => openEmbeddedPlane({ nativeGangs: 'none' });
  play(withoutNativeGroups, withoutApi);
  play(changingNativeGroups, withoutApi);
  play(nativeGroupsOfAlpha, () => openEmbeddedPlane({ nativeGangs: 'v1alpha2' }));
});
