import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StatusItem } from '../../../api/explain/lists.ts';
import { podGroupDefinition } from '../../../api/pod-group-schema.ts';
import { podGroupPath } from '../../../api/pod-group.ts';
import { systemClock } from '../../../base/system-clock.ts';
import type { ForbiddenError } from '../../../client/api-errors.ts';
import { KubeClient } from '../../../client/kube-client.ts';
import { EmbeddedApiServer } from '../../../plane/apiserver/embedded-api-server.ts';
import type { Intercept } from '../../../plane/apiserver/embedded-api-server.ts';
import { jsonResponse } from '../../../plane/apiserver/http/response.ts';
import { InProcessTransport } from '../../../plane/apiserver/in-process-transport.ts';
import { hangsMs } from '../../../../test/planes/patience.ts';
import { loadStatus } from './load-status.ts';
import type { StatusSelection } from './load-status.ts';
import { StatusWatch } from './status-watch.ts';

const pods = '/api/v1/namespaces/default/pods';
const everything: StatusSelection = { namespace: undefined, subjects: [] };
let server: EmbeddedApiServer;
let client: KubeClient;
let intercept: Intercept | undefined;
let seen: string[];
let outages: string[];
let forbidden: ForbiddenError[];
let watch: StatusWatch | undefined;

beforeEach(async () => {
  intercept = undefined;
  [seen, outages, forbidden, watch] = [[], [], [], undefined];
  server = new EmbeddedApiServer({
    clock: systemClock,
    random: Math.random,
    intercept: (...request) => intercept?.(...request),
  });
  client = new KubeClient({ transport: new InProcessTransport(server), clock: systemClock });
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition);
});

afterEach(async () => {
  await watch?.stop();
  server.close();
});

/** Lists, and then follows, from a moment at which the watches are open. */
async function follow(selection: StatusSelection = everything, watches = 3): Promise<readonly StatusItem[]> {
  const { items } = await loadStatus({ client, now: systemClock.now(), ...selection });
  watch = new StatusWatch({
    ...{ client, clock: systemClock, random: () => 0, selection, items },
    onChanges: (changes) => {
      for (const { type, item } of changes)
        seen.push(`${type} ${item.subject.name} ${item.state} ${item.bound}/${item.minMember}/${item.size}`);
    },
    onOutage: ({ path }) => outages.push(path),
    onForbidden: (error) => forbidden.push(error),
  });
  watch.start();
  await expect.poll(() => server.openWatches).toBe(watches);
  return items;
}

async function createGroup(name: string, minMember = 2, labels = {}): Promise<void> {
  await client.create(podGroupPath('default'), {
    ...{ apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup' },
    metadata: { name, labels },
    spec: { minMember },
  });
}

async function createPod(name: string, spec: object = {}, labels: object = {}): Promise<void> {
  await client.create(pods, { metadata: { name, labels }, spec: { containers: [{ name: 'a', image: 'a' }], ...spec } });
}

const createMember = (group: string, index: number, spec?: object): Promise<void> =>
  createPod(`${group}-${index}`, spec, { 'scheduling.x-k8s.io/pod-group': group });

const bound = { nodeName: 'a' };

describe('KP7: status --watch', () => {
  it('reports each change once, and what has not changed never', async () => {
    await createGroup('red');
    await createGroup('still');
    await createMember('red', 0, bound);
    expect((await follow()).map(({ subject }) => subject.name)).toEqual(['red', 'still']);
    await createMember('red', 1, bound);
    await expect.poll(() => seen).toEqual(['Modified red Running 2/2/2']);
    await client.patch(`${pods}/red-0`, 'merge', { metadata: { annotations: { a: 'b' } } });
    await createGroup('new', 1);
    await expect.poll(() => seen.slice(1)).toEqual(['Added new Waiting 0/1/0']);
    await client.delete(`${podGroupPath('default')}/new`);
    await expect.poll(() => seen.slice(2)).toEqual(['Deleted new Waiting 0/1/0']);
  });

  it('reports what has changed between the list and the watches', async () => {
    await createGroup('red');
    await createMember('red', 0, bound);
    let isFirst = true;
    // After the list of the status, before that of the watch.
    intercept = async ({ path }, proceed) => {
      const isWatchOfStatus = path.startsWith('/api/v1/pods');
      if (!isWatchOfStatus || !isFirst) return undefined;
      isFirst = false;
      const response = proceed();
      intercept = undefined;
      await createMember('red', 1, bound);
      return response;
    };
    await follow();
    await expect.poll(() => seen).toEqual(['Modified red Running 2/2/2']);
  });

  it('survives ended watches and a forgotten history', async () => {
    await createGroup('red');
    await createGroup('still');
    await follow();
    // No watch is open while this happens.
    intercept = ({ path }) =>
      path.includes('watch=true') ? jsonResponse({ kind: 'Status', code: 500 }, { status: 500 }) : undefined;
    server.endWatches();
    await expect.poll(() => server.openWatches).toBe(0);
    for (const index of [0, 1]) await createMember('red', index, bound);
    await client.delete(`${podGroupPath('default')}/still`);
    server.forgetHistory();
    intercept = undefined;
    await expect
      .poll(() => seen.sort(), { timeout: hangsMs })
      .toEqual(['Deleted still Waiting 0/2/0', 'Modified red Running 2/2/2']);
    expect(forbidden).toEqual([]);
  });

  it('follows PodGroups of Kubernetes, and groups that only pods name', async () => {
    await follow();
    await client.create('/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups', {
      ...{ apiVersion: 'scheduling.k8s.io/v1beta1', kind: 'PodGroup', metadata: { name: 'native' } },
      spec: { schedulingPolicy: { gang: { minCount: 2 } } },
    });
    await createMember('gone', 0);
    await expect.poll(() => seen.toSorted()).toEqual(['Added gone Waiting 0/0/1', 'Added native Waiting 0/2/0']);
  });

  it('follows only what the user has chosen', async () => {
    const subjects = [{ name: 'red' }, { kind: 'Pod', name: 'lone' }] as const;
    await follow({ namespace: 'default', subjects });
    await createGroup('blue');
    await createPod('lone', bound);
    await createPod('other');
    await createGroup('red');
    await expect.poll(() => seen.toSorted()).toEqual(['Added lone Running 1/1/1', 'Added red Waiting 0/2/0']);
  });

  it('follows groups and single pods with these labels, and members without them', async () => {
    await follow({ namespace: undefined, subjects: [], selector: 'team=a', podsOf: ['tutti'] }, 4);
    await createGroup('red', 1, { team: 'a' });
    await createGroup('blue', 1);
    await createMember('red', 0, bound);
    await createMember('blue', 0, bound);
    await createPod('lone', { schedulerName: 'tutti' }, { team: 'a' });
    await createPod('other', { schedulerName: 'tutti' });
    await expect.poll(() => seen.at(-1)).toMatch(/lone|red/);
    await expect.poll(() => [...new Set(seen.map((line) => line.split(' ')[1]))].sort()).toEqual(['lone', 'red']);
  });

  it('reports who may not watch, and a failure that lasts', async () => {
    await follow();
    intercept = ({ path }) => {
      if (!path.includes('watch=true')) return undefined;
      const isOfPods = path.startsWith('/api/v1/pods');
      const [code, reason] = isOfPods ? [403, 'Forbidden'] : [500, 'InternalError'];
      return jsonResponse({ kind: 'Status', code, reason, message: 'no' }, { status: code });
    };
    server.endWatches();
    await expect.poll(() => forbidden.length, { timeout: hangsMs }).toBeGreaterThan(0);
    await expect.poll(() => outages, { timeout: hangsMs }).toContain(podGroupPath());
  });
});
