import { customResourceDefinitions } from './custom/custom-resource-definitions.ts';
import { coreEvents, events } from './events.ts';
import { leases } from './leases.ts';
import { namespaces } from './namespaces.ts';
import { nodes } from './nodes.ts';
import { configMaps, serviceAccounts } from './plain-kinds.ts';
import { pods } from './pods/pods.ts';
import { priorityClasses } from './priority-classes.ts';
import type { ResourceType } from './resource-type.ts';

/** Every built-in resource; adding a kind is a file and a line here. */
export const builtInKinds: readonly ResourceType[] = [
  configMaps,
  coreEvents,
  namespaces,
  nodes,
  pods,
  serviceAccounts,
  customResourceDefinitions,
  leases,
  events,
  priorityClasses,
];
