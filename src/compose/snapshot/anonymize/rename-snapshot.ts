import type {
  Snapshot,
  SnapshotAmounts,
  SnapshotEntity,
  SnapshotGroup,
  SnapshotNode,
  SnapshotPod,
  SnapshotTemplate,
} from '../../../api/explain/snapshot.ts';
import type { Subject } from '../../../api/explain/basis.ts';
import { isAdmissionRejection } from '../../../api/admission-rejection.ts';
import { groupKeyOf, parseGroupKey } from '../../../api/group-key.ts';
import type { Pod } from '../../../api/pod.ts';
import { renameConfiguration } from './rename-configuration.ts';
import { LabelRenaming, NumericKeys } from './rename-labels.ts';
import { renameObject, renameVolume } from './rename-objects.ts';
import { Renaming } from './renaming.ts';
import type { Rename } from './renaming.ts';

/** A snapshot with other names. */
export interface RenamedSnapshot {
  readonly snapshot: Snapshot;
  readonly rename: Rename;
}

/** Replaces all names in a snapshot. Verdicts and plans have no messages any more. */
export function renameSnapshot(snapshot: Snapshot): RenamedSnapshot {
  const renaming = new Renaming();
  const numeric = new NumericKeys();
  for (const key of keysOfNumbers(snapshot)) numeric.add(key);
  const seeing = new SnapshotRenaming(
    renaming.see,
    new LabelRenaming(renaming.see, (key, value) => {
      numeric.see(key, value);
      return undefined;
    }),
  );
  seeing.snapshot(snapshot);
  const rename = renaming.replacement;
  const labels = new LabelRenaming(rename, (key, value) => numeric.replacement(key, value));
  return { snapshot: new SnapshotRenaming(rename, labels).snapshot(snapshot), rename };
}

/** Returns the keys that an operator Gt or Lt compares. */
function keysOfNumbers(snapshot: Snapshot): readonly string[] {
  const keys = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { key, operator } = value as { readonly key?: unknown; readonly operator?: unknown };
    if (typeof key === 'string' && (operator === 'Gt' || operator === 'Lt')) keys.add(key);
    Object.values(value).forEach(visit);
  };
  visit([snapshot.templates, snapshot.objects, snapshot.configuration]);
  return [...keys];
}

const knownKinds: readonly string[] = [
  ...['Job', 'CronJob', 'ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicationController', 'Node'],
];
const knownReasons: ReadonlySet<string> = new Set([
  ...['WaitingForGang', 'WaitingForTurn', 'Unschedulable', 'SchedulerError', 'SchedulingGated', 'LabelMissing'],
  ...['Evicted', 'OOMKilled', 'DeadlineExceeded', 'Shutdown', 'NodeLost', 'Terminated', 'PreemptionByScheduler'],
  ...['DeletionByTaintManager', 'EvictionByEvictionAPI', 'DeletionByPodGC', 'TerminationByKubelet'],
]);

class SnapshotRenaming {
  readonly #rename: Rename;
  readonly #labels: LabelRenaming;

  constructor(rename: Rename, labels: LabelRenaming) {
    this.#rename = rename;
    this.#labels = labels;
  }

  snapshot(snapshot: Snapshot): Snapshot {
    const rename = this.#rename;
    const { ties: _, ...rest } = snapshot;
    return {
      ...rest,
      anonymized: true,
      configuration: renameConfiguration(snapshot.configuration, rename, this.#labels, resourcesIn(snapshot)),
      nodes: snapshot.nodes.map((node) => this.#node(node)),
      templates: snapshot.templates.map((template) => this.#template(template)),
      pods: snapshot.pods.map((pod) => this.#pod(pod)),
      podGroups: snapshot.podGroups.map((group) => this.#group(group)),
      groupLives: snapshot.groupLives.map((life) => ({ ...life, key: this.#groupKey(life.key) })),
      objects: snapshot.objects.map((object) => renameObject(object, rename, this.#labels)),
      reservations: snapshot.reservations.map(({ owner, nodeName, ...reservation }) => ({
        ...reservation,
        owner: typeof owner === 'string' ? rename('uid', owner) : this.#pod(owner),
        nodeName: rename('node', nodeName),
      })),
      queue: snapshot.queue.map((entity) => this.#entity(entity)),
    };
  }

  #node(node: SnapshotNode): SnapshotNode {
    const { name, uid, labels, taints, allocatable, images, unschedulable, declaredFeatures } = node;
    const rename = this.#rename;
    return {
      name: rename('node', name),
      uid: rename('uid', uid),
      resourceVersion: '0',
      labels: this.#labels.labels(labels),
      taints: taints.map(({ key, value, effect }) => ({
        key: this.#labels.key(key),
        value: rename('taint', value),
        effect: oneOf(effect, 'NoSchedule', 'PreferNoSchedule', 'NoExecute'),
      })),
      ...{ unschedulable, declaredFeatures },
      allocatable: this.#amounts(allocatable),
      images: images.map(({ name: image, size }) => ({ name: rename('image', image), size })),
    };
  }

  #template(template: SnapshotTemplate): SnapshotTemplate {
    const { requests, nodeSelector, nodeAffinity, tolerations, hostPorts, podAffinity, topologySpread } = template;
    const { controller, images, resourceClaims, ...numbers } = template;
    const rename = this.#rename;
    const labels = this.#labels;
    return {
      ...numbers,
      requests: this.#amounts(requests),
      nodeSelector: nodeSelector && labels.labels(nodeSelector),
      nodeAffinity: nodeAffinity && labels.nodeAffinity(nodeAffinity),
      tolerations: tolerations.map(({ key, operator, value, effect }) => ({
        ...(key !== undefined && { key: labels.key(key) }),
        ...(operator !== undefined && { operator: oneOf(operator, 'Exists', 'Equal', 'Lt', 'Gt', '') }),
        ...(value !== undefined && { value: rename('taint', value) }),
        ...(effect !== undefined && { effect: oneOf(effect, 'NoSchedule', 'PreferNoSchedule', 'NoExecute', '') }),
      })),
      hostPorts: hostPorts.map(({ protocol, hostIP, port }) => ({
        protocol: oneOf(protocol, 'TCP', 'UDP', 'SCTP'),
        hostIP: rename('address', hostIP),
        port,
      })),
      podAffinity: podAffinity && labels.podAffinity(podAffinity),
      topologySpread: topologySpread.map((constraint) => {
        const { topologyKey, labelSelector, matchLabelKeys, whenUnsatisfiable, ...policies } = constraint;
        const { maxSkew, minDomains, nodeAffinityPolicy, nodeTaintsPolicy } = policies;
        return {
          maxSkew,
          topologyKey: labels.key(topologyKey),
          whenUnsatisfiable: oneOf(whenUnsatisfiable, 'DoNotSchedule', 'ScheduleAnyway'),
          ...(labelSelector !== undefined && { labelSelector: labelSelector && labels.selector(labelSelector) }),
          ...(minDomains !== undefined && { minDomains }),
          ...(nodeAffinityPolicy && { nodeAffinityPolicy: oneOf(nodeAffinityPolicy, 'Honor', 'Ignore') }),
          ...(nodeTaintsPolicy && { nodeTaintsPolicy: oneOf(nodeTaintsPolicy, 'Honor', 'Ignore') }),
          ...(matchLabelKeys && { matchLabelKeys: matchLabelKeys.map((key) => labels.key(key)) }),
        };
      }),
      controller: controller && { kind: controller.kind, name: rename('workload', controller.name) },
      images: images.map((image) => rename('image', image)),
      resourceClaims: resourceClaims.map((name) => rename('claim', name)),
    };
  }

  #pod(pod: SnapshotPod): SnapshotPod {
    const rename = this.#rename;
    const { controller, preemptionMark, podScheduled, membershipDisagreement: both, predictedStart } = pod;
    const key = (of: string | undefined): string | undefined => (of === undefined ? undefined : this.#groupKey(of));
    return {
      ...pod,
      uid: rename('uid', pod.uid),
      namespace: rename('namespace', pod.namespace),
      name: rename('pod', pod.name),
      resourceVersion: '0',
      labels: this.#labels.labels(pod.labels),
      podGroupKey: key(pod.podGroupKey),
      otherGroupKey: key(pod.otherGroupKey),
      membershipDisagreement: both && {
        label: rename('group', both.label),
        annotation: rename('group', both.annotation),
      },
      schedulerName: rename('scheduler', pod.schedulerName),
      nodeName: rename('node', pod.nodeName),
      nominatedNodeName: rename('node', pod.nominatedNodeName),
      schedulingGates: pod.schedulingGates.map((gate) => rename('gate', gate)),
      podScheduled: podScheduled && withoutMessage(podScheduled),
      predictedStart,
      plannedGroupUid: pod.plannedGroupUid === undefined ? undefined : rename('uid', pod.plannedGroupUid),
      invalidRuntime: pod.invalidRuntime === undefined ? undefined : 'invalid',
      groupKeyOfOther: pod.groupKeyOfOther === undefined ? undefined : rename('key', pod.groupKeyOfOther),
      controller: controller && {
        kind: oneOf(controller.kind, ...knownKinds, ''),
        name: rename('workload', controller.name),
        uid: rename('uid', controller.uid),
      },
      failedBecause: reason(pod.failedBecause),
      disruptedBy: reason(pod.disruptedBy),
      preemptionMark: preemptionMark && {
        since: preemptionMark.since,
        schedulerName: rename('scheduler', preemptionMark.schedulerName),
      },
      volumes: pod.volumes.map((volume) => renameVolume(volume, rename)),
      ...(pod.assumedOn !== undefined && { assumedOn: rename('node', pod.assumedOn) }),
    };
  }

  #group(group: SnapshotGroup): SnapshotGroup {
    const { minResources, unsupported, startedSince } = group;
    return {
      ...group,
      uid: this.#rename('uid', group.uid),
      key: this.#groupKey(group.key),
      ...(minResources !== undefined && { minResources: this.#amounts(minResources) }),
      ...(unsupported !== undefined && { unsupported: 'unsupported' }),
      ...(startedSince !== undefined && { startedSince: timeOrNone(startedSince) }),
    };
  }

  #entity(entity: SnapshotEntity): SnapshotEntity {
    const { plan, verdict, gate } = entity;
    const rename = this.#rename;
    return {
      ...entity,
      key: this.#entityKey(entity.key),
      subject: this.#subject(entity.subject),
      rejectedBy: [],
      ...(gate !== undefined && { gate: '' }),
      ...(verdict !== undefined && { verdict: { ...verdict, message: '' } }),
      ...(plan !== undefined && {
        plan: {
          fits: plan.fits,
          assignments: plan.assignments.map(({ member, node }) => ({
            member: rename('pod', member),
            node: rename('node', node),
          })),
          ...(plan.message !== undefined && { message: '' }),
        },
      }),
    };
  }

  #subject({ kind, source, namespace, name, uid }: Subject): Subject {
    const rename = this.#rename;
    return {
      kind,
      ...(source !== undefined && { source }),
      namespace: rename('namespace', namespace),
      name: rename(kind === 'Pod' ? 'pod' : 'group', name),
      ...(uid !== undefined && { uid: rename('uid', uid) }),
    };
  }

  #groupKey(key: string): string {
    const { source, namespace, name } = parseGroupKey(key);
    return groupKeyOf(source, this.#rename('namespace', namespace), this.#rename('group', name));
  }

  #entityKey(key: string): string {
    const slash = key.indexOf('/');
    const [kind, rest] = [key.slice(0, slash), key.slice(slash + 1)];
    return kind === 'pod' ? `pod/${this.#rename('uid', rest)}` : `gang/${this.#groupKey(rest)}`;
  }

  #amounts(amounts: SnapshotAmounts): SnapshotAmounts {
    return Object.fromEntries(
      Object.entries(amounts).map(([name, amount]) => [this.#rename('resource', name), amount]),
    );
  }
}

/** A text of a closed list, in whatever way it got here. */
function oneOf(text: string, ...known: readonly string[]): string {
  return known.includes(text) ? text : 'Other';
}

function reason(text: string | undefined): string | undefined {
  if (text === undefined || knownReasons.has(text) || text === '') return text;
  return isAdmissionRejection(text) ? 'UnexpectedAdmissionError' : 'Other';
}

function withoutMessage(condition: NonNullable<Pod['podScheduled']>): NonNullable<Pod['podScheduled']> {
  return {
    ...condition,
    status: oneOf(condition.status, 'True', 'False', 'Unknown'),
    reason: reason(condition.reason)!,
    message: '',
  };
}

function timeOrNone(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? '' : new Date(time).toISOString();
}

function resourcesIn({ nodes, templates }: Snapshot): readonly string[] {
  return [
    ...new Set(
      [...nodes.map(({ allocatable }) => allocatable), ...templates.map(({ requests }) => requests)].flatMap(
        Object.keys,
      ),
    ),
  ];
}
