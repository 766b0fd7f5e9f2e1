import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject } from '../../json.ts';
import { ensureObject, metadataOf, objectAt, textAt } from '../access.ts';
import { textColumn } from '../column.ts';
import { fillConditionTimes } from '../condition-times.ts';
import { deepEqual } from '../../deep-equal.ts';
import { fieldForbidden, notSupported } from '../field-rules.ts';
import type { ResourceType } from '../resource-type.ts';
import { applyTemplateDefaults, validateTemplate } from './pod-template.ts';
import { count, workload } from './workload.ts';

/** Stored, and not acted on: no controller makes ReplicaSets and pods of it. */
export const deployments: ResourceType = workload({
  kind: 'Deployment',
  shortName: 'deploy',
  columns: [
    textColumn(
      'Ready',
      (object) => `${count(objectAt(object, 'status')?.readyReplicas)}/${count(objectAt(object, 'spec')?.replicas)}`,
    ),
    textColumn('Up-to-date', (object) => count(objectAt(object, 'status')?.updatedReplicas)),
    textColumn('Available', (object) => count(objectAt(object, 'status')?.availableReplicas)),
  ],
  behaviour: {
    applyDefaults: (object) => {
      applyTemplateDefaults(object);
      fillConditionTimes(ensureObject(object, 'status'), ['lastUpdateTime', 'lastTransitionTime']);
      const spec = ensureObject(object, 'spec');
      spec.revisionHistoryLimit ??= 10;
      spec.progressDeadlineSeconds ??= 600;
      const strategy = ensureObject(spec, 'strategy');
      strategy.type ??= 'RollingUpdate';
      if (strategy.type === 'RollingUpdate') {
        const rolling = ensureObject(strategy, 'rollingUpdate');
        rolling.maxUnavailable ??= '25%';
        rolling.maxSurge ??= '25%';
      }
    },
    prepareUpdate: raiseGenerationForAnnotations,
    validate: (object) => [...validateTemplate(object), ...validateStrategy(object)],
  },
});

/** Its controller copies annotations, so they are a part of what is wanted. */
function raiseGenerationForAnnotations(object: JsonObject, previous: JsonObject): void {
  const [metadata, old] = [metadataOf(object), metadataOf(previous)];
  const annotationsOnly = !deepEqual(metadata.annotations, old.annotations) && deepEqual(object.spec, previous.spec);
  if (annotationsOnly && typeof old.generation === 'number') metadata.generation = old.generation + 1;
}

function validateStrategy(object: JsonObject): StatusCause[] {
  const strategy = objectAt(objectAt(object, 'spec'), 'strategy');
  const type = textAt(strategy, 'type');
  const types = ['Recreate', 'RollingUpdate'];
  if (!types.includes(type)) {
    // As kube-apiserver prints it.
    const shown = { Type: type, RollingUpdate: strategy?.rollingUpdate ?? null };
    return [notSupported('spec.strategy', shown, types)];
  }
  if (type === 'Recreate' && strategy?.rollingUpdate !== undefined) {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    return [fieldForbidden('spec.strategy.rollingUpdate', detail)];
  }
  return [];
}
