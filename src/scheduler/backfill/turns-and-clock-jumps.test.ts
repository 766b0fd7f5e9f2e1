import { expect, test } from 'vitest';
import { BackfillStory } from '../testing/backfill-story.ts';

const hour = 3_600_000;

/** The wall clock can jump, and pods end only if the test says so. */
class Story extends BackfillStory {
  #aheadMs = 0;

  constructor() {
    super();
    const { clock } = this.core.harness;
    const now = clock.now.bind(clock);
    clock.now = () => now() + this.#aheadMs;
    for (const node of ['a', 'b']) this.core.node({ name: node, cpu: 4 });
    this.running('old', 'a', { cpu: 4, runtime: '30m' });
  }

  /** Pod `old` runs on one of the nodes that the gang needs. */
  bigWaits(): void {
    const createdAt = this.now - this.#aheadMs;
    this.core.group({ name: 'big', minMember: 2, createdAt });
    for (const name of ['big-0', 'big-1']) this.pod(name, { group: 'big', cpu: 4, runtime: '1h', createdAt });
  }

  async jump(aheadMs: number): Promise<void> {
    this.#aheadMs = aheadMs;
    await this.run();
  }

  async waits(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 5) {
      this.core.harness.clock.advance(5_000);
      await this.core.settle();
      await this.run();
    }
  }
}

test('a gang gets its turn in time although the wall clock jumps back', async () => {
  const story = new Story();
  story.bigWaits();
  await story.jump(-2 * hour);
  await story.waits(70);
  expect(story.holders).toEqual(['big']);
});

test('a gang that becomes ready while the wall clock is ahead gets its turn in time', async () => {
  const story = new Story();
  await story.jump(24 * hour);
  story.bigWaits();
  await story.jump(0);
  await story.waits(70);
  expect(story.holders).toEqual(['big']);
});

test('no pod is backfilled because of a start that was predicted while the wall clock was ahead', async () => {
  const story = new Story();
  story.bigWaits();
  await story.waits(70);
  await story.jump(24 * hour);
  story.core.node({ name: 'c', cpu: 1 });
  await story.waits(40);
  expect(story.verdictOn('big-0')).toContain('some ends are estimates');
  await story.jump(0);
  story.pod('tall', { cpu: 2, runtime: '20h' });
  story.pod('short', { cpu: 2, runtime: '10m', job: 'short' });
  await story.run();
  expect([story.nodeOf('tall'), story.nodeOf('short')]).toEqual([undefined, undefined]);
  await story.waits(40);
  expect([story.nodeOf('tall'), story.nodeOf('short')]).toEqual([undefined, 'b']);
  expect(story.verdictOn('big-0')).toContain('expected to start by 00:30Z');
});
