import { describe, expect, it } from 'vitest';
import { liveFrame } from './live-frame.ts';
import type { FrameInput } from './live-frame.ts';
import { Story } from './story.ts';
import type { StoryEvent } from './story.ts';
import { paintLine } from './styled-line.ts';
import { groupOf, podOf } from './testing/observed-objects.ts';

const verdict = 'PodGroup default/blue cannot start: with 1 of 3 members placed, blue-1 finds no node';

/** Red runs whole, blue waits. */
function picture(more: Partial<FrameInput> = {}, hasColors = false): string[] {
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
  const nodes = ['node-1', 'node-2'].map((name) => ({ name, milliCpu: 2_000 }));
  const input = { nowMs: 1_234, nodes, story, recent, conclusion: [], columns: 100, rows: 30, ...more };
  return liveFrame(input).map((line) => paintLine(line, input.columns, hasColors).trimEnd());
}

describe('the live picture', () => {
  it('shows which pods hold which slots, and the state of each group with its verdict', () => {
    expect(picture().slice(0, 9)).toEqual([
      'tutti up  1.2s',
      '',
      'node-1  [red-0 ] (red-2 )',
      'node-2  [red-1 ] ·free···',
      '',
      'red    ●●●  whole    3 of 3 bound, 2 running',
      'blue   ○○○  waits    0 of 3 bound, 0 running',
      `       ${verdict}`,
      '',
    ]);
  });

  it('paints a group in the colour it is named after', () => {
    const [, , node, , , red] = picture({}, true);
    expect(node).toContain('\u001b[41m[red-0 ]');
    expect(node).toContain('\u001b[31m(red-2 )');
    expect(red).toContain('\u001b[31m●●●');
  });

  it.each([
    [40, 12],
    [24, 30],
    [8, 5],
    [1, 1],
  ])('fits a terminal of %i columns and %i rows', (columns, rows) => {
    const lines = picture({ columns, rows, conclusion: ['0 partial starts'] });
    expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
    for (const line of lines) expect([...line].length).toBeLessThanOrEqual(columns);
  });

  it('drops the oldest changes, not the groups, when there are few rows', () => {
    const lines = picture({ rows: 12 });
    expect(lines.join('\n')).toContain('blue   ○○○');
    expect(lines.at(-1)).toContain('blue-2');
    expect(lines.join('\n')).not.toContain('PodGroup, starts');
  });

  it('says how many nodes and pods there is no room to draw', () => {
    const nodes = Array.from({ length: 50 }, (_, index) => ({ name: `node-${index + 1}`, milliCpu: 64_000 }));
    const lines = picture({ nodes });
    expect(lines).toContain('… and 40 more nodes');
  });
});
