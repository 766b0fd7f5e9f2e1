import { fileURLToPath } from 'node:url';
import { createScheduler } from 'tutti-scheduler';
import { ownPlugins } from './own-plugins.ts';

// Of the cluster that $KUBECONFIG leads to. It runs until the process ends.
const configFile = fileURLToPath(new URL('scheduler.yaml', import.meta.url));
await createScheduler({ configFile, plugins: ownPlugins });
