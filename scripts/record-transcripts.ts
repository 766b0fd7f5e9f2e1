// Records the requests of kubectl, client-node and Tutti's processes to the embedded API server. `node scripts/record-transcripts.ts` runs
// the sessions of test/embedded/kubectl and writes test/fixtures/transcripts. A change of these files changes what the server must
// support: review it before you commit it.
import process from 'node:process';
import { startVitest } from 'vitest/node';

process.env.TUTTI_RECORD_TRANSCRIPTS = '1';
const vitest = await startVitest('test', ['test/embedded/kubectl/'], {
  watch: false,
  exclude: ['test/embedded/kubectl/replay.test.ts', 'test/fixtures/**'],
});
await vitest.close();
