import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podGroupPath, podGroupResource } from '../../src/api/pod-group.ts';
import type { PodGroupStatus } from '../../src/api/pod-group.ts';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { podGroupDefinition } from '../../src/api/pod-group-schema.ts';
import { messageOf } from '../../src/base/message-of.ts';
import { InvalidError } from '../../src/client/api-errors.ts';
import { poll } from '../planes/poll.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { schedulerName } from '../scenarios/pod-manifest.ts';
import { Installation } from './installation.ts';

const programs = await provideForSuite('groups that are older than the CRD', ['etcd', 'kube-apiserver']);

const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${podGroupDefinition.metadata.name}`;
const negative = { minMember: 2, scheduleTimeoutSeconds: -5, minResources: { cpu: '-2' } };

interface SeenPod {
  readonly spec: { readonly nodeName?: string };
}

describe.skipIf(programs.state === 'missing')('A PodGroup with negative fields that is older than the CRD', () => {
  const plane = planeForSuite(programs);
  let tutti: Installation;

  beforeAll(async () => {
    tutti = new Installation(plane());
    await plane().addNodes([{ name: 'node', allocatable: { cpu: '8' } }]);
  });

  afterAll(async () => {
    expect(await tutti?.stop()).toEqual([]);
  });

  function create(name: string): Promise<unknown> {
    const { apiVersion, kind } = podGroupResource;
    return plane().client.create(podGroupPath('default'), { apiVersion, kind, metadata: { name }, spec: negative });
  }

  /** Changes the CRD, and resolves when the API server accepts negative fields or rejects them. */
  async function changeDefinition(schema: object, isAccepted: boolean): Promise<void> {
    const { spec } = podGroupDefinition;
    const versions = [{ ...spec.versions[0], schema: { openAPIV3Schema: schema } }];
    await plane().client.patch(definition, 'merge', { spec: { ...spec, versions } });
    await poll(
      async () => {
        const answer = await create('red').then(
          () => 'accepted',
          (error: unknown) => (error instanceof InvalidError ? 'rejected' : messageOf(error)),
        );
        return answer === (isAccepted ? 'accepted' : 'rejected') ? undefined : answer;
      },
      `negative fields are ${isAccepted ? 'accepted' : 'rejected'}`,
    );
  }

  async function statusOf(): Promise<PodGroupStatus> {
    const { status = {} } = await plane().client.get<{ readonly status?: PodGroupStatus }>(
      podGroupPath('default', 'red'),
    );
    return status;
  }

  async function untilCondition(type: string, status: string | undefined): Promise<void> {
    await poll(
      async () => {
        const { conditions = [] } = await statusOf();
        const found = conditions.find((condition) => condition.type === type)?.status;
        return found === status ? undefined : JSON.stringify(conditions);
      },
      `the condition ${type} is ${status ?? 'gone'}`,
    );
  }

  it('starts as before, and a condition says which fields have no effect until they are corrected', async () => {
    const { openAPIV3Schema } = podGroupDefinition.spec.versions[0].schema;
    await changeDefinition(withoutBounds(openAPIV3Schema) as object, true);
    await changeDefinition(openAPIV3Schema, false);
    await tutti.startController();
    await tutti.startScheduler();
    for (const name of ['red-0', 'red-1']) await plane().client.create('/api/v1/namespaces/default/pods', podOf(name));
    for (const name of ['red-0', 'red-1']) {
      await poll(async () => {
        const { spec } = await plane().client.get<SeenPod>(`/api/v1/namespaces/default/pods/${name}`);
        return spec.nodeName === undefined ? 'it is not' : undefined;
      }, `${name} is bound`);
    }
    await untilCondition('Scheduled', 'True');
    await untilCondition('SpecAccepted', 'False');
    // Other fields can change while the negative ones stay.
    await plane().client.patch(podGroupPath('default', 'red'), 'merge', { spec: { minMember: 1 } });
    const corrected = { scheduleTimeoutSeconds: 5, minResources: { cpu: '2' } };
    await plane().client.patch(podGroupPath('default', 'red'), 'merge', { spec: corrected });
    await untilCondition('SpecAccepted', undefined);
    await untilCondition('Scheduled', 'True');
  });
});

/** Returns the schema without the bounds of numbers and the patterns of amounts. */
function withoutBounds(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === 'minimum' || (key === 'pattern' && String(value).includes('KMGTPE')) ? undefined : value,
  );
}

function podOf(name: string): object {
  const container = { name: 'main', image: 'registry.example/main:1', resources: { requests: { cpu: '1' } } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { [podGroupLabel]: 'red' } },
    spec: { containers: [container], schedulerName },
  };
}
