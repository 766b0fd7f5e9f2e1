import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { schedulerName } from '../scenarios/pod-manifest.ts';

export interface WorkloadSpec {
  readonly namespace: string;
  /** The PodGroup that the pod template names by label. */
  readonly group: string;
  readonly pods: number;
  readonly cpu: string;
  /** How long kwok runs a pod of a Job. */
  readonly runs?: string;
}

interface Manifest {
  readonly metadata: { readonly name: string };
}

/** Returns a Job whose pods all run at once. */
export function jobManifest(name: string, spec: WorkloadSpec): Manifest {
  const { pods } = spec;
  return {
    metadata: { name },
    spec: { parallelism: pods, completions: pods, template: template(name, spec, 'Never') },
  } as Manifest;
}

/** Returns a StatefulSet that creates its pods in parallel. */
export function statefulSetManifest(name: string, spec: WorkloadSpec): Manifest {
  return {
    metadata: { name },
    spec: {
      serviceName: name,
      replicas: spec.pods,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { workload: name } },
      template: template(name, spec, 'Always'),
    },
  } as Manifest;
}

function template(name: string, { group, cpu, runs = '1s' }: WorkloadSpec, restartPolicy: string): object {
  return {
    metadata: {
      labels: { [podGroupLabel]: group, workload: name },
      annotations: { 'tutti-tests/run-duration': runs },
    },
    spec: {
      schedulerName,
      restartPolicy,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'registry.example/main:1', resources: { requests: { cpu } } }],
    },
  };
}
