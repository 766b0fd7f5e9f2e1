import { describe, expect, it } from 'vitest';
import { ApiClient } from '../../testing/api-client.ts';
import { podManifest, podsPath } from '../../testing/manifests.ts';
import type { JsonObject } from '../../json.ts';

async function create(spec: JsonObject, client = new ApiClient()): Promise<any> {
  return (await client.create(podsPath, podManifest('p', spec))).body;
}

function container(resources: JsonObject): JsonObject {
  return { containers: [{ name: 'main', image: 'example.test/app:1', resources }] };
}

describe('a new pod', () => {
  it('gets the defaults that scheduling depends on', async () => {
    const pod = await create({
      containers: [
        {
          name: 'main',
          image: 'example.test/app',
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: 0.5, memory: '1024Mi' }, requests: { cpu: '0.25' } },
        },
      ],
    });
    expect(pod.spec).toMatchObject({
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      terminationGracePeriodSeconds: 30,
      serviceAccountName: 'default',
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
    });
    expect(pod.spec.containers[0]).toMatchObject({
      imagePullPolicy: 'Always',
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      resources: { limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '250m', memory: '1Gi' } },
    });
    expect(pod.spec.tolerations).toEqual(
      ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      })),
    );
    expect(pod.metadata.generation).toBe(1);
  });

  it('starts Pending, regardless of the status in the request', async () => {
    const client = new ApiClient();
    const answer = await client.create(podsPath, {
      ...podManifest('p'),
      status: { phase: 'Running', podIP: '1.2.3.4' },
    });
    expect(answer.body.status).toEqual({ phase: 'Pending' });
  });

  it('gets no default toleration if its own tolerations cover it', async () => {
    const pod = await create({ tolerations: [{ operator: 'Exists' }] });
    expect(pod.spec.tolerations).toEqual([{ operator: 'Exists' }]);
  });

  it.each([
    [{ containers: [] }, 'spec.containers'],
    [{ containers: [{ name: 'A', image: 'i' }] }, 'spec.containers[0].name'],
    [{ containers: [{ name: 'a' }] }, 'spec.containers[0].image'],
    [
      {
        containers: [
          { name: 'a', image: 'i' },
          { name: 'a', image: 'i' },
        ],
      },
      'spec.containers[1].name',
    ],
    [{ restartPolicy: 'Sometimes' }, 'spec.restartPolicy'],
    [{ tolerations: [{ key: 'a', operator: 'Likes' }] }, 'spec.tolerations[0].operator'],
    [{ schedulingGates: [{ name: 'a' }, { name: 'a' }] }, 'spec.schedulingGates[1].name'],
    [{ schedulingGates: [{ name: 'a' }], nodeName: 'n1' }, 'spec.nodeName'],
    [{ nodeSelector: { 'not a key': 'x' } }, 'spec.nodeSelector'],
    [container({ requests: { cpu: '2' }, limits: { cpu: '1' } }), 'spec.containers[0].resources.requests'],
    [container({ requests: { cpu: '-1' } }), 'spec.containers[0].resources.requests[cpu]'],
    [container({ requests: { 'nvidia.com/gpu': '1' } }), 'spec.containers[0].resources.limits'],
  ])('is rejected with the field name: %j', async (spec, field) => {
    const status = await create(spec);
    expect(status).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(status.details.causes.map((cause: { field: string }) => cause.field)).toEqual([field]);
  });

  it('is rejected if a quantity is invalid', async () => {
    const status = await create(container({ requests: { cpu: 'lots' } }));
    expect(status.code).toBe(400);
    expect(status.message).toContain('spec.containers[0].resources.requests');
  });
});

describe('priority of a new pod', () => {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const high = { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' };

  it('comes from its class', async () => {
    const client = new ApiClient();
    await client.mustCreate(classes, high);
    const pod = await create({ priorityClassName: 'high' }, client);
    expect(pod.spec).toMatchObject({ priority: 1000, preemptionPolicy: 'Never' });
    const system = await client.create(podsPath, podManifest('s', { priorityClassName: 'system-node-critical' }));
    expect(system.body.spec.priority).toBe(2_000_001_000);
  });

  it('comes from the global default class if the pod names none', async () => {
    const client = new ApiClient();
    await client.mustCreate(classes, { ...high, globalDefault: true });
    expect((await create({}, client)).spec).toMatchObject({ priority: 1000, priorityClassName: 'high' });
    const second = await client.create(classes, { metadata: { name: 'low' }, value: 1, globalDefault: true });
    expect(second.status).toBe(403);
  });

  it('cannot come from an unknown class or from the pod itself', async () => {
    const unknown = await create({ priorityClassName: 'nothing' });
    expect(unknown).toMatchObject({
      code: 403,
      message: 'pods "p" is forbidden: no PriorityClass with name nothing was found',
    });
    expect((await create({ priority: 7 })).code).toBe(403);
  });

  it('comes from a class whose value is immutable and limited', async () => {
    const client = new ApiClient();
    await client.mustCreate(classes, high);
    expect((await client.patch(`${classes}/high`, 'merge', { value: 5 })).status).toBe(422);
    expect((await client.create(classes, { metadata: { name: 'vast' }, value: 1_000_000_001 })).status).toBe(422);
    expect((await client.create(classes, { metadata: { name: 'system-mine' }, value: 1 })).status).toBe(422);
  });
});

describe('an existing pod', () => {
  const path = `${podsPath}/p`;

  it('accepts changes of metadata, image and deadline, and additional tolerations', async () => {
    const client = new ApiClient();
    await create({}, client);
    expect((await client.patch(path, 'merge', { metadata: { labels: { a: 'b' } } })).body.metadata.generation).toBe(1);
    const image = { spec: { containers: [{ name: 'main', image: 'example.test/app:2' }] } };
    expect((await client.patch(path, 'strategic', image)).body.metadata.generation).toBe(2);
    expect((await client.patch(path, 'merge', { spec: { activeDeadlineSeconds: 60 } })).status).toBe(200);
    const toleration = { op: 'add', path: '/spec/tolerations/-', value: { key: 'a', operator: 'Exists' } };
    expect((await client.patch(path, 'json', [toleration])).status).toBe(200);
  });

  it.each([
    [{ nodeName: 'n1' }, 'nodeName'],
    [{ schedulerName: 'other' }, 'schedulerName'],
    [{ priority: 5 }, 'priority'],
    [{ nodeSelector: { a: 'b' } }, 'nodeSelector'],
  ])('rejects other changes of its spec: %j', async (spec, field) => {
    const client = new ApiClient();
    await create({}, client);
    const answer = await client.patch(path, 'merge', { spec });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({ field: 'spec', reason: 'FieldValueForbidden' });
    expect(answer.body.message).toContain(`changed: spec.${field}`);
  });

  it('cannot lose tolerations', async () => {
    const client = new ApiClient();
    await create({ tolerations: [{ key: 'mine', operator: 'Exists' }] }, client);
    const answer = await client.patch(path, 'merge', { spec: { tolerations: [] } });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0].field).toBe('spec.tolerations');
  });

  it('can lose gates but not gain them, and may change its node selector while gated', async () => {
    const client = new ApiClient();
    await create({ schedulingGates: [{ name: 'a' }, { name: 'b' }], nodeSelector: { zone: '1' } }, client);
    const gates = (...names: string[]): JsonObject => ({ spec: { schedulingGates: names.map((name) => ({ name })) } });
    expect((await client.patch(path, 'merge', gates('a', 'b', 'c'))).status).toBe(422);
    expect((await client.patch(path, 'merge', { spec: { nodeSelector: { disk: 'ssd' } } })).status).toBe(200);
    expect((await client.patch(path, 'merge', { spec: { nodeSelector: { zone: '2' } } })).status).toBe(200);
    expect((await client.patch(path, 'merge', gates('b'))).status).toBe(200);
    expect((await client.patch(path, 'merge', gates())).body.spec.schedulingGates).toBeUndefined();
    expect((await client.patch(path, 'merge', { spec: { nodeSelector: { more: 'x' } } })).status).toBe(422);
  });

  it('gets its status through the subresource, which does not change the spec', async () => {
    const client = new ApiClient();
    await create({}, client);
    expect((await client.patch(path, 'merge', { status: { phase: 'Running' } })).body.status.phase).toBe('Pending');
    const answer = await client.patch(`${path}/status`, 'strategic', {
      metadata: { annotations: { seen: 'yes' } },
      spec: { nodeName: 'n1' },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
    expect(answer.body.status.phase).toBe('Running');
    expect(answer.body.metadata.annotations).toEqual({ seen: 'yes' });
    expect(answer.body.spec).not.toHaveProperty('nodeName');
  });

  it('returns 501 for its logs, because it has no containers', async () => {
    const client = new ApiClient();
    await create({}, client);
    const answer = await client.get(`${path}/log?container=main`);
    expect(answer.status).toBe(501);
    expect(answer.body.message).toContain('simulated');
  });
});
