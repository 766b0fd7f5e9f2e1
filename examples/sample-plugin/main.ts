import { createScheduler } from 'tutti-scheduler';
import { scheduler } from './scheduler.ts';

// Schedules in the cluster of $KUBECONFIG until the process exits.
await createScheduler(scheduler);
