import { describe, expect, it } from 'vitest';
import { defaultPlugins } from '../plugins/registry.ts';
import { Queueing } from '../testkit/queueing.ts';
import { CapacityLines } from './capacity-lines.ts';
import type { QueuedEntity } from './queued-entity.ts';

function setUp(): {
  readonly core: Queueing;
  readonly lines: CapacityLines;
  readonly pod: (name: string, priority?: number) => QueuedEntity;
} {
  const core = new Queueing({ plugins: defaultPlugins });
  const lines = new CapacityLines({
    get: (key) => core.queue.get(key),
    compare: (a, b) => b.priority - a.priority || a.readySince - b.readySince || (a.uid < b.uid ? -1 : 1),
  });
  const pod = (name: string, priority = 0): QueuedEntity => {
    core.pod({ name, priority });
    core.harness.clock.advance(1_000);
    return core.queue.get(`pod/${name}`)!;
  };
  return { core, lines, pod };
}

describe('the first entity in line for a resource', () => {
  it('is the one that QueueSort orders before all others that are short of it', () => {
    const { lines, pod } = setUp();
    const [one, two] = [pod('one'), pod('two')];
    for (const entity of [two, one]) lines.rejected(entity, 'cpu');
    expect([lines.isFirst(two, 'cpu'), lines.isFirst(one, 'cpu')]).toEqual([false, true]);
    lines.rejected(one, 'cpu');
    const high = pod('high', 10);
    lines.rejected(high, 'cpu');
    expect([lines.isFirst(one, 'cpu'), lines.isFirst(high, 'cpu')]).toEqual([false, true]);
  });

  it('ignores those that are short of another resource, or of none any more', () => {
    const { lines, pod } = setUp();
    const [one, two, three] = [pod('one'), pod('two'), pod('three')];
    lines.rejected(one, 'memory');
    lines.rejected(two, 'cpu');
    expect(lines.isFirst(three, 'cpu')).toBe(false);
    lines.rejected(two, undefined);
    expect(lines.isFirst(three, 'cpu')).toBe(true);
  });

  it('is the next one when the first has left the queue', () => {
    const { core, lines, pod } = setUp();
    const [one, two] = [pod('one'), pod('two')];
    lines.rejected(one, 'cpu');
    lines.rejected(two, 'cpu');
    core.removePod('one');
    expect(lines.isFirst(two, 'cpu')).toBe(true);
  });

  it('stays right after thousands of rejections of entities that come and go', () => {
    const { core, lines, pod } = setUp();
    const waiting = pod('waiting');
    for (let i = 0; i < 3_000; i++) {
      const entity = pod(`p-${i}`, 1);
      lines.rejected(entity, `resource-${i}`);
      lines.rejected(waiting, 'cpu');
      core.removePod(`p-${i}`);
    }
    expect(lines.isFirst(pod('later'), 'cpu')).toBe(false);
  });
});
