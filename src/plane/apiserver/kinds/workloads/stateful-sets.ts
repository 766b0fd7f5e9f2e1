import { ensureObject, objectAt, textAt } from '../access.ts';
import { textColumn } from '../column.ts';
import { fillConditionTimes } from '../condition-times.ts';
import type { ResourceType } from '../resource-type.ts';
import { applyTemplateDefaults, validateTemplate } from './pod-template.ts';
import { count, workload } from './workload.ts';

/** Stored, and not acted on: no controller makes pods of it. */
export const statefulSets: ResourceType = workload({
  kind: 'StatefulSet',
  shortName: 'sts',
  columns: [
    textColumn(
      'Ready',
      (object) => `${count(objectAt(object, 'status')?.readyReplicas)}/${count(objectAt(object, 'spec')?.replicas)}`,
    ),
  ],
  behaviour: {
    applyDefaults: (object) => {
      applyTemplateDefaults(object);
      const status = ensureObject(object, 'status');
      fillConditionTimes(status, ['lastTransitionTime']);
      status.replicas ??= 0;
      status.availableReplicas ??= 0;
      const spec = ensureObject(object, 'spec');
      spec.podManagementPolicy ??= 'OrderedReady';
      spec.revisionHistoryLimit ??= 10;
      const strategy = ensureObject(spec, 'updateStrategy');
      strategy.type ??= 'RollingUpdate';
      if (textAt(strategy, 'type') === 'RollingUpdate') ensureObject(strategy, 'rollingUpdate').partition ??= 0;
      const retention = ensureObject(spec, 'persistentVolumeClaimRetentionPolicy');
      retention.whenDeleted ??= 'Retain';
      retention.whenScaled ??= 'Retain';
    },
    validate: validateTemplate,
  },
});
