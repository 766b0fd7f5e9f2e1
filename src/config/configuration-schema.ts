import { extensionPoints } from '../framework/extension-point.ts';
import { parseDuration } from '../base/parse-duration.ts';
import { withDefaults } from '../plugins/argument-defaults.ts';
import { shortText } from '../plugins/field-path.ts';
import type { ArgumentSchema, ObjectSchema, ReportProblem } from '../plugins/argument-schema.ts';
import { compileArgumentSchema } from '../plugins/compile-argument-schema.ts';
import type { ArgumentValidator } from '../plugins/compile-argument-schema.ts';
import type { ArgumentProblem } from '../plugins/plugin-arguments-error.ts';

/** The versions of KubeSchedulerConfiguration that are read. */
export const configurationVersions = ['v1', 'v1beta3', 'v1beta2'] as const;
export type ConfigurationVersion = (typeof configurationVersions)[number];

export const configurationGroup = 'kubescheduler.config.k8s.io';
export const configurationKind = 'KubeSchedulerConfiguration';

/** Points of kube-scheduler's pod groups, which do not exist here: a group is planned as a whole. */
export const foreignPoints = [
  'placementGenerate',
  'placementScore',
  'placementFeasible',
  'podGroupPostFilter',
] as const;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const int32 = { type: 'integer', maximum: 2_147_483_647 } as const;
const percentage = { type: 'integer', minimum: 0, maximum: 100 } as const;
/** Seconds that are still exact as milliseconds, some 285,000 years. */
const seconds = { type: 'integer', minimum: 1, maximum: 9_007_199_254_740 } as const;

const duration = {
  type: 'string',
  mustBe: 'a duration such as 15s or 1m30s',
  check: (value: string, report: ReportProblem) => {
    if (parseDuration(value) === undefined)
      report([], `must be a duration such as 15s or 1m30s, not ${JSON.stringify(value)}`);
  },
} as const;

const plugin = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, mustBe: 'the name of a plugin' },
    weight: { ...int32, minimum: 0 },
  },
} as const;

const pluginSet = {
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: { type: 'array', items: plugin, uniqueBy: ['name'] },
    disabled: { type: 'array', items: plugin },
  },
} as const;

const profile = {
  type: 'object',
  additionalProperties: false,
  properties: {
    schedulerName: text,
    percentageOfNodesToScore: percentage,
    percentageOfPlacementsToScore: percentage,
    plugins: {
      type: 'object',
      additionalProperties: false,
      properties: {
        multiPoint: pluginSet,
        ...(Object.fromEntries(extensionPoints.map((point) => [point, pluginSet])) as Record<
          (typeof extensionPoints)[number],
          typeof pluginSet
        >),
        ...(Object.fromEntries(foreignPoints.map((point) => [point, pluginSet])) as Record<
          (typeof foreignPoints)[number],
          typeof pluginSet
        >),
        unreserve: { rejected: 'is part of reserve: name its plugins there' },
      },
    },
    pluginConfig: {
      type: 'array',
      uniqueBy: ['name'],
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: { name: { type: 'string', minLength: 1, mustBe: 'the name of a plugin' }, args: {} },
      },
    },
  },
} as const;

/** As Go reads base64: line breaks in it do not count, all else does. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const pem = {
  type: 'string',
  mustBe: 'PEM in base64',
  check: (value: string, report: ReportProblem) => {
    if (!base64.test(value.replaceAll(/[\r\n]/g, ''))) report([], `must be PEM in base64, not ${shortText(value)}`);
  },
} as const;

const extender = {
  type: 'object',
  additionalProperties: false,
  required: ['urlPrefix'],
  properties: {
    urlPrefix: { type: 'string', pattern: '^https?://.', mustBe: 'a URL such as http://127.0.0.1:8080/scheduler' },
    filterVerb: text,
    preemptVerb: text,
    prioritizeVerb: text,
    weight: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER },
    bindVerb: text,
    enableHTTPS: flag,
    tlsConfig: {
      type: 'object',
      additionalProperties: false,
      properties: {
        insecure: flag,
        serverName: text,
        certFile: text,
        keyFile: text,
        caFile: text,
        certData: pem,
        keyData: pem,
        caData: pem,
      },
    },
    httpTimeout: duration,
    nodeCacheCapable: flag,
    managedResources: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: { name: text, ignoredByScheduler: flag },
      },
    },
    ignorable: flag,
  },
} as const;

const ownAddress = 'is of v1beta2: give --bind-address and --secure-port instead';

/** The shape of version v1. No field has a default here, so that what a file says can be told from what it does not. */
export const configurationSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    apiVersion: text,
    kind: text,
    parallelism: { ...int32, minimum: 1 },
    leaderElection: {
      type: 'object',
      additionalProperties: false,
      properties: {
        leaderElect: flag,
        leaseDuration: duration,
        renewDeadline: duration,
        retryPeriod: duration,
        resourceLock: text,
        resourceName: text,
        resourceNamespace: text,
      },
    },
    clientConnection: {
      type: 'object',
      additionalProperties: false,
      properties: {
        kubeconfig: text,
        acceptContentTypes: text,
        contentType: text,
        qps: { type: 'number' },
        burst: { ...int32, minimum: 0 },
      },
    },
    enableProfiling: flag,
    enableContentionProfiling: flag,
    percentageOfNodesToScore: percentage,
    percentageOfPlacementsToScore: percentage,
    podInitialBackoffSeconds: seconds,
    podMaxBackoffSeconds: seconds,
    profiles: { type: 'array', items: profile },
    extenders: { type: 'array', items: extender },
    delayCacheUntilActive: flag,
    healthzBindAddress: { rejected: ownAddress },
    metricsBindAddress: { rejected: ownAddress },
    algorithmSource: { rejected: 'is of versions that had policies: state profiles instead' },
  },
} as const;

const switchedOff = {
  type: 'string',
  check: (address: string, report: ReportProblem) => {
    if (address !== '' && !address.endsWith(':0')) {
      report(
        [],
        'must be empty or have the port 0, as in kube-scheduler: give --bind-address and --secure-port instead',
      );
    }
  },
} as const;

/** A version's shape, compiled when a file of it is read, which takes some thirty milliseconds. */
class ConfigurationShape {
  readonly #schema: ObjectSchema;
  #validate: ArgumentValidator | undefined;

  constructor(schema: ObjectSchema) {
    this.#schema = schema;
  }

  /** The value without what is null, which counts as absent, and all that is wrong with it. */
  check(value: unknown): { readonly value: unknown; readonly problems: readonly ArgumentProblem[] } {
    const present = withDefaults(this.#schema, value);
    this.#validate ??= compileArgumentSchema(this.#schema);
    return { value: present, problems: this.#validate(present) };
  }
}

/** The shape of a version. What v1 has and an older version had not is read there as well, but for multiPoint in v1beta2. */
function schemaOf(version: ConfigurationVersion): ObjectSchema {
  if (version !== 'v1beta2') return configurationSchema;
  const { properties } = configurationSchema;
  const multiPoint = { rejected: `is not in v1beta2: write apiVersion: ${configurationGroup}/v1` };
  const plugins: ArgumentSchema = {
    ...profile.properties.plugins,
    properties: { ...profile.properties.plugins.properties, multiPoint },
  };
  return {
    ...configurationSchema,
    properties: {
      ...properties,
      profiles: { type: 'array', items: { ...profile, properties: { ...profile.properties, plugins } } },
      healthzBindAddress: switchedOff,
      metricsBindAddress: switchedOff,
    },
  };
}

/** version -> the shape of its files */
export const configurationShapes: Readonly<Record<ConfigurationVersion, ConfigurationShape>> = {
  v1: new ConfigurationShape(schemaOf('v1')),
  v1beta3: new ConfigurationShape(schemaOf('v1beta3')),
  v1beta2: new ConfigurationShape(schemaOf('v1beta2')),
};
