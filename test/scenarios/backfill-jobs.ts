import { BackfillStage } from './backfill-stage.ts';
import { JobStage } from './job-stage.ts';
import { schedulerName } from './pod-manifest.ts';
import { scenario } from './scenario.ts';

/** Jobs behind a gang that has its turn. */
export const backfillJobs = {
  'job-deadline': scenario(
    'a pod whose Job has a deadline starts in reserved capacity before the Job controller has recorded the start',
    async (stage) => {
      const jobs = await JobStage.open(stage);
      const turns = await BackfillStage.open(stage);
      const [worker] = stage.nodes;
      await turns.run('running', worker!, { cpu: 60, runtime: 1_200 });
      await turns.expectTurn(await turns.createGang('gang', 2), '1 node reserved');
      const resources = { requests: { cpu: '1' } };
      await jobs.create('short', {
        pod: {
          ...{ schedulerName, nodeName: undefined, priorityClassName: 'low' },
          containers: [{ name: 'main', image: 'registry.example/main:1', resources }],
        },
        spec: { activeDeadlineSeconds: 600 },
      });
      await jobs.untilRunning('short', 1);
    },
  ),
} as const;
