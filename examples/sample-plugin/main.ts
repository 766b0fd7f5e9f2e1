import { createScheduler } from 'tutti-scheduler';
import { scheduler } from './scheduler.ts';

// Of the cluster that $KUBECONFIG leads to. It runs until the process ends.
await createScheduler(scheduler);
