import { execFile } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import process from 'node:process';
import { promisify } from 'node:util';
import { findGo } from '../../test/planes/real/go-toolchain.ts';
import type { Machine } from './results.ts';

export async function describeMachine(): Promise<Machine> {
  const go = await findGo();
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.versions.node,
    go: go.state === 'absent' ? 'none' : go.version,
  };
}

/** Returns the output of `--version`, without the name of the program. */
export async function versionOf(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ['--version']);
  const [first = ''] = stdout.split('\n');
  return first.replace(/^(Kubernetes|etcd Version:)\s+/, '').trim();
}
