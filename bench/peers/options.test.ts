import { expect, it } from 'vitest';
import { isWanted, parseOptions } from './options.ts';

const parse = (...args: string[]): ReturnType<typeof parseOptions> => parseOptions(args, () => 42);

it('defaults to three rounds on 1,000 and 5,000 nodes, one round with --quick, and 1,000 nodes with --long', () => {
  expect(parse()).toMatchObject({ quick: false, rounds: 3, nodes: [1000, 5000], seed: 42 });
  expect(parse('--quick')).toMatchObject({ quick: true, rounds: 1 });
  expect(parse('--long')).toMatchObject({ quick: false, long: true, rounds: 3, nodes: [1000] });
  expect(parse('--long', '--nodes', '5000')).toMatchObject({ long: true, nodes: [5000] });
  expect(parse('--preemption')).toMatchObject({ quick: false, preemption: true, rounds: 3 });
  for (const other of ['--quick', '--long'])
    expect(() => parse(other, '--preemption')).toThrow('--quick, --long, --preemption and --native cannot be combined');
  expect(() => parse('--preemption', '--nodes', '10')).toThrow('--nodes cannot be combined with --preemption');
  expect(parse('--quick', '--rounds', '2', '--nodes', '10,20', '--seed', '7')).toMatchObject({
    rounds: 2,
    nodes: [10, 20],
    seed: 7,
  });
});

it('selects runs by scheduler and workload', () => {
  const options = parse('--only', '^tutti/gang4-');
  expect(isWanted(options, 'tutti', 'gang4-1000nodes-arriving')).toBe(true);
  expect(isWanted(options, 'kube-scheduler', 'gang4-1000nodes-arriving')).toBe(false);
  expect(isWanted(parse(), 'kube-scheduler', 'lone-1000nodes-arriving')).toBe(true);
});

it('distinguishes given flags from defaults', () => {
  expect(parse('--resume', 'peers.json')).toMatchObject({ resume: 'peers.json', given: new Set() });
  expect(parse('--quick', '--seed', '7').given).toEqual(new Set(['quick', 'seed']));
  expect(() => parse('--resume', 'a.json', '--from', 'b.json')).toThrow('--from runs nothing');
});

it('rejects invalid numbers and patterns, and names the flag', () => {
  expect(() => parse('--rounds', '0')).toThrow('--rounds must be a whole number');
  expect(() => parse('--nodes', '1000,many')).toThrow('--nodes must be a whole number from 1, not "many"');
  expect(() => parse('--quiet')).toThrow('--quiet');
  expect(() => parse('--only', '(')).toThrow('--only: Invalid regular expression');
});
