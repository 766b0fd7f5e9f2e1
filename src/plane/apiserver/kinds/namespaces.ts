import { forbidden } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { builtIn } from './built-in.ts';
import { ensureObject, metadataOf, objectAt, textAt } from './access.ts';
import { textColumn } from './column.ts';
import type { ResourceType } from './resource-type.ts';

/** The namespaces that the server creates at startup. They cannot be deleted. */
export const builtInNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

function phaseOf(namespace: JsonObject): string {
  return textAt(objectAt(namespace, 'status'), 'phase');
}

export const namespaces: ResourceType = builtIn({
  kind: 'Namespace',
  shortNames: ['ns'],
  namespaced: false,
  hasStatus: true,
  columns: [textColumn('Status', phaseOf)],
  selectableFields: { name: (namespace) => metadataOf(namespace).name as string, 'status.phase': phaseOf },
  behavior: {
    nameRule: 'label',
    applyDefaults: (namespace) => {
      const metadata = metadataOf(namespace);
      if (typeof metadata.name !== 'string') return;
      ensureObject(metadata, 'labels')['kubernetes.io/metadata.name'] = metadata.name;
    },
    admitCreate: (namespace) => {
      namespace.spec = { finalizers: ['kubernetes'] };
      namespace.status = { phase: 'Active' };
    },
    prepareUpdate: (namespace, previous) => {
      namespace.spec = previous.spec ?? {};
    },
    admitDelete: (namespace) => {
      const name = metadataOf(namespace).name as string;
      if (!builtInNamespaces.includes(name)) return;
      throw forbidden({ group: '', plural: 'namespaces' }, name, 'this namespace may not be deleted');
    },
    blocksRemoval: (namespace) => {
      const finalizers = objectAt(namespace, 'spec')?.finalizers;
      return Array.isArray(finalizers) && finalizers.length > 0;
    },
    markDeleted: (namespace) => {
      namespace.status = { ...objectAt(namespace, 'status'), phase: 'Terminating' };
    },
  },
});
