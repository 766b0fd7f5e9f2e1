import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import { WrittenRecord } from './written-record.ts';

interface TurnPod {
  /** Default: default. */
  readonly namespace?: string;
  readonly milliCpu: number;
  readonly node?: string;
  readonly priority?: number;
  readonly zone?: string;
  readonly group?: string;
  /** What its annotation declares. */
  readonly runtime?: string;
  /** Its predicted start in milliseconds; `draining`: it has a turn without one. */
  readonly start?: number | 'draining';
  readonly reason?: string;
}

/** A store for tests of turns, in which time is milliseconds since the epoch. */
export class TurnRecord extends WrittenRecord {
  node(name: string, milliCpu: number, zone = 'a'): void {
    const allocatable = { cpu: `${milliCpu}m`, memory: '8Gi', pods: '10' };
    this.add('nodes', `/${name}`, { metadata: { name, labels: { zone } }, status: { allocatable } });
  }

  /** Adds or changes a pod. One on a node has just started there. */
  pod(name: string, pod: TurnPod): void {
    const key = `${pod.namespace ?? 'default'}/${name}`;
    const known = this.record.get('pods', key) as any;
    const object = manifestOf(name, pod, known?.status.startTime ?? isoOf(this.at ?? 0));
    if (known === undefined) this.add('pods', key, object);
    else this.change('pods', key, object);
  }

  group(name: string, minMember: number, namespace = 'default'): void {
    this.add('podgroups.scheduling.x-k8s.io', `${namespace}/${name}`, {
      metadata: { namespace, name, uid: name },
      spec: { minMember },
    });
  }

  /** The pod ends by itself. */
  ends(name: string): void {
    const known = this.record.get('pods', `default/${name}`) as any;
    this.change('pods', `default/${name}`, { ...known, status: { ...known.status, phase: 'Succeeded' } });
  }
}

function manifestOf(
  name: string,
  {
    namespace = 'default',
    milliCpu,
    node,
    priority = 0,
    zone,
    group,
    runtime,
    start,
    reason = 'Unschedulable',
  }: TurnPod,
  startTime: string,
): JsonObject {
  const scheduled = { type: 'PodScheduled', status: 'False', reason, message: 'no capacity' };
  const confidence = start === 'draining' ? 'Draining' : 'Declared';
  const message = start === undefined || start === 'draining' ? '' : isoOf(start);
  const predicted = { type: 'tutti.dev/PredictedStart', status: 'True', reason: confidence, message };
  return {
    metadata: {
      ...{ namespace, name, uid: name },
      labels: group === undefined ? {} : { 'scheduling.x-k8s.io/pod-group': group },
      annotations: runtime === undefined ? {} : { 'tutti.dev/runtime': runtime },
    },
    spec: {
      ...{ schedulerName: 'tutti', priority, containers: [{ resources: { requests: { cpu: `${milliCpu}m` } } }] },
      ...(zone !== undefined && { nodeSelector: { zone } }),
      ...(node !== undefined && { nodeName: node }),
    },
    status:
      node === undefined
        ? { phase: 'Pending', conditions: start === undefined ? [scheduled] : [scheduled, predicted] }
        : { phase: 'Running', startTime, conditions: [] },
  };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
