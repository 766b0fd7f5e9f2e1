import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import {
  budgetLabel,
  groupLabel,
  hostnameLabel,
  managedLabel,
  nativeLabel,
  runtimeAnnotation,
} from '../checks/plain-objects.ts';
import type { GroupPlan, MemberPlan, NativePlan, NodePlan, TermPlan } from '../scenario.ts';

const namespace = 'default';
export const tenantNamespace = 'tenant';

export function podsPathIn(of: string): string {
  return `/api/v1/namespaces/${of}/pods`;
}

/** `isNative`: of the PodGroups of Kubernetes itself. */
export function groupsPathIn(of: string, isNative: boolean): string {
  const version = isNative ? 'scheduling.k8s.io/v1beta1' : 'scheduling.x-k8s.io/v1alpha1';
  return `/apis/${version}/namespaces/${of}/podgroups`;
}

export const podsPath = podsPathIn(namespace);

/** Returns the path of the group's PodGroup. */
export function groupPathOf({ name, objectName = name, native }: GroupPlan): string {
  return `${groupsPathOf({ native })}/${objectName}`;
}

export function groupsPathOf({ native }: Pick<GroupPlan, 'native'>): string {
  return groupsPathIn(namespace, native !== undefined);
}

/** Returns the path of a pod with this key, `namespace/name`. */
export function podPathOf(key: string): string {
  const [of, name] = key.split('/') as [string, string];
  return `${podsPathIn(of)}/${name}`;
}
export const claimsPath = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
export const volumesPath = '/api/v1/persistentvolumes';
export const classesPath = '/apis/storage.k8s.io/v1/storageclasses';
export const nodesPath = '/api/v1/nodes';

export const prioritiesPath = '/apis/scheduling.k8s.io/v1/priorityclasses';

export const budgetsPath = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;

/** Priorities of pods; those without one have 0. */
export const priorities: readonly number[] = [10, 50, 100, 200, 300, 900, 1_000];

/** Name of the priority class of pods with this priority. */
function classFor(priority: number, neverPreempts: boolean): string {
  return neverPreempts ? `p${priority}-never` : `p${priority}`;
}

export function priorityManifest(value: number, neverPreempts: boolean): JsonObject {
  return {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: classFor(value, neverPreempts) },
    value,
    ...(neverPreempts && { preemptionPolicy: 'Never' }),
  };
}

/** A budget that matches the pods with its name as a label. */
export function budgetManifest(name: string): JsonObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec: { selector: { matchLabels: { [budgetLabel]: name } }, minAvailable: 1 },
  };
}

/** Annotations for the kubelet: how long the pod takes to terminate, how long its finalizer stays after that, and how long it runs. */
export const endsInMs = 'simulation.example/ends-in-ms';
export const heldMs = 'simulation.example/held-ms';
export const runsMs = 'simulation.example/runs-ms';

export function nodeManifest({ name, milliCpu, mebibytes, pods, labels, isReserved }: NodePlan): JsonObject {
  const allocatable = { cpu: `${milliCpu}m`, memory: `${mebibytes}Mi`, pods: String(pods) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...labels, [hostnameLabel]: name } },
    ...(isReserved === true && {
      spec: { taints: [{ key: 'reserved', value: labels?.zone ?? '', effect: 'NoSchedule' }] },
    }),
    status: { capacity: allocatable, allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

type GroupManifestPlan = Pick<GroupPlan, 'name' | 'minMember'> & Partial<GroupPlan>;

export function groupManifest(plan: GroupManifestPlan): JsonObject {
  const { name, objectName = name, minMember, repairPolicy, repairGraceSeconds, native } = plan;
  if (native !== undefined) return nativeGroupManifest(plan, native);
  return {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name: objectName },
    spec: {
      minMember,
      ...(repairPolicy !== undefined && { repairPolicy }),
      ...(repairGraceSeconds !== undefined && { repairGraceSeconds }),
    },
  };
}

function nativeGroupManifest(
  { name, objectName = name, minMember, priority = 0 }: GroupManifestPlan,
  { policy, goesWhole }: NativePlan,
): JsonObject {
  return {
    apiVersion: 'scheduling.k8s.io/v1beta1',
    kind: 'PodGroup',
    metadata: { name: objectName },
    spec: {
      schedulingPolicy: policy === 'basic' ? { basic: {} } : { gang: { minCount: minMember } },
      ...(goesWhole === true && { disruptionMode: { all: {} } }),
      ...(priority > 0 && { priorityClassName: classFor(priority, false) }),
    },
  };
}

/** Returns the change of a group's quorum; undefined: it has none. */
export function resized({ native }: Pick<GroupPlan, 'native'>, minMember: number): JsonObject | undefined {
  if (native === undefined) return { spec: { minMember } };
  return native.policy === 'gang' ? { spec: { schedulingPolicy: { gang: { minCount: minMember } } } } : undefined;
}

export function podManifest(
  name: string,
  member: MemberPlan,
  options: {
    readonly schedulerName: string;
    readonly priority: number;
    readonly group?: Pick<GroupPlan, 'name' | 'objectName' | 'native' | 'recreation' | 'terms' | 'isLoose'>;
    readonly claim?: string;
  },
): JsonObject {
  const { milliCpu, mebibytes, hostPort, gated, zone, managed, neverPreempts = false, budget } = member;
  const { schedulerName, group, claim } = options;
  const priority = member.priority ?? options.priority;
  const finalizer = member.finalizer === true || member.heldMs !== undefined;
  const isMember = group !== undefined && group.isLoose !== true;
  const groupName = isMember ? (group.objectName ?? group.name) : '';
  const isNative = isMember && group.native !== undefined;
  const podGroupName = isNative ? groupName : member.alsoIn;
  const labels = {
    ...(isMember && { [isNative ? nativeLabel : groupLabel]: groupName }),
    ...(budget !== undefined && { [budgetLabel]: budget }),
    ...(managed === true && { [managedLabel]: 'true' }),
  };
  const isOwned = group !== undefined && group.recreation !== 'never';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels,
      ...(finalizer && { finalizers: ['simulation.example/hold'] }),
      ...annotationsOf(member),
      ...(isOwned && {
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'Job', name: group.name, uid: `job-of-${group.name}`, controller: true },
        ],
      }),
    },
    spec: {
      schedulerName,
      ...(podGroupName !== undefined && { schedulingGroup: { podGroupName } }),
      ...(priority > 0 && { priorityClassName: classFor(priority, neverPreempts) }),
      terminationGracePeriodSeconds: member.graceSeconds ?? 5,
      ...(member.deadlineSeconds !== undefined && { activeDeadlineSeconds: member.deadlineSeconds }),
      ...(gated === true && { schedulingGates: [{ name: 'simulation.example/gate' }] }),
      ...(zone !== undefined && {
        nodeSelector: { zone },
        tolerations: [{ key: 'reserved', value: zone, effect: 'NoSchedule' }],
      }),
      ...(group?.terms !== undefined && termsOf({ [isNative ? nativeLabel : groupLabel]: groupName }, group.terms)),
      ...(claim !== undefined && { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }] }),
      containers: [
        {
          name: 'main',
          image: 'main',
          resources: { requests: { cpu: `${milliCpu}m`, memory: `${mebibytes}Mi` } },
          ...(hostPort !== undefined && { ports: [{ containerPort: hostPort, hostPort }] }),
        },
      ],
    },
  };
}

function annotationsOf(member: MemberPlan): JsonObject {
  const annotations = {
    ...(member.endsInMs !== undefined && { [endsInMs]: String(member.endsInMs) }),
    ...(member.heldMs !== undefined && { [heldMs]: String(member.heldMs) }),
    ...(member.runsMs !== undefined && { [runsMs]: String(member.runsMs) }),
    ...(member.runtime !== undefined && { [runtimeAnnotation]: member.runtime }),
  };
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

function termsOf(matchLabels: JsonObject, terms: readonly TermPlan[]): JsonObject {
  const of = (kind: TermPlan['kind']): JsonObject[] =>
    terms
      .filter((term) => term.kind === kind)
      .map(({ domain }) => ({
        topologyKey: domain === 'node' ? hostnameLabel : 'zone',
        labelSelector: { matchLabels },
      }));
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  return {
    affinity: { podAntiAffinity: { [required]: of('apart') }, podAffinity: { [required]: of('together') } },
    topologySpreadConstraints: of('spread').map((term) => ({
      ...term,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
    })),
  };
}

const size = '1Gi';
const lateClass = 'late';

/** A class whose volumes are created once a pod that uses them is scheduled. */
export function classManifest(): JsonObject {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: lateClass },
    provisioner: 'simulation.example/disk',
    volumeBindingMode: 'WaitForFirstConsumer',
  };
}

/** A claim that is bound to the volume, or waits for its first consumer. */
export function claimManifest(name: string, volumeName?: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, ...(volumeName !== undefined && { annotations: { [bindCompleted]: 'yes' } }) },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: size } },
      storageClassName: lateClass,
      ...(volumeName !== undefined && { volumeName }),
    },
  };
}

export const bindCompleted = 'pv.kubernetes.io/bind-completed';
export const selectedNode = 'volume.kubernetes.io/selected-node';

/** The volume of a claim, which can be used in one zone. */
export function volumeManifest(name: string, claim: string, zone: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: size },
      accessModes: ['ReadWriteOnce'],
      storageClassName: lateClass,
      claimRef: { kind: 'PersistentVolumeClaim', namespace, name: claim },
      csi: { driver: 'simulation.example', volumeHandle: name },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }] },
      },
    },
    status: { phase: 'Bound' },
  };
}
