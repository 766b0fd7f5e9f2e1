import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { missingPackages } from '../../missing-packages.ts';
import type { BinaryName } from '../binaries.ts';
import type { Provision } from '../build.ts';
import { provideForSuite, sayIfMissing } from '../provide-real-plane.ts';
import { networkPlugins } from './node-files.ts';
import { nodePrograms } from './real-node.ts';

type NodeSuiteProgram = (typeof nodePrograms)[number] | 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

/**
 * As `provideForSuite`, for suites that run on a real node: its programs, and those of a control plane whose controllers a node
 * needs. Such suites skip, as loudly, where this machine cannot play a node.
 */
export async function provideNodeForSuite<Name extends BinaryName>(
  suite: string,
  names: readonly Name[],
): Promise<Provision<Name | NodeSuiteProgram>> {
  const lacking = missingHere();
  if (lacking !== undefined) {
    return sayIfMissing(suite, { state: 'missing', reason: 'unsuitable-machine', message: lacking });
  }
  return provideForSuite(suite, [...names, 'etcd', 'kube-apiserver', 'kube-controller-manager', ...nodePrograms]);
}

/** Why this machine cannot play a node, and what to do about it. */
function missingHere(): string | undefined {
  if (process.platform !== 'linux') return `a node needs Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'a node needs root, for namespaces, cgroups and mounts';
  const packages = [
    ...missingPackages({ runc: 'runc', ip: 'iproute2', mount: 'mount', unshare: 'util-linux', nsenter: 'util-linux' }),
    ...(existsSync(join(networkPlugins, 'bridge')) ? [] : ['containernetworking-plugins']),
  ];
  if (packages.length === 0) return undefined;
  return `a node needs programs that are not here: apt-get install ${packages.join(' ')}`;
}
