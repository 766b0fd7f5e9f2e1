import { csiDrivers, csiNodes, csiStorageCapacities, volumeAttachments } from './csi-objects.ts';
import { customResourceDefinitions } from './custom/custom-resource-definitions.ts';
import { coreEvents, events } from './events.ts';
import { leases } from './leases.ts';
import { namespaces } from './namespaces.ts';
import { nodes } from './nodes.ts';
import { configMaps, serviceAccounts } from './plain-kinds.ts';
import { persistentVolumeClaims } from './persistent-volume-claims.ts';
import { persistentVolumes } from './persistent-volumes.ts';
import { pods } from './pods/pods.ts';
import { podDisruptionBudgets } from './disruption-budgets.ts';
import { priorityClasses } from './priority-classes.ts';
import { services } from './services.ts';
import { storageClasses } from './storage-classes.ts';
import { deployments } from './workloads/deployments.ts';
import { jobs } from './workloads/jobs.ts';
import { replicaSets } from './workloads/replica-sets.ts';
import { replicationControllers } from './workloads/replication-controllers.ts';
import { statefulSets } from './workloads/stateful-sets.ts';
import type { ResourceType } from './resource-type.ts';

/** Every built-in resource; adding a kind is a file and a line here. */
export const builtInKinds: readonly ResourceType[] = [
  configMaps,
  coreEvents,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  replicationControllers,
  serviceAccounts,
  services,
  customResourceDefinitions,
  deployments,
  replicaSets,
  statefulSets,
  jobs,
  leases,
  events,
  podDisruptionBudgets,
  priorityClasses,
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  storageClasses,
  volumeAttachments,
];
