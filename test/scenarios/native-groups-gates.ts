import { expectBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import type { NativeGroupSpec } from './native-group-manifest.ts';
import { cpus, expectUntouched } from './preemption-stage.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';

/** The feature gates, besides GenericWorkload, that the fields in these scenarios need. */
export const podGroupGates = [
  'TopologyAwareWorkloadScheduling',
  'CompositePodGroup',
  'DRAWorkloadResourceClaims',
  'PodGroupPreemptionPolicy',
] as const;

const topology: NativeGroupSpec = { topologyKey: 'example.com/rack' };
const parent: NativeGroupSpec = { parent: 'set' };
const claims: NativeGroupSpec = { resourceClaims: ['gpus'] };

/** Fields of PodGroups of Kubernetes itself, on a server whose feature gates for them are on. */
export const nativeGroupsWithGates = {
  NA5: unsupported(
    'a group with a topology key waits with a verdict that says what is not supported yet',
    topology,
    'asks for one domain of example.com/rack, which Tutti does not support yet',
  ),

  NA11: unsupported(
    'a group in a CompositePodGroup waits with a verdict that says what is not supported yet',
    parent,
    'belongs to CompositePodGroup set, which Tutti does not support yet',
  ),

  'shared-claims': unsupported(
    'a group that shares ResourceClaims waits with a verdict that says what is not supported yet',
    claims,
    'shares ResourceClaims among its pods, which Tutti does not support yet',
  ),

  'policy-differs': scenario(
    'a gang waits while a member has another preemptionPolicy than its PodGroup',
    async (stage) => {
      await stage.addNodes(cpus('node', 4));
      await stage.startScheduler();
      await stage.createNativeGroup('train', { minCount: 2, priority: 'never' });
      const differs = await stage.createPod('differs', { schedulingGroup: 'train', cpu: 1, priority: 'high' });
      const gang = await stage.createPods('train', 2, { schedulingGroup: 'train', cpu: 1, priority: 'never' });
      await expectVerdict(stage.record, [differs, ...gang], {
        reason: 'SchedulerError',
        says: ['pod differs does not have the preemptionPolicy Never of PodGroup scheduling.k8s.io/'],
      });
      expectNeverBound(stage.record, [differs, ...gang]);
      await stage.deletePod(differs);
      await expectBound(stage.record, gang);
    },
  ),

  'policy-never': neverPreempts('a gang with the preemptionPolicy Never preempts nothing'),
} as const satisfies Record<string, Scenario>;

/** The same fields on a server whose feature gates for them are off: it drops them. */
export const nativeGroupsWithoutGates = {
  'topology-dropped': dropped(topology, 'schedulingConstraints'),
  'parent-dropped': dropped(parent, 'parentCompositePodGroupName'),
  'claims-dropped': dropped(claims, 'resourceClaims'),
  'policy-dropped': dropped({ priority: 'never' }, 'preemptionPolicy'),
  'policy-of-members': neverPreempts('a gang whose members have the preemptionPolicy Never preempts nothing'),
} as const satisfies Record<string, Scenario>;

/** Neither a gang nor a basic group with these fields starts. A group without them does. */
function unsupported(title: string, fields: NativeGroupSpec, says: string): Scenario {
  return scenario(title, async (stage) => {
    await stage.addNodes(cpus('node', 8));
    await stage.startScheduler();
    const group = await stage.createNativeGroup('train', { minCount: 2, ...fields });
    await stage.createNativeGroup('basic', fields);
    const gang = await stage.createPods('train', 2, { schedulingGroup: 'train', cpu: 1 });
    const single = await stage.createPod('basic', { schedulingGroup: 'basic', cpu: 1 });
    await expectVerdict(stage.record, [...gang, single], { reason: 'SchedulerError', says: [says] });
    expectNeverBound(stage.record, gang);
    await stage.deleteGroup(group);
    await stage.createNativeGroup('train', { minCount: 2 });
    await expectBound(stage.record, gang);
    return () => expectNeverBound(stage.record, [single]);
  });
}

/** The server does not store the field, so the gang starts. */
function dropped(fields: NativeGroupSpec, field: string): Scenario {
  return scenario(
    `a gang starts although its PodGroup was created with ${field}, whose feature gate is off`,
    async (stage) => {
      await stage.addNodes(cpus('node', 4));
      await stage.startScheduler();
      const group = await stage.createNativeGroup('train', { minCount: 2, ...fields });
      const { spec } = await stage.client.get<{ readonly spec: object }>(stage.groupPath(group));
      if (field in spec) throw new Error(`the server has stored ${field}`);
      const { priority = 'low' } = fields;
      await expectBound(
        stage.record,
        await stage.createPods('train', 2, { schedulingGroup: 'train', cpu: 1, priority }),
      );
    },
  );
}

function neverPreempts(title: string): Scenario {
  return scenario(title, async (stage) => {
    await stage.addNodes(cpus('node', 2));
    await stage.startScheduler();
    const low = await stage.createPods('low', 2, { cpu: 1 });
    await expectBound(stage.record, low);
    await stage.createNativeGroup('train', { minCount: 2, priority: 'never' });
    const gang = await stage.createPods('train', 2, { schedulingGroup: 'train', cpu: 1, priority: 'never' });
    await expectVerdict(stage.record, gang, { reason: 'Unschedulable' });
    return () => {
      expectNeverBound(stage.record, gang);
      expectUntouched(stage, low);
    };
  });
}
