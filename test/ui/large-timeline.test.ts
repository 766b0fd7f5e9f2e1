import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, launchBrowser } from './browser.ts';
import { FakeScheduler } from './fake-scheduler.ts';
import { heapBytes } from './heap.ts';
import { openPage } from './open-page.ts';
import { exampleNode, largeStory } from './stories.ts';
import { TimelineStory } from './timeline-story.ts';

const noon = new Date(2026, 0, 1, 12).getTime();

/** Counts what the page draws, from the next frame on. */
const countDrawings = `
  window.drawn = 0;
  for (const name of ['fillRect', 'strokeRect', 'fillText', 'stroke', 'fill']) {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...parts) {
      window.drawn++;
      return draw.apply(this, parts);
    };
  }
  window.drawnInNextFrame = async (act) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    await frame();
    await frame();
    window.drawn = 0;
    act();
    await frame();
    await frame();
    return window.drawn;
  };
`;

// How long frames take depends on the machine: bench/timeline-page.ts measures it.
describe.skipIf(browserPath === undefined)('A timeline of 1,000 groups and 5,000 transitions', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  async function drawnWhileScrolling(story: TimelineStory, groups: number): Promise<number> {
    const scheduler = new FakeScheduler();
    scheduler.greeting = () => [story.snapshot()];
    const opened = await openPage(browser, {
      scheduler,
      script: `window.setInterval = () => 0; ${countDrawings}`,
    });
    const { page } = opened;
    await expect.poll(() => page.locator('#summary').innerText()).toContain(`${groups} groups and pods`);
    const counts = await page.evaluate<number[]>(`(async () => {
      const lanes = document.getElementById('lanes');
      const counts = [];
      for (let step = 0; step <= 5; step++)
        counts.push(await window.drawnInNextFrame(() => (lanes.scrollTop = step * (lanes.scrollHeight - lanes.clientHeight) / 5)));
      return counts;
    })()`);
    await opened.close();
    return Math.max(...counts);
  }

  it('UI4 draws only the lanes that are visible', async () => {
    const few = await drawnWhileScrolling(largeStory(100, 500), 100);
    const many = await drawnWhileScrolling(largeStory(1_000, 5_000), 1_000);
    expect(few).toBeGreaterThan(50);
    expect(many).toBeLessThan(few * 1.5);
  });

  it('UI4 draws a lane with thousands of transitions at most once a pixel', async () => {
    const story = largeStory(100, 500);
    const busy = story.group('a-busy-group', 2);
    for (let count = 0; count < 9_000; count++) {
      story.pass(0.01).tell(busy, 'Planned', 'Starting', { planned: 2 });
      story.pass(0.01).tell(busy, 'BindingFailed', 'Waiting');
    }
    expect(await drawnWhileScrolling(story, 101)).toBeLessThan(10_000);
  });

  // bench/timeline-page.ts --heap watches it for minutes.
  it.each(['gangs', 'nodes', 'table'])(
    'UI4 takes no more memory after a night of groups that come and go: %s',
    async (view) => {
      const scheduler = new FakeScheduler();
      const story = new TimelineStory(noon, { capacity: 500 });
      scheduler.greeting = () => [story.snapshot()];
      const opened = await openPage(browser, { scheduler });
      const { page } = opened;
      await expect.poll(() => page.locator('#connection').innerText()).toBe('Live');
      await page.locator(`#show-${view}`).click();
      let groups = 0;
      const pass = async (hours: number): Promise<number> => {
        for (const end = story.now + hours * 3_600_000; story.now < end;) {
          const key = story.group(`group-${groups++}`, 2);
          scheduler.send(story.tell(key, 'Bound', 'Partial', { bound: 1 }).delta());
          story.node(exampleNode(`node-${groups % 20}`, [[key, 0.5, 0]]));
          scheduler.send(story.pass(20).tell(key, 'Started', 'Running', { bound: 2 }).delta());
          scheduler.send(story.tell(key, 'Removed', 'Gone', { bound: 0 }).delta());
        }
        const last = story.group(`last-${groups++}`, 2);
        await page.locator('#filter').fill('last');
        scheduler.send(story.tell(last, 'Ready', 'Waiting').delta());
        await expect.poll(() => page.locator('#summary').innerText()).toContain('1 waiting');
        scheduler.send(story.tell(last, 'Removed', 'Gone').delta());
        await expect.poll(() => page.locator('#summary').innerText()).toContain('0 groups');
        await page.locator('#filter').fill('');
        return heapBytes(page);
      };
      const after = await pass(2);
      expect((await pass(8)) - after).toBeLessThan(300_000);
      await opened.close();
    },
  );
});
