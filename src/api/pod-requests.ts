import { addInto, inUnits, maxInto, readThousandths } from './resource-list.ts';
import type { RawResources, ResourceSum } from './resource-list.ts';

interface RawContainer {
  readonly name?: string;
  readonly restartPolicy?: string;
  readonly resources?: { readonly requests?: RawResources };
}

/** The parts of a pod spec that say how much it asks for. */
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

/** The parts of a pod status that say how much its node gives it, which differs from the spec while it is resized. */
export interface RawRequestStatus {
  readonly containerStatuses?: readonly RawContainerStatus[];
  readonly initContainerStatuses?: readonly RawContainerStatus[];
  readonly allocatedResources?: RawResources;
  readonly resources?: { readonly requests?: RawResources };
  readonly conditions?: readonly { readonly type: string; readonly reason?: string }[];
}

/** What a container without a request counts when nodes are scored: kube-scheduler's 100m CPU and 200 MiB, in thousandths. */
const nonZeroMilliCpu = 100;
const nonZeroMemory = 200 * 1024 * 1024 * 1000;

export interface PodRequests {
  readonly sum: ResourceSum;
  /** For scoring only: every container counts at least kube-scheduler's defaults. */
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemory: number;
}

/** What a container counts, of all that spec and status say of it. */
type Reading = (container: RawContainer, status: RawContainerStatus | undefined) => RawResources | undefined;

/**
 * A pod's request by Kubernetes' rule: the sum of its containers and sidecars (init containers with restartPolicy Always),
 * or the most that any init container needs together with the sidecars started before it, whichever is more; amounts set
 * for the pod as a whole override; overhead is added.
 *
 * While a pod is resized in place it counts, for each resource, the most of what it asks for, what its node has promised it
 * (allocated) and what it still has; what it asks for does not count when the node can never give it (Infeasible). As
 * kube-scheduler does with its defaults since 1.36: k8s.io/component-helpers/resource, PodRequests with UseStatusResources and
 * InPlacePodLevelResourcesVerticalScalingEnabled.
 */
export function podRequests(spec: RawRequestSpec, status?: RawRequestStatus): PodRequests {
  const resize = status !== undefined && isBeingResized(spec, status) ? status : undefined;
  const askedAsWhole = podLevelOnly(readThousandths(spec.resources?.requests));
  const podLevel = podLevelRequests(askedAsWhole, resize);
  const overhead = readThousandths(spec.overhead);
  const total = (defaults: ResourceSum): ResourceSum => {
    const sum = resize === undefined ? aggregate(spec, defaults) : mostOf(spec, defaults, resize);
    for (const [name, amount] of podLevel) sum.set(name, amount);
    addInto(sum, overhead);
    return sum;
  };
  const sum = total(new Map());
  const defaults: ResourceSum = new Map();
  // With amounts for the whole pod the defaults stand in only for what nobody has set.
  if (askedAsWhole.size === 0 || !sum.has('cpu')) defaults.set('cpu', nonZeroMilliCpu);
  if (askedAsWhole.size === 0 || !sum.has('memory')) defaults.set('memory', nonZeroMemory);
  const scored = total(defaults);
  const inWhole: ResourceSum = new Map();
  for (const [name, amount] of sum) inWhole.set(name, inUnits(name, amount));
  return {
    sum: inWhole,
    nonZeroMilliCpu: inUnits('cpu', scored.get('cpu') ?? 0),
    nonZeroMemory: inUnits('memory', scored.get('memory') ?? 0),
  };
}

/** All of a spec that `podRequests` reads, in a form that is small as JSON: where it is equal, and no pod is being resized, so are the requests. */
export function requestParts({ containers, initContainers, resources, overhead }: RawRequestSpec): unknown {
  const asked = (container: RawContainer): unknown => container.resources?.requests;
  return [
    containers?.map(asked),
    initContainers?.map((container) => [asked(container), container.restartPolicy]),
    resources?.requests,
    overhead,
  ];
}

/** Whether the status says anything about amounts that the spec does not. Most pods are never resized, so this is cheap. */
export function isBeingResized(spec: RawRequestSpec, status: RawRequestStatus): boolean {
  const differs = (container: RawContainer): boolean => {
    const known = statusOf(container, status);
    if (known === undefined) return false;
    const asked = container.resources?.requests;
    return isOther(known.allocatedResources, asked) || isOther(known.resources?.requests, asked);
  };
  const asked = spec.resources?.requests;
  return (
    isOther(status.resources?.requests, asked) ||
    isOther(status.allocatedResources, asked) ||
    isInfeasible(status) ||
    spec.containers?.some(differs) === true ||
    spec.initContainers?.some(differs) === true
  );
}

function isOther(shown: RawResources | undefined, asked: RawResources | undefined): boolean {
  if (shown === undefined) return false;
  for (const name in shown) if (shown[name] !== asked?.[name]) return true;
  for (const name in asked) if (!(name in shown)) return true;
  return false;
}

/** The amounts for the whole pod, of those that it asks for as a whole. */
function podLevelRequests(asked: ResourceSum, resize: RawRequestStatus | undefined): ResourceSum {
  if (asked.size === 0 || resize?.resources === undefined) return asked;
  const most: ResourceSum = new Map(isInfeasible(resize) ? [] : asked);
  for (const shown of [resize.resources.requests, resize.allocatedResources]) {
    maxInto(most, podLevelOnly(readThousandths(shown)));
  }
  return most;
}

/** Only of these can a pod as a whole ask for amounts. */
function podLevelOnly(sum: ResourceSum): ResourceSum {
  for (const name of sum.keys()) {
    if (name !== 'cpu' && name !== 'memory' && !name.startsWith('hugepages-')) sum.delete(name);
  }
  return sum;
}

function mostOf(spec: RawRequestSpec, defaults: ResourceSum, resize: RawRequestStatus): ResourceSum {
  const isRejected = isInfeasible(resize);
  const most: ResourceSum = isRejected ? new Map<string, number>() : aggregate(spec, defaults);
  const ofContainers = (reading: Reading): ResourceSum => aggregate(spec, defaults, resize, reading);
  const { allocatedResources, resources } = resize;
  if (allocatedResources !== undefined && resources?.requests !== undefined) {
    // Those of the pod are sums over its containers already.
    maxInto(most, readThousandths(allocatedResources));
    maxInto(most, readThousandths(resources.requests));
    return most;
  }
  const asked: Reading = (container) => (isRejected ? undefined : container.resources?.requests);
  const allocated: Reading = (container, status) => status?.allocatedResources ?? asked(container, status);
  maxInto(most, ofContainers(allocated));
  maxInto(
    most,
    ofContainers((container, status) => status?.resources?.requests ?? allocated(container, status)),
  );
  return most;
}

function isInfeasible({ conditions }: RawRequestStatus): boolean {
  return conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}

function statusOf({ name }: RawContainer, status: RawRequestStatus): RawContainerStatus | undefined {
  const isIts = (candidate: RawContainerStatus): boolean => candidate.name === name;
  return status.containerStatuses?.find(isIts) ?? status.initContainerStatuses?.find(isIts);
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
