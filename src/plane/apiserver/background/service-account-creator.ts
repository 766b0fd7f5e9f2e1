import { namespaces } from '../kinds/namespaces.ts';
import { serviceAccounts } from '../kinds/plain-kinds.ts';
import type { ApiContext } from '../verbs/api-context.ts';
import { createObject } from '../verbs/create.ts';

/** Gives each namespace its `default` service account, in the same step that creates the namespace. */
export function startServiceAccountCreator(context: ApiContext): void {
  context.store.collection(namespaces.storage).subscribe((change) => {
    if (change.type !== 'ADDED') return;
    const namespace = change.object.name;
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } };
    createObject(context, serviceAccounts, namespace, account, false);
  });
}
