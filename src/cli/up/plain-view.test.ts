import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { podGroupLabel } from '../../api/pod-group-membership.ts';
import { observePod } from './observed.ts';
import { PlainView } from './plain-view.ts';
import { Story } from './story.ts';
import type { StoryEvent } from './story.ts';

function linesFor(events: readonly StoryEvent[]): string[] {
  const output = new PassThrough();
  new PlainView(output, new PassThrough()).notify(events);
  return String(output.read()).split('\n').slice(0, -1);
}

it('prints one line per event, in columns', () => {
  const group = 'default/red';
  const pod = 'default/red-0';
  expect(
    linesFor([
      { atMs: 0, kind: 'group-created', group, minMember: 3 },
      { atMs: 10, kind: 'created', pod, group },
      { atMs: 412, kind: 'bound', pod, group, node: 'node-1' },
      { atMs: 413, kind: 'scheduled', group, bound: 3, minMember: 3 },
      { atMs: 520, kind: 'running', pod, group },
      { atMs: 700, kind: 'pending', pod: undefined, group: 'team/blue', verdict: 'no capacity' },
      { atMs: 1_800, kind: 'partial', group, bound: 2, minMember: 3 },
      { atMs: 2_530, kind: 'finished', pod, group, failure: undefined },
      { atMs: 2_530, kind: 'finished', pod: 'default/web', group: undefined, failure: 'Error: exit code 1' },
      { atMs: 2_540, kind: 'group-finished', group, succeeded: 2, failed: 1 },
      {
        atMs: 12_540,
        kind: 'deadlock',
        deadlock: { groups: ['default/red', 'team/blue'], sinceMs: 7_540, atMs: 12_540 },
      },
    ]),
  ).toEqual([
    '   0.00s  red        created   PodGroup with minMember 3',
    '   0.01s  red        created   red-0',
    '   0.41s  red        bound     red-0 → node-1',
    '   0.41s  red        SCHEDULED 3 of 3 members bound',
    '   0.52s  red        running   red-0',
    '   0.70s  team/blue  pending   no capacity',
    '   1.80s  red        PARTIAL   partially bound for more than a second: 2 of 3 members',
    '   2.53s  red        finished  red-0',
    '   2.53s  -          FAILED    web: Error: exit code 1',
    '   2.54s  red        FINISHED  2 succeeded, 1 failed',
    '  12.54s  -          DEADLOCK  red and team/blue are partially bound and wait for each other: no pod started or finished for 5 s',
  ]);
});

it('prints escaped text of users, on one line', () => {
  const hostile = '\u001b[2J\nforged';
  const metadata = { namespace: 'default', name: 'a', annotations: { [podGroupLabel]: hostile } };
  const pod = observePod({
    metadata,
    status: { conditions: [{ type: 'PodScheduled', status: 'False', message: hostile }] },
  });
  const story = new Story();
  const lines = linesFor([...story.change(0, { kind: 'pod', pod }), ...story.tick(1_000)]);
  expect(lines.map((line) => line.replace(/ +/g, ' '))).toEqual([
    ' 0.00s \\u001b[2J\\u000aforged created a',
    ' 1.00s \\u001b[2J\\u000aforged pending \\u001b[2J\\u000aforged',
  ]);
});

it('prints nothing without events', () => {
  expect(linesFor([])).toEqual([]);
});
