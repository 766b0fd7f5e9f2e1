import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { bundlePage } from '../../src/cli/ui/bundle-page.ts';
import type { DebugEndpoints } from '../../src/cli/ui/debug-endpoints.ts';
import type { PageFile } from '../../src/cli/ui/bundle-page.ts';
import { startPage } from '../../src/cli/ui/start-page.ts';
import type { RunningPage } from '../../src/cli/ui/start-page.ts';
import { FakeScheduler } from './fake-scheduler.ts';

let bundled: Promise<readonly PageFile[]> | undefined;

/** A page in a browser that shows what a fake scheduler sends. */
export interface OpenPage {
  readonly page: Page;
  readonly scheduler: FakeScheduler;
  readonly server: RunningPage;
  /** What has no place in a page that works: errors, messages of the console, violations of the content security policy. */
  readonly problems: readonly string[];
  /** Addresses of all requests. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export interface OpenPageOptions extends BrowserContextOptions {
  readonly scheduler?: FakeScheduler;
  /** Those of a real scheduler, instead of the fake one. */
  readonly endpoints?: DebugEndpoints;
  /** Runs in the page before its own code. */
  readonly script?: string;
}

/** Opens the page by its link, as a user does. Resolves when its stream is open. */
export async function openPage(
  browser: Browser,
  { scheduler = new FakeScheduler(), endpoints = scheduler, script, ...options }: OpenPageOptions = {},
): Promise<OpenPage> {
  bundled ??= bundlePage(fileURLToPath(new URL('../../src/ui', import.meta.url)));
  const files = bundled;
  const server = await startPage({ files: () => files, port: 0, endpoints });
  const context = await browser.newContext({ viewport: { width: 1200, height: 700 }, ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => problems.push(message.text()));
  page.on('request', (request) => requests.push(request.url()));
  if (script !== undefined) await page.addInitScript(script);
  await page.goto(server.link);
  return {
    ...{ page, scheduler, server, problems, requests },
    async close() {
      await context.close();
      await server.close();
    },
  };
}
