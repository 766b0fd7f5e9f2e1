import { join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { kubectlPath, kubectlVersions } from '../../planes/kubectl.ts';
import type { KubectlVersion } from '../../planes/kubectl.ts';
import { Kubectl } from './kubectl-command.ts';
import { openRecordedPlane } from './recorded-plane.ts';
import type { RecordedPlane } from './recorded-plane.ts';
import type { RequestPattern } from './request-pattern.ts';
import { writePatterns } from './request-pattern.ts';
import { loadPatterns, saveTranscript, savedTranscripts } from './transcript-files.ts';

/** Shared by the tests of a session, which run in order on one plane. */
export interface Session {
  readonly plane: RecordedPlane;
  readonly kubectl: Kubectl;
  readonly version: KubectlVersion;
}

/** The tests have a kubectl only for this platform. */
export const hasKubectl = process.platform === 'linux' && process.arch === 'x64';
const isRecording = process.env.TUTTI_RECORD_TRANSCRIPTS === '1';

/**
 * Defines tests on their own plane, with the real kubectl, once for each of its versions. At the end, all requests to the API server must
 * match a pattern of the checked-in transcripts. With TUTTI_RECORD_TRANSCRIPTS=1 the transcripts are written instead.
 */
export function describeSession(
  name: string,
  tests: (session: () => Session) => void,
  versions: readonly KubectlVersion[] = kubectlVersions,
): void {
  for (const version of versions) describeOne(versions.length === 1 ? name : `${name}-${version}`, version, tests);
}

function describeOne(name: string, version: KubectlVersion, tests: (session: () => Session) => void): void {
  describe.runIf(hasKubectl)(name, () => {
    let session: Session | undefined;
    let failed = false;

    beforeAll(async () => {
      const plane = await openRecordedPlane();
      const kubectl = new Kubectl(await kubectlPath(version), plane.kubeconfigPath, join(plane.folder, 'home'));
      session = { plane, kubectl, version };
    });

    afterEach(({ task }) => {
      failed ||= task.result?.state === 'fail';
    });

    afterAll(() => session?.plane.stop());

    tests(() => session!);

    it('sends only requests that its transcripts contain', () => {
      const transcript = session!.plane.transcript();
      if (isRecording) {
        expect(failed, 'transcripts are not recorded after a failure').toBe(false);
        saveTranscript(name, transcript);
        return;
      }
      const known = new Set(savedTranscripts().flatMap(loadPatterns).map(timeless));
      const sent = writePatterns(transcript.exchanges).trimEnd().split('\n');
      const fresh = sent.filter((line) => !known.has(timeless(line)));
      expect(fresh, 'not in the transcripts, which scripts/record-transcripts.ts writes').toEqual([]);
    });
  });
}

/**
 * Returns the part of a pattern that does not depend on timing. Timing decides which of two requests is first, and so the response to a
 * read or to one of our own processes. It also decides which deleted objects kubectl has to wait for.
 */
function timeless(line: string): string {
  const { status, ...pattern } = JSON.parse(line) as RequestPattern;
  const waits = pattern.query.includes('fieldSelector=metadata.name=…');
  const varies = pattern.method === 'GET' || pattern.client.startsWith('tutti');
  return JSON.stringify({ ...pattern, ...(waits && { path: 'any' }), ...(!varies && { status }) });
}
