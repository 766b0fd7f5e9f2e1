import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { missingPackages } from '../../missing-packages.ts';
import type { BinaryName } from '../binaries.ts';
import type { Provision } from '../build.ts';
import { provideForSuite, warnIfMissing } from '../provide-real-plane.ts';
import { networkPlugins } from './node-files.ts';
import { nodePrograms } from './real-node.ts';

type NodeSuiteProgram = (typeof nodePrograms)[number] | 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

/**
 * Like `provideForSuite`, for suites that run on a real node: provides its programs, and a control plane with the controllers that a node
 * needs. Such suites are skipped, with the same message, where this machine cannot run a node.
 */
export async function provideNodeForSuite<Name extends BinaryName>(
  suite: string,
  names: readonly Name[],
): Promise<Provision<Name | NodeSuiteProgram>> {
  const lacking = missingHere();
  if (lacking !== undefined) {
    return warnIfMissing(suite, { state: 'missing', reason: 'unsuitable-machine', message: lacking });
  }
  return provideForSuite(suite, [...names, 'etcd', 'kube-apiserver', 'kube-controller-manager', ...nodePrograms]);
}

/** Returns why this machine cannot run a node, and what to do about it. */
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
