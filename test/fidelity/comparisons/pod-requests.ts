import * as fc from 'fast-check';
import { fields, maybe } from '../arbitraries.ts';
import type { PodParts } from '../arbitraries.ts';
import type { ApiObject } from '../question.ts';
import { requests, wholePodRequests } from '../quantities.ts';

function resourcesOf(amounts: fc.Arbitrary<ApiObject>): fc.Arbitrary<ApiObject> {
  return fields({ requests: maybe(amounts, 8), limits: maybe(amounts, 2) });
}

function containers(prefix: string, restartPolicy: fc.Arbitrary<string | undefined>, minLength: number) {
  const container = fields({ resources: maybe(resourcesOf(requests), 9), restartPolicy });
  return fc
    .array(container, { minLength, maxLength: 3 })
    .map((list) =>
      list.map((each, index) => ({ name: `${prefix}${index}`, image: 'registry.example/main:1', ...each })),
    );
}

const spec = fields({
  containers: containers('main', fc.constant(undefined), 1),
  initContainers: maybe(containers('init', maybe(fc.constant('Always')), 0), 4),
  resources: maybe(resourcesOf(wholePodRequests), 2),
  overhead: maybe(requests, 2),
});

/** The requests of the pod to schedule. */
export const askingPod: fc.Arbitrary<PodParts> = spec.map((each) => ({ spec: each }));

/** What the node has allocated to one of these containers, which differs from its requests during a resize. */
const containerStatus = (name: string): fc.Arbitrary<ApiObject> =>
  fields({
    name: fc.constant(name),
    allocatedResources: maybe(requests, 4),
    resources: maybe(fields({ requests: maybe(requests, 8) }), 4),
  });

const status = fields({
  containerStatuses: maybe(fc.tuple(containerStatus('main0'), containerStatus('main1')), 3),
  initContainerStatuses: maybe(fc.tuple(containerStatus('init0')), 2),
  allocatedResources: maybe(wholePodRequests, 1),
  resources: maybe(fields({ requests: maybe(wholePodRequests, 8) }), 1),
  conditions: maybe(
    fields({
      type: fc.constant('PodResizePending'),
      status: fc.constant('True'),
      reason: fc.constantFrom('Infeasible', 'Deferred'),
    }).map((condition) => [condition]),
    2,
  ),
});

/** The usage of a bound pod. */
export const runningPod: fc.Arbitrary<PodParts> = fc
  .tuple(spec, maybe(status, 3))
  .map(([each, its]) => ({ spec: each, ...(its !== undefined && { status: its }) }));
