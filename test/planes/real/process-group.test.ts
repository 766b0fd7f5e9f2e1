import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { poll } from '../poll.ts';
import { ProcessGroup } from './process-group.ts';

const groups: ProcessGroup[] = [];
const holders: ChildProcess[] = [];

afterEach(async () => {
  for (const holder of holders.splice(0)) holder.kill('SIGKILL');
  for (const group of groups.splice(0)) await group.close();
});

async function open(): Promise<ProcessGroup> {
  const group = await ProcessGroup.open();
  groups.push(group);
  return group;
}

/** A process that opens a group of two sleeping processes, with its process ids. */
interface Held {
  readonly folder: string;
  readonly supervisor: number;
  readonly pids: readonly number[];
}

async function openElsewhere(): Promise<{ holder: ChildProcess; held: Held }> {
  const holder = fork(fileURLToPath(new URL('testing/hold-group.ts', import.meta.url)), { execArgv: [] });
  holders.push(holder);
  const held = await new Promise<Held>((resolve, reject) => {
    holder.once('message', (message) => resolve(message as Held));
    holder.once('exit', (code) => reject(new Error(`the holder ended, exit code ${code}`)));
  });
  return { holder, held };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A zombie does not count: in a container it may remain when its parent is gone. */
async function runs(pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return status === undefined ? isAlive(pid) : !status.includes(') Z ');
}

async function expectGone({ folder, pids }: Pick<Held, 'folder' | 'pids'>): Promise<void> {
  await poll(async () => {
    for (const pid of pids) if (await runs(pid)) return `process ${pid} runs`;
    return (await exists(folder)) ? `${folder} still exists` : undefined;
  }, 'nothing of the group remains');
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

describe('ProcessGroup', () => {
  it('runs a program and keeps its output', async () => {
    const group = await open();
    await group.start('greeter', process.execPath, ['-e', 'console.log("hello"); setInterval(() => {}, 1e6)']);
    expect(group.pid('greeter')).toBeGreaterThan(0);
    await poll(async () => ((await group.lastLines('greeter')) === 'hello' ? undefined : 'silence'), 'it prints hello');
  });

  it('reports how a process ended', async () => {
    const group = await open();
    await group.start('failing', process.execPath, ['-e', 'process.exit(7)']);
    await poll(async () => (group.exit('failing') === undefined ? 'it runs' : undefined), 'it ends');
    expect(group.exit('failing')).toBe('exit code 7');
    expect(group.pid('failing')).toBeUndefined();
  });

  it('rejects a program that does not exist', async () => {
    const group = await open();
    await expect(group.start('nothing', join(group.folder, 'nothing'), [])).rejects.toThrow('could not be started');
  });

  it('kills and restarts one process while the others keep running', async () => {
    const group = await open();
    await group.start('first', 'sleep', ['1000']);
    await group.start('second', 'sleep', ['1000']);
    const before = group.pid('first')!;
    await group.kill('first');
    expect(await runs(before)).toBe(false);
    expect(await runs(group.pid('second')!)).toBe(true);
    await group.start('first', 'sleep', ['1000']);
    expect(group.pid('first')).not.toBe(before);
  });

  it('removes everything when it is closed', async () => {
    const group = await open();
    await group.start('stubborn', 'sh', ['-c', 'trap "" TERM; sleep 1000 & echo $!; wait']);
    await poll(async () => ((await group.lastLines('stubborn')) === '' ? 'silence' : undefined), 'it has a child');
    const pids = [group.pid('stubborn')!, Number(await group.lastLines('stubborn')), group.supervisorPid];
    await group.close();
    await expectGone({ folder: group.folder, pids });
  });

  it('removes everything when the process that opened it is killed', async () => {
    const { holder, held } = await openElsewhere();
    for (const pid of held.pids) expect(await runs(pid)).toBe(true);
    holder.kill('SIGKILL');
    await expectGone({ folder: held.folder, pids: [...held.pids, held.supervisor] });
  });

  it.runIf(process.platform === 'linux')(
    'removes, when it opens, only what a killed supervisor left behind',
    async () => {
      const other = await open();
      await other.start('sleeper', 'sleep', ['1000']);
      const { holder, held } = await openElsewhere();
      process.kill(held.supervisor, 'SIGKILL');
      holder.kill('SIGKILL');
      await poll(async () => ((await runs(held.supervisor)) ? 'it runs' : undefined), 'the supervisor is dead');
      for (const pid of held.pids) expect(await runs(pid)).toBe(true);

      await open();

      await expectGone(held);
      expect(await runs(other.pid('sleeper')!)).toBe(true);
      expect(await exists(other.folder)).toBe(true);
    },
  );
});
