import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { launchBrowser } from './browser.ts';
import { FakeScheduler } from './fake-scheduler.ts';
import { openPage } from './open-page.ts';
import type { OpenPage, OpenPageOptions } from './open-page.ts';
import { TimelineStory } from './timeline-story.ts';

export const noon = new Date(2026, 0, 1, 12).getTime();

/** A browser with the page, and the scheduler whose story the page shows. New for each test. */
export class PageStage {
  browser!: Browser;
  scheduler!: FakeScheduler;
  /** The page gets it as its first snapshot. */
  story!: TimelineStory;
  open!: OpenPage;
  /** What a test provokes. */
  expectedProblem!: RegExp;

  readonly opened = async (options: OpenPageOptions = {}): Promise<OpenPage> => {
    this.open = await openPage(this.browser, { scheduler: this.scheduler, ...options });
    await this.expectText('connection', /^Live/);
    return this.open;
  };

  readonly text = (id: string): Promise<string> => this.open.page.locator(`#${id}`).innerText();

  readonly expectText = (id: string, pattern: RegExp | string): Promise<void> =>
    expect.poll(() => this.text(id)).toMatch(pattern);

  readonly openTable = (): Promise<void> => this.open.page.locator('#show-table').click();

  /** Returns the cells of the table: name -> the others. */
  readonly table = async (): Promise<Record<string, string[]>> => {
    const rows = await this.open.page.locator('#tables tbody tr').all();
    const cells = await Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()));
    return Object.fromEntries(cells.map(([name, ...others]) => [name!, others]));
  };
}

/** Returns the stage of the tests around it. After each test, the page must have had no problem and no request to another origin: UI10, UI11. */
export function pageStage(): PageStage {
  const stage = new PageStage();
  beforeAll(async () => {
    stage.browser = await launchBrowser();
  });
  afterAll(() => stage.browser?.close());
  beforeEach(() => {
    stage.scheduler = new FakeScheduler();
    stage.story = new TimelineStory(noon);
    stage.expectedProblem = /^$/;
    stage.scheduler.greeting = () => [stage.story.snapshot()];
  });
  afterEach(async () => {
    const { problems, requests, server } = stage.open;
    await stage.open.close();
    expect(problems.filter((problem) => !stage.expectedProblem.test(problem))).toEqual([]);
    const { origin } = new URL(server.link);
    expect(requests.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
  });
  return stage;
}
