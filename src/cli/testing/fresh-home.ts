import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { TestProcess } from './test-process.ts';
import type { TestProcessOptions } from './test-process.ts';

/** A directory that exists for one test. */
export interface FreshHome {
  readonly path: string;
  /** Starts `tutti` with the directory as its home and without a kubeconfig. The process is killed after the test. */
  tutti(parameters: readonly string[], options?: TestProcessOptions): TestProcess;
}

/** Creates an empty directory for each test of the file, and removes it afterwards. Its name contains `name`. */
export function freshHome(name: string): FreshHome {
  const running: TestProcess[] = [];
  let path: string;
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), `tutti-${name}-`));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((process) => process.kill()));
    await rm(path, { recursive: true });
  });
  return {
    get path() {
      return path;
    },
    tutti(parameters, options = {}) {
      const environment = { KUBECONFIG: '', HOME: path, ...options.environment };
      const process = new TestProcess(parameters, { ...options, environment });
      running.push(process);
      return process;
    },
  };
}
