#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=4 --v8-pool-size=1 --heap-growing-percent=100 --invocation-count-for-maglev=2000 --expose-gc
// Keeps a busy scheduler small, at next to no cost in speed: a young generation of at most 4 MB a half (some 40 MB less), one thread
// that compiles and one arena of malloc instead of one for each thread (some 12 MB less), a heap that is collected when it has
// doubled, not when it has quadrupled (some 60 MB less), a first compiler that waits until a function is hot: in the first second it would
// be handed hundreds at once, whose work space is kept (some 18 MB less), and leave to collect the heap when a load is over (10 to 80 MB
// less from then on). The Dockerfile starts it in the same way.
import module from 'node:module';
import process from 'node:process';

// Nothing else may be imported before the version is known to do: what the commands need fails to load on an older Node, with
// errors that do not say so.
const leastNode = [22, 19] as const;

function isNodeTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < leastNode[0] || (major === leastNode[0] && minor < leastNode[1]);
}

if (isNodeTooOld(process.versions.node)) {
  process.stderr.write(
    `tutti needs Node ${leastNode.join('.')} or newer; this is Node ${process.versions.node} (${process.execPath}).\n` +
      'In a clone of the repository the right Node comes with the packages, and what is installed stays as it is:\n' +
      '  npm ci && npm start                  tutti up\n' +
      '  npm ci && npm start -- --help        its options\n',
  );
  process.exitCode = 1;
} else {
  // Halves the time that the commands take to load, from the second time on.
  module.enableCompileCache();
  const { runCli } = await import('./cli/run-cli.ts');
  // Servers and idle connections would keep the process alive after its command has ended.
  process.exit(await runCli(process));
}
