import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podGroupPath, podGroupResource } from '../../src/api/pod-group.ts';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { planAnnotations } from '../../src/api/pod.ts';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { poll } from '../planes/poll.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { schedulerName } from '../scenarios/pod-manifest.ts';
import { atOnce } from './at-once.ts';
import { report } from './report.ts';
import { openTenant } from './tenant.ts';
import type { Tenant } from './tenant.ts';

const programs = await provideForSuite('the text of a tenant', ['etcd', 'kube-apiserver']);

const maxLength = 1_024;
/** Clears the screen, forges a log line, changes the direction of text, and colors it. */
const hostile = '\u001b[2J\r\n2026-01-01T00:00:00Z ERROR forged\u202e\u2066\u009b31m\u2028';
// eslint-disable-next-line no-control-regex -- the pattern must match control characters
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

const podCount = 200;
const annotationLength = 200_000;
/** Heap of each process in megabytes: enough for these pods, but not for their annotations. */
const heapLimit = 96;

interface SeenPod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

interface SeenGroup {
  readonly status?: {
    readonly occupiedBy?: string;
    readonly conditions?: readonly { readonly reason: string; readonly message: string }[];
  };
}

describe.skipIf(programs.state === 'missing')('The text of a tenant on a real API server', () => {
  const plane = planeForSuite(programs);
  let tenant: Tenant;
  let scheduler: TestProcess;
  let controller: TestProcess;

  beforeAll(async () => {
    tenant = await openTenant(plane(), 'tenant');
    await plane().addNodes([{ name: 'node', allocatable: { cpu: '8' } }]);
    scheduler = await started('scheduler', /"message":"scheduling"/);
    controller = await started('controller', /"message":"API server reached"/);
  });

  afterAll(async () => {
    await scheduler?.kill();
    await controller?.kill();
    await tenant?.close();
  });

  async function started(command: string, said: RegExp): Promise<TestProcess> {
    const flags = ['--kubeconfig', plane().kubeconfigPath, '--secure-port', '0', '--leader-elect=false'];
    const environment = { NODE_OPTIONS: `--max-old-space-size=${heapLimit}` };
    const process = new TestProcess([command, ...flags, '--kube-api-qps', '0', '--log-format', 'json'], {
      environment,
    });
    await process.said(said);
    return process;
  }

  function create(name: string, metadata: object, spec: object = {}): Promise<unknown> {
    return tenant.client.create(`/api/v1/namespaces/${tenant.namespace}/pods`, podOf(name, metadata, spec));
  }

  /** Resolves with the messages of these pods once each has a verdict. */
  async function verdictsOf(isMeant: (name: string) => boolean, count: number): Promise<readonly string[]> {
    let messages: readonly string[] = [];
    await poll(async () => {
      const { items } = await plane().client.list(`/api/v1/namespaces/${tenant.namespace}/pods`);
      messages = (items as SeenPod[])
        .filter(({ metadata }) => isMeant(metadata.name))
        .flatMap(({ status }) => status?.conditions ?? [])
        .filter(({ type, status }) => type === 'PodScheduled' && status === 'False')
        .map(({ message = '' }) => message);
      return messages.length === count ? undefined : `${messages.length} of ${count} pods have one`;
    }, 'the pods have verdicts');
    return messages;
  }

  async function notes(): Promise<readonly string[]> {
    const { items } = await plane().client.list(`/apis/events.k8s.io/v1/namespaces/${tenant.namespace}/events`);
    return (items as { readonly note?: string }[]).map(({ note = '' }) => note);
  }

  /** Resolves when the scheduler has bound a pod of another user. */
  async function bindsOthers(name: string): Promise<void> {
    const path = '/api/v1/namespaces/default/pods';
    await plane().client.create(path, podOf(name, {}, {}));
    await poll(async () => {
      const { spec } = await plane().client.get<SeenPod>(`${path}/${name}`);
      return spec.nodeName === undefined ? 'it is not' : undefined;
    }, `pod ${name} is bound`);
  }

  function expectSafe(texts: readonly string[]): void {
    for (const text of texts) {
      expect(text.length).toBeLessThanOrEqual(maxLength);
      expect(text).not.toMatch(unprintable);
    }
  }

  it('annotations of 200 kB cost little memory, and are short and readable where they are shown', async () => {
    const before = residentMegabytes(scheduler);
    const indexes = Array.from({ length: podCount }, (_, index) => index);
    await atOnce(indexes, (index) =>
      create(`long-${index}`, {
        annotations: {
          [podGroupLabel]: `${index}${hostile}${'a.'.repeat(annotationLength / 2)}`,
          [planAnnotations.groupUid]: 'u'.repeat(50_000),
        },
      }),
    );
    const messages = await verdictsOf((name) => name.startsWith('long-'), podCount);
    await bindsOthers('after-annotations');
    const longest = Math.max(...messages.map(({ length }) => length));
    report(
      `${podCount} pods with annotations of ${annotationLength} characters: messages have up to ${longest} characters; ` +
        `the scheduler's resident memory was ${before} MB before and is ${residentMegabytes(scheduler)} MB after`,
    );
    expectSafe(messages);
    for (const message of messages) expect(message).toMatch(/\\u001b\[2J\\u000d\\u000a.*…/);
    expectSafe(await notes());
  });

  it('a name of a claim that is slow to search for secrets does not stop the scheduler', async () => {
    const claimName = 'eyJ-'.repeat(annotationLength / 4);
    await create('slow', {}, { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] });
    const messages = await verdictsOf((name) => name === 'slow', 1);
    await bindsOthers('after-claim');
    expectSafe(messages);
  });

  it('fields of a PodGroup and owners of its members are short and readable in its status', async () => {
    await tenant.client.create(podGroupPath(tenant.namespace), {
      apiVersion: podGroupResource.apiVersion,
      kind: podGroupResource.kind,
      metadata: { name: 'red' },
      spec: { minMember: 2, minResources: { [`${hostile}${'r'.repeat(annotationLength)}`]: '1' } },
    });
    const owner = { apiVersion: 'v1', kind: 'Any', name: `${hostile}${'o'.repeat(annotationLength)}`, uid: 'any' };
    for (const name of ['red-0', 'red-1']) {
      await create(name, { labels: { [podGroupLabel]: 'red' }, ownerReferences: [owner] });
    }
    let status: SeenGroup['status'];
    await poll(async () => {
      ({ status } = await plane().client.get<SeenGroup>(podGroupPath(tenant.namespace, 'red')));
      const isWritten = status?.conditions?.some(({ reason }) => reason === 'InvalidSpec') === true;
      return isWritten && status?.occupiedBy !== undefined ? undefined : JSON.stringify({ status }).slice(0, 500);
    }, 'the controller has written the status');
    expectSafe([status?.occupiedBy ?? '', ...(status?.conditions ?? []).map(({ message }) => message)]);
  });

  it('the logs of both processes are short and readable, too', () => {
    const lines = `${scheduler.stderr}\n${controller.stderr}`.split('\n');
    for (const line of lines) {
      expect(line.length, line.slice(0, 200)).toBeLessThan(8 * maxLength);
      expect(line).not.toMatch(unprintable);
    }
  });
});

function podOf(name: string, metadata: object, spec: object): object {
  const container = { name: 'main', image: 'registry.example/main:1', resources: { requests: { cpu: '1m' } } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { containers: [container], schedulerName, ...spec },
  };
}

function residentMegabytes({ pid }: TestProcess): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Math.round(Number(kilobytes) / 1024);
}
