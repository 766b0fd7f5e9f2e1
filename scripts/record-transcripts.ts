// Records anew what kubectl, client-node and our own processes ask the embedded API server:
// `node scripts/record-transcripts.ts` runs the sessions of test/embedded/kubectl and writes test/fixtures/transcripts. A
// change of these files is a change of what the server must support: look at it before it is committed.
import process from 'node:process';
import { startVitest } from 'vitest/node';

process.env.TUTTI_RECORD_TRANSCRIPTS = '1';
const vitest = await startVitest('test', ['test/embedded/kubectl/'], {
  watch: false,
  exclude: ['test/embedded/kubectl/replay.test.ts', 'test/fixtures/**'],
});
await vitest.close();
