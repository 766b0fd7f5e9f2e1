import * as fc from 'fast-check';
import { fields, maybe, questionsOf } from '../arbitraries.ts';
import type { PodParts } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';

const plugin = 'NodeDeclaredFeatures';

/** All features that kube-scheduler knows, and an unknown one; nodes list them in order. */
const declared = fc.subarray([
  'DRANodeAllocatableResources',
  'DRAOptionalNodeOperations',
  'ExtendWebSocketsToKubelet',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'InPlacePodVerticalScalingMemoryBackedVolumes',
  'RestartAllContainersOnContainerExits',
  'UserNamespacesHostNetworkSupport',
  'VolumeBindMountOptions',
  'ZzSomethingNew',
]);

const rule = fields({
  action: fc.constantFrom('Restart', 'RestartAllContainers'),
  exitCodes: maybe(fc.constant({ operator: 'In', values: [42] })),
});
const mount = fields({
  name: fc.constant('v'),
  mountPath: fc.constant('/x'),
  readOnly: maybe(fc.boolean(), 2),
  bindMountOptions: maybe(fc.constantFrom([], ['noexec'], ['noexec', 'nosuid']), 3),
});

function containers(often: number, restarts: boolean): fc.Arbitrary<unknown> {
  const container = fields({
    name: fc.constant('main'),
    image: fc.constant('registry.example/main:1'),
    restartPolicyRules: maybe(fc.array(rule, { maxLength: 2 }), restarts ? 3 : 0),
    volumeMounts: maybe(fc.array(mount, { maxLength: 2 }), 4),
  });
  return maybe(fc.array(container, { minLength: 1, maxLength: 2 }), often);
}

const pod: fc.Arbitrary<PodParts> = fields({
  containers: containers(10, true),
  initContainers: containers(4, true),
  ephemeralContainers: containers(2, false),
  hostNetwork: maybe(fc.boolean(), 6),
  hostUsers: maybe(fc.boolean(), 6),
}).map((spec) => ({ spec }));

export const nodeDeclaredFeatures: PluginComparison = {
  plugin,
  questions: questionsOf({
    plugin,
    node: fields({ declaredFeatures: maybe(declared, 9) }).map((status) => ({ status })),
    pod,
  }),
};
