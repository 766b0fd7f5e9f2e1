import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { GangNow } from './gang-timeline.ts';
import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import { invitation } from './invitation.ts';
import { liveFrame } from './live-frame.ts';
import type { FrameInput } from './live-frame.ts';
import { Story } from './story.ts';
import type { StoryEvent } from './story.ts';
import { paintLine } from './styled-line.ts';
import { textColumns } from '../text-columns.ts';
import { groupOf, nodeOf, podOf } from './testing/observed-objects.ts';

const verdict = 'PodGroup default/blue cannot start: 1 of 3 members would fit; blue-1 would not';

/** Renders a frame in which red is scheduled and blue is pending. */
function frame(more: Partial<FrameInput> = {}, hasColors = false): string[] {
  const story = new Story();
  const recent: StoryEvent[] = [];
  const at = { 'red-0': 'node-1', 'red-1': 'node-2', 'red-2': 'node-1' };
  for (const group of ['red', 'blue']) recent.push(...story.change(0, { kind: 'group', group: groupOf(group, 3) }));
  for (const [name, nodeName] of Object.entries(at)) {
    const phase = name === 'red-2' ? 'Pending' : 'Running';
    recent.push(...story.change(400, { kind: 'pod', pod: podOf(name, { nodeName, phase }) }));
  }
  for (const name of ['blue-0', 'blue-1', 'blue-2']) {
    recent.push(...story.change(500, { kind: 'pod', pod: podOf(name, { verdict }) }));
  }
  for (const name of ['node-1', 'node-2']) story.change(0, { kind: 'node', node: nodeOf(name) });
  const gang = (group: string): GangNow | undefined =>
    group === 'default/blue' ? { state: 'Waiting', wait: { ms: 1_234, cause: 'capacity', bound: 0 } } : undefined;
  return frameOf({ story, recent, gang, ...more }, hasColors);
}

function frameOf(more: Partial<FrameInput> & Pick<FrameInput, 'story'>, hasColors = false): string[] {
  const rest = {
    gang: () => undefined,
    nowMs: 1_234,
    recent: [],
    isOver: false,
    conclusion: [],
    filter: '',
    keys: '',
    columns: 100,
    rows: 30,
  };
  const input: FrameInput = { ...rest, ...more };
  return liveFrame(input).map((line) => paintLine(line, input.columns, hasColors).trimEnd());
}

describe('liveFrame', () => {
  it('shows the pods on each node, and the state and verdict of each group', () => {
    expect(frame().slice(0, 9)).toEqual([
      'tutti up  1.2s',
      '',
      'node-1  [red-0 ] (red-2 ) 0 of 2 cpu free',
      'node-2  [red-1 ]          1 of 2 cpu free',
      '',
      'red    ●●●  scheduled  3 of 3 bound, 2 running',
      'blue   ○○○  pending    0 of 3 bound, waiting 1s (capacity)',
      `       ${verdict}`,
      '',
    ]);
  });

  it('paints a group in the color that it is named after', () => {
    const [, , node, , , red] = frame({}, true);
    expect(node).toContain('\u001b[7m\u001b[31m[red-0 ]');
    expect(node).toContain('\u001b[31m(red-2 )');
    expect(red).toContain('\u001b[31m●●●');
  });

  it.each([
    [40, 12],
    [24, 30],
    [8, 5],
    [1, 1],
  ])('fits a terminal of %i columns and %i rows', (columns, rows) => {
    const lines = frame({ columns, rows, conclusion: ['0 partial starts'] });
    expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
    for (const line of lines) expect([...line].length).toBeLessThanOrEqual(columns);
  });

  it.each([
    [80, 24],
    [200, 50],
    [20, 24],
  ])(
    'fits %i columns and %i rows with long names, wide characters and combining marks, with and without colors',
    (columns, rows) => {
      const story = new Story();
      const wide = 'キューが満杯です'.repeat(20);
      const long = 'n'.repeat(253);
      story.change(0, { kind: 'node', node: nodeOf(long, 2_000, { [`example.com/${'d'.repeat(63)}`]: 8 }) });
      for (const group of ['a', 'b']) story.change(0, { kind: 'group', group: groupOf(`${group}${long.slice(1)}`, 3) });
      for (const name of ['red-0', `red-${'x'.repeat(249)}`]) {
        story.change(0, { kind: 'pod', pod: podOf(name, { verdict: `${wide} e\u0301\u0301 ${'w'.repeat(400)}` }) });
      }
      story.change(0, { kind: 'pod', pod: podOf('on-it', { nodeName: long, phase: 'Running' }) });
      const recent: StoryEvent[] = [
        { atMs: 1, kind: 'finished', pod: 'default/red-0', group: 'default/red', failure: wide },
        { atMs: 2, kind: 'bound', pod: `default/${long}`, group: undefined, node: long },
      ];
      for (const line of frameOf({ story, recent, columns, rows, conclusion: [wide] })) {
        expect(textColumns(line)).toBeLessThanOrEqual(columns);
      }
      for (const line of frameOf({ story, recent, columns, rows, conclusion: [wide] }, true)) {
        expect(textColumns(stripVTControlCharacters(line))).toBeLessThanOrEqual(columns);
      }
    },
  );

  it('ends a shortened line in an ellipsis, with colors too', () => {
    const line = frame({ columns: 60 }, true).find((each) => each.includes('of 3 bound') && each.includes('blue'))!;
    expect(stripVTControlCharacters(line)).not.toContain('…');
    const recent: StoryEvent[] = [{ atMs: 1, kind: 'pending', group: 'default/blue', pod: undefined, verdict }];
    const reported = frame({ columns: 60, recent }, true).map((each) => stripVTControlCharacters(each));
    expect(reported.at(-1)).toBe('   0.00s  blue   pending   PodGroup default/blue cannot sta…');
  });

  it('drops the oldest events, not the groups, if there are few rows', () => {
    const lines = frame({ rows: 12 });
    expect(lines.join('\n')).toContain('blue   ○○○');
    expect(lines.at(-1)).toContain('blue-2');
    expect(lines.join('\n')).not.toContain('PodGroup with minMember');
  });

  it('uses all of 200 columns and 50 rows', () => {
    const story = new Story();
    const recent: StoryEvent[] = [];
    for (let i = 1; i <= 10; i++) {
      story.change(0, { kind: 'node', node: nodeOf(`node-${i}`, 16_000, { 'nvidia.com/gpu': 8 }) });
    }
    recent.push(...story.change(0, { kind: 'group', group: groupOf('training', 16) }));
    for (let i = 0; i < 16; i++) {
      const requests = { cpu: 4_000, 'nvidia.com/gpu': 4 };
      const pod = podOf(`training-${i}`, { nodeName: `node-${1 + (i >> 1)}`, phase: 'Running', requests });
      recent.push(...story.change(500, { kind: 'pod', pod }));
    }
    for (let i = 0; i < 3; i++) {
      recent.push(
        ...story.change(600, { kind: 'pod', pod: podOf(`later-${i}`, { verdict: `${verdict}: ${'x '.repeat(30)}` }) }),
      );
    }
    const lines = frameOf({ story, recent, columns: 200, rows: 50, keys: 'q quit' });
    expect(lines.length).toBe(49);
    expect(lines.slice(2, 6)).toEqual([
      'node-1   [training-0 ] [training-1 ] 8 of 16 cpu free, 0 of 8 nvidia.com/gpu free',
      'node-2   [training-2 ] [training-3 ] 8 of 16 cpu free, 0 of 8 nvidia.com/gpu free',
      'node-3   [training-4 ] [training-5 ] 8 of 16 cpu free, 0 of 8 nvidia.com/gpu free',
      'node-4   [training-6 ] [training-7 ] 8 of 16 cpu free, 0 of 8 nvidia.com/gpu free',
    ]);
    expect(lines[11]).toBe(`node-10${' '.repeat(30)}16 of 16 cpu free, 8 of 8 nvidia.com/gpu free`);
    // Verdicts have the whole width, and events the rest of the height.
    expect(lines.filter((line) => line.includes('cannot start'))).toHaveLength(1);
    expect(lines.filter((line) => /^ +0\.\d\ds {2}/.test(line)).length).toBeGreaterThan(25);
    expect(lines.slice(-2)).toEqual([lines.at(-2), 'q quit']);
  });

  it('counts the nodes that do not fit', () => {
    const story = new Story();
    for (let i = 1; i <= 50; i++) story.change(0, { kind: 'node', node: nodeOf(`node-${i}`, 64_000) });
    const lines = frameOf({ story });
    expect(lines.slice(2, 4)).toEqual(['node-1   64 of 64 cpu free', 'node-2   64 of 64 cpu free']);
    expect(lines).toContain('… and 40 more nodes');
  });

  it('shows added and deleted nodes, with their extended resources', () => {
    const story = new Story();
    story.change(0, { kind: 'node', node: nodeOf('a', 1_500, { 'nvidia.com/gpu': 8 }) });
    story.change(0, { kind: 'node', node: nodeOf('b') });
    const requests = { cpu: 250, 'nvidia.com/gpu': 2 };
    story.change(0, { kind: 'pod', pod: podOf('red-0', { nodeName: 'a', phase: 'Running', requests }) });
    story.change(0, { kind: 'node-gone', name: 'b' });
    expect(frameOf({ story }).slice(2, 4)).toEqual([
      'a  [red-0] 1250m of 1500m cpu free, 6 of 8 nvidia.com/gpu free',
      '',
    ]);
  });

  it('shows minMember of a group with more bound members than that', () => {
    const story = new Story();
    story.change(0, { kind: 'group', group: groupOf('sweep', 2) });
    for (let i = 0; i < 3; i++) {
      story.change(0, { kind: 'pod', pod: podOf(`sweep-${i}`, { nodeName: 'a', phase: 'Running' }) });
    }
    expect(frameOf({ story }).at(-1)).toBe('sweep  ●●●  scheduled  3 bound, minMember 2, 3 running');
  });

  it('shows whole seconds after the scenario has ended', () => {
    expect(frame({ isOver: true, nowMs: 61_900 })[0]).toBe('tutti up  61s');
  });
});

describe('the lines of groups', () => {
  it('are aligned, however many members the groups have', () => {
    const story = new Story();
    for (const [name, minMember] of [
      ['small', 1],
      ['large', 12],
    ] as const) {
      story.change(0, { kind: 'group', group: groupOf(name, minMember) });
      story.change(0, { kind: 'pod', pod: podOf(`${name}-0`, { nodeName: 'a', phase: 'Running' }) });
    }
    const gang = (group: string): GangNow | undefined =>
      group === 'default/large' ? { state: 'Partial', wait: { ms: 65_400, cause: undefined, bound: 1 } } : undefined;
    expect(frameOf({ story, gang }).slice(-2)).toEqual([
      'small  ●             scheduled  1 of 1 bound, 1 running',
      'large  ●○○○○○○○○○○○  partial    1 of 12 bound, waiting 1m5s, 1 running',
    ]);
  });

  it('show the state that the scheduler has recorded, and how long the group has waited', () => {
    const story = new Story();
    story.change(0, { kind: 'group', group: groupOf('red', 1) });
    const lineIn = (state: TimelineState, ms?: number): string => {
      const wait = ms === undefined ? undefined : ({ ms, cause: 'capacity', bound: 0 } as const);
      return frameOf({ story, gang: () => ({ state, wait }) }).at(-1)!;
    };
    expect(lineIn('Waiting', 3_999)).toBe('red    ○  pending    0 of 1 bound, waiting 3s (capacity)');
    expect(lineIn('Waiting', -5)).toContain('waiting 0s');
    expect(lineIn('Starting', 4_100)).toContain('planned ');
    expect(lineIn('Degraded')).toBe('red    ○  degraded   0 of 1 bound, 0 running');
    expect(lineIn('Failed')).toContain('failed ');
  });

  it('show no bound members while the scheduler has not recorded that it has bound them', () => {
    const story = new Story();
    story.change(0, { kind: 'group', group: groupOf('red', 1) });
    story.change(1_000, { kind: 'pod', pod: podOf('red-0', { nodeName: 'a' }) });
    const wait = { ms: 1_000, cause: undefined, bound: 0 };
    expect(frameOf({ story, gang: () => ({ state: 'Starting', wait }) }).at(-1)).toBe(
      'red    ○  planned    0 of 1 bound, waiting 1s',
    );
  });

  it('show what the API server shows if the scheduler does not know the group', () => {
    const story = new Story();
    story.change(0, { kind: 'group', group: groupOf('red', 1) });
    expect(frameOf({ story }).at(-1)).toBe('red    ○  pending    0 of 1 bound, 0 running');
    story.change(1_000, { kind: 'pod', pod: podOf('red-0', { nodeName: 'a', phase: 'Running' }) });
    expect(frameOf({ story }).at(-1)).toBe('red    ●  scheduled  1 of 1 bound, 1 running');
    story.change(2_000, { kind: 'pod', pod: podOf('red-0', { nodeName: 'a', phase: 'Succeeded' }) });
    expect(frameOf({ story }).at(-1)).toContain('finished ');
  });
});

describe('a deadlock', () => {
  const groups = ['red', 'blue'].map((name) => `default/${name}`);
  const sentence = 'red and blue are partially bound and wait for each other: no pod started or finished for 10 s';

  it('is a whole sentence in 80 columns', () => {
    const recent: StoryEvent[] = [
      { atMs: 12_000, kind: 'deadlock', deadlock: { groups, sinceMs: 2_000, atMs: 12_000 } },
      { atMs: 13_000, kind: 'created', pod: 'default/late', group: undefined },
    ];
    const conclusion = [`deadlock: ${sentence}`];
    const lines = frameOf({ story: new Story(), recent, conclusion, columns: 80, rows: 24 });
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    const event = lines.findIndex((line) => line.includes('DEADLOCK'));
    expect(lines.slice(event, event + 3)).toEqual([
      '  12.00s  -      DEADLOCK  red and blue are partially bound and wait for each',
      '                           other: no pod started or finished for 10 s',
      '  13.00s  -      created   late',
    ]);
    expect(lines.slice(-2).join(' ')).toBe(`deadlock: ${sentence}`);
  });

  it('shows its groups above the conclusion in 80 columns and 24 rows', () => {
    const story = new Story();
    for (const name of ['node-1', 'node-2']) story.change(0, { kind: 'node', node: nodeOf(name) });
    for (const group of ['red', 'blue']) {
      story.change(0, { kind: 'group', group: groupOf(group, 3) });
      for (const index of [0, 1]) {
        story.change(0, { kind: 'pod', pod: podOf(`${group}-${index}`, { nodeName: 'node-1', phase: 'Running' }) });
      }
      story.change(0, { kind: 'pod', pod: podOf(`${group}-2`, { verdict: '0/2 nodes are available: '.repeat(4) }) });
    }
    const rest = [
      'partial start: red had 2 of 3 members bound from 0.30s to the end (12.00s)',
      'partial start: blue had 2 of 3 members bound from 0.30s to the end (12.00s)',
      '2 partial starts',
      `deadlock: ${sentence}`,
      '',
      ...invitation('/tmp/kubeconfig', story.pods()),
    ];
    const conclusion = ['red    partially bound: 2 of 3 members', 'blue   partially bound: 2 of 3 members', ...rest];
    const lines = frameOf({ story, conclusion, keys: '/ filter, q quit', columns: 80, rows: 24 });
    expect(lines.filter((line) => /^(red|blue) +●●○ +partial /.test(line))).toHaveLength(2);
    expect(lines.join('\n')).not.toMatch(/partially bound: |and 1 more/);
    expect(lines.slice(-3)).toEqual([rest.at(-1), '', '/ filter, q quit']);
    expect(frameOf({ story, conclusion, columns: 80, rows: 40 })).toContain(conclusion[0]);
  });

  it('of many groups names some of them', () => {
    const many = Array.from({ length: 9 }, (_, index) => `default/g${index}`);
    const recent: StoryEvent[] = [{ atMs: 1, kind: 'deadlock', deadlock: { groups: many, sinceMs: 0, atMs: 10_000 } }];
    expect(frameOf({ story: new Story(), recent, columns: 200 }).at(-1)).toContain('g0, g1, g2, g3 and 5 more are');
  });
});

describe('the filter', () => {
  it('selects nodes, groups and events in any case', () => {
    expect(frame({ filter: 'BLUE' }).slice(2)).toEqual([
      '',
      'blue   ○○○  pending    0 of 3 bound, waiting 1s (capacity)',
      `       ${verdict}`,
      '',
      '   0.00s  blue   created   PodGroup with minMember 3',
      '   0.50s  blue   created   blue-0',
      '   0.50s  blue   created   blue-1',
      '   0.50s  blue   created   blue-2',
    ]);
  });

  it('selects a node by its name, or by the pods on it and then only these', () => {
    expect(frame({ filter: 'node-1' }).slice(2, 4)).toEqual(['node-1  [red-0 ] (red-2 ) 0 of 2 cpu free', '']);
    expect(frame({ filter: 'red-2' }).slice(2, 4)).toEqual(['node-1  (red-2 ) +1 more 0 of 2 cpu free', '']);
  });

  it('shows the newest events that match', () => {
    const recent = Array.from({ length: 100 }, (_, atMs): StoryEvent => {
      return { atMs, kind: 'created', pod: `default/${atMs < 50 ? 'old' : 'new'}-${atMs}`, group: undefined };
    });
    const lines = frameOf({ story: new Story(), recent, filter: 'old', rows: 10 });
    expect(lines.at(-1)).toBe('   0.05s  -      created   old-49');
    expect(lines.join('\n')).not.toContain('new');
  });
});

describe('liveFrame with more groups than fit', () => {
  /** Renders the finished groups done1 to done15 and the pending groups wait1 to wait5. */
  function renderManyGroups(more: Partial<FrameInput> = {}): string[] {
    const story = new Story();
    for (let i = 1; i <= 15; i++) {
      story.change(0, { kind: 'group', group: groupOf(`done${i}`, 1) });
      story.change(0, { kind: 'pod', pod: podOf(`done${i}-0`, { nodeName: 'a', phase: 'Succeeded' }) });
    }
    for (let i = 1; i <= 5; i++) {
      story.change(0, { kind: 'group', group: groupOf(`wait${i}`, 1) });
      story.change(0, { kind: 'pod', pod: podOf(`wait${i}-0`, { verdict: 'no place '.repeat(30).trim() }) });
    }
    story.change(0, { kind: 'node', node: nodeOf('a') });
    return frameOf({ story, columns: 80, rows: 24, ...more });
  }

  it('shows pending groups first and counts the hidden groups', () => {
    const lines = renderManyGroups();
    expect(lines.filter((line) => /^wait\d /.test(line))).toHaveLength(5);
    expect(lines.at(-1)).toMatch(/^… and 7 more: 7 finished$/);
    expect(lines.length).toBeLessThanOrEqual(23);
  });
});
