import { bindings } from './cases/bindings.ts';
import { workloads } from './cases/workloads.ts';
import { crud } from './cases/crud.ts';
import { customResources } from './cases/definitions.ts';
import { deletion } from './cases/deletion.ts';
import { discovery } from './cases/discovery.ts';
import { eventsAndLeases } from './cases/events-and-leases.ts';
import { jobs } from './cases/jobs.ts';
import { lists } from './cases/lists.ts';
import { locking } from './cases/locking.ts';
import { nativeGangAlphaFields, nativeGangs } from './cases/native-gangs.ts';
import { nodesAndPriorities } from './cases/nodes.ts';
import { patches } from './cases/patches.ts';
import { pods } from './cases/pods.ts';
import { storage } from './cases/storage.ts';
import { watches } from './cases/watches.ts';
import type { EmbeddedApiServerOptions } from '../../../src/plane/apiserver/embedded-api-server.ts';
import type { CaseGroup } from './conformance-case.ts';

/** group, which is the name of its golden file -> its cases */
type CaseGroups = Readonly<Record<string, CaseGroup>>;

/** A kind of server, and the cases for it. */
export interface ServerCases {
  /** Feature gates of the real server. */
  readonly featureGates: readonly string[];
  /** Options of the embedded server that match these gates. */
  readonly options: Pick<EmbeddedApiServerOptions, 'nativeGangAlphaFields'>;
  readonly groups: CaseGroups;
}

const caseGroups: CaseGroups = {
  discovery,
  crud,
  locking,
  lists,
  watches,
  patches,
  deletion,
  pods,
  bindings,
  'custom-resources': customResources,
  'events-and-leases': eventsAndLeases,
  'nodes-and-priorities': nodesAndPriorities,
  workloads,
  jobs,
  storage,
  'native-gangs': nativeGangs,
};

const fieldGates = ['TopologyAwareWorkloadScheduling', 'DRAWorkloadResourceClaims', 'PodGroupPreemptionPolicy'];

export const serverCases: readonly ServerCases[] = [
  { featureGates: ['GenericWorkload'], options: {}, groups: caseGroups },
  {
    featureGates: ['GenericWorkload', 'CompositePodGroup', ...fieldGates],
    options: { nativeGangAlphaFields: true },
    groups: { 'native-gang-alpha-fields': nativeGangAlphaFields },
  },
];
