// Opens a group of two processes, reports it to the parent and runs until it is killed.
import process from 'node:process';
import { ProcessGroup } from '../process-group.ts';

const group = await ProcessGroup.open();
await group.start('one', 'sleep', ['1000']);
await group.start('two', 'sleep', ['1000']);
process.send!({
  folder: group.folder,
  supervisor: group.supervisorPid,
  pids: [group.pid('one')!, group.pid('two')!],
});
