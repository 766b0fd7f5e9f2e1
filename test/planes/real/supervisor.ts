// The parent of a plane's processes, in its own process group: `node supervisor.ts <folder>`, started with an IPC channel. The folder
// exists only while the supervisor runs. When the channel closes, because the test has ended or was killed, the supervisor ends everything.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import process from 'node:process';
import { folderVariable } from './abandoned-groups.ts';
import { removeCgroups } from './node/cgroups.ts';
import type { SupervisorAnswer, SupervisorRequest } from './supervisor-messages.ts';

const folder = process.argv[2]!;
/** name -> the running process of that name */
const running = new Map<string, ChildProcess>();
let ending = false;

function answer(message: SupervisorAnswer): void {
  // The other side may be gone.
  if (process.connected) process.send!(message, () => undefined);
}

function start(name: string, command: string, args: readonly string[]): void {
  const log = openSync(join(folder, `${name}.log`), 'a', 0o600);
  const child = spawn(command, args, {
    stdio: ['ignore', log, log],
    cwd: folder,
    env: { ...process.env, [folderVariable]: folder },
  });
  closeSync(log);
  running.set(name, child);
  let done = false;
  const gone = (how: string): void => {
    if (done) return;
    done = true;
    if (running.get(name) === child) running.delete(name);
    answer({ kind: 'exited', name, how });
  };
  child.once('spawn', () => answer({ kind: 'started', name, pid: child.pid! }));
  child.once('error', (error) => gone(error.message));
  child.once('exit', (code, signal) => gone(signal === null ? `exit code ${code}` : `signal ${signal}`));
}

async function endAll(): Promise<void> {
  if (ending) return;
  ending = true;
  // Their data is not worth saving, and a graceful end may take long.
  await Promise.all(
    [...running.values()].map(async (child) => {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      if (child.kill('SIGKILL')) await exited;
    }),
  );
  // Pods of a node are in cgroups named after the folder.
  await removeCgroups(basename(folder)).catch(() => undefined);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  // Kill this process too, and everything that the children have started.
  process.kill(-process.pid, 'SIGKILL');
}

process.on('message', (request: SupervisorRequest) => {
  if (ending) return;
  switch (request.kind) {
    case 'start':
      return start(request.name, request.command, request.args);
    case 'signal':
      running.get(request.name)?.kill(request.signal);
  }
});
process.on('disconnect', () => void endAll());
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void endAll());

mkdirSync(folder, { mode: 0o700 });
if (process.connected) answer({ kind: 'ready' });
else await endAll();
