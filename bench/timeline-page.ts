// Measures the timeline page in Chromium with 1,000 groups, 5,000 transitions and 500 nodes: the time to the first picture of the lanes, and the longest frame
// while the lanes scroll and changes arrive four times a second. Exits with 1 beyond the limits.
import process from 'node:process';
import { browserPath, launchBrowser } from '../test/ui/browser.ts';
import { FakeScheduler } from '../test/ui/fake-scheduler.ts';
import { openPage } from '../test/ui/open-page.ts';
import { largeStory } from '../test/ui/stories.ts';

const firstPaintLimitMs = 1_000;
const frameLimitMs = 50;
const loadMs = Number(process.argv[2] ?? 20) * 1_000;

/** Records when the first lanes are drawn, and how long the main thread is busy at a time. */
const measure = `
  window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ startTime, duration }) => ({ startTime, duration }))))
    .observe({ type: 'long-animation-frame', buffered: true });
  const draw = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    if (window.firstLanes === undefined && String(text).includes('group-'))
      requestAnimationFrame(() => (window.firstLanes ??= performance.now()));
    return draw.call(this, text, ...place);
  };
`;

interface Frame {
  readonly startTime: number;
  readonly duration: number;
}

if (browserPath === undefined) process.exit(1);
const browser = await launchBrowser();
const story = largeStory();
const scheduler = new FakeScheduler();
scheduler.greeting = () => [story.snapshot()];
const opened = await openPage(browser, { scheduler, script: measure });
const { page } = opened;
await page.waitForFunction('window.firstLanes !== undefined');
const firstLanes = await page.evaluate<number>('window.firstLanes');
const heap = async (): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 2 ** 20;
};
const heapBefore = await heap();
const loadStart = await page.evaluate<number>('performance.now()');
await page.evaluate(`
  window.scrolling = setInterval(() => {
    const lanes = document.getElementById('lanes');
    lanes.scrollTop = (lanes.scrollTop + 37) % (lanes.scrollHeight - lanes.clientHeight);
  }, 16);
`);
const end = performance.now() + loadMs;
for (let round = 0; performance.now() < end; round++) {
  for (let change = 0; change < 50; change++) {
    const key = `gang/ml/group-${(round * 50 + change) % 1_000}`;
    if (round % 2 === 0) story.tell(key, 'Rejected', 'Waiting', { waitsFor: 'capacity', reason: 'too little cpu' });
    else story.tell(key, 'Started', 'Running', { bound: 1 });
  }
  scheduler.send(story.pass(0.25).delta());
  await page.waitForTimeout(250);
}
const frames = await page.evaluate<Frame[]>('window.tasks');
const scrolling = frames.filter(({ startTime }) => startTime >= loadStart).map(({ duration }) => duration);
const longest = Math.max(0, ...scrolling);
const heapAfter = await heap();
await opened.close();
await browser.close();
console.log(`first lanes after ${firstLanes.toFixed(0)} ms (limit ${firstPaintLimitMs})`);
console.log(`${scrolling.length} frames over 50 ms, the longest ${longest.toFixed(0)} ms (limit ${frameLimitMs})`);
console.log(`heap ${heapBefore.toFixed(1)} MB, then ${heapAfter.toFixed(1)} MB`);
if (firstLanes > firstPaintLimitMs || longest > frameLimitMs) process.exitCode = 1;
