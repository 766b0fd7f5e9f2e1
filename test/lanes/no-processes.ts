import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

// The unit lane starts no processes: they would cost more time than everything else in its tests.
for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const) {
  childProcess[name] = (() => {
    throw new Error('a test of the unit lane started a process: name its file *.e2e.test.ts (see test/lanes/lanes.ts)');
  }) as never;
}
syncBuiltinESMExports();
