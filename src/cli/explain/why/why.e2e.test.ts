import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../base/system-clock.ts';
import { podGroupPath } from '../../../api/pod-group.ts';
import { KubeClient } from '../../../client/kube-client.ts';
import { loadKubeconfig } from '../../../client/kubeconfig.ts';
import { HttpTransport } from '../../../client/http/http-transport.ts';
import type { Explanation } from '../../../api/explain/explanation.ts';
import { createPlayground } from '../../../compose/create-playground.ts';
import type { Playground } from '../../../compose/create-playground.ts';
import { silentLogger } from '../../../observability/silent-logger.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { expectValidAnswer } from '../../../../test/expect/valid-answer.ts';
import { createPod } from '../../testing/create-pod.ts';
import { freshHome } from '../../testing/fresh-home.ts';

const home = freshHome('why');
let ground: Playground;
let client: KubeClient;
let transport: HttpTransport;

async function tutti(...parameters: readonly string[]): Promise<{ exitCode?: number; stdout: string; stderr: string }> {
  const process = home.tutti([...parameters, '--kubeconfig', ground.kubeconfigPath]);
  const { exitCode } = await process.ended();
  return { ...(exitCode !== undefined && { exitCode }), stdout: process.stdout, stderr: process.stderr };
}

async function why(name: string): Promise<Explanation> {
  const { exitCode, stdout, stderr } = await tutti('why', name, '-o', 'json');
  expect([exitCode, stderr]).toEqual([0, '']);
  const explanation = JSON.parse(stdout) as Explanation;
  expectValidAnswer(explanation);
  return explanation;
}

async function createGang(name: string, minMember: number, members: readonly PodOptions[]): Promise<void> {
  await client.create(podGroupPath('default'), {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name, namespace: 'default' },
    spec: { minMember },
  });
  for (const [index, options] of members.entries())
    await createPod(client, { name: `${name}-${index}`, group: name, ...options });
}

async function untilStarted(name: string): Promise<void> {
  await ground.until(async () =>
    JSON.stringify(await client.get(podGroupPath('default', name))).includes('"QuorumScheduled"'),
  );
}

beforeAll(async () => {
  ground = await createPlayground({
    nodes: [
      { name: 'n1', allocatable: { cpu: 2, memory: '8Gi' } },
      { name: 'n2', allocatable: { cpu: 2, memory: '8Gi' } },
    ],
    logger: silentLogger,
  });
  transport = new HttpTransport({
    endpoint: await loadKubeconfig({ clock: systemClock, path: ground.kubeconfigPath }),
  });
  client = new KubeClient({ transport, clock: systemClock });
  for (const name of ['old-0', 'old-1']) await createPod(client, { name, cpu: 1.5 });
  await ground.until(
    async () => JSON.stringify(await client.list('/api/v1/namespaces/default/pods')).split('"nodeName"').length === 3,
  );
  await createGang('full', 2, [{ cpu: 1 }, { cpu: 1 }]);
  await createGang('mars', 1, [{ cpu: 0.1, nodeSelector: { planet: 'mars' } }]);
  await createGang('lab', 2, [{ cpu: 0.1 }]);
  await ground.until(async () => {
    const text = JSON.stringify(await client.list(podGroupPath()));
    return text.split('"reason":"Unschedulable"').length > 2 && text.includes('"reason":"WaitingForGang"');
  });
});

afterAll(async () => {
  await transport.close();
  await ground.stop();
});

describe('tutti why', () => {
  it('prints which nodes are ruled out, and what the answer rests on', async () => {
    const { exitCode, stdout } = await tutti('why', 'full');
    expect(exitCode).toBe(0);
    const [headline, verdict] = stdout.split('\n');
    expect(headline).toMatch(
      /^default\/full: Waiting, waits for capacity; 0 of 2 needed members bound, 2 exist; since /,
    );
    expect(verdict).toContain('Insufficient cpu');
    expect(stdout).toMatch(/^ {2}NODES +LEFT +RULED OUT BY +PLUGIN +CODE$/m);
    expect(stdout).toMatch(/^ {2}2 +0 +2 cpu: needs 1, at most 500m free +NodeResourcesFit +InsufficientResource$/m);
    expect(stdout).toContain('used by default/old-');
    expect(stdout).toMatch(/^From all nodes and pods, \d\.\d s old\. Not known: /m);
  });

  it('prints what the conditions say, on demand', async () => {
    const { stdout } = await tutti('why', 'full', '--source', 'conditions', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      basis: { source: 'conditions' },
      state: 'Waiting',
      waitsFor: 'capacity',
      verdict: { reason: 'Unschedulable' },
      whatHelps: [],
    });
  });

  it('WI14: says the same of the state and the verdict from every source', async () => {
    for (const name of ['full', 'mars', 'lab']) {
      const planned = await why(name);
      const { stdout } = await tutti('why', name, '--source', 'conditions', '-o', 'json');
      const shown = JSON.parse(stdout) as Explanation;
      expect([shown.state, shown.waitsFor, shown.verdict], name).toEqual([
        planned.state,
        planned.waitsFor,
        planned.verdict,
      ]);
      // What `--source scheduler` prints, without the port-forward.
      const answer = await fetch(`${ground.schedulerUrl}/debug/explain?namespace=default&name=${name}`);
      const asked = (await answer.json()) as Explanation;
      expectValidAnswer(asked);
      expect([asked.state, asked.waitsFor, asked.verdict], name).toEqual([
        planned.state,
        planned.waitsFor,
        planned.verdict,
      ]);
      expect(asked.blocker, name).toEqual(planned.blocker);
    }
  });

  it('plans with the configuration of the embedded scheduler, which also schedules pods of default-scheduler', async () => {
    const member = { cpu: 3, schedulerName: 'default-scheduler' };
    await createGang('usual', 2, [member, member]);
    await ground.until(async () =>
      JSON.stringify(await client.get(podGroupPath('default', 'usual'))).includes('"reason":"Unschedulable"'),
    );
    const { waitsFor, gang, basis } = await why('usual');
    expect([waitsFor, gang?.existing]).toEqual(['never', 2]);
    expect(basis.unknowns).not.toContain('configuration');
  });

  it('exits with 1 if there is nothing of this name', async () => {
    const { exitCode, stdout, stderr } = await tutti('why', 'absent');
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'tutti: there is neither a pod group nor a pod named absent in the namespace default; choose another one with --namespace\n',
    );
  });

  it('names a remedy for each of three causes, and the gang starts once it is carried out', async () => {
    const never = await why('mars');
    expect(never.waitsFor).toBe('never');
    const { key } = never.blocker!.funnel[0]!.rejections[0]!;
    const node = never.blocker!.nearest[0]!.node;
    await client.patch(`/api/v1/nodes/${node}`, 'merge', { metadata: { labels: { [key!]: 'mars' } } });
    await untilStarted('mars');

    const members = await why('lab');
    expect([members.waitsFor, members.gang?.existing]).toEqual(['members', 1]);
    await createPod(client, { name: 'lab-1', group: 'lab', cpu: 0.1 });
    await untilStarted('lab');

    const capacity = await why('full');
    const remedy = capacity.whatHelps.find(({ kind }) => kind === 'podsEnd');
    if (remedy?.kind !== 'podsEnd') throw new Error('no pods are named');
    for (const { namespace, name } of remedy.pods) await client.delete(`/api/v1/namespaces/${namespace}/pods/${name}`);
    await untilStarted('full');
  });
});
