import { createScheduler } from 'tutti-scheduler';
import { scheduler } from './scheduler.ts';

// Schedules in the cluster of $KUBECONFIG until the process ends.
await createScheduler(scheduler);
