import * as fc from 'fast-check';
import { fields, maybe } from './arbitraries.ts';
import type { ApiObject } from './question.ts';

const usualCpu = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('0', '1', '2', '3', '100m', '250m', '500m', '1500m', '2500m') },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 999 }).map((amount) => `${amount}m`) },
);

/** Cores in various notations. */
const cpu = fc.oneof(
  { weight: 6, arbitrary: usualCpu },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '0.1',
      '.5',
      '2.',
      '1e0',
      '15e-1',
      '0.0',
      '+1',
      '100000u',
      '1000000000n',
      '0.001k',
      '1E0',
      '0.003',
    ),
  },
);

const usualBytes = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('0', '64Mi', '128Mi', '200Mi', '256Mi', '1Gi', '2Gi', '4Gi', '500M', '1G') },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 ** 31 }).map((amount) => String(2 * amount + 1)) },
);

/** Bytes, or other integer amounts, in various notations. */
const bytes = fc.oneof(
  { weight: 6, arbitrary: usualBytes },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '1.5Gi',
      '0.5Gi',
      '1e9',
      '5E8',
      '1073741824000m',
      '100m',
      '0.5',
      '1.5',
      '12345678k',
      '0.25Ki',
      '1Ti',
      '3Pi',
      '1500m',
    ),
  },
);

const count = fc.constantFrom('0', '1', '2', '3', '4', '1e0');
const hugePages = fc.constantFrom('0', '2Mi', '4Mi', '6Mi', '8Mi');

/** Extended and other countable resources that pods request. */
export const countedResources = [
  'example.com/gpu',
  'example.com/fpga',
  'other.example/nic',
  'hugepages-2Mi',
  'hugepages-1Gi',
  'kubernetes.io/odd',
  'notkubernetes.io/odd',
  'attachable-volumes-odd',
] as const;

/** Requests of a container or an overhead. */
export const requests = requestsOf(cpu, bytes);

/**
 * Pod-level requests in the notation of an API server. With other notations, kube-scheduler's sums change the pod itself, and a second
 * evaluation differs from the first.
 */
export const wholePodRequests = requestsOf(usualCpu, usualBytes);

function requestsOf(cpuAmount: fc.Arbitrary<string>, byteAmount: fc.Arbitrary<string>): fc.Arbitrary<ApiObject> {
  return fields({
    cpu: maybe(cpuAmount, 6),
    memory: maybe(byteAmount, 6),
    'ephemeral-storage': maybe(byteAmount, 2),
    'example.com/gpu': maybe(count, 2),
    'example.com/fpga': maybe(count, 1),
    'other.example/nic': maybe(count, 1),
    'hugepages-2Mi': maybe(hugePages, 1),
    'kubernetes.io/odd': maybe(count, 1),
    'notkubernetes.io/odd': maybe(count, 1),
    'attachable-volumes-odd': maybe(count, 1),
  });
}

/** Allocatable resources of a node. */
export const allocatable: fc.Arbitrary<ApiObject> = fields({
  cpu: maybe(
    fc.oneof({ weight: 8, arbitrary: fc.constantFrom('8', '16', '7920m', '64') }, { weight: 1, arbitrary: cpu }),
    9,
  ),
  memory: maybe(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('16Gi', '64Gi', '31929Mi', '2Ti') },
      { weight: 1, arbitrary: bytes },
    ),
    9,
  ),
  'ephemeral-storage': maybe(bytes, 6),
  pods: maybe(fc.constantFrom('0', '1', '2', '3', ...Array.from({ length: 12 }, () => '110')), 9),
  'example.com/gpu': maybe(fc.constantFrom('0', '1', '4', '8'), 4),
  'example.com/fpga': maybe(count, 3),
  'other.example/nic': maybe(count, 3),
  'hugepages-2Mi': maybe(hugePages, 3),
  'kubernetes.io/odd': maybe(count, 3),
  'notkubernetes.io/odd': maybe(count, 3),
  'attachable-volumes-odd': maybe(count, 3),
});
