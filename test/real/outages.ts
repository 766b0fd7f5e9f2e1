import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { ClusterRecord } from '../expect/cluster-record.ts';
import { describePods, expectBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectPhase } from '../expect/expect-phase.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { historyProblems } from '../expect/history-problems.ts';
import { poll } from '../planes/poll.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { joined, openingOf } from './joined-history.ts';
import { onStage } from './on-stage.ts';
import { report } from './report.ts';
import { hangsMs } from '../planes/patience.ts';

const awayMs = 20_000;

/** The API server is down for 20 s. Both processes continue when it is back, and new pods are scheduled at once. */
export function apiServerAway(plane: RealPlane): Promise<void> {
  return onStage(plane, async ({ stage, tutti, addNodes }) => {
    const { namespace } = stage;
    await addNodes({ name: 'six', allocatable: { cpu: '6' } });
    await Promise.all([tutti.startScheduler(), tutti.startController()]);
    const before = await stage.createGroup('before', { minMember: 2 });
    await stage.createPods('before', 2, { group: 'before', cpu: 1 });
    await expectPhase(stage.record, before, 'Running', { running: 2 });
    const lacking = await stage.createGroup('lacking', { minMember: 2 });
    const pods = await stage.createPods('lacking', 1, { group: 'lacking', cpu: 1 });
    await expectVerdict(stage.record, pods, { reason: 'WaitingForGang' });

    // The server's history does not survive its end, so this record could not resume.
    await stage.record.close();
    await plane.stopApiServer();
    await sleep(awayMs);
    await plane.startApiServer();
    const backAt = performance.now();
    // The server reports ready before it serves custom resources.
    await poll(() => rejectionOf(plane.client.list(podGroupPath())), 'PodGroups are served again');
    const record = await ClusterRecord.open(plane.client);
    try {
      const opening = openingOf(record);
      const after = await stage.createGroup('after', { minMember: 2 });
      const made = await stage.createPods('after', 2, { group: 'after', cpu: 1 });
      pods.push(await stage.createPod('lacking-1', { group: 'lacking', cpu: 1 }));
      await expectBound(record, [...made, ...pods]);
      const boundMs = performance.now() - backAt;
      const keys = [...made, ...pods];
      await record.until('the pods run', hangsMs, () =>
        keys.every((key) => record.pods.current.get(key)?.status?.phase === 'Running')
          ? undefined
          : describePods(record, keys),
      );
      const runningMs = performance.now() - backAt;
      for (const group of [after, lacking]) await expectPhase(record, group, 'Running', { running: 2 });
      const toldMs = performance.now() - backAt;
      report(
        `API server back after ${awayMs} ms; two groups bound ${Math.round(boundMs)} ms later, ` +
          `running (kwok) after ${Math.round(runningMs)} ms, and their status shows it after ${Math.round(toldMs)} ms`,
      );
      const rules = { namespaces: new Set([namespace]), partialForMs: stage.partialForMs };
      const problems = historyProblems(joined(stage.record, opening, record), rules);
      if (problems.length > 0) throw new Error(problems.join('\n'));
    } finally {
      await record.close();
    }
  });
}

async function rejectionOf(call: Promise<unknown>): Promise<string | undefined> {
  return call.then(
    () => undefined,
    (error: unknown) => String(error),
  );
}

/**
 * While the watches of both processes are cut, objects change and etcd forgets the history in between. The plane's API server keeps no
 * history of its own, so it must answer 410 when they resume.
 */
export function historyForgotten(plane: RealPlane): Promise<void> {
  return onStage(plane, async ({ stage, tutti, addNodes }) => {
    const { record } = stage;
    await addNodes({ name: 'three', allocatable: { cpu: '3' } });
    const proxy = await stage.openProxy();
    const [scheduler, controller] = await Promise.all([
      tutti.startScheduler({ through: proxy }),
      tutti.startController({ through: proxy }),
    ]);
    const first = await stage.createGroup('first', { minMember: 3 });
    const members = await stage.createPods('first', 3, { group: 'first', cpu: 1 });
    await expectPhase(record, first, 'Scheduling', { scheduled: 3 });

    await proxy.cut();
    // A process that misses these deletions sees no capacity for the second group, or counts members that no longer exist.
    for (const key of members) await stage.deletePod(key);
    const second = await stage.createGroup('second', { minMember: 3 });
    const successors = await stage.createPods('second', 3, { group: 'second', cpu: 1 });
    await record.until('the changes are seen', hangsMs, () =>
      successors.every((key) => record.pods.current.has(key)) ? undefined : 'not yet',
    );
    expectNeverBound(record, successors);
    await compactHistory(plane);
    await proxy.restore();

    await Promise.all([scheduler, controller].map((process) => process.said(/\/pods .*returned 410/)));
    await expectBound(record, successors);
    await expectPhase(record, second, 'Scheduling', { scheduled: 3 });
    await expectPhase(record, first, 'Pending', { scheduled: 0, members: 0 });
  });
}

/** Makes etcd forget its history except for the current state. */
async function compactHistory(plane: RealPlane): Promise<void> {
  const url = await etcdUrl(plane);
  const ask = async (path: string, body: object): Promise<any> => {
    const response = await fetch(`${url}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`etcd ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const { header } = await ask('range', { key: btoa('a'), limit: 1 });
  await ask('compaction', { revision: header.revision, physical: true });
}

async function etcdUrl(plane: RealPlane): Promise<string> {
  const words = (await readFile(`/proc/${plane.pid('etcd')}/cmdline`, 'utf8')).split('\0');
  return words.find((word) => word.startsWith('--listen-client-urls='))!.slice('--listen-client-urls='.length);
}
