import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/base/package-files.ts';
import type { TestPlane } from '../planes/plane.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { claimBlocks } from './block-claims.ts';
import { PageStage } from './page-stage.ts';

const takingOver = claimBlocks('docs/migration.md', 'console', 'Taking over');
const goingBack = claimBlocks('docs/migration.md', 'console', 'Going back');
const sideBySide = claimBlocks('docs/migration.md', 'console', 'Side by side');

const server = ['etcd', 'kube-apiserver'] as const;
const programs = await provideForSuite('docs/migration.md', server);
const withOther = await provideForSuite('docs/migration.md, next to a real scheduler-plugins', [
  ...server,
  'scheduler-plugins-scheduler',
]);
const chart = 'test/fixtures/charts/scheduler-plugins';
const name = 'scheduler-plugins-scheduler';

interface PodSeen {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly nodeName?: string };
}

/** The other scheduler, if there is one. */
interface Other {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Where {
  readonly title: string;
  readonly open: () => Promise<{ readonly plane: TestPlane; readonly other?: Other }>;
}

const noOther: Other = { start: () => Promise.resolve(), stop: () => Promise.resolve() };

async function openBesideOther(): Promise<{ plane: RealPlane; other: Other }> {
  if (withOther.state === 'missing') throw new Error(withOther.message);
  const plane = await openRealPlane({ paths: withOther.paths });
  return {
    plane,
    other: {
      start: () => plane.startPeer(name, { schedulerName: name, qps: 50, burst: 100 }),
      stop: () => plane.stopPeer(name),
    },
  };
}

async function openReal(): Promise<{ plane: RealPlane }> {
  if (programs.state === 'missing') throw new Error(programs.message);
  return { plane: await openRealPlane({ paths: programs.paths }) };
}

const everywhere: readonly Where[] = [
  ...(programs.state === 'missing' ? [] : [{ title: 'a real API server', open: openReal }]),
  ...(withOther.state === 'missing'
    ? []
    : [{ title: 'a real API server, next to a real scheduler-plugins', open: openBesideOther }]),
];

describe.each(everywhere)('docs/migration.md on $title', ({ open }) => {
  let stage: PageStage;
  let other: Other;
  let before: readonly PodSeen[];

  const podsOf = async (group: string): Promise<readonly PodSeen[]> => {
    const labelSelector = `scheduling.x-k8s.io/pod-group=${group}`;
    const { items } = await stage.plane.client.list('/api/v1/namespaces/default/pods', { labelSelector });
    return items.map((item) => {
      const { metadata, spec } = item as PodSeen;
      return { metadata: { name: metadata.name, uid: metadata.uid }, spec: { nodeName: spec.nodeName ?? '' } };
    });
  };

  beforeAll(async () => {
    const opened = await open();
    ({ other = noOther } = opened);
    stage = await PageStage.open(opened.plane);
    await symlink(packageFile(chart), join(stage.folder, 'scheduler-plugins'));
    await stage.removeDefinition();
    await stage.addNodes('node-1', 'node-2');
    await stage.run(`helm install scheduler-plugins ${chart} --namespace scheduler-plugins --create-namespace`);
    await stage.prints('kubectl get podgroups.scheduling.x-k8s.io', /No resources found/);
    await other.start();
    const isThere = opened.other !== undefined;
    await stage.createGang('train', 2, { schedulerName: name, ...(!isThere && { nodeName: 'node-1' }) });
    await stage.bound('train', 2);
    before = await podsOf('train');
  });

  afterAll(() => stage?.close());

  it('takes over running and waiting pods', async () => {
    const [stop, install, look, verify] = takingOver;
    await stage.play([stop!]);
    await other.stop();
    await stage.createGang('next', 2, { schedulerName: name });
    await stage.play([install!]);
    const tutti = stage.release();
    for (const component of ['scheduler', 'controller'] as const) await tutti.run(component, '3.17');
    await stage.bound('next', 2);
    await stage.prints('kubectl get podgroups.scheduling.x-k8s.io', /(\S+ +Scheduling .* QuorumScheduled .*\n?){2}$/);
    await stage.play([look!, verify!]);
    expect(await podsOf('train')).toEqual(before);
    expect(await tutti.stop()).toEqual([]);
  });

  it('starts the old Deployments again while they exist, and leaves pods as they are', async () => {
    const [stop, startAgain] = goingBack;
    const both = [...before, ...(await podsOf('next'))];
    await stage.play([stop!, startAgain!]);
    const replicas = 'kubectl get deployments --all-namespaces --output jsonpath="{.items[*].spec.replicas}"';
    expect(await stage.run(replicas)).toBe('1 1 0 0');
    expect([...(await podsOf('train')), ...(await podsOf('next'))]).toEqual(both);
  });

  it('switches back after the old release is uninstalled, and leaves pods and groups as they are', async () => {
    const uninstall = takingOver.at(-1)!;
    const [stop, , install, remove] = goingBack;
    const both = [...before, ...(await podsOf('next'))];
    await stage.play([uninstall, stop!, install!]);
    await other.start();
    await stage.play([remove!]);
    expect([...(await podsOf('train')), ...(await podsOf('next'))]).toEqual(both);
    await stage.createGang('after', 2, { schedulerName: name, cpu: '100m' });
    // The stopped scheduler does not bind it; the restarted one does.
    if (other !== noOther) await stage.bound('after', 2);
    else await stage.prints('kubectl get pods --selector scheduling.x-k8s.io/pod-group=after', /Pending(?!.*Running)/s);
  });

  it('runs next to the other scheduler, each with its own pods', async () => {
    await stage.play(sideBySide);
    await stage.release().run('scheduler', '3.17');
    await stage.createGang('mine', 2, { cpu: '100m' });
    await stage.bound('mine', 2);
    if (other !== noOther) {
      await stage.createGang('theirs', 2, { schedulerName: name, cpu: '100m' });
      await stage.bound('theirs', 2);
    }
    await stage.prints('kubectl describe podgroups.scheduling.x-k8s.io mine', /StatusDropped/);
  });
});
