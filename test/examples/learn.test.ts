import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { claimBlocks } from '../docs/block-claims.ts';
import { hangsMs } from '../planes/patience.ts';

const pages = [
  '1-random-node.md',
  '2-filter.md',
  '3-score.md',
  '4-pre-score.md',
  '5-permit.md',
  '6-queue.md',
  '7-events.md',
] as const;

interface OutputLine {
  readonly seconds: number;
  readonly line: string;
}

/** Runs a step as a reader does, within the documented time. */
async function learn(step: number): Promise<readonly OutputLine[]> {
  const { stdout, stderr } = await promisify(execFile)('npm', ['run', '--silent', 'learn', '--', String(step)], {
    timeout: hangsMs,
    env: { ...process.env, NO_COLOR: '1' },
  });
  expect(stderr.split('\n').filter((line) => line !== '' && !line.startsWith('npm warn'))).toEqual([]);
  expect(stdout).toContain(`Explained in: docs/learn/${pages[step - 1]}`);
  return [...stdout.matchAll(/^ *(\d+\.\d\d) s {2}(.*)$/gm)].map(([, seconds, line]) => ({
    seconds: Number(seconds),
    line: line!,
  }));
}

const lines = (output: readonly OutputLine[]): readonly string[] => output.map(({ line }) => line);
const when = (output: readonly OutputLine[], line: string): number => output.find((one) => one.line === line)!.seconds;

describe('npm run learn', () => {
  it('-- 1: binds pods to any node', async () => {
    const output = await learn(1);
    expect(lines(output).slice(1)).toEqual(
      [1, 2, 3, 4, 5].map((pod) => expect.stringMatching(`^pod${pod} is bound to node\\d$`)),
    );
  });

  it('-- 2: binds to the only node that is not cordoned', async () => {
    expect(lines(await learn(2))).toEqual([
      'node0 to node9 are cordoned, node10 is not',
      'pod1 is bound to node10',
      'node10 is cordoned, too',
      'pod2 stays pending: 0/11 nodes are available: 11 node(s) were unschedulable.',
    ]);
  });

  it('-- 3: binds to the node with the same number, unless it is cordoned', async () => {
    expect(lines(await learn(3)).slice(1)).toEqual([
      'pod1 is bound to node1',
      'pod3 is bound to node3',
      expect.stringMatching(/^pod7 is bound to node[0-689]$/),
      expect.stringMatching(/^pod is bound to node[0-689]$/),
    ]);
  });

  it('-- 4: calls PreScore once, and never Score after Skip', async () => {
    expect(lines(await learn(4)).slice(1)).toEqual([
      'pod1 is bound to node1, after 1 PreScore and 10 Score',
      'pod3 is bound to node3, after 1 PreScore and 10 Score',
      expect.stringMatching(/^pod is bound to node\d, after 1 PreScore and 0 Score$/),
    ]);
  });

  it("-- 5: a pod waits as many seconds as its node's number, and others overtake it", async () => {
    const output = await learn(5);
    expect(lines(output).filter((line) => line.includes('bound'))).toEqual([
      'pod0 is bound to node0',
      'pod1 is bound to node1',
      'pod4 is bound to node4',
    ]);
    for (const digit of [1, 4]) {
      const waited =
        when(output, `pod${digit} is bound to node${digit}`) -
        when(output, `NodeNumber: pod${digit} has node${digit}, and waits ${digit} s`);
      expect(waited).toBeGreaterThan(digit - 0.05);
    }
  });

  it('-- 6: retries a failed pod after 1, 2 and 4 seconds, and no other pod waits for it', async () => {
    const output = await learn(6);
    const moody = lines(output).filter((line) => line.includes('moody'));
    expect(moody).toEqual([
      'OutsideWorld: attempt 1 for moody fails',
      'moody is pending: 0/1 nodes are available: the outside world did not answer.',
      'OutsideWorld: attempt 2 for moody fails',
      'OutsideWorld: attempt 3 for moody fails',
      'moody is bound to node0',
    ]);
    const attempts = [0, 2, 3, 4].map((index) => when(output, moody[index]!));
    for (const [index, seconds] of [1, 2, 4].entries()) {
      expect(attempts[index + 1]! - attempts[index]!).toBeGreaterThan(seconds - 0.05);
    }
    expect(when(output, 'pod2 is bound to node0')).toBeLessThan(attempts[3]!);
  });

  it('-- 7: a node that can help wakes the pod, another does not', async () => {
    const output = lines(await learn(7)).filter((line) => !line.includes(' is added'));
    expect(output).toEqual([
      'node0 to node8 are cordoned',
      'pod1 is pending: 0/9 nodes are available: 9 node(s) were unschedulable.',
      'NodeUnschedulable: Add of node9 cannot help pod1',
      'NodeUnschedulable: Add of node10 may help pod1',
      'pod1 is bound to node10',
    ]);
  });

  it('without a number lists the steps', async () => {
    const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'learn']);
    expect(stdout.match(/npm run learn -- [1-7] /g)).toHaveLength(7);
  });

  it.each([['0'], ['8'], ['x'], ['1.5'], ['-1'], ['01'], [''], ['1', '2']])('-- %j is not a step', async (...given) => {
    const run = promisify(execFile)(process.execPath, ['examples/learn/learn.ts', ...given]);
    await expect(run).rejects.toMatchObject({
      code: 2,
      stdout: expect.stringContaining(`There is no step "${given.join(' ')}": name one of the seven.\n`) as string,
    });
  });
});

describe('The pages of the course', () => {
  const shown = claimBlocks('docs/learn/?-*.md', 'ts');

  it.each(pages)('%s shows the actual code', (page) => {
    const code = readFileSync(`examples/learn/step-${page[0]}/scheduler.ts`, 'utf8');
    const ofPage = shown.filter((block) => block.page === `docs/learn/${page}`);
    expect(ofPage.length).toBeGreaterThan(0);
    for (const block of ofPage) expect(code).toContain(block.code);
  });

  it('have one page per step', () => {
    expect(new Set(shown.map(({ page }) => page))).toEqual(new Set(pages.map((page) => `docs/learn/${page}`)));
  });
});
