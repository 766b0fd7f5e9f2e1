// Runs a real Kubernetes API server until Ctrl-C, for manual tests: `npm run plane:real -- --nodes 8`. The first run builds the programs
// with Go, which takes minutes.
import { once } from 'node:events';
import process from 'node:process';
import { Command } from 'commander';
import { quantity, wholeNumber } from '../src/cli/flag-values.ts';
import type { BinaryName } from '../test/planes/real/binaries.ts';
import { provideBinaries } from '../test/planes/real/build.ts';
import { openRealPlane } from '../test/planes/real/real-plane.ts';

interface Flags {
  readonly nodes: number;
  readonly cpu: string;
  readonly memory: string;
  readonly kwok: boolean;
  readonly controllerManager: boolean;
  readonly featureGates: readonly string[];
}

const flags = new Command('plane:real')
  .description('Run etcd and kube-apiserver with the PodGroup API, and print the kubeconfig.')
  .option('--nodes <count>', 'Number of nodes.', wholeNumber(0), 4)
  .option('--cpu <quantity>', 'CPU of each node.', quantity('4'), '4')
  .option('--memory <quantity>', 'Memory of each node.', quantity('16Gi'), '16Gi')
  .option('--kwok', 'Simulate the nodes with KWOK: pods run, and pods of Jobs finish.', false)
  .option(
    '--controller-manager',
    'Run kube-controller-manager: Jobs, Deployments, StatefulSets, garbage collection.',
    false,
  )
  .option(
    '--feature-gates <names>',
    "Feature gates to enable, separated by commas: GenericWorkload for Kubernetes' own PodGroups.",
    (text) => text.split(','),
    [],
  )
  .parse()
  .opts<Flags>();

const names: BinaryName[] = ['etcd', 'kube-apiserver'];
if (flags.kwok) names.push('kwok');
if (flags.controllerManager) names.push('kube-controller-manager');
const programs = await provideBinaries(names, { mayBuild: true });
if (programs.state === 'missing') {
  console.error(programs.message);
  process.exit(3);
}

const plane = await openRealPlane({ ...flags, paths: programs.paths });
// Signals before this need no handler: the programs end with this process.
const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
try {
  const { cpu, memory } = flags;
  await plane.addNodes(
    Array.from({ length: flags.nodes }, (_, index) => ({ name: `node-${index}`, allocatable: { cpu, memory } })),
  );
  console.log(`Kubernetes ${plane.version} at ${plane.url}, ${flags.nodes} nodes`);
  console.log(`  export KUBECONFIG=${plane.kubeconfigPath}`);
  console.log(`  logs in ${plane.folder}`);
  console.log('Press Ctrl-C to stop.');
  await interrupted;
} finally {
  await plane.stop();
}
