import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeClient } from '../../../src/client/kube-client.ts';
import type { TestPlane } from '../plane.ts';

/** A plane, and a folder for additional kubeconfigs that is removed with it. */
export type PlaneWithFolder = Pick<TestPlane, 'client' | 'kubeconfigPath'> & { readonly folder: string };

/** Returns a token of a ServiceAccount like that of a pod, valid for an hour. */
export async function tokenOf(
  client: Pick<KubeClient, 'create'>,
  namespace: string,
  serviceAccount: string,
): Promise<string> {
  const { status } = await client.create<{ readonly status: { readonly token: string } }>(
    `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`,
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
  );
  return status.token;
}

/** Writes a kubeconfig with the credentials of the ServiceAccount and returns its path; it is removed with the plane. */
export async function kubeconfigOf(plane: PlaneWithFolder, namespace: string, serviceAccount: string): Promise<string> {
  const token = await tokenOf(plane.client, namespace, serviceAccount);
  const { users, ...rest } = parse(await readFile(plane.kubeconfigPath, 'utf8')) as { users: { name: string }[] };
  const path = join(plane.folder, `${namespace}-${serviceAccount}.kubeconfig`);
  await writeFile(path, JSON.stringify({ ...rest, users: users.map(({ name }) => ({ name, user: { token } })) }), {
    mode: 0o600,
  });
  return path;
}
