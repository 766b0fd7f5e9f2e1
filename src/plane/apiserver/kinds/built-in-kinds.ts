import { customResourceDefinitions } from './custom/custom-resource-definitions.ts';
import { podDisruptionBudgets } from './disruption-budgets.ts';
import { coreEvents, events } from './events.ts';
import { namespaces } from './namespaces.ts';
import { nodes } from './nodes.ts';
import { persistentVolumeClaims } from './persistent-volume-claims.ts';
import { pods } from './pods/pods.ts';
import { priorityClasses } from './priority-classes.ts';
import type { ResourceType } from './resource-type.ts';
import { storedKinds } from './stored-kinds.ts';
import { jobs } from './workloads/jobs.ts';
import { replicaWorkloads } from './workloads/replica-workloads.ts';

/** Every built-in resource. A kind without behavior of its own is an entry of `storedKinds`. */
export const builtInKinds: readonly ResourceType[] = [
  coreEvents,
  namespaces,
  nodes,
  persistentVolumeClaims,
  pods,
  ...storedKinds,
  customResourceDefinitions,
  ...replicaWorkloads,
  jobs,
  events,
  podDisruptionBudgets,
  priorityClasses,
];
