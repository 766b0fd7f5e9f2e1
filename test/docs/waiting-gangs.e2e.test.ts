import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { TestPlane } from '../planes/plane.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import { claimBlocks } from './block-claims.ts';
import { consoleCommandsOf } from './console-blocks.ts';
import type { PageBlock } from './markdown-page.ts';
import { WaitingGangsStage } from './waiting-gangs-stage.ts';

const session = claimBlocks('docs/tasks/administrators/waiting-gangs.md', 'console');
const manifests = claimBlocks('docs/tasks/administrators/waiting-gangs.md', 'yaml');
const programs = await provideForSuite('the session of three users whose gangs wait', [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
]);

describe('docs/tasks/administrators/waiting-gangs.md on the embedded plane, which knows no users', () => {
  play(openEmbeddedPlane, false);
});

describe.skipIf(programs.state === 'missing')('docs/tasks/administrators/waiting-gangs.md on a real API server', () => {
  play(() => {
    if (programs.state === 'missing') throw new Error(programs.message);
    return openRealPlane({ paths: programs.paths, controllerManager: true });
  }, true);
});

function play(open: () => Promise<TestPlane>, hasAccessControl: boolean): void {
  let folder: string;
  let stage: WaitingGangsStage | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tutti-waiting-'));
    stage = await WaitingGangsStage.open(await open(), folder, { hasAccessControl });
  });

  afterAll(async () => {
    await stage?.close();
    await rm(folder, { recursive: true });
  });

  it('three people find out why three gangs wait, do what helps, and the gangs start', async () => {
    await stage!.page.write(manifests);
    await stage!.page.play(hasAccessControl ? session : withoutAccessControl(session));
  });
}

/**
 * Returns the session of a cluster that denies nothing: a flag chooses what Ana's answers rest on, and commands that fail for lack of a
 * permission are left out.
 */
function withoutAccessControl(blocks: readonly PageBlock[]): readonly PageBlock[] {
  const note = /^Only the conditions .*\n/m;
  return blocks.map((block) => ({
    ...block,
    code: consoleCommandsOf([block])
      .map(({ command, output }) =>
        note.test(output)
          ? { command: `${command} --source conditions`, output: output.replace(note, '') }
          : { command, output },
      )
      .filter(({ output }) => !/Forbidden|may not/.test(output))
      .map(({ command, output }) => `$ ${command}\n${output}\n`)
      .join(''),
  }));
}
