import type { JsonObject } from '../../json.ts';
import { builtIn } from '../built-in.ts';
import { ensureObject, metadataOf, objectAt, objectsAt, textAt, textsAt } from '../access.ts';
import { fieldColumn, nameColumn } from '../column.ts';
import type { KindContext, ResourceType } from '../resource-type.ts';
import { validateDefinition } from './validate-definition.ts';

/** Finalizer that keeps a CRD during its deletion until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

const definitions = builtIn({
  group: 'apiextensions.k8s.io',
  kind: 'CustomResourceDefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  hasStatus: true,
  required: ['spec.group', 'spec.names.plural', 'spec.names.kind', 'spec.versions'],
  values: { 'spec.scope': ['Cluster', 'Namespaced'] },
  immutable: ['spec.group', 'spec.scope', 'spec.names.plural', 'spec.names.kind'],
  defaults: { spec: { conversion: { strategy: 'None' } } },
  behavior: {
    generation: 'spec',
    updateNeedsVersion: true,
    applyDefaults: applyDefinitionDefaults,
    admitCreate: (definition, context) => {
      definition.status = establishedStatus(definition, context);
    },
    validate: validateDefinition,
    markDeleted: (definition) => {
      const metadata = metadataOf(definition);
      metadata.finalizers = [...new Set([...textsAt(metadata, 'finalizers'), cleanupFinalizer])];
    },
    prepareUpdate: (definition, previous) => {
      const status = objectAt(previous, 'status');
      definition.status = { ...status, ...servedStatus(definition, textsAt(status, 'storedVersions')) };
    },
  },
});

export const customResourceDefinitions: ResourceType = {
  ...definitions,
  columns: [nameColumn, fieldColumn('Created At', 'metadata.creationTimestamp')],
};

function applyDefinitionDefaults(definition: JsonObject): void {
  const spec = ensureObject(definition, 'spec');
  const names = ensureObject(spec, 'names');
  const kind = textAt(names, 'kind');
  if (textAt(names, 'singular') === '' && kind !== '') names.singular = kind.toLowerCase();
  if (textAt(names, 'listKind') === '' && kind !== '') names.listKind = `${kind}List`;
}

/** Returns the status of a new CRD. The server accepts the names and serves the resource as soon as it stores the CRD. */
function establishedStatus(definition: JsonObject, context: KindContext): JsonObject {
  const met = { status: 'True', lastTransitionTime: context.now() };
  const established = { reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
  return {
    conditions: [
      { type: 'NamesAccepted', ...met, reason: 'NoConflicts', message: 'no conflicts found' },
      { type: 'Established', ...met, ...established },
    ],
    ...servedStatus(definition, []),
  };
}

/** Returns the names and versions in the status. `before` are the versions that the server has stored until now. */
function servedStatus(definition: JsonObject, before: readonly string[]): JsonObject {
  const spec = objectAt(definition, 'spec');
  const stored = objectsAt(spec, 'versions').filter((version) => version.storage === true);
  const storedVersions = new Set([...before, ...stored.map((version) => textAt(version, 'name'))]);
  return { acceptedNames: { ...objectAt(spec, 'names') }, storedVersions: [...storedVersions] };
}
