import { Readable } from 'node:stream';
import { beforeEach, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { NoLeaderError } from '../explain/leader/find-leader.ts';
import type { DebugEndpoints, DebugResponse } from './debug-endpoints.ts';
import { LeaderEndpoints } from './leader-endpoints.ts';

const request = { path: '/debug/events', headers: {}, signal: new AbortController().signal };
const answer = (status: number, body: string): DebugResponse => ({ status, headers: {}, body: Readable.from([body]) });

let clock: VirtualClock;
/** What happens at the leader that is found next, and at those after it. */
let leaders: DebugEndpoints['get'][];
let opened: number;
let endpoints: LeaderEndpoints;

beforeEach(() => {
  clock = new VirtualClock();
  opened = 0;
  endpoints = new LeaderEndpoints({
    clock,
    open: async () => {
      const get = leaders[opened++];
      if (get === undefined) throw new NoLeaderError('no scheduler holds the Lease');
      return { get };
    },
  });
});

it('asks the leader that it has found again and again', async () => {
  leaders = [async () => answer(200, 'first')];
  await endpoints.get(request);
  await endpoints.get(request);
  expect(opened).toBe(1);
});

it('looks for the leader again before its token ends', async () => {
  leaders = [async () => answer(200, ''), async () => answer(200, '')];
  await endpoints.get(request);
  clock.advance(299_000);
  await endpoints.get(request);
  expect(opened).toBe(1);
  clock.advance(2_000);
  await endpoints.get(request);
  expect(opened).toBe(2);
});

it('looks for the leader again when the known one does not answer, or no longer accepts the token', async () => {
  let isGone = false;
  leaders = [
    async () => {
      if (isGone) throw new NoLeaderError('the scheduler did not answer');
      return answer(200, '');
    },
    async () => answer(opened === 2 && isGone ? 401 : 200, ''),
    async () => answer(200, 'third'),
  ];
  await endpoints.get(request);
  isGone = true;
  expect((await endpoints.get(request)).status).toBe(401);
  expect((await endpoints.get(request)).status).toBe(200);
  expect(opened).toBe(3);
});

it('rejects when the leader that it has just found does not answer, and looks again the next time', async () => {
  leaders = [() => Promise.reject(new NoLeaderError('the scheduler did not answer')), async () => answer(200, '')];
  await expect(endpoints.get(request)).rejects.toThrow('the scheduler did not answer');
  expect((await endpoints.get(request)).status).toBe(200);
  clock.advance(301_000);
  await expect(endpoints.get(request)).rejects.toThrow('no scheduler holds the Lease');
});
