import { beforeEach, expect, it } from 'vitest';
import { podGroupLabel } from '../../../src/api/pod-group-membership.ts';
import type { AuditedCall } from '../../planes/real/api-audit.ts';
import { auditProblems } from './audit-problems.ts';
import { CountedTime } from './counted-time.ts';
import { Judge } from './judge.ts';

let now: number;
let counted: CountedTime;
let judge: Judge;

beforeEach(() => {
  now = 0;
  counted = new CountedTime(() => now);
  judge = new Judge({ boundMs: 1_000, counted, nodes: new Map([['a', 4]]), time: () => 'then' });
  judge.group({
    at: 0,
    type: 'ADDED',
    object: { metadata: { uid: 'red', name: 'red', resourceVersion: '1' }, spec: { minMember: 2 } },
  });
});

function pod(name: string, nodeName?: string, type: 'MODIFIED' | 'DELETED' = 'MODIFIED', cpu = 1): void {
  const metadata = { uid: name, name, resourceVersion: '1', labels: { [podGroupLabel]: 'red' } };
  const containers = [{ resources: { requests: { cpu: String(cpu) } } }];
  judge.pod({ at: 0, type, object: { metadata, spec: { containers, ...(nodeName !== undefined && { nodeName }) } } });
}

it('Judge reports a group that is partially bound for too long, once, and again at the end', () => {
  counted.resume();
  pod('red-0', 'a');
  now = 1_000;
  judge.look();
  expect(judge.problems).toEqual([]);
  now = 1_001;
  judge.look();
  judge.look();
  expect(judge.problems).toEqual(['then PodGroup red is at 1 of 2 for more than 1000 ms']);
  judge.end();
  expect(judge.problems.at(-1)).toBe('then PodGroup red ends with 1 of 2 bound');
});

it('Judge ignores the time in which no scheduler works', () => {
  counted.resume();
  pod('red-0', 'a');
  now = 900;
  counted.pause();
  now = 60_000;
  judge.look();
  counted.resume();
  now = 60_050;
  pod('red-1', 'a');
  judge.end();
  expect([judge.problems, judge.partialMs, judge.whole]).toEqual([[], [950], 1]);
});

it('Judge accepts a started group that shrinks, and a group that is released', () => {
  counted.resume();
  pod('red-0', 'a');
  pod('red-1', 'a');
  pod('red-1', 'a', 'DELETED');
  now = 5_000;
  judge.look();
  judge.end();
  expect(judge.problems).toEqual([]);
});

it('Judge reports an over-committed node and a pod that has moved', () => {
  pod('red-0', 'a', 'MODIFIED', 3);
  pod('red-1', 'a', 'MODIFIED', 2);
  expect(judge.problems).toEqual(['then node a has 4 cores, but 5 are in use since red-1 was bound']);
  pod('red-1', 'b');
  expect(judge.problems.at(-1)).toBe('then pod red-1 was bound to node a and is now bound to b');
});

function call(user: string, at: number, resource = 'pods/binding', name = `pod-${at}`): AuditedCall {
  return { user, verb: 'create', group: '', resource, name, code: 201, at };
}

const lives = [
  { user: 'a', startedAt: 0, endedAt: 100 },
  { user: 'b', startedAt: 0, endedAt: Infinity },
  { user: 'a', startedAt: 101, endedAt: Infinity },
];

it('auditProblems reports a pod that was bound twice', () => {
  expect(auditProblems([call('a', 1, 'pods/binding', 'x'), call('a', 2, 'pods/binding', 'x')], lives)).toEqual([
    'pod x was bound 2 times',
  ]);
});

it('auditProblems reports interleaved writes of two leaders, and separates two lives of one user', () => {
  expect(auditProblems([call('a', 10), call('b', 60), call('a', 120)], lives)).toEqual([]);
  expect(auditProblems([call('a', 10), call('b', 60, 'leases'), call('a', 90)], lives)).toEqual([]);
  expect(auditProblems([call('a', 10), call('b', 60), call('a', 90)], lives)).toEqual([
    '1970-01-01T00:00:00.060Z b writes, and a does 30 ms later',
  ]);
});
