import { existsSync } from 'node:fs';
import process from 'node:process';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

/** Debian's packages chromium-headless-shell and chromium, which .ci/run installs. */
const candidates = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** The browser of this machine; undefined: there is none, and the suites that need it are skipped. */
export const browserPath = candidates.find(existsSync);

if (browserPath === undefined)
  process.stderr.write(
    '!!! SKIPPED, no browser: install one of the Debian packages chromium-headless-shell and chromium\n',
  );

export function launchBrowser(): Promise<Browser> {
  // As root, as in a container, Chromium has no sandbox.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: browserPath!, headless: true, args });
}
