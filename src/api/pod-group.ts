import { safeMessage } from '../base/safe-text.ts';
import type { Condition } from './condition.ts';
import { MalformedObjectError } from './malformed-object-error.ts';
import { parseQuantity, QuantityError } from './quantity.ts';
import type { Quantity } from './quantity.ts';

/** Names of the PodGroup resource in the API. */
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

/** Returns the API path `/apis/…/podgroups` of all namespaces, of one namespace, or of one object. Escapes the parts. */
export function podGroupPath(namespace?: string, name?: string): string {
  const base = `/apis/${podGroupResource.apiVersion}`;
  if (namespace === undefined) return `${base}/${podGroupResource.plural}`;
  const collection = `${base}/namespaces/${encodeURIComponent(namespace)}/${podGroupResource.plural}`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}

/** Values of `status.phase`; see `derivePodGroupStatus` for their meanings. Absent until the controller has seen the group. */
export const podGroupPhases = ['Pending', 'Scheduling', 'Running', 'Finished', 'Failed', 'Unknown'] as const;
export type PodGroupPhase = (typeof podGroupPhases)[number];

/**
 * The types of `status.conditions`:
 * - Scheduled: the quorum is bound. When False, reason and message are a member's verdict.
 * - Started: the quorum was once bound. Never returns to False while the object exists.
 * - Ready: the containers of the quorum are ready now.
 * - Incomplete: members are bound, but fewer count than the quorum.
 * - SpecAccepted: False if fields of the spec have no effect; otherwise absent.
 * - RepairGraceLimited: repairGraceSeconds exceeds the administrator's maximum, which applies instead; otherwise absent.
 */
export const podGroupConditions = {
  scheduled: 'Scheduled',
  started: 'Started',
  ready: 'Ready',
  incomplete: 'Incomplete',
  specAccepted: 'SpecAccepted',
  repairGraceLimited: 'RepairGraceLimited',
} as const;

/** Reasons of the condition Started once a life of the group has ended: a preemption ended it, or something else. */
export const endReasons = ['Preempted', 'Ended'] as const;

/** minMember if the field is absent. scheduler-plugins uses 0, so that a group without pods is finished. */
export const defaultMinMember = 1;

/**
 * What happens to a partially bound group that never started and that the scheduler cannot complete within its grace period:
 * - `Release`: evict its members, so that other pods can use their capacity. Only members that a controller recreates are evicted.
 * - `KeepTrying`: keep the members, and try the group before new work until it is complete.
 */
export const repairPolicies = ['Release', 'KeepTrying'] as const;
export type RepairPolicy = (typeof repairPolicies)[number];

/** repairPolicy if the field is absent: all or nothing, even after failures. */
export const defaultRepairPolicy: RepairPolicy = 'Release';

/** repairGraceSeconds if the field is absent. */
export const defaultRepairGraceSeconds = 60;

/** The administrator's maximum for repairGraceSeconds if none is set. It limits how long a group may have capacity that no pod uses. */
export const defaultMaxRepairGraceMs = 300_000;

/** `spec` in the API. */
export interface PodGroupSpec {
  /** The quorum: the minimum number of members that start together. At least 1. */
  readonly minMember?: number;
  /** Total resources of the quorum, not per member: resource name -> quantity. */
  readonly minResources?: Readonly<Record<string, string | number>>;
  /** How long placed members may wait for the others, in seconds. Absent: the scheduler's configuration applies. */
  readonly scheduleTimeoutSeconds?: number;
  /** What happens to a group that the scheduler cannot complete. Absent: `defaultRepairPolicy`. */
  readonly repairPolicy?: RepairPolicy;
  /** How long Tutti waits for replacements of lost members, in seconds, at least 0. Absent: `defaultRepairGraceSeconds`. */
  readonly repairGraceSeconds?: number;
}

/** `status` in the API. Every field is optional, because another controller or none may have written it. */
export interface PodGroupStatus {
  readonly phase?: string;
  /** namespace/name of the owners of one member, sorted and joined by commas. Informational only. */
  readonly occupiedBy?: string;
  readonly running?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  /** RFC 3339. Accepted for compatibility; Tutti does not write it. */
  readonly scheduleStartTime?: string;
  readonly observedGeneration?: number;
  /** Pods of the group, in any phase. */
  readonly members?: number;
  /** Members that count towards the quorum: bound, not failed and not being deleted. Succeeded members count once the group has started. */
  readonly scheduled?: number;
  /** Running members that are ready. */
  readonly ready?: number;
  /** RFC 3339. Latest time at which the group should start; see `PredictedStart`. */
  readonly predictedStartTime?: string;
  /** `StartConfidence`. */
  readonly startConfidence?: string;
  readonly conditions?: readonly Condition[];
}

/** Tutti's projection of a PodGroup. */
export interface PodGroup {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** namespace/name */
  readonly key: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** Milliseconds since the epoch; 0 if the object has none. */
  readonly creationTimestamp: number;
  /** At least 1; `defaultMinMember` if absent. */
  readonly minMember: number;
  /** Resource name -> total for the quorum. Undefined if not set. */
  readonly minResources: ReadonlyMap<string, Quantity> | undefined;
  readonly scheduleTimeoutSeconds: number | undefined;
  readonly repairPolicy: RepairPolicy;
  readonly repairGraceSeconds: number;
  /** The status from the API. It is an object, but otherwise not validated. */
  readonly status: PodGroupStatus;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Projects a PodGroup from JSON. Throws MalformedObjectError with the field path if metadata or spec is invalid. An invalid status never
 * makes a group unusable: other controllers write other phases, and Tutti's controller replaces the status.
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

/** Returns the grace period that applies to the group, in milliseconds. `maxMs`: the administrator's maximum. */
export function repairGraceMsOf({ repairGraceSeconds }: Pick<PodGroup, 'repairGraceSeconds'>, maxMs: number): number {
  return Math.min(repairGraceSeconds * 1000, maxMs);
}

/** Returns the phase in `status`: undefined if none is set, Unknown if it is not in the list. */
export function podGroupPhaseOf(status: PodGroupStatus): PodGroupPhase | undefined {
  const phase: unknown = status.phase;
  if (phase === undefined || phase === null || phase === '') return undefined;
  return podGroupPhases.find((known) => known === phase) ?? 'Unknown';
}

/** Returns whether the Started condition is True: in its present life, the group's quorum was once bound. */
export function hasStarted(status: PodGroupStatus): boolean {
  return startedSince(status) !== undefined;
}

/** Returns when the Started condition became True, as the API shows it; undefined if it is not True. */
export function startedSince(status: PodGroupStatus): string | undefined {
  const condition = startedCondition(status);
  return condition?.status === 'True' ? String(condition.lastTransitionTime) : undefined;
}

/** Returns whether the Started condition shows that a life of the group has ended and the next one has not started. */
export function startsAnew(status: PodGroupStatus): boolean {
  const { status: value, reason } = startedCondition(status) ?? {};
  return value === 'False' && endReasons.some((known) => known === reason);
}

/** Returns whether the status has a Started condition, True or False. */
export function confirmsStart(status: PodGroupStatus): boolean {
  return startedCondition(status) !== undefined;
}

function startedCondition({ conditions }: PodGroupStatus): Partial<Condition> | undefined {
  const list: unknown = conditions;
  if (!Array.isArray(list)) return undefined;
  const found: unknown = list.find((each: Partial<Condition> | null) => each?.type === podGroupConditions.started);
  return found as Partial<Condition> | undefined;
}

/** A prefix of 253 characters, a slash, and a name of 63. */
const maxResourceNameLength = 317;

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
      // The schema allows any text here. Longer text than any name stays no valid name.
      parsed.set(safeMessage(resource, maxResourceNameLength), parseQuantity(amount));
    } catch (error) {
      if (error instanceof QuantityError) fail(path, `is invalid: ${error.message}`, error);
      throw error;
    }
  }
  return parsed;
}
