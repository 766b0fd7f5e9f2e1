import { describe, expect, it } from 'vitest';
import { liveFrame } from './live-frame.ts';
import type { FrameInput } from './live-frame.ts';
import { Story } from './story.ts';
import type { StoryEvent } from './story.ts';
import { paintLine } from './styled-line.ts';
import { groupOf, nodeOf, podOf } from './testing/observed-objects.ts';

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
  for (const name of ['node-1', 'node-2']) story.change(0, { kind: 'node', node: nodeOf(name) });
  return frameOf({ story, recent, ...more }, hasColors);
}

function frameOf(more: Partial<FrameInput> & Pick<FrameInput, 'story'>, hasColors = false): string[] {
  const wish = { offset: 0, filter: '' };
  const rest = { nowMs: 1_234, recent: [], isOver: false, conclusion: [], wish, keys: '', columns: 100, rows: 30 };
  const input: FrameInput = { ...rest, ...more };
  return liveFrame(input).map((line) => paintLine(line, input.columns, hasColors).trimEnd());
}

describe('the live picture', () => {
  it('shows which pods hold which slots, and the state of each group with its verdict', () => {
    expect(picture().slice(0, 9)).toEqual([
      'tutti up  1.2s',
      '',
      'node-1  [red-0 ] (red-2 ) 0 of 2 cpu free',
      'node-2  [red-1 ] 1 of 2 cpu free',
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

  it('says how many nodes there is no room to draw', () => {
    const story = new Story();
    for (let i = 1; i <= 50; i++) story.change(0, { kind: 'node', node: nodeOf(`node-${i}`, 64_000) });
    const lines = frameOf({ story });
    expect(lines.slice(2, 4)).toEqual(['node-1   64 of 64 cpu free', 'node-2   64 of 64 cpu free']);
    expect(lines).toContain('… and 40 more nodes');
  });

  it('follows nodes that come, change and go, with what they have besides cpu', () => {
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

  it('counts whole seconds when the scenario is over', () => {
    expect(picture({ isOver: true, nowMs: 61_900 })[0]).toBe('tutti up  61s');
  });
});

describe('more groups than there is room for', () => {
  /** done-1 to done-15, then wait-1 to wait-5 */
  function crowd(more: Partial<FrameInput> = {}): string[] {
    const story = new Story();
    for (let i = 1; i <= 15; i++) {
      story.change(0, { kind: 'group', group: groupOf(`done${i}`, 1) });
      story.change(0, { kind: 'pod', pod: podOf(`done${i}-0`, { nodeName: 'a', phase: 'Succeeded' }) });
    }
    for (let i = 1; i <= 5; i++) {
      story.change(0, { kind: 'group', group: groupOf(`wait${i}`, 1) });
      story.change(0, { kind: 'pod', pod: podOf(`wait${i}-0`, { verdict: 'no room '.repeat(30).trim() }) });
    }
    story.change(0, { kind: 'node', node: nodeOf('a') });
    return frameOf({ story, columns: 80, rows: 24, ...more });
  }

  it('shows those first that wait, and says how many others there are', () => {
    const lines = crowd();
    expect(lines.filter((line) => /^wait\d /.test(line))).toHaveLength(5);
    expect(lines.at(-1)).toMatch(/^… and 7 more: 7 done$/);
    expect(lines.length).toBeLessThanOrEqual(23);
  });

  it('shows the others when it is scrolled, and says how many are above and below', () => {
    const lines = crowd({ wish: { offset: 5, filter: '' } });
    expect(lines.filter((line) => /^done\d+ /.test(line))).toHaveLength(15);
    expect(lines.join('\n')).toContain('… and 5 more: 5 waits');
    expect(crowd({ wish: { offset: 400, filter: '' } }).join('\n')).toContain('done15');
  });

  it('shows those alone that the user asks for, with all of their verdicts', () => {
    const lines = crowd({ wish: { offset: 0, filter: 'WAIT3' } });
    expect(lines[0]).toBe('tutti up  1.2s  groups with "WAIT3"');
    expect(lines.filter((line) => /^(wait|done)/.test(line))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('no room'))).toHaveLength(3);
  });
});
