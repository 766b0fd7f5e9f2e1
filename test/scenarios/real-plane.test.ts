import process from 'node:process';
import { afterAll, beforeAll, describe } from 'vitest';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { badInput } from './bad-input.ts';
import { brokenBindings } from './broken-bindings.ts';
import { controller } from './controller.ts';
import { demo } from './demo.ts';
import { extra } from './extra.ts';
import { gangs } from './gangs.ts';
import { playOn } from './play.ts';

const programs = await provideForSuite('the scenarios', ['etcd', 'kube-apiserver']);

describe.skipIf(programs.state === 'missing')('on a real kube-apiserver', () => {
  let plane: RealPlane;

  beforeAll(async () => {
    if (programs.state === 'missing') return;
    plane = await openRealPlane({ paths: programs.paths });
    process.stderr.write(`\nscenarios on a real API server: Kubernetes ${plane.version}\n`);
  }, 120_000);

  afterAll(async () => {
    await plane?.stop();
  });

  for (const scenarios of [gangs, demo, extra, controller, badInput, brokenBindings]) {
    playOn('real', () => plane, scenarios);
  }
});
