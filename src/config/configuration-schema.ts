import { isQualifiedName } from '../api/qualified-name.ts';
import { extensionPoints } from '../framework/extension-point.ts';
import { parseDuration } from '../base/parse-duration.ts';
import { withDefaults } from '../plugins/argument-defaults.ts';
import { shortText } from '../plugins/field-path.ts';
import type { ArgumentSchema, ObjectSchema, ReportProblem } from '../plugins/argument-schema.ts';
import { compileArgumentSchema } from '../plugins/compile-argument-schema.ts';
import type { ArgumentValidator } from '../plugins/compile-argument-schema.ts';
import type { ArgumentProblem } from '../plugins/plugin-arguments-error.ts';
import { defaultReservations } from './scheduler-configuration.ts';

/** The supported versions of KubeSchedulerConfiguration. */
export const configurationVersions = ['v1', 'v1beta3', 'v1beta2'] as const;
export type ConfigurationVersion = (typeof configurationVersions)[number];

export const configurationGroup = 'kubescheduler.config.k8s.io';
export const configurationKind = 'KubeSchedulerConfiguration';

/** Extension points of kube-scheduler for pod groups. Tutti does not have them: it plans a group as a whole. */
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
/** Seconds that are still exact in milliseconds: about 285,000 years. */
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

const delaySeconds = { ...int32, minimum: 0 } as const;

/** Not a pattern, because Helm, which gets the patterns, does not support this one. */
const labelKey = {
  type: 'string',
  mustBe: 'the key of a node label such as example.com/pool',
  check: (value: string, report: ReportProblem) => {
    if (!isQualifiedName(value)) report([], `must be ${labelKey.mustBe}, not ${shortText(value)}`);
  },
} as const;

const reservations = {
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: flag,
    poolLabel: labelKey,
    reserveAfterSeconds: delaySeconds,
    drainAfterSeconds: delaySeconds,
    overrunPenaltySeconds: delaySeconds,
  },
  check: (
    value: { readonly reserveAfterSeconds?: number; readonly drainAfterSeconds?: number },
    report: ReportProblem,
  ) => {
    const { reserveAfterSeconds = defaultReservations.reserveAfterMs / 1_000, drainAfterSeconds: given } = value;
    const drainAfterSeconds = given ?? defaultReservations.drainAfterMs / 1_000;
    if (drainAfterSeconds >= reserveAfterSeconds) return;
    const found = `${drainAfterSeconds}${given === undefined ? ' (the default)' : ''}`;
    report(['drainAfterSeconds'], `must be at least reserveAfterSeconds (${reserveAfterSeconds}), not ${found}`);
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
        unreserve: { rejected: 'is part of reserve: enable its plugins there' },
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
    reservations,
  },
} as const;

/** Base64 as Go reads it: it ignores line breaks, and nothing else. */
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

const removedAddress = 'is a v1beta2 field: set --bind-address and --secure-port instead';

/** The schema of version v1. It has no defaults, so that set and unset fields remain distinct. */
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
    healthzBindAddress: { rejected: removedAddress },
    metricsBindAddress: { rejected: removedAddress },
    algorithmSource: { rejected: 'is a field of older versions: set profiles instead' },
  },
} as const;

const disabledAddress = {
  type: 'string',
  check: (address: string, report: ReportProblem) => {
    if (address !== '' && !address.endsWith(':0')) {
      report([], 'must be empty or have port 0, as in kube-scheduler: set --bind-address and --secure-port instead');
    }
  },
} as const;

/** The schema of a version. It is compiled on first use, which takes about thirty milliseconds. */
class ConfigurationShape {
  readonly #schema: ObjectSchema;
  #validate: ArgumentValidator | undefined;

  constructor(schema: ObjectSchema) {
    this.#schema = schema;
  }

  /** Returns the value without null fields, which count as absent, and everything that is wrong with it. */
  check(value: unknown): { readonly value: unknown; readonly problems: readonly ArgumentProblem[] } {
    const present = withDefaults(this.#schema, value);
    this.#validate ??= compileArgumentSchema(this.#schema);
    return { value: present, problems: this.#validate(present) };
  }
}

/** Returns the schema of a version. Older versions also accept the new fields of v1, except multiPoint in v1beta2. */
function schemaOf(version: ConfigurationVersion): ObjectSchema {
  if (version !== 'v1beta2') return configurationSchema;
  const { properties } = configurationSchema;
  const multiPoint = { rejected: `does not exist in v1beta2: set apiVersion to ${configurationGroup}/v1` };
  const plugins: ArgumentSchema = {
    ...profile.properties.plugins,
    properties: { ...profile.properties.plugins.properties, multiPoint },
  };
  return {
    ...configurationSchema,
    properties: {
      ...properties,
      profiles: { type: 'array', items: { ...profile, properties: { ...profile.properties, plugins } } },
      healthzBindAddress: disabledAddress,
      metricsBindAddress: disabledAddress,
    },
  };
}

/** version -> schema of its files */
export const configurationShapes: Readonly<Record<ConfigurationVersion, ConfigurationShape>> = {
  v1: new ConfigurationShape(schemaOf('v1')),
  v1beta3: new ConfigurationShape(schemaOf('v1beta3')),
  v1beta2: new ConfigurationShape(schemaOf('v1beta2')),
};
