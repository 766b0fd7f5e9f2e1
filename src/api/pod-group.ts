import type { Condition } from './condition.ts';
import { MalformedObjectError } from './malformed-object-error.ts';
import { parseQuantity, QuantityError } from './quantity.ts';
import type { Quantity } from './quantity.ts';

/** Where the API server keeps PodGroups. */
export const podGroupResource = {
  group: 'scheduling.x-k8s.io',
  version: 'v1alpha1',
  apiVersion: 'scheduling.x-k8s.io/v1alpha1',
  kind: 'PodGroup',
  listKind: 'PodGroupList',
  plural: 'podgroups',
  singular: 'podgroup',
  shortNames: ['pg', 'pgs'],
} as const;

/** `/apis/…/podgroups`: of all namespaces, or of one; with a name the object itself. Parts are escaped. */
export function podGroupPath(namespace?: string, name?: string): string {
  const base = `/apis/${podGroupResource.apiVersion}`;
  if (namespace === undefined) return `${base}/${podGroupResource.plural}`;
  const collection = `${base}/namespaces/${encodeURIComponent(namespace)}/${podGroupResource.plural}`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}

/** `status.phase`; what each means is documented at `derivePodGroupStatus`. Absent until the controller has seen the group. */
export const podGroupPhases = ['Pending', 'Scheduling', 'Running', 'Finished', 'Failed', 'Unknown'] as const;
export type PodGroupPhase = (typeof podGroupPhases)[number];

/**
 * The types of `status.conditions`:
 * - Scheduled: members that count for the quorum are on nodes. When False, reason and message are a member's verdict.
 * - Started: the quorum was once on nodes. Never goes back to False while the object lives.
 * - Ready: the quorum's containers are ready now.
 * - Incomplete: the group is on nodes, and fewer members count than it needs.
 */
export const podGroupConditions = {
  scheduled: 'Scheduled',
  started: 'Started',
  ready: 'Ready',
  incomplete: 'Incomplete',
} as const;

/** minMember when the field is absent. The older implementation reads 0, which calls a group finished that has no pods. */
export const defaultMinMember = 1;

/**
 * What becomes of a group that never started, is on nodes in part and cannot be completed within its grace:
 * - `Release`: its members are evicted, so that nobody waits for room that they hold in vain; those alone that a controller makes anew.
 * - `KeepTrying`: they stay, and it comes before all that is new until it is whole.
 */
export const repairPolicies = ['Release', 'KeepTrying'] as const;
export type RepairPolicy = (typeof repairPolicies)[number];

/** repairPolicy when the field is absent: all or nothing, also when something breaks. */
export const defaultRepairPolicy: RepairPolicy = 'Release';

/** repairGraceSeconds when the field is absent. */
export const defaultRepairGraceSeconds = 60;

/** `spec`, as the API has it. */
export interface PodGroupSpec {
  /** The quorum: this many members start together, or none. At least 1. */
  readonly minMember?: number;
  /** What the quorum needs in total (not per member). Resource name -> quantity. */
  readonly minResources?: Readonly<Record<string, string | number>>;
  /** How long a group may wait, in seconds; absent: as the scheduler is configured. */
  readonly scheduleTimeoutSeconds?: number;
  /** What becomes of a group that cannot be completed; absent: `defaultRepairPolicy`. */
  readonly repairPolicy?: RepairPolicy;
  /** How long lost members are waited for, in seconds, at least 0; absent: `defaultRepairGraceSeconds`. */
  readonly repairGraceSeconds?: number;
}

/** `status`, as the API has it. Every field is optional: another controller, or none, may have written it. */
export interface PodGroupStatus {
  readonly phase?: string;
  /** namespace/name of the owners of one member, sorted, joined by commas. Says who uses the group; enforces nothing. */
  readonly occupiedBy?: string;
  readonly running?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  /** RFC 3339. Read for compatibility, not written. */
  readonly scheduleStartTime?: string;
  readonly observedGeneration?: number;
  /** Pods that name the group, whatever their phase. */
  readonly members?: number;
  /** Members that count for the quorum: bound to a node, not failed nor being deleted; finished ones once it started. */
  readonly scheduled?: number;
  /** Running members whose containers are ready. */
  readonly ready?: number;
  readonly conditions?: readonly Condition[];
}

/** What Tutti keeps of a PodGroup. */
export interface PodGroup {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** namespace/name */
  readonly key: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** Milliseconds since the epoch; 0 when the object carries none. */
  readonly creationTimestamp: number;
  /** At least 1; `defaultMinMember` when absent. */
  readonly minMember: number;
  /** Resource name -> total for the quorum; undefined when not stated. */
  readonly minResources: ReadonlyMap<string, Quantity> | undefined;
  readonly scheduleTimeoutSeconds: number | undefined;
  readonly repairPolicy: RepairPolicy;
  readonly repairGraceSeconds: number;
  /** As the API gave it, unchecked but for being an object. */
  readonly status: PodGroupStatus;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a PodGroup as JSON gives it. Throws MalformedObjectError naming the field path when metadata or spec cannot be used.
 * A status never makes a group unusable: other controllers write other phases, and ours writes the status anew.
 */
export function projectPodGroup(input: unknown): PodGroup {
  const raw = asObject(input) ?? {};
  const metadata = asObject(raw.metadata) ?? {};
  const keyParts = [metadata.namespace, metadata.name].filter((part) => typeof part === 'string');
  const fail: Fail = (path, problem, cause) => {
    throw new MalformedObjectError('PodGroup', keyParts.join('/'), path, problem, { cause });
  };
  const required = (field: string): string => {
    const value = metadata[field];
    return typeof value === 'string' && value !== '' ? value : fail(`metadata.${field}`, 'must be a non-empty string');
  };
  const uid = required('uid');
  const namespace = required('namespace');
  const name = required('name');
  const created = metadata.creationTimestamp;
  const creationTimestamp = typeof created === 'string' ? Date.parse(created) : 0;
  if (Number.isNaN(creationTimestamp)) fail('metadata.creationTimestamp', 'must be an RFC 3339 time');
  const spec = raw.spec === undefined || raw.spec === null ? {} : asObject(raw.spec);
  if (spec === undefined) return fail('spec', 'must be an object');
  const generation = metadata.generation;
  return {
    uid,
    namespace,
    name,
    key: `${namespace}/${name}`,
    generation: typeof generation === 'number' ? generation : 0,
    resourceVersion: required('resourceVersion'),
    creationTimestamp,
    minMember: int32(spec.minMember, 1, 'spec.minMember', fail) ?? defaultMinMember,
    minResources: resources(spec.minResources, fail),
    scheduleTimeoutSeconds: int32(spec.scheduleTimeoutSeconds, -(2 ** 31), 'spec.scheduleTimeoutSeconds', fail),
    repairPolicy: repairPolicyOf(spec.repairPolicy, fail),
    repairGraceSeconds: int32(spec.repairGraceSeconds, 0, 'spec.repairGraceSeconds', fail) ?? defaultRepairGraceSeconds,
    status: asObject(raw.status) ?? {},
  };
}

/** The phase in `status`; undefined when none is set, Unknown for one that is not in the list. */
export function podGroupPhaseOf(status: PodGroupStatus): PodGroupPhase | undefined {
  const phase: unknown = status.phase;
  if (phase === undefined || phase === null || phase === '') return undefined;
  return podGroupPhases.find((known) => known === phase) ?? 'Unknown';
}

/** Whether the Started condition says that the quorum was once on nodes. */
export function hasStarted(status: PodGroupStatus): boolean {
  const conditions: unknown = status.conditions;
  if (!Array.isArray(conditions)) return false;
  return conditions.some(
    (condition: Partial<Condition> | null) =>
      condition?.type === podGroupConditions.started && condition.status === 'True',
  );
}

/** Whether somebody keeps the Started condition, be it True or False. */
export function confirmsStart(status: PodGroupStatus): boolean {
  const conditions: unknown = status.conditions;
  if (!Array.isArray(conditions)) return false;
  return conditions.some((condition: Partial<Condition> | null) => condition?.type === podGroupConditions.started);
}

type Fail = (path: string, problem: string, cause?: unknown) => never;

function asObject(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function int32(value: unknown, minimum: number, path: string, fail: Fail): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < minimum || value > 2 ** 31 - 1) {
    const bound = minimum > 0 ? ` of at least ${minimum}` : '';
    return fail(path, `must be a whole 32-bit number${bound}, not ${JSON.stringify(value)}`);
  }
  return value;
}

function repairPolicyOf(value: unknown, fail: Fail): RepairPolicy {
  if (value === undefined || value === null) return defaultRepairPolicy;
  const policy = repairPolicies.find((known) => known === value);
  return (
    policy ?? fail('spec.repairPolicy', `must be one of ${repairPolicies.join(', ')}, not ${JSON.stringify(value)}`)
  );
}

function resources(value: unknown, fail: Fail): ReadonlyMap<string, Quantity> | undefined {
  if (value === undefined || value === null) return undefined;
  const entries = asObject(value);
  if (entries === undefined) return fail('spec.minResources', 'must map resource names to quantities');
  const parsed = new Map<string, Quantity>();
  for (const [resource, amount] of Object.entries(entries)) {
    const path = `spec.minResources[${JSON.stringify(resource)}]`;
    try {
      parsed.set(resource, parseQuantity(amount));
    } catch (error) {
      if (error instanceof QuantityError) fail(path, `is wrong: ${error.message}`, error);
      throw error;
    }
  }
  return parsed;
}
