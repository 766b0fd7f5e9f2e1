import { fileURLToPath } from 'node:url';
import { createScheduler } from 'tutti-scheduler';
import { ownPlugins } from './own-plugins.ts';

// Schedules in the cluster of $KUBECONFIG until the process exits.
const configFile = fileURLToPath(new URL('scheduler.yaml', import.meta.url));
await createScheduler({ configFile, plugins: ownPlugins });
