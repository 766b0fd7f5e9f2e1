import * as fc from 'fast-check';
import { fields, maybe, questionsOf } from '../arbitraries.ts';
import type { PodParts } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';

const port = fields({
  containerPort: fc.constantFrom(80, 8080),
  hostPort: maybe(fc.constantFrom(0, 80, 81, 443, 8080), 8),
  protocol: maybe(fc.constantFrom('TCP', 'UDP', 'SCTP', ''), 6),
  hostIP: maybe(fc.constantFrom('', '0.0.0.0', '127.0.0.1', '10.0.0.1', '::', '::1'), 5),
  name: maybe(fc.constant('web'), 1),
});

const container = (restartPolicy: fc.Arbitrary<string | undefined>): fc.Arbitrary<object> =>
  fields({
    name: fc.constant('main'),
    image: fc.constant('registry.example/main:1'),
    ports: maybe(fc.array(port, { maxLength: 3 }), 7),
    restartPolicy,
  });

const pod: fc.Arbitrary<PodParts> = fields({
  containers: fc.array(container(fc.constant(undefined)), { minLength: 1, maxLength: 2 }),
  initContainers: maybe(fc.array(container(maybe(fc.constant('Always'))), { maxLength: 2 }), 4),
  hostNetwork: maybe(fc.boolean(), 2),
}).map((spec) => ({ spec }));

export const nodePorts: PluginComparison = {
  plugin: 'NodePorts',
  questions: questionsOf({ plugin: 'NodePorts', pod, placed: pod, maxPlaced: 8 }),
};
