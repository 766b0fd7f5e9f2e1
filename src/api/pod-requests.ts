import { addInto, inUnits, maxInto, readThousandths } from './resource-list.ts';
import type { RawResources, ResourceSum } from './resource-list.ts';

interface RawContainer {
  readonly name?: string;
  readonly restartPolicy?: string;
  readonly resources?: { readonly requests?: RawResources };
}

/** The parts of a pod spec that define its requests. */
export interface RawRequestSpec {
  readonly containers?: readonly RawContainer[];
  readonly initContainers?: readonly RawContainer[];
  readonly resources?: { readonly requests?: RawResources };
  readonly overhead?: RawResources;
}

interface RawContainerStatus {
  readonly name?: string;
  readonly allocatedResources?: RawResources;
  readonly resources?: { readonly requests?: RawResources };
}

/** The parts of a pod status with the amounts that its node gives it. They differ from the spec during a resize. */
export interface RawRequestStatus {
  readonly containerStatuses?: readonly RawContainerStatus[];
  readonly initContainerStatuses?: readonly RawContainerStatus[];
  readonly allocatedResources?: RawResources;
  readonly resources?: { readonly requests?: RawResources };
  readonly conditions?: readonly { readonly type: string; readonly reason?: string }[];
}

/** Amounts of a container without a request for scoring: kube-scheduler's 100m CPU and 200 MiB, in thousandths. */
const nonZeroMilliCpu = 100;
const nonZeroMemory = 200 * 1024 * 1024 * 1000;

export interface PodRequests {
  readonly sum: ResourceSum;
  /** For scoring only: a container without a request counts with kube-scheduler's defaults. */
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemory: number;
}

/** Selects the amounts of a container from its spec and status. */
type Reading = (container: RawContainer, status: RawContainerStatus | undefined) => RawResources | undefined;

/**
 * Returns the requests of a pod by Kubernetes' rule: the maximum of two amounts. One is the sum of its containers and sidecars (init
 * containers with restartPolicy Always). The other is the largest amount of an init container plus the sidecars started before it.
 * Pod-level amounts override this maximum. Overhead is added.
 *
 * During an in-place resize, each resource counts with the maximum of the requested, the allocated and the actual amount. The requested
 * amount does not count if the node can never provide it (Infeasible). This is what kube-scheduler does by default since 1.36:
 * k8s.io/component-helpers/resource, PodRequests with UseStatusResources and InPlacePodLevelResourcesVerticalScalingEnabled.
 */
export function podRequests(spec: RawRequestSpec, status?: RawRequestStatus): PodRequests {
  const resize = status !== undefined && isBeingResized(spec, status) ? status : undefined;
  const requestedPodLevel = podLevelOnly(readThousandths(spec.resources?.requests));
  const podLevel = podLevelRequests(requestedPodLevel, resize);
  const overhead = readThousandths(spec.overhead);
  const total = (defaults: ResourceSum): ResourceSum => {
    const sum = resize === undefined ? aggregate(spec, defaults) : maxOf(spec, defaults, resize);
    for (const [name, amount] of podLevel) sum.set(name, amount);
    addInto(sum, overhead);
    return sum;
  };
  const sum = total(new Map());
  const defaults: ResourceSum = new Map();
  // With pod-level amounts, the defaults apply only to resources without any request.
  if (requestedPodLevel.size === 0 || !sum.has('cpu')) defaults.set('cpu', nonZeroMilliCpu);
  if (requestedPodLevel.size === 0 || !sum.has('memory')) defaults.set('memory', nonZeroMemory);
  const scored = total(defaults);
  const inWhole: ResourceSum = new Map();
  for (const [name, amount] of sum) inWhole.set(name, inUnits(name, amount));
  return {
    sum: inWhole,
    nonZeroMilliCpu: inUnits('cpu', scored.get('cpu') ?? 0),
    nonZeroMemory: inUnits('memory', scored.get('memory') ?? 0),
  };
}

/** Returns the parts of a spec that `podRequests` reads, in compact form. Pods with equal parts have equal requests unless they are being resized. */
export function requestParts({ containers, initContainers, resources, overhead }: RawRequestSpec): unknown {
  const requested = (container: RawContainer): unknown => container.resources?.requests;
  return [
    containers?.map(requested),
    initContainers?.map((container) => [requested(container), container.restartPolicy]),
    resources?.requests,
    overhead,
  ];
}

/** Returns whether amounts in the status differ from the spec. Most pods are never resized, so this check is cheap. */
export function isBeingResized(spec: RawRequestSpec, status: RawRequestStatus): boolean {
  const differs = (container: RawContainer): boolean => {
    const known = statusOf(container, status);
    if (known === undefined) return false;
    const requested = container.resources?.requests;
    return differsFrom(known.allocatedResources, requested) || differsFrom(known.resources?.requests, requested);
  };
  const requested = spec.resources?.requests;
  return (
    differsFrom(status.resources?.requests, requested) ||
    differsFrom(status.allocatedResources, requested) ||
    isInfeasible(status) ||
    spec.containers?.some(differs) === true ||
    spec.initContainers?.some(differs) === true
  );
}

function differsFrom(shown: RawResources | undefined, requested: RawResources | undefined): boolean {
  if (shown === undefined) return false;
  for (const name in shown) if (shown[name] !== requested?.[name]) return true;
  for (const name in requested) if (!(name in shown)) return true;
  return false;
}

/** Returns the pod-level amounts. During a resize, includes those in the status. */
function podLevelRequests(requested: ResourceSum, resize: RawRequestStatus | undefined): ResourceSum {
  if (requested.size === 0 || resize?.resources === undefined) return requested;
  const max: ResourceSum = new Map(isInfeasible(resize) ? [] : requested);
  for (const shown of [resize.resources.requests, resize.allocatedResources]) {
    maxInto(max, podLevelOnly(readThousandths(shown)));
  }
  return max;
}

/** Removes resources that cannot have pod-level requests. */
function podLevelOnly(sum: ResourceSum): ResourceSum {
  for (const name of sum.keys()) {
    if (name !== 'cpu' && name !== 'memory' && !name.startsWith('hugepages-')) sum.delete(name);
  }
  return sum;
}

function maxOf(spec: RawRequestSpec, defaults: ResourceSum, resize: RawRequestStatus): ResourceSum {
  const isRejected = isInfeasible(resize);
  const max: ResourceSum = isRejected ? new Map<string, number>() : aggregate(spec, defaults);
  const ofContainers = (reading: Reading): ResourceSum => aggregate(spec, defaults, resize, reading);
  const { allocatedResources, resources } = resize;
  if (allocatedResources !== undefined && resources?.requests !== undefined) {
    // The pod-level amounts in the status are already sums over the containers.
    maxInto(max, readThousandths(allocatedResources));
    maxInto(max, readThousandths(resources.requests));
    return max;
  }
  const requested: Reading = (container) => (isRejected ? undefined : container.resources?.requests);
  const allocated: Reading = (container, status) => status?.allocatedResources ?? requested(container, status);
  maxInto(max, ofContainers(allocated));
  maxInto(
    max,
    ofContainers((container, status) => status?.resources?.requests ?? allocated(container, status)),
  );
  return max;
}

function isInfeasible({ conditions }: RawRequestStatus): boolean {
  return conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}

function statusOf({ name }: RawContainer, status: RawRequestStatus): RawContainerStatus | undefined {
  const matches = (candidate: RawContainerStatus): boolean => candidate.name === name;
  return status.containerStatuses?.find(matches) ?? status.initContainerStatuses?.find(matches);
}

const specOnly: Reading = (container) => container.resources?.requests;

function aggregate(
  spec: RawRequestSpec,
  defaults: ResourceSum,
  status: RawRequestStatus = {},
  reading: Reading = specOnly,
): ResourceSum {
  const requestOf = (container: RawContainer): ResourceSum => {
    const request = readThousandths(reading(container, statusOf(container, status)));
    for (const [name, amount] of defaults) if (!request.has(name)) request.set(name, amount);
    return request;
  };
  const running: ResourceSum = new Map();
  for (const container of spec.containers ?? []) addInto(running, requestOf(container));
  const sidecars: ResourceSum = new Map();
  const starting: ResourceSum = new Map();
  for (const container of spec.initContainers ?? []) {
    const needed = requestOf(container);
    if (container.restartPolicy === 'Always') {
      addInto(sidecars, needed);
      maxInto(starting, sidecars);
    } else {
      addInto(needed, sidecars);
      maxInto(starting, needed);
    }
  }
  addInto(running, sidecars);
  maxInto(running, starting);
  return running;
}
