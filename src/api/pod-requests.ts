import { addInto, maxInto, readResources } from './resource-list.ts';
import type { RawResources, ResourceSum } from './resource-list.ts';
import { cpuId, memoryId } from './resource-names.ts';
import type { ResourceNames } from './resource-names.ts';

interface RawContainer {
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

/** What a container without a request counts when nodes are scored: kube-scheduler's 100m CPU and 200 MiB. */
const nonZeroMilliCpu = 100;
const nonZeroMemory = 200 * 1024 * 1024;

export interface PodRequests {
  readonly sum: ResourceSum;
  /** For scoring only: every container counts at least kube-scheduler's defaults. */
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemory: number;
}

/**
 * A pod's request by Kubernetes' rule: the sum of its containers and sidecars (init containers with restartPolicy Always),
 * or the most that any init container needs together with the sidecars started before it, whichever is more; amounts set
 * for the pod as a whole override; overhead is added.
 */
export function podRequests(spec: RawRequestSpec, names: ResourceNames): PodRequests {
  const podLevel = readResources(spec.resources?.requests, names);
  const overhead = readResources(spec.overhead, names);
  const total = (withDefaults: boolean): ResourceSum => {
    const sum = aggregate(spec, names, withDefaults);
    for (const [id, amount] of podLevel) sum.set(id, amount);
    addInto(sum, overhead);
    return sum;
  };
  const scored = total(true);
  return {
    sum: total(false),
    nonZeroMilliCpu: scored.get(cpuId) ?? 0,
    nonZeroMemory: scored.get(memoryId) ?? 0,
  };
}

function aggregate(spec: RawRequestSpec, names: ResourceNames, withDefaults: boolean): ResourceSum {
  const requestOf = (container: RawContainer): ResourceSum => {
    const request = readResources(container.resources?.requests, names);
    if (withDefaults) {
      if (!request.has(cpuId)) request.set(cpuId, nonZeroMilliCpu);
      if (!request.has(memoryId)) request.set(memoryId, nonZeroMemory);
    }
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
