import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InstalledRights } from '../chart/installed-rights.ts';
import { rejectedIn } from '../chart/right.ts';
import { ApiAudit } from '../planes/real/api-audit.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { backfill } from './backfill.ts';
import { badInput } from './bad-input.ts';
import { brokenBindings } from './broken-bindings.ts';
import { controller } from './controller.ts';
import { demo } from './demo.ts';
import { extra } from './extra.ts';
import { gangs } from './gangs.ts';
import { places } from './places.ts';
import { losses } from './losses.ts';
import { preemption } from './preemption.ts';
import { withoutNativeGroups } from './native-groups-api.ts';
import { playOn } from './play.ts';
import { volumes } from './volumes.ts';

const programs = await provideForSuite('the scenarios', ['etcd', 'kube-apiserver']);

describe.skipIf(programs.state === 'missing')('Scenarios on a real kube-apiserver', () => {
  const plane = planeForSuite(programs, { audited: true });
  let rights: InstalledRights;

  beforeAll(async () => {
    rights = await InstalledRights.install(plane(), 'tutti-system', {
      reservations: { enabled: true },
      nativePodGroups: { writeStatus: true },
    });
    process.stderr.write(`\nscenarios on a real API server: Kubernetes ${plane().version}\n`);
  });

  afterAll(async () => {
    await rights?.close();
  });

  for (const scenarios of [
    gangs,
    demo,
    extra,
    controller,
    badInput,
    brokenBindings,
    losses,
    places,
    volumes,
    preemption,
    backfill,
    withoutNativeGroups,
  ]) {
    playOn('real', () => rights.plane, scenarios);
  }

  it("the API server rejected no request of the chart's two ServiceAccounts for missing permissions in any of these scenarios", async () => {
    const audit = new ApiAudit(plane());
    const calls = await audit.callsFrom('tutti-system');
    const count = (account: string): number => calls.filter(({ user }) => user.endsWith(`:tutti-${account}`)).length;
    process.stderr.write(
      `\nwith the chart's RBAC permissions: ${count('scheduler')} calls of the scheduler, ${count('controller')} of the controller\n`,
    );
    expect(count('scheduler')).toBeGreaterThan(100);
    expect(count('controller')).toBeGreaterThan(10);
    expect(rejectedIn(calls)).toEqual([]);
  });
});
