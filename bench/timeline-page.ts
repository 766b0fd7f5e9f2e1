// Measures the timeline page in Chromium with 1,000 groups, 5,000 transitions and 500 nodes while changes arrive four times a second: the time to the first
// picture of the lanes, and the longest task of the page's main thread in each view, both by the browser's own trace. Each value is the median of three runs,
// because other processes of the machine add to wall time. On a busy machine, `chrt -r 1 npm run bench:ui` keeps them away. Exits with 1 beyond the limits.
//
// With `--heap <minutes>`, measures the page's heap instead, while it is left open for that long.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { setTimeout } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { browserPath, launchBrowser } from '../test/ui/browser.ts';
import { FakeScheduler } from '../test/ui/fake-scheduler.ts';
import { heapBytes } from '../test/ui/heap.ts';
import { openPage } from '../test/ui/open-page.ts';
import { changeGroups, largeStory } from '../test/ui/stories.ts';
import type { TimelineStory } from '../test/ui/timeline-story.ts';

const runs = 3;
const firstLanesLimitMs = 1_000;
const taskLimitMs = 50;
const phases = ['start', 'lanes', 'nodes', 'table'] as const;
type Phase = (typeof phases)[number];

/** Marks in the trace when the first lanes are on the screen, and scrolls what is visible. */
const script = `
  const draw = CanvasRenderingContext2D.prototype.fillText;
  let isDrawn = false;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    if (!isDrawn && String(text).includes('group-')) {
      isDrawn = true;
      requestAnimationFrame(() => performance.mark('first lanes'));
    }
    return draw.call(this, text, ...place);
  };
  window.scroll = () => setInterval(() => {
    for (const each of ['lanes', 'tables'].map((id) => document.getElementById(id)))
      each.scrollTop = (each.scrollTop + 37) % Math.max(1, each.scrollHeight - each.clientHeight);
  }, 16);
`;

/** An event of a trace. Times are in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** Time of the processor. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** In milliseconds. */
interface Task {
  readonly wall: number;
  readonly processor: number;
}

interface Run {
  readonly firstLanesMs: number;
  readonly longest: ReadonlyMap<Phase, Task>;
}

async function measure(browser: Browser, seconds: number): Promise<Run> {
  const { story, scheduler } = large();
  const context = await browser.newContext();
  const blank = await context.newPage();
  await browser.startTracing(blank, { categories: ['-*', 'toplevel', 'devtools.timeline', 'blink.user_timing'] });
  const opened = await openPage(browser, { scheduler, script });
  const { page } = opened;
  const enter = (phase: Phase): Promise<void> => page.evaluate(`performance.mark('phase ${phase}')`);
  await lanesAreShown(page);
  await page.evaluate('window.scroll()');
  await enter('lanes');
  await change(scheduler, story, seconds);
  await enter('nodes');
  await page.locator('#show-nodes').click();
  await change(scheduler, story, seconds / 4);
  await enter('table');
  await page.locator('#show-table').click();
  await change(scheduler, story, seconds / 4);
  await page.locator('#show-gangs').click();
  await change(scheduler, story, seconds / 4);
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: readonly TraceEvent[] };
  await opened.close();
  await context.close();
  return runOf(traceEvents);
}

function runOf(events: readonly TraceEvent[]): Run {
  const marked = (name: string): TraceEvent => {
    const found = events.find((event) => event.name === name);
    if (found === undefined) throw new Error(`the trace has no event ${name}`);
    return found;
  };
  const lanes = marked('first lanes');
  const isOfPage = ({ pid, tid }: TraceEvent): boolean => pid === lanes.pid && tid === lanes.tid;
  const navigation = events.findLast(
    ({ name, ts, pid }) => name === 'navigationStart' && ts < lanes.ts && pid === lanes.pid,
  )!;
  const starts = phases.map((phase) => (phase === 'start' ? navigation.ts : marked(`phase ${phase}`).ts));
  /** phase -> its longest task */
  const longest = new Map<Phase, Task>(phases.map((phase) => [phase, { wall: 0, processor: 0 }]));
  for (const event of events) {
    if (
      event.ph !== 'X' ||
      event.name !== 'ThreadControllerImpl::RunTask' ||
      !isOfPage(event) ||
      event.ts < navigation.ts
    )
      continue;
    const phase = phases[starts.findLastIndex((start) => event.ts >= start)]!;
    const [wall, processor] = [event.dur! / 1000, (event.tdur ?? 0) / 1000];
    const before = longest.get(phase)!;
    longest.set(phase, { wall: Math.max(before.wall, wall), processor: Math.max(before.processor, processor) });
  }
  return { firstLanesMs: (lanes.ts - navigation.ts) / 1000, longest };
}

async function measureHeap(browser: Browser, minutes: number): Promise<void> {
  const { story, scheduler } = large();
  const opened = await openPage(browser, { scheduler, script });
  const { page } = opened;
  await lanesAreShown(page);
  await page.evaluate('window.scroll()');
  // The page keeps the last 20,000 transitions: before it has them, its heap grows.
  while (story.transitions.length < story.capacity) await change(scheduler, story, 1, 0.02);
  await printHeap(page, 0, story);
  for (let minute = 1; minute <= minutes; minute++) {
    await change(scheduler, story, 60);
    await printHeap(page, minute, story);
  }
  await opened.close();
}

/** The policy of the page forbids the functions that Playwright waits with. */
async function lanesAreShown(page: Page): Promise<void> {
  while (!(await page.evaluate<boolean>(`performance.getEntriesByName('first lanes').length > 0`)))
    await setTimeout(50);
}

async function printHeap(page: Page, minute: number, { transitions }: TimelineStory): Promise<void> {
  const megabytes = (await heapBytes(page)) / 2 ** 20;
  console.log(`heap after ${minute} min: ${megabytes.toFixed(1)} MB, ${transitions.length} transitions sent`);
}

function large(): { readonly story: TimelineStory; readonly scheduler: FakeScheduler } {
  const story = largeStory();
  const scheduler = new FakeScheduler();
  scheduler.greeting = () => [story.snapshot()];
  return { story, scheduler };
}

/** Changes 50 groups at a time. */
async function change(scheduler: FakeScheduler, story: TimelineStory, seconds: number, interval = 0.25): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    changeGroups(story, 50);
    scheduler.send(story.pass(0.25).delta());
    await setTimeout(interval * 1_000);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Prints the values and returns whether their median is within the limit. */
function report(what: string, values: readonly number[], limit?: number): boolean {
  const listed = values.map((value) => value.toFixed(0)).join(', ');
  const of = limit === undefined ? '' : `, limit ${limit}`;
  console.log(`${what}: median ${median(values).toFixed(0)} ms (${listed}${of})`);
  return limit === undefined || median(values) <= limit;
}

const { values } = parseArgs({ options: { heap: { type: 'string' }, seconds: { type: 'string', default: '12' } } });
if (browserPath === undefined) process.exit(1);
const browser = await launchBrowser();
if (values.heap !== undefined) await measureHeap(browser, Number(values.heap));
else {
  const measured: Run[] = [];
  for (let run = 0; run < runs; run++) measured.push(await measure(browser, Number(values.seconds)));
  const all = phases.map((phase) => {
    const tasks = measured.map(({ longest }) => longest.get(phase)!);
    report(
      `${phase}: longest task, processor time`,
      tasks.map(({ processor }) => processor),
    );
    return report(
      `${phase}: longest task`,
      tasks.map(({ wall }) => wall),
      taskLimitMs,
    );
  });
  const isFast = report(
    'first lanes',
    measured.map(({ firstLanesMs }) => firstLanesMs),
    firstLanesLimitMs,
  );
  if (!isFast || all.includes(false)) process.exitCode = 1;
}
await browser.close();
