import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { systemClock } from '../../base/system-clock.ts';
import { Interruption } from '../interruption.ts';
import { runUp } from './run-up.ts';

it('removes the kubeconfig if the process exits before everything has stopped', async () => {
  const process = Object.assign(new EventEmitter(), { exit: () => undefined });
  const interruption = new Interruption(process, systemClock);
  const stdout = new PassThrough();
  let output = '';
  stdout.on('data', (text: unknown) => (output += String(text)));
  const onExit: (() => void)[] = [];
  const rest = {
    nodeCpu: '2',
    nodeMemory: '8Gi',
    nodePods: 110,
    port: 0,
    timeoutMs: 60_000,
    plugins: [],
    nodeResource: {},
  };
  const ended = runUp(
    {
      ...rest,
      files: ['examples/gang/gang.yaml'],
      exit: false,
      naive: false,
      scheduler: true,
      nodes: 1,
      logLevel: 'warn',
      logFormat: 'text',
    },
    {
      stdout,
      stderr: new PassThrough(),
      keyboard: undefined,
      readInput: () => Promise.reject(new Error('the test reads no input')),
      environment: {},
      interruption,
      clock: systemClock,
      random: Math.random,
      onExit: (callback) => void onExit.push(callback),
    },
  );
  await expect.poll(() => /KUBECONFIG=(\S+)/.exec(output)?.[1]).toBeDefined();
  const path = /KUBECONFIG=(\S+)/.exec(output)![1]!;
  expect(existsSync(path)).toBe(true);
  for (const callback of onExit) callback();
  expect(existsSync(path)).toBe(false);
  process.emit('SIGTERM');
  expect(await ended).toBe(0);
  interruption.dispose();
});
