import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { ensureObject, metadataOf, objectAt, textAt } from '../access.ts';
import { builtIn } from '../built-in.ts';
import { ageColumn, nameColumn, textColumn } from '../column.ts';
import { fillConditionTimes } from '../condition-times.ts';
import { deepEqual } from '../../deep-equal.ts';
import { fieldForbidden, invalidValue, notSupported } from '../field-rules.ts';
import { statusSubresource } from '../resource-type.ts';
import type { ResourceType } from '../resource-type.ts';
import { applyTemplateDefaults, templateColumns, validateTemplate } from './pod-template.ts';

const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' };

/** Stored, and not acted on: no controller makes ReplicaSets and pods of it. */
export const deployments: ResourceType = builtIn({
  ...deployment,
  plural: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  model: 'V1Deployment',
  subresources: [statusSubresource(deployment)],
  columns: [
    nameColumn,
    textColumn(
      'Ready',
      (object) => `${count(objectAt(object, 'status')?.readyReplicas)}/${count(objectAt(object, 'spec')?.replicas)}`,
    ),
    textColumn('Up-to-date', (object) => count(objectAt(object, 'status')?.updatedReplicas)),
    textColumn('Available', (object) => count(objectAt(object, 'status')?.availableReplicas)),
    ageColumn,
    ...templateColumns,
  ],
  behaviour: {
    generation: 'spec',
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
    validateUpdate: selectorIsFixed,
  },
});

export function count(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}

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

export function selectorIsFixed(object: JsonObject, previous: JsonObject): StatusCause[] {
  const selector = objectAt(objectAt(object, 'spec'), 'selector');
  if (deepEqual(selector, objectAt(objectAt(previous, 'spec'), 'selector'))) return [];
  return [invalidValue('spec.selector', selector ?? null, 'field is immutable')];
}
