import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StructuralSchema } from '../../src/api/pod-group-schema.ts';
import { podGroupDefinition } from '../../src/api/pod-group-schema.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { watchServedSchema } from '../../src/compose/watch-served-schema.ts';
import { createMetricRegistry } from '../../src/observability/metric-registry.ts';
import { silentLogger } from '../../src/observability/silent-logger.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { TestPlane } from '../planes/plane.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const path = `${definitions}/${podGroupDefinition.metadata.name}`;

let plane: TestPlane;
beforeEach(async () => {
  plane = await openEmbeddedPlane();
  await remove();
});
afterEach(() => plane.stop());

/** Deletes the CRD; resolves when it is gone. */
async function remove(): Promise<void> {
  const isThere = (): Promise<boolean> =>
    plane.client.get(path).then(
      () => true,
      () => false,
    );
  if (await isThere()) await plane.client.delete(path);
  await expect.poll(isThere).toBe(false);
}

/** Returns the CRD with another schema of the status. */
function definition(status: object): object {
  const [version] = podGroupDefinition.spec.versions;
  const { openAPIV3Schema: schema } = version.schema;
  const versions = [
    { ...version, schema: { openAPIV3Schema: { ...schema, properties: { ...schema.properties, status } } } },
  ];
  return { ...podGroupDefinition, spec: { ...podGroupDefinition.spec, versions } };
}

const status: StructuralSchema = podGroupDefinition.spec.versions[0].schema.openAPIV3Schema.properties.status;
const fields = status.properties!;
const conditionFields = fields.conditions!.items!.properties!;

function without(all: Readonly<Record<string, StructuralSchema>>, ...names: string[]): object {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));
}

/** Fields that scheduler-plugins does not have. */
const own = [
  ...['observedGeneration', 'members', 'scheduled', 'ready', 'predictedStartTime', 'startConfidence', 'conditions'],
];

class Watching {
  readonly registry = createMetricRegistry({ processMetrics: false });
  readonly clock = new VirtualClock();
  readonly errors: unknown[] = [];
  readonly #running = watchServedSchema({
    client: plane.client,
    clock: this.clock,
    registry: this.registry,
    logger: { ...silentLogger, error: (_message, fields) => void this.errors.push(fields?.dropped) },
  });

  /** Advances to the next check, if it is due within ten minutes, and expects this value; undefined: no series. */
  async value(expected: number | undefined): Promise<void> {
    await expect
      .poll(async () => {
        this.clock.advance(10 * 60_000);
        return /^tutti_crd_compatible\{.*\} (\d)$/m.exec(await this.registry.metrics())?.[1];
      })
      .toBe(expected === undefined ? undefined : String(expected));
  }

  droppedFields(): Promise<readonly string[]> {
    return this.#running.droppedFields();
  }

  stop(): Promise<void> {
    return this.#running.stop();
  }
}

test('ME8 the CRD of another project is detected, and so is the right one in its place', async () => {
  await plane.client.create(definitions, definition({ ...status, properties: without(fields, ...own) }));
  const watching = new Watching();
  await watching.value(0);
  const dropped = own.map((name) => `status.${name}`);
  expect(watching.errors).toEqual([dropped.join(', ')]);
  expect(await watching.droppedFields()).toEqual(dropped);
  await remove();
  await watching.value(undefined);
  expect(await watching.droppedFields()).toEqual([]);
  await plane.client.create(definitions, podGroupDefinition);
  await watching.value(1);
  expect(watching.errors).toHaveLength(1);
  await watching.stop();
});

const shortConditions = {
  ...fields.conditions,
  items: { type: 'object', required: ['type'], properties: without(conditionFields, 'message') },
};

test.each([
  ['that preserves unknown fields', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, undefined],
  [
    'whose conditions lack a field',
    { ...status, properties: { ...fields, conditions: shortConditions } },
    'status.conditions[].message',
  ],
  [
    'of an older version of Tutti',
    { ...status, properties: without(fields, 'predictedStartTime', 'startConfidence') },
    'status.predictedStartTime, status.startConfidence',
  ],
  [
    'without a field that Tutti does not write',
    { ...status, properties: without(fields, 'scheduleStartTime') },
    undefined,
  ],
])('a CRD %s', async (_, changed, dropped) => {
  await plane.client.create(definitions, definition(changed));
  const watching = new Watching();
  await watching.value(dropped === undefined ? 1 : 0);
  expect(watching.errors).toEqual(dropped === undefined ? [] : [dropped]);
  await watching.stop();
});

test('without access to the CRD, the metric has no value', async () => {
  const registry = createMetricRegistry({ processMetrics: false });
  const get = (): Promise<never> => Promise.reject(new Error('forbidden'));
  const watching = watchServedSchema({
    client: { get },
    clock: new VirtualClock(),
    registry,
    logger: { ...silentLogger, error: () => expect.unreachable() },
  });
  expect(await watching.droppedFields()).toEqual([]);
  expect(await registry.metrics()).not.toMatch(/^tutti_crd_compatible/m);
  await watching.stop();
});
