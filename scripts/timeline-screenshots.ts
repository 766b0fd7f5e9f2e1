// Takes screenshots of the timeline page that plays a story, to look at after a change: node scripts/timeline-screenshots.ts <folder>. Needs Chromium.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { browserPath, launchBrowser } from '../test/ui/browser.ts';
import { FakeScheduler, lacksCapacity } from '../test/ui/fake-scheduler.ts';
import { openPage } from '../test/ui/open-page.ts';
import { exampleStory, largeStory } from '../test/ui/stories.ts';
import type { TimelineStory } from '../test/ui/timeline-story.ts';

interface Screenshot {
  readonly name: string;
  readonly options?: BrowserContextOptions;
  readonly story?: () => TimelineStory;
  readonly prepare?: (page: Page) => Promise<void>;
}

const dark: BrowserContextOptions = { colorScheme: 'dark' };
const narrow: BrowserContextOptions = { viewport: { width: 380, height: 800 }, deviceScaleFactor: 2 };
// Chromium lays a page out at 200 % zoom as in a window of half the size.
const zoomed: BrowserContextOptions = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 };
const showNodes = (page: Page): Promise<void> => page.locator('#show-nodes').click();
const showTable = (page: Page): Promise<void> => page.locator('#show-table').click();
const showNextRows = async (page: Page): Promise<void> => {
  await showTable(page);
  await page.getByRole('button', { name: 'Next rows' }).click();
  await page.getByRole('button', { name: 'Previous rows' }).scrollIntoViewIfNeeded();
};
/** Opens the panel of the only lane whose name has the text. */
const explain =
  (text: string) =>
  async (page: Page): Promise<void> => {
    await page.locator('#filter').fill(text);
    await page.locator('#lanes').press('Home');
    await page.locator('#filter').fill('');
    await page.locator('#lanes').press('Enter');
    await page.locator('#panel table').waitFor();
  };

const screenshots: readonly Screenshot[] = [
  { name: 'gangs-light' },
  { name: 'gangs-dark', options: dark },
  { name: 'nodes-light', prepare: showNodes },
  { name: 'nodes-dark', options: dark, prepare: showNodes },
  { name: 'table', prepare: showTable },
  { name: 'partial', prepare: explain('ml/blue') },
  { name: 'preempted', options: dark, prepare: explain('low/batch') },
  { name: 'waiting', prepare: explain('ml/red') },
  { name: 'narrow', options: narrow },
  { name: 'narrow-nodes', options: narrow, prepare: showNodes },
  { name: 'narrow-panel', options: narrow, prepare: explain('ml/red') },
  { name: 'zoomed', options: zoomed },
  { name: 'large', story: () => largeStory() },
  { name: 'large-nodes', story: () => largeStory(), prepare: showNodes },
  { name: 'large-table', story: () => largeStory(), prepare: showNextRows },
];

const [folder] = process.argv.slice(2);
if (folder === undefined || browserPath === undefined) {
  console.error('usage: node scripts/timeline-screenshots.ts <folder>, with Chromium installed');
  process.exit(2);
}
await mkdir(folder, { recursive: true });
const browser = await launchBrowser();
for (const { name, options, story = exampleStory, prepare } of screenshots) {
  const scheduler = new FakeScheduler();
  const played = story();
  scheduler.greeting = () => [played.snapshot()];
  scheduler.explanation = (query) => lacksCapacity(query.get('namespace')!, query.get('name')!);
  const opened = await openPage(browser, { scheduler, ...options });
  const { page } = opened;
  await page.locator('#summary:not(:empty)').waitFor();
  await prepare?.(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await opened.close();
}
await browser.close();
