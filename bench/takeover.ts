/**
 * Measures the gap in scheduling when the leader stops, on a real kube-apiserver with nodes and bound pods: from SIGTERM to the first Binding
 * by the standby. Runs once while pods arrive continuously, and once in a cluster that is idle until the signal. Needs the programs of the
 * real plane (TUTTI_REAL_PLANE=build builds them).
 *
 *     node bench/takeover.ts [nodes] [pods] [runs]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TestProcess } from '../src/cli/testing/test-process.ts';
import { httpsGet } from '../src/serving/testing/https-get.ts';
import { poll } from '../test/planes/poll.ts';
import { freePorts } from '../test/planes/real/ports.ts';
import { provideForSuite } from '../test/planes/real/provide-real-plane.ts';
import { openRealPlane } from '../test/planes/real/real-plane.ts';
import { atOnce } from '../test/real/at-once.ts';

const [nodeCount = 1_000, podCount = 10_000, runs = 3] = process.argv.slice(2).map(Number);
/** Time between two pods that arrive, in milliseconds. */
const arrivalMs = 50;
const podsPath = '/api/v1/namespaces/default/pods';

const programs = await provideForSuite('how long a takeover takes', ['etcd', 'kube-apiserver']);
if (programs.state === 'missing') throw new Error(programs.message);
const plane = await openRealPlane({ paths: programs.paths });
let made = 0;

try {
  const names = Array.from({ length: nodeCount }, (_, index) => `node-${index}`);
  await plane.addNodes(names.map((name) => ({ name, allocatable: { cpu: '64', memory: '256Gi', pods: '500' } })));
  await atOnce(
    Array.from({ length: podCount }, (_, index) => names[index % nodeCount]!),
    createPod,
  );
  console.log(`${nodeCount} nodes and ${podCount} bound pods on a real kube-apiserver`);
  for (const isBusy of [true, false]) {
    for (let run = 1; run <= runs; run++) {
      const figures = await takeover(isBusy);
      console.log(`${isBusy ? 'pods arrive continuously' : 'idle cluster'}, run ${run}: ${figures}`);
    }
  }
} finally {
  await plane.stop();
}

function createPod(nodeName?: string): Promise<unknown> {
  const variable = (index: number): object => ({
    name: `VARIABLE_${index}`,
    value: `a value of some length, number ${index}`,
  });
  return plane.client.create(podsPath, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${made++}`, labels: { app: `app-${made % 50}`, tier: 'work' } },
    spec: {
      schedulerName: 'tutti',
      ...(nodeName !== undefined && { nodeName }),
      containers: [
        {
          name: 'main',
          image: 'registry.example.com/team/worker:1.2.3',
          env: Array.from({ length: 10 }, (_, index) => variable(index)),
          resources: { requests: { cpu: '100m', memory: '128Mi' } },
        },
      ],
    },
  });
}

/** Starts a replica. Resolves when its caches have synced. */
async function startReplica(): Promise<TestProcess> {
  const [port] = await freePorts(1);
  const replica = new TestProcess([
    ...['scheduler', '--kubeconfig', plane.kubeconfigPath, '--log-format', 'json', '--kube-api-qps', '0'],
    ...['--bind-address', '127.0.0.1', '--secure-port', String(port)],
  ]);
  const ready = async (): Promise<string | undefined> => {
    const answer = await httpsGet(`https://127.0.0.1:${port}/readyz`);
    return answer.status === 200 ? undefined : answer.text;
  };
  await poll(() => ready().catch(String), 'the replica is ready');
  return replica;
}

/** Measures one takeover. Resolves to a text with the milliseconds from the signal to each step. */
async function takeover(isBusy: boolean): Promise<string> {
  const leader = await startReplica();
  await leader.said(/"message":"scheduling"/);
  const standby = await startReplica();
  await standby.said(/"message":"standing by/);
  let arriving = isBusy;
  const stream = async (): Promise<void> => {
    for (; arriving; await sleep(arrivalMs)) await createPod();
  };
  const streaming = stream();
  if (isBusy) await leader.said(/"message":"scheduled"/);
  else await sleep(2_000); // let earlier work finish
  const begunAt = performance.now();
  leader.signal('SIGTERM');
  if (!isBusy) await createPod();
  const steps = [/"message":"became leader"/, /"message":"scheduling"/, /"message":"scheduled"/];
  const [led, began, bound] = await Promise.all(
    steps.map(async (step) => {
      await standby.said(step);
      return Math.round(performance.now() - begunAt);
    }),
  );
  arriving = false;
  await streaming;
  standby.signal('SIGTERM');
  await Promise.all([leader.ended(), standby.ended()]);
  return `leader after ${led} ms, scheduling after ${began} ms, first pod bound after ${bound} ms`;
}
