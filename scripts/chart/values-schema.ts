import { configurationSchema } from '../../src/config/configuration-schema.ts';
import { isListSchema, isObject, isObjectSchema } from '../../src/plugins/argument-schema.ts';
import type { ArgumentSchema } from '../../src/plugins/argument-schema.ts';

/** JSON Schema draft 7, the newest that both Helm 3 and Helm 4 support. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const flag: JsonSchema = { type: 'boolean' };
const text: JsonSchema = { type: 'string' };
/** A string without whitespace. */
const word: JsonSchema = { type: 'string', pattern: '^[^\\s]*$' };
const objects: JsonSchema = { type: 'array', items: { type: 'object' } };
const words: JsonSchema = { type: 'array', items: { ...word, minLength: 1 } };
const anyObject: JsonSchema = { type: 'object' };

function orEmpty(pattern: string, rest: JsonSchema = {}): JsonSchema {
  return { type: 'string', pattern: `^$|${pattern}`, ...rest };
}

function oneOf(...values: readonly string[]): JsonSchema {
  return { type: 'string', enum: values };
}

function whole(minimum: number, maximum?: number): JsonSchema {
  return { type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) };
}

/** Returns a schema that requires all properties. values.yaml sets all of them, so the schema only rejects a null, with which Helm removes a value. */
function strict(properties: Readonly<Record<string, JsonSchema>>, optional: readonly string[] = []): JsonSchema {
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    properties,
  };
}

const subdomain = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$';
const objectName: JsonSchema = { type: 'string', pattern: subdomain, maxLength: 253 };
const optionalName: JsonSchema = orEmpty(subdomain, { maxLength: 253 });

const qualifiedName = '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$';
const labels: JsonSchema = {
  type: 'object',
  propertyNames: { pattern: qualifiedName, maxLength: 317 },
  additionalProperties: {
    type: 'string',
    maxLength: 63,
    pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
  },
};
const annotations: JsonSchema = {
  type: 'object',
  propertyNames: { pattern: qualifiedName, maxLength: 317 },
  additionalProperties: text,
};

const delaySeconds = whole(0, 2_147_483_647);

const pullSecrets: JsonSchema = {
  type: 'array',
  items: {
    anyOf: [
      objectName,
      { type: 'object', additionalProperties: false, required: ['name'], properties: { name: objectName } },
    ],
  },
};

const quantities: JsonSchema = {
  type: 'object',
  additionalProperties: {
    type: ['string', 'number'],
    pattern: '^[0-9]+(\\.[0-9]*)?([kMGTPE]i?|m|e[0-9]+)?$',
  },
};
const resources: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: { requests: quantities, limits: quantities, claims: objects },
};

/** The timing fields of a probe. The chart sets the request. */
const probe: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    initialDelaySeconds: whole(0),
    periodSeconds: whole(1),
    timeoutSeconds: whole(1),
    successThreshold: whole(1),
    failureThreshold: whole(1),
    terminationGracePeriodSeconds: whole(1),
  },
};

const component = {
  replicaCount: whole(1, 3),
  leaderElect: flag,
  priorityClassName: optionalName,
  resources,
  nodeSelector: labels,
  affinity: anyObject,
  tolerations: objects,
  topologySpreadConstraints: objects,
  podLabels: labels,
  podAnnotations: annotations,
  podSecurityContext: anyObject,
  securityContext: anyObject,
  terminationGracePeriodSeconds: whole(0),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  extraArgs: { type: 'array', items: { type: 'string', pattern: '^-' } },
  extraEnv: { type: 'array', items: { type: 'object', required: ['name'] } },
  extraVolumes: { type: 'array', items: { type: 'object', required: ['name'] } },
  extraVolumeMounts: { type: 'array', items: { type: 'object', required: ['name', 'mountPath'] } },
  serviceAccount: strict({ create: flag, name: optionalName, annotations }, ['annotations']),
} satisfies Readonly<Record<string, JsonSchema>>;
/** Values that users can remove with null. */
const optionalOfComponent = [
  'resources',
  'nodeSelector',
  'affinity',
  'tolerations',
  'topologySpreadConstraints',
  'podSecurityContext',
  'securityContext',
  'startupProbe',
  'livenessProbe',
  'readinessProbe',
];

const renderMode = oneOf('skipIfMissing', 'failIfMissing', 'alwaysRender');
const prometheusDuration = orEmpty('^(0|([0-9]+(ms|s|m|h|d|w|y))+)$');
const operatorObject = { enabled: flag, renderMode, namespace: optionalName, additionalLabels: labels };
const monitor = {
  ...operatorObject,
  interval: prometheusDuration,
  scrapeTimeout: prometheusDuration,
  tlsConfig: anyObject,
  relabelings: objects,
  metricRelabelings: objects,
};

/** Converts the program's schema of the configuration to JSON Schema. Undefined for a rejected field. */
function ofConfiguration(schema: ArgumentSchema): JsonSchema | undefined {
  if ('rejected' in schema) return undefined;
  if ('enum' in schema) return { enum: schema.enum };
  if (!('type' in schema)) return {};
  if (isListSchema(schema)) {
    const { minItems, maxItems } = schema;
    return {
      type: 'array',
      items: ofConfiguration(schema.items) ?? {},
      ...(minItems !== undefined && { minItems }),
      ...(maxItems !== undefined && { maxItems }),
    };
  }
  if (isObjectSchema(schema)) {
    const properties = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
      const made = ofConfiguration(inner);
      return made === undefined ? [] : [[name, made] as const];
    });
    const { required, additionalProperties } = schema;
    return {
      type: 'object',
      additionalProperties: isObject(additionalProperties) ? {} : additionalProperties,
      ...(required !== undefined && { required }),
      properties: Object.fromEntries(properties),
    };
  }
  const { check, mustBe, ...keywords } = schema;
  const isDuration = check !== undefined && mustBe?.startsWith('a duration') === true;
  return { ...keywords, ...(isDuration && { pattern: '^(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|ms|s|m|h))+)$' }) };
}

function configuration(): JsonSchema {
  const schema = ofConfiguration(configurationSchema) as { readonly properties: Readonly<Record<string, JsonSchema>> };
  const fixed = {
    apiVersion: { const: 'kubescheduler.config.k8s.io/v1' },
    kind: { const: 'KubeSchedulerConfiguration' },
  };
  return { ...schema, properties: { ...schema.properties, ...fixed } };
}

const alertChange: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    for: prometheusDuration,
    keep_firing_for: prometheusDuration,
    expr: { type: 'string', minLength: 1 },
    labels: { type: 'object', additionalProperties: text },
    annotations: { type: 'object', additionalProperties: text },
  },
};

/**
 * Returns the schema of the chart's values. It is strict for the chart's own values and open for Kubernetes types, which the API server
 * validates. It accepts `enabled` and additional fields of `global`, because Helm and parent charts set them.
 */
export function valuesSchema(): JsonSchema {
  const properties = {
    nameOverride: orEmpty(subdomain, { maxLength: 40 }),
    fullnameOverride: orEmpty(subdomain, { maxLength: 253 }),
    commonLabels: labels,
    global: {
      type: 'object',
      properties: { imageRegistry: word, imagePullSecrets: pullSecrets },
    },
    enabled: flag,
    image: strict({
      registry: orEmpty('^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._/-]*)?$'),
      repository: {
        type: 'string',
        pattern: '^([A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$',
      },
      tag: orEmpty('^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$'),
      digest: orEmpty('^sha256:[a-f0-9]{64}$'),
      pullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
      pullSecrets,
    }),
    crds: strict({ install: flag, keep: flag, takeOwnership: flag }),
    rbac: strict({ create: flag, aggregate: flag, authReader: flag, stockRoles: flag }),
    config: configuration(),
    plugins: strict({ enabled: words, disabled: words }),
    preemption: strict({ enabled: flag }),
    reservations: strict({
      enabled: flag,
      poolLabel: orEmpty(qualifiedName, { maxLength: 317 }),
      reserveAfterSeconds: delaySeconds,
      drainAfterSeconds: delaySeconds,
      overrunPenaltySeconds: delaySeconds,
    }),
    pluginConfig: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: { name: { type: 'string', minLength: 1 }, args: {} },
      },
    },
    nativePodGroups: strict({ writeStatus: { enum: ['auto', true, false] } }),
    scheduler: strict({ name: optionalName, ...component }, optionalOfComponent),
    controller: strict(
      {
        enabled: flag,
        workers: whole(1, 1000),
        kubeApiQps: { type: 'number', minimum: 0 },
        kubeApiBurst: whole(1, 1_000_000),
        ...component,
      },
      optionalOfComponent,
    ),
    maxRepairGraceSeconds: whole(1, 86_400),
    podSchedulerName: { ...objectName, minLength: 1 },
    bindAddress: { type: 'string', pattern: '^[0-9a-fA-F.:]+$' },
    tls: strict({
      secretName: optionalName,
      minVersion: { type: 'string', enum: ['', 'VersionTLS12', 'VersionTLS13'] },
      cipherSuites: { type: 'array', items: { type: 'string', pattern: '^TLS_[A-Z0-9_]+$' } },
    }),
    logging: strict({ level: oneOf('error', 'warn', 'info', 'debug'), format: oneOf('text', 'json') }),
    podDisruptionBudget: strict({
      enabled: flag,
      maxUnavailable: { type: ['integer', 'string'], minimum: 0, pattern: '^[0-9]+%$' },
      unhealthyPodEvictionPolicy: oneOf('AlwaysAllow', 'IfHealthyBudget'),
    }),
    service: strict({ enabled: flag, annotations }, ['annotations']),
    networkPolicy: strict({
      enabled: flag,
      ingressFrom: objects,
      restrictEgress: flag,
      apiServerPorts: { type: 'array', minItems: 1, items: whole(1, 65_535) },
      extraEgress: objects,
    }),
    metrics: strict({
      readers: { type: 'array', items: strict({ name: objectName, namespace: objectName }) },
      serviceMonitor: strict(monitor),
      podMonitor: strict({
        ...monitor,
        credentials: strict({ name: optionalName, key: { type: 'string', minLength: 1 } }),
      }),
      prometheusRule: strict({
        ...operatorObject,
        disabled: words,
        overrides: { type: 'object', additionalProperties: alertChange },
        runbookUrl: orEmpty('^https?://[^\\s]+$'),
      }),
      dashboard: strict({ enabled: flag, namespace: optionalName, labels, annotations }, ['annotations']),
    }),
    tests: strict({ enabled: flag }),
    extraObjects: { type: 'array', items: { type: ['object', 'string'] } },
  };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: "Values of Tutti's chart",
    ...strict(properties, ['global', 'enabled']),
  };
}
