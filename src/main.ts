#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=4 --v8-pool-size=1 --heap-growing-percent=100 --invocation-count-for-maglev=2000 --expose-gc
// These flags keep a busy scheduler small at almost no cost in speed. The Dockerfile sets the same ones.
// - max-semi-space-size: a young generation of at most 4 MB per half saves about 40 MB.
// - v8-pool-size and MALLOC_ARENA_MAX: one compiler thread, and one malloc arena instead of one per thread, save about 12 MB.
// - heap-growing-percent: V8 collects the heap when it has doubled, not when it has quadrupled. Saves about 60 MB.
// - invocation-count-for-maglev: the compiler waits until a function is hot. Otherwise it gets hundreds of functions in the first second,
//   and V8 keeps their work space. Saves about 18 MB.
// - expose-gc: the process may collect the heap when a load is over, which saves 10 to 80 MB from then on.
import module from 'node:module';
import process from 'node:process';

// Import nothing else before the version check: on an older Node the imports of the commands fail with misleading errors.
const minNode = [22, 19] as const;

function isNodeTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < minNode[0] || (major === minNode[0] && minor < minNode[1]);
}

if (isNodeTooOld(process.versions.node)) {
  process.stderr.write(
    `tutti needs Node ${minNode.join('.')} or newer; this is Node ${process.versions.node} (${process.execPath}).\n` +
      'In a clone of the repository, npm installs the right Node locally and does not change your system:\n' +
      '  npm ci && npm start                  tutti up\n' +
      '  npm ci && npm start -- --help        its options\n',
  );
  process.exitCode = 1;
} else {
  // From the second run on, this halves the load time of the commands.
  module.enableCompileCache();
  const { runCli } = await import('./cli/run-cli.ts');
  // Servers and idle connections would keep the process alive after the command has ended.
  process.exit(await runCli(process));
}
