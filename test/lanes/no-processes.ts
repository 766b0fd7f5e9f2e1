import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

// The unit lane starts no processes: they cost more than all else that its tests do.
for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const) {
  childProcess[name] = (() => {
    throw new Error('a test of the unit lane started a process: name its file *.e2e.test.ts (see test/lanes/lanes.ts)');
  }) as never;
}
syncBuiltinESMExports();
