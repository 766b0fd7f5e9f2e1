import { expect, it } from 'vitest';
import { parseRequestCounts, schedulerCalls } from './request-counts.ts';

const line = (labels: string, count: number): string =>
  `apiserver_request_total{code="201",component="apiserver",dry_run="",${labels},version="v1"} ${count}`;

it('sums requests over status codes and other labels', () => {
  const counts = parseRequestCounts(
    [
      '# HELP apiserver_request_total [STABLE] Counter of requests',
      line('group="",resource="pods",scope="resource",subresource="binding",verb="POST"', 3),
      line('group="",resource="pods",scope="namespace",subresource="binding",verb="POST"', 4),
      'apiserver_request_duration_seconds_count{verb="POST",resource="pods"} 99',
      line('group="",resource="pods",scope="resource",subresource="",verb="POST"', 1.5e3),
    ].join('\n'),
  );
  expect(Object.fromEntries(counts)).toEqual({ 'POST pods/binding': 7, 'POST pods': 1500 });
});

it("distinguishes the scheduler's calls from those of the load generator and the API server", () => {
  const before = new Map([['POST pods/binding', 10]]);
  const after = new Map([
    ['POST pods/binding', 14],
    ['PATCH pods/status', 2],
    ['POST events', 3],
    ['PATCH podgroups/status', 1],
    ['GET pods', 1],
    ['POST pods', 100],
    ['WATCH pods', 5],
    ['LIST pods', 5],
    ['PUT leases', 7],
    ['POST nodes', 9],
  ]);
  expect(schedulerCalls(before, after)).toEqual({
    'GET pods': 1,
    'PATCH podgroups/status': 1,
    'PATCH pods/status': 2,
    'POST events': 3,
    'POST pods/binding': 4,
  });
});
