import { isDeepStrictEqual } from 'node:util';
import { customResourceDefinitions } from '../kinds/custom/custom-resource-definitions.ts';
import { customResourceTypes } from '../kinds/custom/custom-resource-types.ts';
import type { ApiContext } from '../verbs/api-context.ts';

/**
 * Serves the resources of a CustomResourceDefinition as soon as it is stored. Ends the watches of its resource when the CRD's spec changes
 * or the CRD is removed, so that clients list again.
 */
export function startDefinitionRegistrar(context: ApiContext): void {
  context.store.collection(customResourceDefinitions.storage).subscribe((change) => {
    const { name: storage, object } = change.object;
    if (change.type === 'DELETED') {
      context.registry.replace(storage, []);
    } else {
      if (change.type === 'MODIFIED' && isDeepStrictEqual(object.spec, change.previous.object.spec)) return;
      context.store.collection(storage);
      context.registry.replace(storage, customResourceTypes(object));
    }
    if (change.type !== 'ADDED') context.watches.end(storage);
  });
}
